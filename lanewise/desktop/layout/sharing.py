"""Which thread does what. A GPU gives every node that has something to do a thread of its own.

A CPU runs the threads of a group one after the other on one core, and what they spend on meeting each other is more
than layout takes: there the first thread has all nodes.
"""

from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.intrinsics import ON_GPU
from lanewise.lang.types import Ptr, u32
from lanewise.lang.vocabulary import local_id, threadgroup_barrier, threadgroup_size


@device
def first_of_mine(tree: Ptr[LayoutTree]) -> u32:
    """The first node of this thread; the count of nodes if it has none."""
    if ON_GPU:
        # Neighbours go to different warps: threads of one warp that do different things wait for each other.
        if threadgroup_size() % 32 == 0:
            return local_id() % 32 * (threadgroup_size() // 32) + local_id() // 32
        return local_id()
    else:
        return min(local_id() * tree.count, tree.count)


@device
def nodes_apart() -> u32:
    """How far it is from one node of a thread to its next."""
    if ON_GPU:
        return threadgroup_size()
    else:
        return u32(1)


@device
def takes_part() -> bool:
    """Whether this thread has anything to do where nodes are not shared out one by one."""
    if ON_GPU:
        return True
    else:
        return local_id() == 0


# Of what there is to do in a round every warp has a run of slots. Threads of one warp that do different things wait for
# each other: few slots are a warp each, and of many those that are neighbours, which are mostly siblings, do the same.


@device
def slots_of_warp(count: u32) -> u32:
    """How many slots each warp has."""
    warps = (threadgroup_size() + 31) // 32
    slots = u32(1)
    while slots * warps < count:  # a few times round at most, which is less than a division takes
        slots += 1
    return slots


@device
def first_slot(count: u32) -> u32:
    """The first slot of this thread."""
    if ON_GPU:
        return local_id() // 32 * slots_of_warp(count) + local_id() % 32
    else:
        return u32(0)


@device
def end_of_slots(count: u32) -> u32:
    """Where the slots end that are shared out among this thread's warp."""
    if ON_GPU:
        return min((local_id() // 32 + 1) * slots_of_warp(count), count)
    else:
        return count


@device
def work_alone(count: u32) -> bool:
    """Whether each warp has one slot at most, so that no thread waits for another of its warp."""
    if ON_GPU:
        return slots_of_warp(count) == 1
    else:
        return True


@device
def slots_apart() -> u32:
    """How far it is from one slot of a thread to its next: as many as its warp has threads."""
    if ON_GPU:
        return min(threadgroup_size() - local_id() // 32 * 32, 32)
    else:
        return u32(1)


@device
def meet():
    """Wait for the other threads that have nodes."""
    if ON_GPU:
        threadgroup_barrier()
