"""From where nodes lie in their parents to boxes in whole pixels: places are added up from the root down."""

from lanewise.desktop.layout.keywords import DISPLAY_NONE, HORIZONTAL, RTL, VERTICAL
from lanewise.desktop.layout.lengths import gutter
from lanewise.desktop.layout.numbers import DETACHED
from lanewise.desktop.layout.sharing import first_of_mine, meet, nodes_apart
from lanewise.desktop.layout.structures import Item, LayoutTree, NodeStyle, NodeWork
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof, floor

LEVELS = 8
"""How many levels of a tree get their places between two barriers."""


@device
def to_pixel(position: f32, rounding: bool) -> f32:
    """The nearest whole pixel; halves go up, so that boxes of one size stay of one size."""
    return floor(position + 0.5) if rounding else position


@device
def scrollbar(style: Ptr[NodeStyle], item: Ptr[Item], axis: u32) -> f32:
    """What a scrollbar takes of a node along an axis: no more than padding and border leave."""
    return min(gutter(style, axis), max(item.used[axis] - item.frame[axis], 0.0))


@device(inline=False)
def clear_box(tree: Ptr[LayoutTree], node: i32):
    """A node that is not shown: it is nowhere and has no size."""
    work = tree.work + node
    box = tree.boxes + node
    work.hidden = 1
    box.x = 0.0
    box.y = 0.0
    box.width = 0.0
    box.height = 0.0
    box.left = 0.0
    box.top = 0.0
    box.content_width = 0.0
    box.content_height = 0.0
    for side in range(4):
        box.border[side] = 0.0
        box.padding[side] = 0.0
    box.scrollbar[0] = 0.0
    box.scrollbar[1] = 0.0


@device(inline=False)
def find_corner(tree: Ptr[LayoutTree], node: i32):
    """Note where the border box of a node begins, seen from its parent's. All nodes do this at once."""
    style: NodeStyle
    style = (tree.styles + node)[0]
    work: NodeWork
    work = (tree.work + node)[0]
    item = addressof(work.item)
    x = item.place[0] + item.nudge[0]
    y = item.place[1] + item.nudge[1]
    if node != tree.root:
        parent = (tree.links + node).parent
        above: NodeWork
        above = (tree.work + parent)[0]
        around: NodeStyle
        around = (tree.styles + parent)[0]
        x += above.item.padding[0] + around.border[0]
        y += above.item.padding[2] + around.border[2]
        if around.direction == RTL:  # the scrollbar stands at the left
            x += scrollbar(around, above.item, u32(HORIZONTAL))
    kept = tree.work + node
    kept.hidden = u32(style.display == DISPLAY_NONE)
    kept.corner[0] = x
    kept.corner[1] = y
    kept.absolute[0] = x
    kept.absolute[1] = y


@device
def add_corners(tree: Ptr[LayoutTree], node: i32, levels: u32):
    """Go on from the node so many levels above, whose place is known. Sums are made from there down, as all make them.

    Nodes between are at this, too: what is read of them stays as it is, but that one may be found to be hidden.
    """
    path: i32[LEVELS]
    at = node
    for level in range(levels):
        path[level] = at
        at = (tree.links + at).parent
    above = tree.work + at
    x, y, hidden = above.absolute[0], above.absolute[1], above.hidden
    for level in range(levels):
        below = tree.work + path[levels - 1 - level]
        x += below.corner[0]
        y += below.corner[1]
        hidden |= below.hidden
    kept = tree.work + node
    kept.absolute[0] = x
    kept.absolute[1] = y
    kept.hidden = hidden


@device(inline=False)
def write_box(tree: Ptr[LayoutTree], node: i32):
    """Write the box of a node whose place is known."""
    style: NodeStyle
    style = (tree.styles + node)[0]
    work: NodeWork
    work = (tree.work + node)[0]
    item = addressof(work.item)
    rounding = tree.rounding != 0
    if work.hidden != 0:
        clear_box(tree, node)
        return
    left = work.absolute[0]
    top = work.absolute[1]
    near = item.padding[1] if style.direction == RTL else item.padding[0]
    far = item.padding[0] if style.direction == RTL else item.padding[1]
    inside = max(item.used[0] - item.edge[0], 0.0) + far
    content_width = near + max(work.answers.reach[0], inside)
    inside = max(item.used[1] - item.edge[1], 0.0) + item.padding[3]
    content_height = item.padding[2] + max(work.answers.reach[1], inside)
    box = tree.boxes + node
    box.left = to_pixel(left, rounding)
    box.top = to_pixel(top, rounding)
    box.x = to_pixel(work.corner[0], rounding)
    box.y = to_pixel(work.corner[1], rounding)
    box.width = to_pixel(left + item.used[0], rounding) - to_pixel(left, rounding)
    box.height = to_pixel(top + item.used[1], rounding) - to_pixel(top, rounding)
    for side in range(4):
        box.border[side] = style.border[side]
        box.padding[side] = item.padding[side]
    box.scrollbar[0] = scrollbar(style, item, u32(HORIZONTAL))
    box.scrollbar[1] = scrollbar(style, item, u32(VERTICAL))
    box.content_width = to_pixel(content_width, rounding)
    box.content_height = to_pixel(content_height, rounding)


@device
def place_boxes(tree: Ptr[LayoutTree], deepest: u32):
    """Write the boxes of all nodes; all threads come here, and the deepest node is so deep."""
    for node in range(first_of_mine(tree), tree.count, nodes_apart()):
        if (tree.work + node).depth != DETACHED:
            find_corner(tree, i32(node))
    meet()
    for known in range(u32(0), deepest, u32(LEVELS)):
        for node in range(first_of_mine(tree), tree.count, nodes_apart()):
            depth = (tree.work + node).depth
            if depth > known and depth <= known + LEVELS:  # which DETACHED is not
                add_corners(tree, i32(node), depth - known)
        meet()
    for node in range(first_of_mine(tree), tree.count, nodes_apart()):
        if (tree.work + node).depth != DETACHED:
            write_box(tree, i32(node))
