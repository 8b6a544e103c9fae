"""What host code and device code share when kernels run on a CPU: the launch, the worker thread and the lane it runs.

Lowering reads these fields, the scheduler in `devices` writes them, Python fills in the launch: one definition for all.
"""

from __future__ import annotations

from lanewise.lang.structs import struct
from lanewise.lang.types import u32, u64
from lanewise.settings import WARP_SIZE


@struct
class Traps:
    """How many threads of a kernel trapped, and the lowest of them with the place in its code."""

    count: u32
    reserved: u32
    first: u64  # thread number in the upper half, site in the lower: the smallest wins, on every device alike
    flag: u64  # CUDA: address of a word in host memory that is set when a thread traps


NO_TRAP = 2**64 - 1
MAX_TRACE = 64


@struct
class Launch:
    """One launch on the CPU; all workers share it."""

    next_group: u64  # taken in chunks by atomic add; set far beyond the end to cancel the launch
    thread_count: u32
    group_size: u32
    group_count: u32
    chunk: u32  # groups that a worker takes at a time
    traps: Traps


@struct
class Worker:
    """One OS thread that runs lanes. It owns the stacks and the shared memory of the group it runs."""

    sp: u64  # where `leave` returns to; 0 while the worker is not in device code
    signal: u32  # the signal that ended the last launch on this worker
    reserved: u32
    fault_address: u64
    next: u32  # plain kernels: the threads of the current chunk that are still to run
    end: u32
    shared: u64
    lanes: u64
    boxes: u64  # one WarpBox pair a warp
    stacks: u64
    stack_size: u64
    stack_reserve: u64  # stack that recursion leaves untouched: frames of what it calls, and signal handlers
    scheduler_sp: u64
    guest_sp: u64  # where a guest program's trap or fault goes back to; 0 while the worker runs none
    stack_low: u64  # the lowest address of the thread's own stack: a fault about there is an overflow
    trace_count: u32
    trace_reserved: u32
    trace: u64[MAX_TRACE]  # addresses of the calls that the last trap of a guest was in, the innermost first


@struct
class WarpBox:
    """The values that the lanes of one warp exchange in one warp operation."""

    values: u64[WARP_SIZE]
    present: u32
    reserved: u32


READY, AT_BARRIER, AT_WARP, DONE = range(4)


@struct
class Lane:
    """One thread of a launch. Plain kernels keep it in registers; kernels with barriers have one a fiber."""

    thread_id: u32
    local_id: u32
    group_id: u32
    group_threads: u32  # threads in this group; fewer than group_size in the last
    launch: u64
    worker: u64
    shared: u64
    stack_limit: u64  # recursion below this address traps
    sp: u64
    box: u64  # the WarpBox of the warp operation that this lane entered last
    state: u32
    turn: u32  # which of the warp's two boxes comes next; two are enough, since no lane is two operations ahead
