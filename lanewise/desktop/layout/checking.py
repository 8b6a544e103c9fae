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
from lanewise.desktop.layout.sharing import first_of_mine, meet, nodes_apart, takes_part
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.atomics import atomic_max
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, i32, u32
from lanewise.lang.vocabulary import local_id, shared, threadgroup_barrier


@device
def complain(tree: Ptr[LayoutTree], problem: u32, node: u32):
    """Note what is wrong; of several problems the one that is kept is the same on every device."""
    atomic_max(tree.problem, (problem << PROBLEM_SHIFT) | (UPMOST_NODE - node), scope="group")


@device
def is_link(tree: Ptr[LayoutTree], link: i32, parent: i32) -> bool:
    """Whether a link leads to a node that has this parent."""
    return link >= 0 and link < i32(tree.count) and (tree.links + link).parent == parent


@device
def follow(tree: Ptr[LayoutTree], node: u32, link: i32, parent: i32, linker: u32):
    """Note at a child or sibling who links to it."""
    if link == NO_NODE:
        return
    if is_link(tree, link, parent):
        (tree.work + link).linker = linker
    else:
        complain(tree, u32(PROBLEM_BAD_LINK), node)


@device
def look_back(tree: Ptr[LayoutTree], link: i32, parent: i32, linker: u32):
    """Where somebody else has noted himself at the node that this link leads to, two links lead there."""
    if link != NO_NODE and is_link(tree, link, parent) and (tree.work + link).linker != linker:
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
    if local_id() == 0:
        tree.problem = 0
        deepest[0] = 0
    if takes_part():
        clear_board()
    meet()
    for node in range(first_of_mine(tree), tree.count, nodes_apart()):
        links = tree.links + node
        child, sibling, parent = links.first_child, links.next_sibling, links.parent
        set_pending(tree, i32(node), u32(0))
        follow(tree, node, child, i32(node), 2 * node)
        if sibling != NO_NODE and parent == NO_NODE:
            complain(tree, u32(PROBLEM_BAD_LINK), node)
        else:
            follow(tree, node, sibling, parent, 2 * node + 1)
    meet()
    for node in range(first_of_mine(tree), tree.count, nodes_apart()):
        links = tree.links + node
        child, sibling, parent = links.first_child, links.next_sibling, links.parent
        look_back(tree, child, i32(node), 2 * node)
        if parent != NO_NODE:
            look_back(tree, sibling, parent, 2 * node + 1)
        depth = depth_of(tree, node)
        (tree.work + node).depth = depth
        if depth == DETACHED:
            clear_box(tree, i32(node))
        else:
            atomic_max(deepest[0], depth, scope="group")
            count_dirty(tree, i32(node))
    threadgroup_barrier()
    return deepest[0]
