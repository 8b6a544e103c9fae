"""The GPU vocabulary for guests: who a lane is, how lanes wait for each other, and what time it is."""

from lanewise.kernel.lane_io import LaneIo
from lanewise.kernel.requests import run_of
from lanewise.lang.functions import device
from lanewise.lang.intrinsics import ON_GPU
from lanewise.lang.program import external
from lanewise.lang.types import Ptr, f32, i64, u32, u64
from lanewise.lang.vocabulary import memory_barrier, threadgroup_barrier, time_ns


@external
def lw_guest_barrier(fiber: u64): ...


@device
def lane_of(io: Ptr[LaneIo]) -> u32:
    """The lane's number in the run."""
    return u32(run_of(io).first_lane) + io.index


@device
def gpu_thread_id(io: Ptr[LaneIo]) -> u32:
    return lane_of(io)


@device
def gpu_thread_count(io: Ptr[LaneIo]) -> u32:
    return u32(run_of(io).lanes)


@device
def gpu_local_id(io: Ptr[LaneIo]) -> u32:
    return lane_of(io) & ((u32(1) << run_of(io).group_shift) - 1)


@device
def gpu_group_id(io: Ptr[LaneIo]) -> u32:
    return lane_of(io) >> run_of(io).group_shift


@device
def gpu_threadgroup_size(io: Ptr[LaneIo]) -> u32:
    size = u32(1) << run_of(io).group_shift
    first = gpu_group_id(io) << run_of(io).group_shift
    return min(size, u32(run_of(io).lanes) - first)


@device(inline=False)
def gpu_threadgroup_barrier(io: Ptr[LaneIo]):
    memory_barrier()
    if ON_GPU:
        threadgroup_barrier()
    else:
        lw_guest_barrier(io.fiber)


@device
def gpu_memory_barrier(io: Ptr[LaneIo]):
    memory_barrier()


@device
def gpu_time_ns(io: Ptr[LaneIo]) -> i64:
    return i64(time_ns() - run_of(io).started)


@device
def gpu_time(io: Ptr[LaneIo]) -> f32:
    return f32(time_ns() - run_of(io).started) * f32(1e-9)
