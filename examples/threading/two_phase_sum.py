"""The two-phase parallel sum: a tree in the shared memory of each group, then one atomic per group.

Every thread first adds up its own share of the elements, so the launch only needs enough threads to fill the device.
"""

import argparse

import numpy as np

import lanewise as lw
from lanewise.lang import (
    Ptr,
    atomic_add,
    f32,
    grid_range,
    kernel,
    local_id,
    shared,
    threadgroup_barrier,
    threadgroup_size,
    u32,
)

GROUP = 256


@kernel
def total(values: Ptr[f32], n: u32, result: Ptr[f32]):
    tile = shared(f32[GROUP])
    mine = f32(0)
    for i in grid_range(n):
        mine += values[i]

    # Phase 1: the group adds up its threads' sums. Rounding up keeps the odd one, in groups of any size.
    me = local_id()
    tile[me] = mine
    threadgroup_barrier()
    left = threadgroup_size()
    while left > 1:
        half = (left + 1) // 2
        if me + half < left:
            tile[me] += tile[me + half]
        threadgroup_barrier()
        left = half

    # Phase 2: one thread per group adds the group's sum to the result.
    if me == 0:
        atomic_add(result[0], tile[0])


def run(device: lw.Device, values: np.ndarray) -> float:
    """The sum of all values."""
    source = device.array(values, f32)
    result = device.zeros(1, f32)
    threads = min(source.size, device.threads_to_fill(GROUP))
    total[threads, GROUP](source, source.size, result)
    return float(result.get()[0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--size", type=int, default=1_000_003)
    options = parser.parse_args()
    device = lw.device(options.device)
    values = np.random.default_rng(1).random(options.size, np.float32)
    print(f"sum of {options.size:,} values: {run(device, values):,.2f} on {device}, {values.sum():,.2f} by NumPy")
