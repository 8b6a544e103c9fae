"""The end of LAYOUT: how far content reaches, and where the node's own baseline is."""

from lanewise.desktop.layout.aligning import reversed_cross, reversed_main
from lanewise.desktop.layout.asking import answer_layout, parent_of
from lanewise.desktop.layout.cross import by_baseline
from lanewise.desktop.layout.items_order import first_item, next_item
from lanewise.desktop.layout.keywords import NO_NODE, OVERFLOW_CLIP, RTL
from lanewise.desktop.layout.lengths import in_flow, is_absolute, main_axis
from lanewise.desktop.layout.numbers import DONE, NO_BASELINE
from lanewise.desktop.layout.rows import item_baseline
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.desktop.layout.text import text_baseline, text_reach
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device(inline=False)
def end_place(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The children of an item or absolute child lie as they must: note how far it reaches."""
    item = addressof((tree.work + node).item)
    item.reach[0] = reach_of(tree, parent_of(tree, node), node, u32(0))
    item.reach[1] = reach_of(tree, parent_of(tree, node), node, u32(1))
    return u32(DONE)


@device
def reach_of(tree: Ptr[LayoutTree], node: i32, child: i32, axis: u32) -> f32:
    """How far a child and what overflows it reach from the beginning of its parent's content box."""
    work = tree.work + child
    item = addressof(work.item)
    style = tree.styles + child
    leftward = axis == 0 and (tree.styles + node).direction == RTL
    start, end = 2 * axis, 2 * axis + 1
    at = item.place[axis] + item.nudge[axis]
    if leftward:
        at = (tree.work + node).width - at - item.used[axis]
        start, end = end, start
    far = at + item.used[axis]
    if in_flow(tree.styles + child):
        far += max(item.margin[end], 0.0) + (tree.work + node).item.padding[end]
    if style.overflow[axis] <= OVERFLOW_CLIP and style.direction == (tree.styles + node).direction:
        far = max(far, at + style.border[start] + item.padding[start] + work.answers.reach[axis])
    return far


@device
def own_baseline(tree: Ptr[LayoutTree], node: i32) -> f32:
    """That of the uppermost line: its first item's, if possible of one that is aligned by it. Reversed, the last's."""
    first = first_item(tree, node)
    if first == NO_NODE:
        return f32(NO_BASELINE)
    if reversed_cross(tree.styles + node):
        while (tree.work + first).item.line_end != NO_NODE:
            first = (tree.work + first).item.line_end
    chosen = first
    aligned = False
    backward = reversed_main(tree.styles + node)
    child = first
    for _ in range((tree.work + first).item.line_count):
        by_its_own = main_axis(tree.styles + node) == 0 and by_baseline(tree, child, u32(1))
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
        if in_flow(tree.styles + child) or is_absolute(tree.styles + child):
            item = addressof((tree.work + child).item)
            right = max(right, item.reach[0])
            bottom = max(bottom, item.reach[1])
        child = (tree.links + child).next_sibling
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
