"""The screen, the root's parent: it finds the root's size and has it laid out."""

from lanewise.desktop.layout.asking import answered_height, ask_height, ask_layout, ask_widths
from lanewise.desktop.layout.items import fitting, line_limit
from lanewise.desktop.layout.keywords import UNIT_MAX_CONTENT, UNIT_MIN_CONTENT
from lanewise.desktop.layout.lengths import across, clamp, content_size, resolve_item, transferred
from lanewise.desktop.layout.numbers import (
    INDEFINITE,
    INFINITE,
    ITEM_BASE_DEFINITE,
    ITEM_NEEDS_CROSS,
    SCREEN_END,
    SCREEN_HEIGHT,
    SCREEN_LAYOUT,
)
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, u32
from lanewise.lang.vocabulary import addressof


@device
def known_room(tree: Ptr[LayoutTree], axis: u32) -> f32:
    return tree.available[axis] if tree.available[axis] < INFINITE else f32(INDEFINITE)


@device(inline=False)
def begin_root(tree: Ptr[LayoutTree]) -> u32:
    """Ask for the root's width, unless its style or the screen says it: a root fills the width that there is."""
    root = tree.root
    style = tree.styles + root
    item = addressof((tree.work + root).item)
    resolve_item(tree, root, known_room(tree, u32(0)), known_room(tree, u32(1)))
    height = clamp(item.size[1], item.least[1], item.most[1]) if item.size[1] >= 0.0 else f32(INDEFINITE)
    width = item.size[0]
    if width < 0.0 and style.aspect_ratio > 0.0 and height >= 0.0:
        width = across(style, item, u32(0), height)
    if width < 0.0 and known_room(tree, u32(0)) >= 0.0 and style.size[0].unit == 0:
        width = max(tree.available[0] - item.margin[0] - item.margin[1], 0.0)
    item.used[0] = clamp(width, item.least[0], item.most[0]) if width >= 0.0 else f32(INDEFINITE)
    item.used[1] = height
    if width < 0.0:
        ask_widths(tree, root, content_size(item, u32(1), height), line_limit(tree, root))
    return u32(SCREEN_HEIGHT)


@device(inline=False)
def find_root_width(tree: Ptr[LayoutTree]) -> u32:
    root = tree.root
    style = tree.styles + root
    work = tree.work + root
    item = addressof(work.item)
    if item.used[0] < 0.0:
        width = fitting(work.answers.least_width, tree.available[0] - item.edge[0], work.answers.most_width)
        if style.size[0].unit == UNIT_MIN_CONTENT:
            width = work.answers.least_width
        elif style.size[0].unit == UNIT_MAX_CONTENT:
            width = work.answers.most_width
        width = transferred(style, item, u32(0), width + item.edge[0])
        item.used[0] = clamp(width, item.least[0], item.most[0])
    if item.used[1] < 0.0 and style.aspect_ratio > 0.0:
        item.used[1] = clamp(across(style, item, u32(1), item.used[0]), item.least[1], item.most[1])
    if item.used[1] >= 0.0:
        item.flags |= ITEM_BASE_DEFINITE
    else:
        item.flags |= ITEM_NEEDS_CROSS
        ask_height(tree, root, content_size(item, u32(0), item.used[0]), line_limit(tree, root))
    return u32(SCREEN_LAYOUT)


@device(inline=False)
def lay_out_root(tree: Ptr[LayoutTree]) -> u32:
    root = tree.root
    item = addressof((tree.work + root).item)
    width = content_size(item, u32(0), item.used[0])
    if (item.flags & ITEM_NEEDS_CROSS) != 0:
        height = answered_height(tree, root, width, line_limit(tree, root)) + item.edge[1]
        item.used[1] = clamp(height, item.least[1], item.most[1])
    item.place[0] = item.margin[0]
    item.place[1] = item.margin[2]
    definite = u32(1) if (item.flags & ITEM_BASE_DEFINITE) != 0 else u32(0)
    ask_layout(tree, root, width, content_size(item, u32(1), item.used[1]), definite)
    return u32(SCREEN_END)
