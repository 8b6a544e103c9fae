"""The question WIDTHS: how narrow a node's content can be made, and how wide it is if nothing limits it."""

from lanewise.desktop.layout.asking import after, answer_widths, answered_height, ask_height, ask_widths, parent_of
from lanewise.desktop.layout.balance import wanted_lines
from lanewise.desktop.layout.items import (
    auto_least,
    grows_with_content,
    height_limit,
    item_alignment,
    least_is_auto,
    line_limit,
    narrowest,
    style_base,
)
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
    write_resolved,
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
from lanewise.desktop.layout.structures import Item, LayoutTree, NodeStyle, NodeWork
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device(inline=False)
def begin_widths(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Have the children find the widths that they take."""
    return after(u32(WIDTHS_SUM), u32(WIDTH_ITEM))


@device
def definite_height(container: Ptr[NodeStyle], style: Ptr[NodeStyle], item: Ptr[Item], room: f32) -> f32:
    """The height of an item that is known before its width is; INDEFINITE where none is."""
    height = item.size[1]
    in_one_row = main_axis(container) == 0 and not wraps(container)
    if height < 0.0 and room >= 0.0 and in_one_row and item_alignment(container, style) == ALIGN_STRETCH:
        height = max(room - item.margin[2] - item.margin[3], 0.0)
    return clamp(height, item.least[1], item.most[1]) if height >= 0.0 else height


@device(inline=False)
def begin_width_item(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Errand: how wide is this item in its parent, where that is not known? Where its content says it, ask for that."""
    parent = parent_of(tree, node)
    room = (tree.work + parent).height
    container: NodeStyle
    container = (tree.styles + parent)[0]
    style: NodeStyle
    style = (tree.styles + node)[0]
    item: Item
    resolve_item(style, item, f32(INDEFINITE), room)
    height = definite_height(container, style, item, room)
    least = item.size[0]
    grows = False
    if least < 0.0 and style.aspect_ratio > 0.0 and height >= 0.0:
        least = across(style, item, u32(0), height)
        grows = grows_with_content(tree, node, u32(0))
    kept = addressof((tree.work + node).item)
    write_resolved(kept, item)
    kept.contribution[0] = least
    if least < 0.0 or grows or held_by_basis(container, style):
        return ask_widths(tree, node, content_size(item, u32(1), height), line_limit(style, item), u32(WIDTH_ITEM_END))
    return contribute(kept, item, least, least)


@device
def held_by_basis(container: Ptr[NodeStyle], style: Ptr[NodeStyle]) -> bool:
    """Whether an item is no wider than its flex basis, or no narrower: in a row, if it does not grow, or not shrink."""
    if is_block(container) or main_axis(container) != 0 or style.flex_basis.unit != UNIT_PX:
        return False
    return style.flex_grow == 0.0 or style.flex_shrink == 0.0


@device(inline=False)
def end_width_item(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The widths of the content are known."""
    container: NodeStyle
    container = (tree.styles + parent_of(tree, node))[0]
    style: NodeStyle
    style = (tree.styles + node)[0]
    work: NodeWork
    work = (tree.work + node)[0]
    item = addressof(work.item)
    narrow = work.answers.least_width + item.edge[0]
    least = narrow
    most = work.answers.most_width + item.edge[0]
    if style.size[0].unit == UNIT_MIN_CONTENT:
        most = least
    if style.size[0].unit == UNIT_MAX_CONTENT:
        least = most
    least = transferred(style, item, u32(0), least)
    most = transferred(style, item, u32(0), most)
    by_ratio = item.contribution[0] if item.size[0] < 0.0 else f32(INDEFINITE)
    if item.contribution[0] >= 0.0:
        least = item.contribution[0]
        if by_ratio >= 0.0 and grows_with_content(tree, node, u32(0)):
            least = max(least, narrow)
        most = least
    kept = addressof((tree.work + node).item)
    if held_by_basis(container, style):
        base = boxed(style, item, u32(0), style.flex_basis.value)
        held = least
        if style.flex_grow == 0.0:
            held = min(held, base)
            most = min(most, base)
        if style.flex_shrink == 0.0:
            held = max(held, base)
            most = max(most, base)
        if not wraps(container):  # else it may be alone in its line, where its content counts
            least = held
        if least_is_auto(container, style, u32(0)):
            item.least[0] = auto_least(item, u32(0), narrowest(style, item, work.answers.least_width, by_ratio))
            kept.least[0] = item.least[0]
    return contribute(kept, item, least, most)


@device
def contribute(kept: Ptr[Item], item: Ptr[Item], least: f32, most: f32) -> u32:
    """Write what an item takes in its parent."""
    margins = item.margin[0] + item.margin[1]
    widest = max(clamp(most, item.least[0], item.most[0]) + margins, 0.0)
    kept.contribution[0] = max(clamp(least, item.least[0], item.most[0]) + margins, 0.0)
    kept.contribution[1] = widest
    kept.used[0] = widest - margins
    return u32(DONE)


@device(inline=False)
def sum_widths(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Put the widths of the children side by side or one above the other."""
    work = tree.work + node
    row = main_axis(tree.styles + node) == 0
    several = wraps(tree.styles + node)
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
    item.base = style_base(tree.styles + parent_of(tree, node), tree.styles + node, item, u32(1), f32(INDEFINITE))
    if item.base >= 0.0:
        item.used[1] = clamp(item.base, item.least[1], item.most[1])
        return u32(DONE)
    width = content_size(item, u32(0), item.used[0])
    return ask_height(tree, node, width, height_limit(tree.styles + node, item), u32(LINE_ITEM_END))


@device(inline=False)
def end_line_item(tree: Ptr[LayoutTree], node: i32) -> u32:
    item = addressof((tree.work + node).item)
    width = content_size(item, u32(0), item.used[0])
    height = answered_height(tree, node, width, height_limit(tree.styles + node, item)) + item.edge[1]
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
