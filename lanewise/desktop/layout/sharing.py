"""Which thread has which nodes. A GPU gives every node a thread of its own.

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
def meet():
    """Wait for the other threads that have nodes."""
    if ON_GPU:
        threadgroup_barrier()
