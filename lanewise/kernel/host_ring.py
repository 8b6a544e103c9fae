"""The host's end of the ring of requests, as native code: Python has no fences of its own."""

from lanewise.kernel.lane_io import Request
from lanewise.lang.atomics import atomic_load, atomic_store
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, u32, u64


@device
def lw_ring_ready(requests: u64, step: u64, mask: u64, ticket: u64, spins: u32) -> u32:
    """How many requests, from this ticket on, have been asked; looks so often until there is one."""
    ready = u32(0)
    for _ in range(spins):
        while u64(ready) <= mask:
            request = Ptr[Request](requests + ((ticket + u64(ready)) & mask) * step)
            if atomic_load(request.asked, order="acquire", scope="system") != ticket + u64(ready) + 1:
                break
            ready += 1
        if ready != 0:
            return ready
    return ready


@device
def lw_ring_answer(request: Ptr[Request], ticket: u64):
    """Publish an answer that has been filled in."""
    atomic_store(request.answered, ticket + 1, order="release", scope="system")
