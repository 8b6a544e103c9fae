"""The children of a container that take part in its lines, in their order."""

from lanewise.desktop.layout.keywords import NO_NODE, NOWRAP
from lanewise.desktop.layout.lengths import in_flow, is_absolute, is_block
from lanewise.desktop.layout.structures import Item, LayoutTree, NodeStyle
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device
def skip_others(tree: Ptr[LayoutTree], node: i32) -> i32:
    """This node, or the first of its later siblings that takes part in lines."""
    while node != NO_NODE and not in_flow(tree.styles + node):
        node = (tree.links + node).next_sibling
    return node


@device
def find_order(tree: Ptr[LayoutTree], node: i32):
    """Note which items come next, once for all the loops over them: links must have been checked."""
    work = tree.work + node
    work.first_item = skip_others(tree, (tree.links + node).first_child)
    work.next_item = skip_others(tree, (tree.links + node).next_sibling)
    items = u32(0)
    absolutes = u32(0)
    child = (tree.links + node).first_child
    while child != NO_NODE:
        items += u32(in_flow(tree.styles + child))
        absolutes += u32(is_absolute(tree.styles + child))
        child = (tree.links + child).next_sibling
    work.item_count = items
    work.absolute_count = absolutes


@device
def first_item(tree: Ptr[LayoutTree], node: i32) -> i32:
    """The first child that takes part in lines."""
    return (tree.work + node).first_item


@device
def next_item(tree: Ptr[LayoutTree], item: i32) -> i32:
    """The next sibling that takes part in lines."""
    return (tree.work + item).next_item


@device
def wraps(style: Ptr[NodeStyle]) -> bool:
    """Whether a container may have several lines."""
    return not is_block(style) and style.flex_wrap != NOWRAP


@device
def item_of(tree: Ptr[LayoutTree], node: i32) -> Ptr[Item]:
    return addressof((tree.work + node).item)


@device
def outer(item: Ptr[Item], axis: u32) -> f32:
    """The size of an item with its margins."""
    return item.used[axis] + item.margin[2 * axis] + item.margin[2 * axis + 1]
