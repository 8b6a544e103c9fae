"""How much room text takes: lines broken between words, each glyph as wide as its font's table says."""

from lanewise.desktop.layout.keywords import VERTICAL_TEXT
from lanewise.desktop.layout.structures import Font, LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32

SPACE, NEWLINE, BREAK = 0x20, 0x0A, 0x200B
"""Where a line may end: behind a space, which then takes no room; at a newline, where it must; at U+200B."""


ROUNDOFF = 1 / 64
"""Text fits a box that was made for it, although the box's padding was added to its width and taken off again."""


@device
def advance(font: Ptr[Font], size: f32, code: u32) -> f32:
    """How far a code point moves the pen."""
    if code == NEWLINE or code == BREAK:
        return f32(0)
    return font.advances[min(code, font.advance_count - 1)] * size


@device(inline=False)
def measure_text(tree: Ptr[LayoutTree], node: i32, room: f32) -> tuple[f32, f32, f32]:
    """How long a node's text is along its lines, how many lines that makes, and how long its longest word is."""
    style = tree.styles + node
    font = tree.fonts + style.font
    lines = f32(1)
    longest = f32(0)
    longest_word = f32(0)
    line = f32(0)  # what the line has, up to the end of its last word
    word = f32(0)  # the word that has been begun
    blank = f32(0)  # the spaces between the two
    for index in range(style.text_start, style.text_start + style.text_count):
        code = tree.text[index]
        step = advance(font, style.font_size, code)
        if code == SPACE or code == BREAK or code == NEWLINE:
            if word > 0.0 and line > 0.0 and line + blank + word > room + ROUNDOFF:
                longest = max(longest, line)
                lines += 1.0
                line = word
            else:
                line += blank + word
            longest_word = max(longest_word, word)
            blank = step if word > 0.0 else blank + step
            word = f32(0)
            if code == NEWLINE:
                longest = max(longest, line)
                lines += 1.0
                line = f32(0)
                blank = f32(0)
        else:
            word += step
    if word > 0.0 and line > 0.0 and line + blank + word > room + ROUNDOFF:
        longest = max(longest, line)
        lines += 1.0
        line = word
    elif word > 0.0:
        line += blank + word
    return max(longest, line), lines, max(longest_word, word)


@device
def line_height(tree: Ptr[LayoutTree], node: i32) -> f32:
    style = tree.styles + node
    return (tree.fonts + style.font).line_height * style.font_size


@device(inline=False)
def text_widths(tree: Ptr[LayoutTree], node: i32, height: f32) -> tuple[f32, f32]:
    """The least and the greatest width of a node's text."""
    if (tree.styles + node).writing_mode == VERTICAL_TEXT:
        _, lines, _ = measure_text(tree, node, height if height >= 0.0 else f32(1e30))
        return lines * line_height(tree, node), lines * line_height(tree, node)
    length, _, word = measure_text(tree, node, f32(1e30))
    return word, length


@device(inline=False)
def text_height(tree: Ptr[LayoutTree], node: i32, width: f32) -> f32:
    """The height of a node's text at a width."""
    if (tree.styles + node).writing_mode == VERTICAL_TEXT:
        length, _, _ = measure_text(tree, node, f32(1e30))
        return length
    _, lines, _ = measure_text(tree, node, width)
    return lines * line_height(tree, node)


@device(inline=False)
def text_reach(tree: Ptr[LayoutTree], node: i32, width: f32, height: f32) -> tuple[f32, f32]:
    """How far text laid out in a box of this size reaches to the right and to the bottom."""
    if (tree.styles + node).writing_mode == VERTICAL_TEXT:
        length, lines, _ = measure_text(tree, node, height)
        return lines * line_height(tree, node), length
    length, lines, _ = measure_text(tree, node, width)
    return length, lines * line_height(tree, node)


@device
def text_baseline(tree: Ptr[LayoutTree], node: i32) -> f32:
    """From the top of a node's content box to the baseline of its first line."""
    style = tree.styles + node
    return (tree.fonts + style.font).ascent * style.font_size
