"""The end of LAYOUT: how far content reaches, and where the node's own baseline is."""

from lanewise.desktop.layout.aligning import reversed_cross, reversed_main
from lanewise.desktop.layout.asking import answer_layout, parent_of
from lanewise.desktop.layout.cross import by_baseline
from lanewise.desktop.layout.items_order import first_item, item_of, next_item
from lanewise.desktop.layout.keywords import DISPLAY_NONE, NO_NODE, OVERFLOW_CLIP, RTL
from lanewise.desktop.layout.lengths import in_flow, main_axis
from lanewise.desktop.layout.numbers import DONE, NO_BASELINE
from lanewise.desktop.layout.rows import item_baseline
from lanewise.desktop.layout.structures import LayoutTree, NodeStyle, NodeWork
from lanewise.desktop.layout.text import text_baseline, text_reach
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device(inline=False)
def end_place(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The children of an item or absolute child lie as they must: note how far it reaches."""
    parent = parent_of(tree, node)
    around: NodeWork
    around = (tree.work + parent)[0]
    container: NodeStyle
    container = (tree.styles + parent)[0]
    style: NodeStyle
    style = (tree.styles + node)[0]
    work: NodeWork
    work = (tree.work + node)[0]
    kept = item_of(tree, node)
    kept.reach[0] = reach_of(around, container, style, work, u32(0))
    kept.reach[1] = reach_of(around, container, style, work, u32(1))
    return u32(DONE)


@device
def reach_of(
    around: Ptr[NodeWork], container: Ptr[NodeStyle], style: Ptr[NodeStyle], work: Ptr[NodeWork], axis: u32
) -> f32:
    """How far a child and what overflows it reach from the beginning of its parent's content box."""
    item = addressof(work.item)
    start, end = 2 * axis, 2 * axis + 1
    leftward = axis == 0 and container.direction == RTL
    at = item.place[axis] + item.nudge[axis]
    if leftward:
        at = around.width - at - item.used[axis]
    far = at + item.used[axis]
    if in_flow(style):
        margin = item.margin[start] if leftward else item.margin[end]
        padding = around.item.padding[start] if leftward else around.item.padding[end]
        far += max(margin, 0.0) + padding
    if style.overflow[axis] <= OVERFLOW_CLIP and style.direction == container.direction:
        border = style.border[end] if leftward else style.border[start]
        padding = item.padding[end] if leftward else item.padding[start]
        far = max(far, at + border + padding + work.answers.reach[axis])
    return far


@device
def own_baseline(tree: Ptr[LayoutTree], node: i32) -> f32:
    """That of the uppermost line: its first item's, if possible of one that is aligned by it. Reversed, the last's."""
    style = tree.styles + node
    first = first_item(tree, node)
    if first == NO_NODE:
        return f32(NO_BASELINE)
    if reversed_cross(style):
        while (tree.work + first).item.line_end != NO_NODE:
            first = (tree.work + first).item.line_end
    chosen = first
    backward = reversed_main(style)
    row = main_axis(style) == 0
    if row or backward:
        aligned = False
        child = first
        for _ in range((tree.work + first).item.line_count):
            by_its_own = row and by_baseline(item_of(tree, child), u32(1))
            if (by_its_own and (not aligned or backward)) or (backward and not aligned):
                chosen = child
            aligned = aligned or by_its_own
            child = next_item(tree, child)
    return (tree.work + chosen).item.place[1] + item_baseline(tree, chosen)


@device(inline=False)
def end_layout(tree: Ptr[LayoutTree], node: i32) -> u32:
    """All children lie as they must."""
    right = f32(0)
    bottom = f32(0)
    child = (tree.links + node).first_child
    while child != NO_NODE:
        item = item_of(tree, child)
        x, y, display = item.reach[0], item.reach[1], (tree.styles + child).display
        child = (tree.links + child).next_sibling
        if display != DISPLAY_NONE:
            right = max(right, x)
            bottom = max(bottom, y)
    return answer_layout(tree, node, own_baseline(tree, node), right, bottom)


@device(inline=False)
def lay_out_leaf(tree: Ptr[LayoutTree], node: i32) -> u32:
    """A node without children has text or nothing."""
    work = tree.work + node
    if (tree.styles + node).text_count == 0:
        return answer_layout(tree, node, f32(NO_BASELINE), f32(0), f32(0))
    right, bottom = text_reach(tree, node, work.width, work.height)
    side = u32(0) if (tree.styles + node).direction == RTL else u32(1)
    right += work.item.padding[side]
    bottom += work.item.padding[3]
    return answer_layout(tree, node, text_baseline(tree, node), right, bottom)
