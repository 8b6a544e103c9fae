"""Errands of an item in a row: its flex base size, then its height at the width that it was given."""

from lanewise.desktop.layout.asking import answered_height, ask_height, ask_layout, ask_widths, parent_of
from lanewise.desktop.layout.items import (
    auto_least,
    begin_item,
    content_height,
    content_unit,
    fitting,
    grows_with_content,
    height_limit,
    line_limit,
    narrowest,
    percent_height,
    stretched,
    write_item,
)
from lanewise.desktop.layout.items_order import wraps
from lanewise.desktop.layout.keywords import ALIGN_BASELINE, UNIT_FIT_CONTENT, UNIT_MIN_CONTENT
from lanewise.desktop.layout.lengths import across, clamp, content_size, transferred
from lanewise.desktop.layout.numbers import (
    DONE,
    HEIGHT,
    INDEFINITE,
    INFINITE,
    ITEM_BASE_CONTENT,
    ITEM_LEAST_AUTO,
    ITEM_STRETCHES,
    NO_BASELINE,
    ROW_HEIGHT_END,
    ROW_HEIGHT_FOUND,
    ROW_ITEM_END,
)
from lanewise.desktop.layout.structures import Item, LayoutTree, NodeStyle, NodeWork
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device(inline=False)
def begin_row_item(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Errand: the flex base size and the limits of an item along a row."""
    parent = parent_of(tree, node)
    around: NodeWork
    around = (tree.work + parent)[0]
    container: NodeStyle
    container = (tree.styles + parent)[0]
    style: NodeStyle
    style = (tree.styles + node)[0]
    item: Item
    begin_item(around, container, style, item, u32(0))
    whole = percent_height(around)
    height = clamp(item.size[1], item.least[1], item.most[1]) if item.size[1] >= 0.0 else f32(INDEFINITE)
    if height < 0.0 and whole >= 0.0 and (item.flags & ITEM_STRETCHES) != 0 and not wraps(container):
        height = stretched(item, u32(1), whole)
    item.used[0] = INDEFINITE
    if style.aspect_ratio > 0.0 and height >= 0.0:
        item.used[0] = across(style, item, u32(0), height)
        if item.base < 0.0:
            item.base = item.used[0]
            item.flags &= ~u32(ITEM_BASE_CONTENT)
    write_item(addressof((tree.work + node).item), item)
    if (item.flags & (ITEM_BASE_CONTENT | ITEM_LEAST_AUTO)) == 0:
        return end_row_item(tree, node)
    return ask_widths(tree, node, content_size(item, u32(1), height), line_limit(style, item), u32(ROW_ITEM_END))


@device(inline=False)
def end_row_item(tree: Ptr[LayoutTree], node: i32) -> u32:
    parent = parent_of(tree, node)
    container: NodeStyle
    container = (tree.styles + parent)[0]
    style: NodeStyle
    style = (tree.styles + node)[0]
    work: NodeWork
    work = (tree.work + node)[0]
    item = addressof(work.item)
    narrow, wide = work.answers.least_width, work.answers.most_width
    if (item.flags & ITEM_BASE_CONTENT) != 0:
        unit = content_unit(container, style, u32(0))
        room = (tree.work + parent).width - item.margin[0] - item.margin[1] - item.edge[0]
        size = wide
        if unit == UNIT_MIN_CONTENT:
            size = narrow
        elif unit == UNIT_FIT_CONTENT:
            size = fitting(narrow, room, wide)
        item.base = transferred(style, item, u32(0), size + item.edge[0])
    if (item.flags & ITEM_LEAST_AUTO) != 0:
        item.least[0] = auto_least(item, u32(0), narrowest(style, item, narrow, item.used[0]))
    kept = addressof((tree.work + node).item)
    kept.base = item.base
    kept.least[0] = item.least[0]
    kept.used[0] = clamp(item.base, item.least[0], item.most[0])
    return u32(DONE)


@device(inline=False)
def begin_row_height(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Errand: the height of an item in a row, now that its width is known."""
    parent = parent_of(tree, node)
    around = tree.work + parent
    room = around.limit if around.question == HEIGHT else around.height  # see `height_limit`
    container: NodeStyle
    container = (tree.styles + parent)[0]
    style: NodeStyle
    style = (tree.styles + node)[0]
    item: Item
    item = (tree.work + node).item
    height = f32(INDEFINITE)
    if item.size[1] >= 0.0:
        height = clamp(item.size[1], item.least[1], item.most[1])
    elif (item.flags & ITEM_STRETCHES) != 0 and room >= 0.0 and room < INFINITE and not wraps(container):
        height = stretched(item, u32(1), room)
    elif style.aspect_ratio > 0.0 and not grows_with_content(tree, node, u32(1)):
        height = clamp(across(style, item, u32(1), item.used[0]), item.least[1], item.most[1])
    else:
        width = content_size(item, u32(0), item.used[0])
        return ask_height(tree, node, width, height_limit(style, item), u32(ROW_HEIGHT_FOUND))
    item.used[1] = height
    (tree.work + node).item.used[1] = height
    return find_baseline(tree, node, style, item)


@device(inline=False)
def find_row_height(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The height of the content is known."""
    style: NodeStyle
    style = (tree.styles + node)[0]
    item: Item
    item = (tree.work + node).item
    content = answered_height(tree, node, content_size(item, u32(0), item.used[0]), height_limit(style, item))
    item.used[1] = content_height(style, item, content)
    (tree.work + node).item.used[1] = item.used[1]
    return find_baseline(tree, node, style, item)


@device
def find_baseline(tree: Ptr[LayoutTree], node: i32, style: Ptr[NodeStyle], item: Ptr[Item]) -> u32:
    """An item that is aligned by its baseline is laid out to find it."""
    if item.align != ALIGN_BASELINE:
        return u32(DONE)
    width = content_size(item, u32(0), item.used[0])
    height = content_size(item, u32(1), item.used[1])
    return ask_layout(tree, node, width, height, definite_in_row(style, item), u32(ROW_HEIGHT_END))


@device(inline=False)
def end_row_height(tree: Ptr[LayoutTree], node: i32) -> u32:
    (tree.work + node).item.baseline = item_baseline(tree, node)
    return u32(DONE)


@device
def item_baseline(tree: Ptr[LayoutTree], node: i32) -> f32:
    """From the top of a laid out item's border box to its baseline; its lower edge if it has none."""
    work = tree.work + node
    if work.answers.baseline == NO_BASELINE:
        return work.item.used[1]
    return work.answers.baseline + work.item.padding[2] + (tree.styles + node).border[2]


@device
def definite_in_row(style: Ptr[NodeStyle], item: Ptr[Item]) -> u32:
    """Whether percentages of an item's height mean something to its children."""
    return u32(item.size[1] >= 0.0 or (item.flags & ITEM_STRETCHES) != 0 or style.aspect_ratio > 0.0)
