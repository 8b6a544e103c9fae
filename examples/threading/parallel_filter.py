"""Parallel filter with compaction: keep some elements and write them without gaps, in any order.

The simple way takes an output slot per element with an atomic. The better way lets the 32 threads of a warp vote, takes
the slots of all of them with one atomic, and each thread counts how many kept elements come before its own.
"""

import argparse

import numpy as np

import lanewise as lw
from lanewise.lang import (
    Ptr,
    atomic_add,
    f32,
    kernel,
    lane_id,
    lanes_below,
    popcount,
    thread_id,
    u32,
    warp_ballot,
    warp_shuffle,
)


@kernel
def keep_each(values: Ptr[f32], limit: f32, kept: Ptr[f32], count: Ptr[u32]):
    value = values[thread_id()]
    if value > limit:
        slot = atomic_add(count[0], 1)
        kept[slot] = value


@kernel
def keep_by_warp(values: Ptr[f32], limit: f32, kept: Ptr[f32], count: Ptr[u32]):
    value = values[thread_id()]
    keep = value > limit
    voted = warp_ballot(keep)
    first = u32(0)
    if lane_id() == 0:
        first = atomic_add(count[0], popcount(voted))
    first = warp_shuffle(first, 0)
    if keep:
        kept[first + lanes_below(voted)] = value


def run(device: lw.Device, values: np.ndarray, limit: float, *, by_warp: bool = True) -> np.ndarray:
    """The values above the limit, in any order."""
    source = device.array(values, f32)
    kept = device.empty(source.size, f32)
    count = device.zeros(1, u32)
    chosen = keep_by_warp if by_warp else keep_each
    chosen[source.size](source, limit, kept, count)
    return kept.get()[: int(count.get()[0])]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--size", type=int, default=1_000_003)
    options = parser.parse_args()
    device = lw.device(options.device)
    values = np.random.default_rng(1).standard_normal(options.size, np.float32)
    kept = run(device, values, 1.0)
    same = np.array_equal(np.sort(kept), np.sort(values[values > 1.0]))
    print(
        f"kept {kept.size:,} of {options.size:,} values on {device}; {'the same as' if same else 'NOT those of'} NumPy"
    )
