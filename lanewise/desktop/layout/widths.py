"""The question WIDTHS: how narrow a node's content can be made, and how wide it is if nothing limits it."""

from lanewise.desktop.layout.asking import after, answer_widths, answered_height, ask_height, ask_widths, parent_of
from lanewise.desktop.layout.balance import wanted_lines
from lanewise.desktop.layout.items import auto_least, item_alignment, least_is_auto, line_limit, style_base
from lanewise.desktop.layout.items_order import first_item, next_item, wraps
from lanewise.desktop.layout.keywords import (
    ALIGN_STRETCH,
    NO_NODE,
    UNIT_MAX_CONTENT,
    UNIT_MIN_CONTENT,
    UNIT_PX,
)
from lanewise.desktop.layout.lengths import (
    across,
    boxed,
    clamp,
    content_size,
    is_block,
    main_axis,
    resolve_item,
    resolve_or_zero,
    transferred,
)
from lanewise.desktop.layout.lines import break_lines, longest_line
from lanewise.desktop.layout.numbers import (
    DONE,
    INDEFINITE,
    INFINITE,
    LINE_ITEM,
    LINE_ITEM_END,
    WIDTH_ITEM,
    WIDTH_ITEM_END,
    WIDTHS_LINES,
    WIDTHS_SUM,
)
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device(inline=False)
def begin_widths(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Have the children find the widths that they take."""
    return after(u32(WIDTHS_SUM), u32(WIDTH_ITEM))


@device
def definite_height(tree: Ptr[LayoutTree], node: i32) -> f32:
    """The height of an item that is known before its width is; INDEFINITE where none is."""
    parent = parent_of(tree, node)
    room = (tree.work + parent).height
    item = addressof((tree.work + node).item)
    height = item.size[1]
    in_one_row = main_axis(tree, parent) == 0 and not wraps(tree, parent)
    if height < 0.0 and room >= 0.0 and in_one_row and item_alignment(tree, parent, node) == ALIGN_STRETCH:
        height = max(room - item.margin[2] - item.margin[3], 0.0)
    return clamp(height, item.least[1], item.most[1]) if height >= 0.0 else height


@device(inline=False)
def begin_width_item(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Errand: how wide is this item in its parent, where that is not known? Where its content says it, ask for that."""
    style = tree.styles + node
    item = addressof((tree.work + node).item)
    resolve_item(tree, node, f32(INDEFINITE), (tree.work + parent_of(tree, node)).height)
    height = definite_height(tree, node)
    least = item.size[0]
    if least < 0.0 and style.aspect_ratio > 0.0 and height >= 0.0:
        least = across(style, item, u32(0), height)
    item.contribution[0] = least
    if least < 0.0 or held_by_basis(tree, node):
        return ask_widths(tree, node, content_size(item, u32(1), height), line_limit(tree, node), u32(WIDTH_ITEM_END))
    return contribute(tree, node, least, least)


@device
def held_by_basis(tree: Ptr[LayoutTree], node: i32) -> bool:
    """Whether an item is no wider than its flex basis, or no narrower: in a row, if it does not grow, or not shrink."""
    style = tree.styles + node
    parent = parent_of(tree, node)
    if is_block(tree, parent) or main_axis(tree, parent) != 0 or style.flex_basis.unit != UNIT_PX:
        return False
    return style.flex_grow == 0.0 or style.flex_shrink == 0.0


@device(inline=False)
def end_width_item(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The widths of the content are known."""
    style = tree.styles + node
    work = tree.work + node
    least = work.answers.least_width + work.item.edge[0]
    most = work.answers.most_width + work.item.edge[0]
    if style.size[0].unit == UNIT_MIN_CONTENT:
        most = least
    if style.size[0].unit == UNIT_MAX_CONTENT:
        least = most
    item = addressof(work.item)
    least = transferred(style, item, u32(0), least)
    most = transferred(style, item, u32(0), most)
    if item.contribution[0] >= 0.0:
        least = item.contribution[0]
        most = least
    if held_by_basis(tree, node):
        base = boxed(style, item, u32(0), style.flex_basis.value)
        if style.flex_grow == 0.0:
            least = min(least, base)
            most = min(most, base)
        if style.flex_shrink == 0.0:
            least = max(least, base)
            most = max(most, base)
        if least_is_auto(tree, parent_of(tree, node), node, u32(0)):
            item.least[0] = auto_least(tree, node, u32(0), work.answers.least_width + item.edge[0])
    return contribute(tree, node, least, most)


@device
def contribute(tree: Ptr[LayoutTree], node: i32, least: f32, most: f32) -> u32:
    item = addressof((tree.work + node).item)
    margins = item.margin[0] + item.margin[1]
    item.contribution[0] = max(clamp(least, item.least[0], item.most[0]) + margins, 0.0)
    item.contribution[1] = max(clamp(most, item.least[0], item.most[0]) + margins, 0.0)
    item.used[0] = item.contribution[1] - margins
    return u32(DONE)


@device(inline=False)
def sum_widths(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Put the widths of the children side by side or one above the other."""
    work = tree.work + node
    row = main_axis(tree, node) == 0
    several = wraps(tree, node)
    wanted = wanted_lines(tree, node)
    limit = work.height if work.height >= 0.0 else work.limit
    # A column of several lines is as wide as its lines, which depend on how high the items are.
    lines_matter = not row and several and (limit < INFINITE or wanted > 1)
    gap = resolve_or_zero((tree.styles + node).gap[0], f32(INDEFINITE))
    least = f32(0)
    most = f32(0)
    count = 0
    child = first_item(tree, node)
    while child != NO_NODE:
        item = addressof((tree.work + child).item)
        if row:
            between = gap if count > 0 else f32(0)
            least = max(least, item.contribution[0]) if several else least + item.contribution[0] + between
            most += item.contribution[1] + between
        else:
            least = max(least, item.contribution[0])
            most = max(most, item.contribution[1])
        count += 1
        child = next_item(tree, child)
    if lines_matter:
        return after(u32(WIDTHS_LINES), u32(LINE_ITEM))
    if row and wanted > 1:
        most = longest_line(tree, node, break_lines(tree, node, u32(0), f32(INFINITE), gap), u32(0), gap)
    return answer_widths(tree, node, least, most)


@device(inline=False)
def begin_line_item(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Errand: how high is this item of a column, as wide as it likes to be?"""
    item = addressof((tree.work + node).item)
    item.base = style_base(tree, parent_of(tree, node), node, u32(1), f32(INDEFINITE))
    if item.base >= 0.0:
        item.used[1] = clamp(item.base, item.least[1], item.most[1])
        return u32(DONE)
    width = content_size(item, u32(0), item.used[0])
    return ask_height(tree, node, width, line_limit(tree, node), u32(LINE_ITEM_END))


@device(inline=False)
def end_line_item(tree: Ptr[LayoutTree], node: i32) -> u32:
    item = addressof((tree.work + node).item)
    width = content_size(item, u32(0), item.used[0])
    height = answered_height(tree, node, width, line_limit(tree, node)) + item.edge[1]
    item.used[1] = clamp(height, item.least[1], item.most[1])
    return u32(DONE)


@device(inline=False)
def sum_lines(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Break a column into lines and put those side by side."""
    work = tree.work + node
    style = tree.styles + node
    gap = resolve_or_zero(style.gap[0], f32(INDEFINITE))
    limit = work.height if work.height >= 0.0 else work.limit
    lines = break_lines(tree, node, u32(1), limit, resolve_or_zero(style.gap[1], work.height))
    least = f32(0)
    most = f32(0)
    first = first_item(tree, node)
    for line in range(lines):
        widest = f32(0)
        child = first
        for _ in range((tree.work + first).item.line_count):
            item = addressof((tree.work + child).item)
            least = max(least, item.contribution[0])
            widest = max(widest, item.contribution[1])
            child = next_item(tree, child)
        most += widest
        if line > 0:
            most += gap
        first = (tree.work + first).item.line_end
    return answer_widths(tree, node, least, most)
