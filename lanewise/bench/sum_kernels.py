"""Device code of the benchmark `sum`: each thread adds its share, each group adds its threads, one atomic a group."""

from lanewise.lang import (
    Ptr,
    atomic_add,
    device,
    f32,
    grid_range,
    kernel,
    local_id,
    shared,
    threadgroup_barrier,
    threadgroup_size,
    u32,
)

GROUP_SIZE = 256


@device
def add_group(mine: f32, out: Ptr[f32]):
    """Add the values of a group's threads in shared memory as a tree, then add the group's sum to `out`."""
    tile = shared(f32[GROUP_SIZE])
    tile[local_id()] = mine
    threadgroup_barrier()
    stride = threadgroup_size() // 2
    while stride > 0:
        if local_id() < stride:
            tile[local_id()] += tile[local_id() + stride]
        threadgroup_barrier()
        stride //= 2
    if local_id() == 0:
        atomic_add(out[0], tile[0])


@kernel(reassociate=True)
def total(data: Ptr[f32], n: u32, out: Ptr[f32]):
    """Add n numbers to `out`; groups must be whole and of GROUP_SIZE threads."""
    mine = f32(0)
    for i in grid_range(n):
        mine += data[i]
    add_group(mine, out)


@kernel(reassociate=True)
def total_again(data: Ptr[f32], n: u32, out: Ptr[f32], passes: u32):
    """The same work many times over, for data that stays in the caches."""
    mine = f32(0)
    for _ in range(passes):
        for i in grid_range(n):
            mine += data[i]
    add_group(mine, out)
