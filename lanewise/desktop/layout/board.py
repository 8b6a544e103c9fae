"""The board: which nodes have something to do in the next round, and how many children each node still waits for.

Rounds end at a barrier, and what stands on the board is taken up behind it. So nobody looks at nodes that have nothing
to do, and nobody waits for a mark of another thread. The barrier makes what was written before seen after it, and
where a parent goes on before one, the count of its children does.
The board is in shared memory, where looking at it costs next to nothing. What does not fit stands in `NodeWork`.
"""

from lanewise.desktop.layout.items_order import next_item
from lanewise.desktop.layout.keywords import NO_NODE
from lanewise.desktop.layout.lengths import is_absolute
from lanewise.desktop.layout.numbers import ABSOLUTE, ENTRY_SHIFT, PLACE, UPMOST_NODE
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.desktop.limits import MAX_WIDGETS
from lanewise.lang.atomics import atomic_add, atomic_load, atomic_store, atomic_sub
from lanewise.lang.functions import device
from lanewise.lang.structs import struct
from lanewise.lang.types import Ptr, i32, u32
from lanewise.lang.vocabulary import shared

KEPT = MAX_WIDGETS
"""So many nodes have their place on the board itself."""


@struct
class Board:
    """Three counts in turns: a round reads one, writes the next, and clears the one that the round after it writes."""

    counts: u32[3]
    unmarked: u32  # whether there is a dirty node whose parent does not know of it
    entries: u32[2 * KEPT]  # of this round and of the next, in turns: a node, and above it its errand
    pending: u32[KEPT]  # children that are on errands


@device
def board() -> Ptr[Board]:
    return shared(Board)


@device
def clear_board():
    """Nothing stands on the board; threads do this before a barrier, and all write the same."""
    for turn in range(u32(3)):
        board().counts[turn] = 0
    board().unmarked = 0


@device
def entries_of(turn: u32) -> u32:
    """How many nodes have something to do in a round. Every thread reads this behind the barrier before the round."""
    return atomic_load(board().counts[turn % 3], scope="group")


@device
def clear_after(turn: u32):
    """Make ready what the round after the next one counts; threads do this in each round, and all write the same."""
    board().counts[(turn + 2) % 3] = 0


@device
def entry_of(tree: Ptr[LayoutTree], turn: u32, slot: u32) -> u32:
    if slot < KEPT:
        return atomic_load(board().entries[(turn & 1) * KEPT + slot], scope="group")
    return (tree.work + slot).entries[turn & 1]


@device
def put(tree: Ptr[LayoutTree], turn: u32, slot: u32, entry: u32):
    if slot < KEPT:
        atomic_store(board().entries[(turn & 1) * KEPT + slot], entry, scope="group")
    else:
        (tree.work + slot).entries[turn & 1] = entry


@device
def put_first(tree: Ptr[LayoutTree], node: i32, errand: u32):
    """Put a node on the board for the first round."""
    put(tree, u32(0), atomic_add(board().counts[0], 1, scope="group"), u32(node) | errand << ENTRY_SHIFT)


@device
def pending_of(tree: Ptr[LayoutTree], node: i32) -> u32:
    return board().pending[node] if u32(node) < KEPT else (tree.work + node).pending


@device
def set_pending(tree: Ptr[LayoutTree], node: i32, count: u32):
    if u32(node) < KEPT:
        board().pending[node] = count
    else:
        (tree.work + node).pending = count


@device
def add_pending(tree: Ptr[LayoutTree], node: i32):
    """Have a node wait for one child more, before the first round."""
    if u32(node) < KEPT:
        atomic_add(board().pending[node], 1, scope="group")
    else:
        atomic_add((tree.work + node).pending, 1)


@device(inline=False)
def send(tree: Ptr[LayoutTree], turn: u32, node: i32, errand: u32) -> bool:
    """Send all items on an errand, and absolute children on theirs with the last one; False if there is nobody."""
    work = tree.work + node
    count = work.item_count
    if errand == PLACE:
        count += work.absolute_count
    if count == 0:
        return False
    set_pending(tree, node, count)
    slot = atomic_add(board().counts[(turn + 1) % 3], count, scope="group")
    child = work.first_item
    while child != NO_NODE:
        put(tree, turn + 1, slot, u32(child) | errand << ENTRY_SHIFT)
        slot += 1
        child = next_item(tree, child)
    if errand == PLACE and work.absolute_count > 0:
        child = (tree.links + node).first_child
        while child != NO_NODE:
            if is_absolute(tree.styles + child):
                put(tree, turn + 1, slot, u32(child) | u32(ABSOLUTE) << ENTRY_SHIFT)
                slot += 1
            child = (tree.links + child).next_sibling
    return True


@device
def come_back(tree: Ptr[LayoutTree], node: i32) -> i32:
    """The errand is done: the last child that is back gets its parent, which goes on now; the others NO_NODE."""
    if node == tree.root:
        return i32(NO_NODE)
    parent = (tree.links + node).parent
    left = u32(0)
    # What children wrote must be seen by the one that goes on: it may do so at once, before a barrier.
    # Scopes that differ keep the compiler from making one atomic of both, on an address that may be in either memory.
    if u32(parent) < KEPT:
        left = atomic_sub(board().pending[parent], 1, order="acq_rel", scope="group")
    else:
        left = atomic_sub((tree.work + parent).pending, 1, order="acq_rel")
    return parent if left == 1 else i32(NO_NODE)


@device
def put_back(tree: Ptr[LayoutTree], turn: u32, node: i32):
    """Have a node whose children are back go on in the next round."""
    put(tree, turn + 1, atomic_add(board().counts[(turn + 1) % 3], 1, scope="group"), u32(node))


@device
def node_of(entry: u32) -> i32:
    return i32(entry & UPMOST_NODE)


@device
def errand_of(entry: u32) -> u32:
    """The errand that a node is sent on; 0 where its children are back."""
    return entry >> ENTRY_SHIFT
