"""Parallel reduce: a sum over all threads, first with one atomic per element, then with one per warp of 32 threads."""

import argparse

import numpy as np

import lanewise as lw
from lanewise.lang import Ptr, atomic_add, grid_range, i32, i64, kernel, lane_id, thread_id, u32, warp_reduce_add


@kernel
def sum_each(values: Ptr[i32], total: Ptr[i64]):
    atomic_add(total[0], i64(values[thread_id()]))


@kernel
def sum_by_warp(values: Ptr[i32], n: u32, total: Ptr[i64]):
    mine = i64(0)
    for i in grid_range(n):
        mine += i64(values[i])
    warp = warp_reduce_add(mine)
    if lane_id() == 0:
        atomic_add(total[0], warp)


def run(device: lw.Device, values: np.ndarray) -> tuple[int, int]:
    """The sum of all values, computed in both ways."""
    source = device.array(values, i32)
    each, by_warp = device.zeros(1, i64), device.zeros(1, i64)
    sum_each[source.size](source, each)
    threads = min(source.size, device.threads_to_fill())
    sum_by_warp[threads](source, source.size, by_warp)
    return int(each.get()[0]), int(by_warp.get()[0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--size", type=int, default=1_000_003)
    options = parser.parse_args()
    device = lw.device(options.device)
    values = np.random.default_rng(1).integers(-1000, 1000, options.size, np.int32)
    each, by_warp = run(device, values)
    print(f"{options.size:,} values on {device}")
    print(f"sum: {each:,} with an atomic per element, {by_warp:,} with one per warp, {values.sum():,} by NumPy")
