"""The errand of an item in a column: its width first, then its flex base size, which is a height."""

from lanewise.desktop.layout.asking import answered_height, ask_height, ask_widths, parent_of
from lanewise.desktop.layout.balance import wanted_lines
from lanewise.desktop.layout.items import (
    auto_least,
    begin_item,
    content_width,
    grows_with_content,
    height_limit,
    line_limit,
    percent_height,
    stretched,
    write_item,
)
from lanewise.desktop.layout.items_order import wraps
from lanewise.desktop.layout.lengths import across, clamp, content_size, is_block, resolve_or_zero, transferred
from lanewise.desktop.layout.numbers import (
    COLUMN_ITEM_END,
    COLUMN_ITEM_WIDTH,
    DONE,
    INDEFINITE,
    ITEM_BASE_CONTENT,
    ITEM_BASE_DEFINITE,
    ITEM_FITS,
    ITEM_LEAST_AUTO,
    ITEM_STRETCHES,
)
from lanewise.desktop.layout.structures import Item, LayoutTree, NodeStyle, NodeWork
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device(inline=False)
def begin_column_item(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Errand: the width of an item in a column, its flex base size and its limits."""
    parent = parent_of(tree, node)
    around: NodeWork
    around = (tree.work + parent)[0]
    container: NodeStyle
    container = (tree.styles + parent)[0]
    style: NodeStyle
    style = (tree.styles + node)[0]
    item: Item
    begin_item(around, container, style, item, u32(1))
    width = f32(INDEFINITE)
    if item.size[0] >= 0.0:
        width = clamp(item.size[0], item.least[0], item.most[0])
    elif (item.flags & ITEM_STRETCHES) != 0 and not wraps(container):
        width = stretched(item, u32(0), around.width)
    item.used[0] = width
    write_item(addressof((tree.work + node).item), item)
    if width >= 0.0:
        return find_column_width(tree, node)
    height = clamp(item.size[1], item.least[1], item.most[1]) if item.size[1] >= 0.0 else f32(INDEFINITE)
    return ask_widths(tree, node, content_size(item, u32(1), height), line_limit(style, item), u32(COLUMN_ITEM_WIDTH))


@device
def line_share(tree: Ptr[LayoutTree], node: i32) -> f32:
    """How much of a column's width each of the lines has that it must have at least."""
    width = (tree.work + node).width
    lines = f32(wanted_lines(tree, node))
    return (width - (lines - 1.0) * resolve_or_zero((tree.styles + node).gap[0], width)) / lines


@device(inline=False)
def find_column_width(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The widths of the content are known where they matter."""
    style: NodeStyle
    style = (tree.styles + node)[0]
    work: NodeWork
    work = (tree.work + node)[0]
    item = addressof(work.item)
    if item.used[0] < 0.0:
        room = line_share(tree, parent_of(tree, node)) - item.margin[0] - item.margin[1]
        item.used[0] = content_width(style, item, work.answers, room)
        if style.aspect_ratio == 0.0:
            item.flags |= ITEM_FITS
        elif item.size[1] >= 0.0 and grows_with_content(tree, node, u32(0)):
            # The width will be that of the height and the aspect ratio, but no less than the content's.
            item.least[0] = max(item.least[0], min(work.answers.least_width + item.edge[0], item.most[0]))
    if (item.flags & ITEM_BASE_CONTENT) != 0 and style.aspect_ratio > 0.0:
        item.base = across(style, item, u32(1), item.used[0])
        item.flags &= ~u32(ITEM_BASE_CONTENT)
        item.flags |= ITEM_BASE_DEFINITE
    kept = addressof((tree.work + node).item)
    kept.used[0] = item.used[0]
    kept.least[0] = item.least[0]
    kept.base = item.base
    kept.flags = item.flags
    if (item.flags & (ITEM_BASE_CONTENT | ITEM_LEAST_AUTO)) == 0:
        return end_column_item(tree, node)
    width = content_size(item, u32(0), item.used[0])
    return ask_height(tree, node, width, height_limit(style, item), u32(COLUMN_ITEM_END))


@device(inline=False)
def end_column_item(tree: Ptr[LayoutTree], node: i32) -> u32:
    style: NodeStyle
    style = (tree.styles + node)[0]
    item: Item
    item = (tree.work + node).item
    if (item.flags & (ITEM_BASE_CONTENT | ITEM_LEAST_AUTO)) != 0:
        width = content_size(item, u32(0), item.used[0])
        content = answered_height(tree, node, width, height_limit(style, item)) + item.edge[1]
        if (item.flags & ITEM_BASE_CONTENT) != 0:
            item.base = transferred(style, item, u32(1), content)
        if (item.flags & ITEM_LEAST_AUTO) != 0:
            if style.aspect_ratio > 0.0:
                content = max(content, across(style, item, u32(1), item.used[0]))
            item.least[1] = auto_least(item, u32(1), transferred(style, item, u32(1), content))
    kept = addressof((tree.work + node).item)
    kept.base = item.base
    kept.least[1] = item.least[1]
    kept.used[1] = clamp(item.base, item.least[1], item.most[1])
    return u32(DONE)


@device
def width_of_flexed(tree: Ptr[LayoutTree], parent: i32, node: i32):
    """The width of an item in a column that has an aspect ratio follows its height, unless something else says it.

    Where lines wrap it makes its line as wide as that, also if it is then stretched to it.
    """
    style = tree.styles + node
    item = addressof((tree.work + node).item)
    stretches = (item.flags & ITEM_STRETCHES) != 0 and not wraps(tree.styles + parent)
    if style.aspect_ratio > 0.0 and item.size[0] < 0.0 and not stretches:
        item.used[0] = clamp(across(style, item, u32(0), item.used[1]), item.least[0], item.most[0])


@device
def definite_in_column(around: Ptr[NodeWork], container: Ptr[NodeStyle], item: Ptr[Item]) -> u32:
    """Whether percentages of an item's height mean something to its children."""
    known = item.size[1] >= 0.0 or (item.flags & ITEM_BASE_DEFINITE) != 0
    return u32(known or (not is_block(container) and percent_height(around) >= 0.0))
