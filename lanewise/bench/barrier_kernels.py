"""Device code of the benchmark `barrier`: a group hands its values around, with two barriers a turn."""

from lanewise.lang import Ptr, kernel, local_id, shared, threadgroup_barrier, u32

GROUP_SIZE = 1024
TURNS = 5
BARRIERS = 2 * TURNS


@kernel
def pass_around(out: Ptr[u32]):
    """Every thread starts with its own number and takes its neighbour's, TURNS times."""
    tile = shared(u32[GROUP_SIZE])
    value = local_id()
    for _ in range(TURNS):
        tile[local_id()] = value
        threadgroup_barrier()
        value = tile[(local_id() + 1) % GROUP_SIZE]
        threadgroup_barrier()
    out[local_id()] = value
