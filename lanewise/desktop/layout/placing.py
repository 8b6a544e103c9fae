"""From where nodes lie in their parents to boxes in whole pixels: level by level, from the root down."""

from lanewise.desktop.layout.keywords import DISPLAY_NONE, HORIZONTAL, RTL, VERTICAL
from lanewise.desktop.layout.lengths import gutter
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof, floor


@device
def to_pixel(tree: Ptr[LayoutTree], position: f32) -> f32:
    """The nearest whole pixel; halves go up, so that boxes of one size stay of one size."""
    return floor(position + 0.5) if tree.rounding != 0 else position


@device
def scrollbar(tree: Ptr[LayoutTree], node: i32, axis: u32) -> f32:
    """What a scrollbar takes of a node along an axis: no more than padding and border leave."""
    item = addressof((tree.work + node).item)
    return min(gutter(tree.styles + node, axis), max(item.used[axis] - item.frame[axis], 0.0))


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
def place_box(tree: Ptr[LayoutTree], node: i32):
    """Write the box of a node whose parent's box is written."""
    work = tree.work + node
    style = tree.styles + node
    item = addressof(work.item)
    box = tree.boxes + node
    x = item.place[0] + item.nudge[0]
    y = item.place[1] + item.nudge[1]
    left = x
    top = y
    hidden = style.display == DISPLAY_NONE
    if node != tree.root:
        parent = (tree.links + node).parent
        above = tree.work + parent
        around = tree.styles + parent
        hidden = hidden or above.hidden != 0
        x += above.item.padding[0] + around.border[0]
        y += above.item.padding[2] + around.border[2]
        if around.direction == RTL:  # the scrollbar stands at the left
            x += scrollbar(tree, parent, u32(HORIZONTAL))
        left = above.absolute[0] + x
        top = above.absolute[1] + y
    if hidden:
        clear_box(tree, node)
        return
    work.hidden = 0
    work.absolute[0] = left
    work.absolute[1] = top
    box.left = to_pixel(tree, left)
    box.top = to_pixel(tree, top)
    box.x = to_pixel(tree, x)
    box.y = to_pixel(tree, y)
    box.width = to_pixel(tree, left + item.used[0]) - box.left
    box.height = to_pixel(tree, top + item.used[1]) - box.top
    for side in range(4):
        box.border[side] = style.border[side]
        box.padding[side] = item.padding[side]
    box.scrollbar[0] = scrollbar(tree, node, u32(HORIZONTAL))
    box.scrollbar[1] = scrollbar(tree, node, u32(VERTICAL))
    near = u32(1) if style.direction == RTL else u32(0)
    inside = max(item.used[0] - item.edge[0], 0.0) + item.padding[1 - near]
    box.content_width = to_pixel(tree, item.padding[near] + max(work.answers.reach[0], inside))
    inside = max(item.used[1] - item.edge[1], 0.0) + item.padding[3]
    box.content_height = to_pixel(tree, item.padding[2] + max(work.answers.reach[1], inside))
