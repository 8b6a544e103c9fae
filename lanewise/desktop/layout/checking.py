"""Before layout: are the links those of a tree? Handlers change them on the device, and a cycle would never end."""

from lanewise.desktop.layout.board import clear_board, set_pending
from lanewise.desktop.layout.keywords import NO_NODE
from lanewise.desktop.layout.numbers import (
    DETACHED,
    PROBLEM_BAD_LINK,
    PROBLEM_CYCLE,
    PROBLEM_LINKED_TWICE,
    PROBLEM_SHIFT,
    UPMOST_NODE,
)
from lanewise.desktop.layout.placing import clear_box
from lanewise.desktop.layout.rechecking import count_dirty
from lanewise.desktop.layout.sharing import first_of_mine, meet, nodes_apart
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.atomics import atomic_add, atomic_max
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, i32, u32
from lanewise.lang.vocabulary import local_id, shared, threadgroup_barrier


@device
def complain(tree: Ptr[LayoutTree], problem: u32, node: u32):
    """Note what is wrong; of several problems the one that is kept is the same on every device."""
    atomic_max(tree.problem, (problem << PROBLEM_SHIFT) | (UPMOST_NODE - node), scope="group")


@device
def follow(tree: Ptr[LayoutTree], node: u32, link: i32, parent: i32):
    """Count a link to a child or sibling, which must have this parent."""
    if link == NO_NODE:
        return
    if link < 0 or link >= i32(tree.count) or (tree.links + link).parent != parent:
        complain(tree, u32(PROBLEM_BAD_LINK), node)
        return
    if atomic_add((tree.work + link).references, 1, scope="group") != 0:
        complain(tree, u32(PROBLEM_LINKED_TWICE), u32(link))


@device
def depth_of(tree: Ptr[LayoutTree], node: u32) -> u32:
    """How far a node is from the root; DETACHED if it does not hang on it."""
    at = i32(node)
    for depth in range(tree.count):
        if at == tree.root:
            return depth
        at = (tree.links + at).parent
        if at < 0 or at >= i32(tree.count):
            return u32(DETACHED)
    complain(tree, u32(PROBLEM_CYCLE), node)
    return u32(DETACHED)


@device
def check_links(tree: Ptr[LayoutTree]) -> u32:
    """Check the links, find the depths and make everything ready; gives the depth of the deepest node."""
    deepest = shared(u32[1])
    for node in range(first_of_mine(tree), tree.count, nodes_apart()):
        (tree.work + node).references = 0
        set_pending(tree, i32(node), u32(0))
    if local_id() == 0:
        tree.problem = 0
        deepest[0] = 0
    clear_board()
    meet()
    for node in range(first_of_mine(tree), tree.count, nodes_apart()):
        links = tree.links + node
        follow(tree, node, links.first_child, i32(node))
        if links.next_sibling != NO_NODE and links.parent == NO_NODE:
            complain(tree, u32(PROBLEM_BAD_LINK), node)
        else:
            follow(tree, node, links.next_sibling, links.parent)
        depth = depth_of(tree, node)
        (tree.work + node).depth = depth
        if depth == DETACHED:
            clear_box(tree, i32(node))
        else:
            atomic_max(deepest[0], depth, scope="group")
            count_dirty(tree, i32(node))
    threadgroup_barrier()
    return deepest[0]
