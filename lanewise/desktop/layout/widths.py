"""The question WIDTHS: how narrow a node's content can be made, and how wide it is if nothing limits it."""

from lanewise.desktop.layout.asking import answer_widths, answered_height, ask_height, ask_widths
from lanewise.desktop.layout.items import item_alignment, line_limit, style_base
from lanewise.desktop.layout.keywords import (
    ALIGN_STRETCH,
    NO_NODE,
    UNIT_MAX_CONTENT,
    UNIT_MIN_CONTENT,
)
from lanewise.desktop.layout.lengths import (
    across,
    clamp,
    content_size,
    main_axis,
    resolve_item,
    resolve_or_zero,
    transferred,
)
from lanewise.desktop.layout.lines import break_lines, first_item, next_item, wraps
from lanewise.desktop.layout.numbers import INDEFINITE, INFINITE, WIDTHS_LINES, WIDTHS_SUM
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device
def definite_height(tree: Ptr[LayoutTree], node: i32, child: i32) -> f32:
    """The height of a child that is known before its width is; INDEFINITE where none is."""
    work = tree.work + node
    item = addressof((tree.work + child).item)
    height = item.size[1]
    if height < 0.0 and main_axis(tree, node) == 0 and work.height >= 0.0 and not wraps(tree, node):
        if item_alignment(tree, node, child) == ALIGN_STRETCH:
            height = max(work.height - item.margin[2] - item.margin[3], 0.0)
    return clamp(height, item.least[1], item.most[1]) if height >= 0.0 else height


@device
def needs_widths(tree: Ptr[LayoutTree], node: i32, child: i32) -> bool:
    """Whether a child's width comes from its content."""
    item = addressof((tree.work + child).item)
    if item.size[0] >= 0.0:
        return False
    return (tree.styles + child).aspect_ratio <= 0.0 or definite_height(tree, node, child) < 0.0


@device(inline=False)
def contribution(tree: Ptr[LayoutTree], node: i32, child: i32) -> tuple[f32, f32]:
    """The least and the greatest width that a child takes in its parent, margins included."""
    style = tree.styles + child
    item = addressof((tree.work + child).item)
    least = item.size[0]
    most = least
    if least < 0.0:
        height = definite_height(tree, node, child)
        if style.aspect_ratio > 0.0 and height >= 0.0:
            least = across(style, item, u32(0), height)
            most = least
        else:
            answers = addressof((tree.work + child).answers)
            least = answers.least_width + item.edge[0]
            most = answers.most_width + item.edge[0]
            if style.size[0].unit == UNIT_MIN_CONTENT:
                most = least
            if style.size[0].unit == UNIT_MAX_CONTENT:
                least = most
            least = transferred(style, item, u32(0), least)
            most = transferred(style, item, u32(0), most)
    margins = item.margin[0] + item.margin[1]
    least = clamp(least, item.least[0], item.most[0])
    most = clamp(most, item.least[0], item.most[0])
    return max(least + margins, 0.0), max(most + margins, 0.0)


@device(inline=False)
def begin_widths(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Ask the children whose widths come from their content."""
    work = tree.work + node
    child = first_item(tree, node)
    while child != NO_NODE:
        resolve_item(tree, child, f32(INDEFINITE), work.height)
        if needs_widths(tree, node, child):
            item = addressof((tree.work + child).item)
            height = content_size(item, u32(1), definite_height(tree, node, child))
            ask_widths(tree, child, height, line_limit(tree, child))
        child = next_item(tree, child)
    return u32(WIDTHS_SUM)


@device(inline=False)
def sum_widths(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Put the widths of the children side by side or one above the other."""
    work = tree.work + node
    style = tree.styles + node
    row = main_axis(tree, node) == 0
    several = wraps(tree, node)
    if not row and several and min(work.limit, work.height if work.height >= 0.0 else f32(INFINITE)) < INFINITE:
        return ask_line_heights(tree, node)
    gap = resolve_or_zero(style.gap[0], f32(INDEFINITE))
    least = f32(0)
    most = f32(0)
    count = 0
    child = first_item(tree, node)
    while child != NO_NODE:
        narrow, wide = contribution(tree, node, child)
        if row:
            between = gap if count > 0 else f32(0)
            least = max(least, narrow) if several else least + narrow + between
            most += wide + between
        else:
            least = max(least, narrow)
            most = max(most, wide)
        count += 1
        child = next_item(tree, child)
    return answer_widths(tree, node, least, most)


@device(inline=False)
def ask_line_heights(tree: Ptr[LayoutTree], node: i32) -> u32:
    """A column of several lines is as wide as its lines, which depend on how high the items are."""
    child = first_item(tree, node)
    while child != NO_NODE:
        item = addressof((tree.work + child).item)
        narrow, wide = contribution(tree, node, child)
        item.used[0] = wide - item.margin[0] - item.margin[1]
        item.base = style_base(tree, node, child, u32(1), f32(INDEFINITE))
        if item.base < 0.0:
            ask_height(tree, child, content_size(item, u32(0), item.used[0]), line_limit(tree, child))
        child = next_item(tree, child)
    return u32(WIDTHS_LINES)


@device(inline=False)
def sum_lines(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Break a column into lines and put those side by side."""
    work = tree.work + node
    style = tree.styles + node
    least = f32(0)
    child = first_item(tree, node)
    while child != NO_NODE:
        item = addressof((tree.work + child).item)
        height = item.base
        if height < 0.0:
            width = content_size(item, u32(0), item.used[0])
            height = answered_height(tree, child, width, line_limit(tree, child)) + item.edge[1]
        item.used[1] = clamp(height, item.least[1], item.most[1])
        narrow, wide = contribution(tree, node, child)
        least = max(least, narrow)
        child = next_item(tree, child)
    limit = work.height if work.height >= 0.0 else work.limit
    lines = break_lines(tree, node, u32(1), limit, resolve_or_zero(style.gap[1], work.height))
    most = f32(0)
    first = first_item(tree, node)
    for line in range(lines):
        widest = f32(0)
        child = first
        for _ in range((tree.work + first).item.line_count):
            narrow, wide = contribution(tree, node, child)
            widest = max(widest, wide)
            child = next_item(tree, child)
        most += widest
        if line > 0:
            most += resolve_or_zero(style.gap[0], f32(INDEFINITE))
        first = (tree.work + first).item.line_end
    return answer_widths(tree, node, least, most)
