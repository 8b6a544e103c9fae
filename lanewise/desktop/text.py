"""Text on the device: code points to shapes of the font, how wide a line is, where each of its glyphs goes."""

from lanewise.desktop.limits import MAX_GLYPHS
from lanewise.desktop.state import Desk, Glyph, GlyphShape, Typeface
from lanewise.lang import Ptr, bitcast, device, f32, rint, u32

NEWLINE = 10
SPACE = 32
BREAK = 0x200B
BULLET = 0x2022
LINE_HEIGHT = 1.35
"""From one line to the next, in font sizes."""


@device
def shape_number(face: Ptr[Typeface], code: u32) -> u32:
    """The shape of a code point; shape 0 stands for what the font does not have."""
    return u32(face.codes[code]) if code < face.code_count else 0


@device
def kerning(face: Ptr[Typeface], first: u32, second: u32) -> f32:
    """By how much the pen moves more between these two shapes, in font sizes."""
    return face.kerning[u32(face.shapes[first].before) * face.kerning_columns + u32(face.shapes[second].after)]


@device
def break_line(face: Ptr[Typeface], codes: Ptr[u32], start: u32, length: u32, size: f32, width: f32) -> tuple[u32, u32]:
    """Where the line that begins at `start` ends, and where the next begins; beyond the length if there is none.

    A line ends at a newline, or before the first word that reaches beyond the width; words end at spaces and
    where a break may be.
    """
    pen = f32(0)
    word = start
    for k in range(start, length):
        code = codes[k]
        if code == NEWLINE:
            return k, k + 1
        if code == SPACE or code == BREAK:
            word = k + 1
        pen += face.shapes[shape_number(face, code)].advance * size
        if pen > width + 0.5 and word > start and code != SPACE:
            return word - 1, word
    return length, length + 1


@device(inline=False)
def width_of(face: Ptr[Typeface], codes: Ptr[u32], start: u32, end: u32, size: f32, secret: bool) -> f32:
    """How far the pen moves over these code points, in pixels."""
    pen = f32(0)
    before = u32(0)
    for k in range(start, end):
        shape = shape_number(face, BULLET if secret else codes[k])
        if k > start:
            pen += kerning(face, before, shape)
        pen += face.shapes[shape].advance
        before = shape
    return pen * size


@device(inline=False)
def caret_at(face: Ptr[Typeface], codes: Ptr[u32], length: u32, size: f32, secret: bool, x: f32) -> u32:
    """The place between code points that is nearest to x pixels from the start of a line."""
    pen = f32(0)
    before = u32(0)
    for k in range(length):
        shape = shape_number(face, BULLET if secret else codes[k])
        if k > 0:
            pen += kerning(face, before, shape) * size
        advance = face.shapes[shape].advance * size
        if x < pen + advance * 0.5:
            return k
        pen += advance
        before = shape
    return length


@device
def vertical_scale(face: Ptr[Typeface], size: f32) -> f32:
    """Pixels per pixel of the atlas, downwards: such that small letters are whole pixels high, which looks crisp."""
    height = face.x_height * size
    return max(rint(height), 1.0) / height * size / face.em


@device
def baseline_in(face: Ptr[Typeface], top: f32, height: f32, size: f32) -> f32:
    """Where the baseline of one line goes in a box of this height: whole pixels, capitals in the middle."""
    return rint(top + height * 0.5 + face.x_height * size * 0.68)


@device(inline=False)
def place_glyphs(
    desk: Ptr[Desk], codes: Ptr[u32], start: u32, end: u32, x: f32, baseline: f32, size: f32, secret: bool, first: u32
) -> tuple[u32, u32]:
    """Place the glyphs of a line from `first` on; gives how many there are, and a number that says what they are."""
    face = desk.typeface
    glyphs = Ptr[Glyph](desk.scratch.glyphs)
    down = vertical_scale(face, size)
    pen = f32(0)
    before = u32(0)
    placed = u32(0)
    version = u32(2166136261)
    for k in range(start, end):
        number = shape_number(face, BULLET if secret else codes[k])
        shape = Ptr[GlyphShape](face.shapes) + number
        if k > start:
            pen += kerning(face, before, number)
        if shape.w > 0 and first + placed < MAX_GLYPHS:
            glyph = glyphs + (first + placed)
            glyph.x = x + (pen + shape.left) * size
            glyph.y = baseline - shape.top * face.em * down
            glyph.u = shape.u
            glyph.v = shape.v
            glyph.w = shape.w
            glyph.h = shape.h
            version = (version ^ number ^ bitcast(u32, glyph.x)) * 16777619
            version = (version ^ bitcast(u32, glyph.y)) * 16777619
            placed += 1
        pen += shape.advance
        before = number
    return placed, version


@device
def scale_across(face: Ptr[Typeface], size: f32) -> f32:
    """Pixels per pixel of the atlas, to the right."""
    return size / face.em
