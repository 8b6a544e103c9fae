"""The kernel language: typed Python functions that are compiled for the CPU and for GPUs from one source."""

from lanewise.lang.atomics import (
    atomic_add,
    atomic_and,
    atomic_compare_exchange,
    atomic_compare_swap,
    atomic_exchange,
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_store,
    atomic_sub,
    atomic_xor,
)
from lanewise.lang.functions import device, kernel
from lanewise.lang.intrinsics import GRID_RANGE as grid_range
from lanewise.lang.intrinsics import ON_GPU
from lanewise.lang.shared_words import read_shared, write_shared
from lanewise.lang.structs import struct
from lanewise.lang.types import Ptr, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from lanewise.lang.vocabulary import (
    addressof,
    bitcast,
    ceil,
    clock,
    copysign,
    floor,
    fma,
    group_count,
    group_id,
    lane_id,
    leading_zeros,
    local_id,
    memory_barrier,
    mul_high,
    popcount,
    rint,
    shared,
    sqrt,
    thread_count,
    thread_id,
    thread_yield,
    threadgroup_barrier,
    threadgroup_size,
    time_ns,
    trailing_zeros,
    trunc,
)
from lanewise.lang.warp import (
    lanes_below,
    warp_active,
    warp_all,
    warp_any,
    warp_ballot,
    warp_prefix_sum,
    warp_reduce_add,
    warp_reduce_and,
    warp_reduce_max,
    warp_reduce_min,
    warp_reduce_or,
    warp_reduce_xor,
    warp_shuffle,
)
