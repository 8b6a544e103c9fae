"""The root's errand, which nobody but the screen sends it on: it finds its own size and has its children laid out."""

from lanewise.desktop.layout.asking import answered_height, ask_height, ask_layout, ask_widths
from lanewise.desktop.layout.items import content_width, line_limit
from lanewise.desktop.layout.keywords import UNIT_AUTO
from lanewise.desktop.layout.lengths import across, clamp, content_size, resolve_item
from lanewise.desktop.layout.numbers import (
    DONE,
    INDEFINITE,
    INFINITE,
    ITEM_BASE_DEFINITE,
    ITEM_NEEDS_HEIGHT,
    ROOT_HEIGHT,
    ROOT_WIDTH,
)
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device
def known_room(tree: Ptr[LayoutTree], axis: u32) -> f32:
    return tree.available[axis] if tree.available[axis] < INFINITE else f32(INDEFINITE)


@device(inline=False)
def begin_root(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The width, as the style or the screen says it: a root fills the width that there is."""
    style = tree.styles + node
    item = addressof((tree.work + node).item)
    resolve_item(style, item, known_room(tree, u32(0)), known_room(tree, u32(1)))
    height = clamp(item.size[1], item.least[1], item.most[1]) if item.size[1] >= 0.0 else f32(INDEFINITE)
    width = item.size[0]
    if width < 0.0 and style.aspect_ratio > 0.0 and height >= 0.0:
        width = across(style, item, u32(0), height)
    if width < 0.0 and known_room(tree, u32(0)) >= 0.0 and style.size[0].unit == UNIT_AUTO:
        width = max(tree.available[0] - item.margin[0] - item.margin[1], 0.0)
    item.used[0] = clamp(width, item.least[0], item.most[0]) if width >= 0.0 else f32(INDEFINITE)
    item.used[1] = height
    item.place[0] = item.margin[0]
    item.place[1] = item.margin[2]
    item.nudge[0] = 0.0
    item.nudge[1] = 0.0
    if width >= 0.0:
        return find_root_width(tree, node)
    return ask_widths(
        tree, node, content_size(item, u32(1), height), line_limit(tree.styles + node, item), u32(ROOT_WIDTH)
    )


@device(inline=False)
def find_root_width(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The widths of the content are known where they matter."""
    style = tree.styles + node
    item = addressof((tree.work + node).item)
    if item.used[0] < 0.0:
        item.used[0] = content_width(style, item, (tree.work + node).answers, tree.available[0])
    if item.used[1] < 0.0 and style.aspect_ratio > 0.0:
        item.used[1] = clamp(across(style, item, u32(1), item.used[0]), item.least[1], item.most[1])
    if item.used[1] >= 0.0:
        item.flags |= ITEM_BASE_DEFINITE
        return find_root_height(tree, node)
    item.flags |= ITEM_NEEDS_HEIGHT
    width = content_size(item, u32(0), item.used[0])
    return ask_height(tree, node, width, line_limit(tree.styles + node, item), u32(ROOT_HEIGHT))


@device(inline=False)
def find_root_height(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The size is known: have the children laid out."""
    item = addressof((tree.work + node).item)
    width = content_size(item, u32(0), item.used[0])
    if (item.flags & ITEM_NEEDS_HEIGHT) != 0:
        height = answered_height(tree, node, width, line_limit(tree.styles + node, item)) + item.edge[1]
        item.used[1] = clamp(height, item.least[1], item.most[1])
    definite = u32(1) if (item.flags & ITEM_BASE_DEFINITE) != 0 else u32(0)
    return ask_layout(tree, node, width, content_size(item, u32(1), item.used[1]), definite, u32(DONE))
