"""The CPU's runtime, in lang: it runs the threads of a group as fibers and ends threads that trap or fault.

One worker thread of the OS runs one group at a time, so the lanes of a group never run at the same instant: what they
share needs no atomics here. What workers share (the launch) does.
"""

import platform
import signal
import sys

from lanewise.devices.fibers import frame_layout
from lanewise.lang.atomics import atomic_add, atomic_min
from lanewise.lang.functions import device
from lanewise.lang.lane import AT_BARRIER, AT_WARP, DONE, MAX_TRACE, READY, Lane, Launch, WarpBox, Worker
from lanewise.lang.program import external
from lanewise.lang.structs import struct
from lanewise.lang.types import Ptr, i32, u8, u32, u64
from lanewise.lang.vocabulary import addressof
from lanewise.settings import MAX_CPU_THREADS, WARP_SIZE

FRAME = frame_layout()
FRAME_WORDS = FRAME.words
FRAME_LANE, FRAME_FUNCTION, FRAME_ARGS = FRAME.lane, FRAME.function, FRAME.args
FRAME_DONE, FRAME_START = FRAME.done, FRAME.start

FINISHED, TRAPPED, INTERRUPTED, FAULTED = range(4)
CANCEL_SIGNAL = int(signal.SIGRTMIN + 7 if hasattr(signal, "SIGRTMIN") else signal.SIGUSR2)
"""Sent to a worker thread to end its launch; nothing else in a Python process uses it by default."""

_ARM = platform.machine().lower() in ("aarch64", "arm64")
CONTEXT_PC, CONTEXT_FRAME = (55, 52) if _ARM else (21, 15)
"""Linux: which words of the ucontext_t of a signal hold the program counter and the frame pointer."""

FAULT_PLACE = 1 << 31
"""Marks a place that is the distance of machine code from the function that was entered, in the bits below."""
HOST_STACK = 1 << 20
"""Stack that a function of the host is promised: a fault while it runs could not be told from one of the program's."""
STACK_TOO_LOW = 2
HOST_CANCELLED = 3
"""What a function of the host gives back if the launch was cancelled meanwhile: no signal could end it there."""
OVERFLOW_REACH = 1 << 20  # how far below its end a fault still counts as an overflow of the stack
GUEST_OUT_OF_BOUNDS, GUEST_STACK_EXHAUSTED = 5, 10  # the numbers of these traps in `wasm.traps`

FAULT_ADDRESS_WORD = 3 if sys.platform == "darwin" else 2  # where siginfo_t holds the address of a fault

DEADLOCK_SITE = u32(0xFFFFFFFF)
STACK_STAGGER = 192  # stacks must not all start at the same place of a page, or they fight for the same cache lines
PAGE = 4096
STACK_RESERVE = 8192
MAX_WORKERS = 4 * MAX_CPU_THREADS  # several device objects may have been made


@struct
class WorkerEntry:
    """Which OS thread is which worker, for signal handlers."""

    thread: u64
    worker: u64


@struct
class WorkerTable:
    """All workers of the process, and what they know of the system."""

    count: u32
    pagemap: i32  # a descriptor of /proc/self/pagemap, or -1
    page_bits: u32  # the logarithm of the bytes of a page
    entries: WorkerEntry[MAX_WORKERS]


@struct
class GuestCall:
    """A call of a guest function from the host."""

    state: u64
    shared: u64  # the state with the common cells of the store
    thunk: u64
    code: u64
    values: u64  # arguments before, results after
    outcome: u32  # FINISHED, TRAPPED or FAULTED
    trace_count: u32
    trace: u64[MAX_TRACE]  # after a trap: return addresses of the calls it was in, the innermost first


@external
def lw_switch(save: Ptr[u64], load: u64): ...


@external
def lw_enter(save: Ptr[u64], function: u64, a: u64, b: u64, c: u64) -> u32: ...


@external
def lw_leave(sp: u64, code: u32): ...


@external
def lw_fiber_address() -> u64: ...


@external
def lw_lane_done_address() -> u64: ...


@external
def lw_worker_table() -> Ptr[WorkerTable]: ...


@external
def lw_old_action(signal: i32) -> Ptr[u8]: ...


@external
def lw_chain(number: i32, info: Ptr[u8], context: Ptr[u8]) -> u32: ...


@external
def pthread_self() -> u64: ...


@external
def sched_yield() -> i32: ...


@external
def sigaction(signal: i32, action: Ptr[u8], old: Ptr[u8]) -> i32: ...


@device
def lw_run(launch: Ptr[Launch], worker: Ptr[Worker], entry: u64, args: u64) -> u32:
    """Run a worker's share of a launch; comes back after a trap to go on behind the thread that trapped."""
    code = u32(TRAPPED)
    while code == TRAPPED:
        code = lw_enter(addressof(worker.sp), entry, u64(launch), u64(worker), args)
    return code


@device
def lw_run_groups(launch: Ptr[Launch], worker: Ptr[Worker], body: u64, args: u64):
    """Take groups until none is left and run each as fibers."""
    groups = u64(launch.group_count)
    chunk = u64(launch.chunk)
    while True:
        first = atomic_add(launch.next_group, chunk)
        if first >= groups:
            return
        for group in range(first, min(first + chunk, groups)):
            run_group(launch, worker, u32(group), body, args)


@device
def run_group(launch: Ptr[Launch], worker: Ptr[Worker], group: u32, body: u64, args: u64):
    """Run one group: every lane until it waits, then all those that wait for nobody any more, until all are done."""
    lanes = Ptr[Lane](worker.lanes)
    first = group * launch.group_size
    threads = min(launch.group_size, launch.thread_count - first)
    for local in range(threads):
        start_lane(launch, worker, lanes + local, first + local, local, group, threads, body, args)
    warps = (threads + WARP_SIZE - 1) >> 5
    done = u32(0)
    while done < threads:
        done = 0
        waiting = u32(0)
        ran = u32(0)
        for warp in range(warps):
            base = warp * WARP_SIZE
            size = min(u32(WARP_SIZE), threads - base)
            ran += run_warp(worker, lanes + base, size)
            for local in range(size):
                state = lanes[base + local].state
                if state == DONE:
                    done += 1
                elif state == AT_BARRIER:
                    waiting += 1
        if waiting > 0 and waiting + done == threads:
            for local in range(threads):
                if lanes[local].state == AT_BARRIER:
                    lanes[local].state = READY
        elif done < threads:
            if ran == 0:
                # Some lanes wait at a barrier, others at a warp operation: none of them can ever go on.
                record_trap(launch, first, DEADLOCK_SITE)
                return
            sched_yield()  # all that can run polls; let other workers change what it polls


@device
def run_warp(worker: Ptr[Worker], lanes: Ptr[Lane], size: u32) -> u32:
    """Run the lanes of one warp until each is done, yields or waits at a barrier; gives how many ran at all."""
    ran = u32(0)
    again = True
    while again:
        again = False
        met = u32(0)
        stopped = u32(0)
        for local in range(size):
            if lanes[local].state == READY:
                ran += 1
                lw_switch(addressof(worker.scheduler_sp), lanes[local].sp)
            if lanes[local].state == AT_WARP:
                met += 1
            elif lanes[local].state == DONE:
                stopped += 1
        if met > 0 and met + stopped == size:
            release_warp(lanes, size)
            again = True
    return ran


@device
def release_warp(lanes: Ptr[Lane], size: u32):
    """All lanes of a warp that are left have brought their value: tell them who is present and let them go on."""
    present = u32(0)
    for local in range(size):
        if lanes[local].state == AT_WARP:
            present |= u32(1) << local
            lanes[local].state = READY
    for local in range(size):
        if lanes[local].state == READY:
            Ptr[WarpBox](lanes[local].box).present = present


@device
def start_lane(
    launch: Ptr[Launch],
    worker: Ptr[Worker],
    lane: Ptr[Lane],
    thread: u32,
    local: u32,
    group: u32,
    threads: u32,
    body: u64,
    args: u64,
):
    """Prepare a lane's stack so that the first switch to it calls the kernel."""
    bottom = worker.stacks + u64(local) * (worker.stack_size + PAGE) + PAGE  # above a page that may not be touched
    frame = Ptr[u64](bottom + worker.stack_size - u64(local & 15) * STACK_STAGGER) - FRAME_WORDS
    frame[FRAME_LANE] = u64(lane)
    frame[FRAME_FUNCTION] = body
    frame[FRAME_ARGS] = args
    frame[FRAME_DONE] = lw_lane_done_address()
    frame[FRAME_START] = lw_fiber_address()
    lane.thread_id = thread
    lane.local_id = local
    lane.group_id = group
    lane.group_threads = threads
    lane.launch = u64(launch)
    lane.worker = u64(worker)
    lane.shared = worker.shared
    lane.stack_limit = bottom + worker.stack_reserve
    lane.sp = u64(frame)
    lane.state = READY
    lane.turn = 0


@device
def suspend(lane: Ptr[Lane], state: u32):
    """Go back to the scheduler; control returns here when the lane may go on."""
    lane.state = state
    lw_switch(addressof(lane.sp), Ptr[Worker](lane.worker).scheduler_sp)


@device
def lw_barrier(lane: Ptr[Lane]):
    """Wait for the other lanes of the group."""
    suspend(lane, AT_BARRIER)


@device
def lw_yield(lane: Ptr[Lane]):
    """Let the other lanes of the group run."""
    suspend(lane, READY)


@device
def lw_warp_exchange(lane: Ptr[Lane], bits: u64) -> Ptr[WarpBox]:
    """Bring a value, wait for the other lanes of the warp, and get the box with what each brought."""
    boxes = Ptr[WarpBox](Ptr[Worker](lane.worker).boxes)
    box = boxes + ((lane.local_id >> 5) * 2 + lane.turn)
    lane.turn ^= 1
    lane.box = u64(box)
    box.values[lane.local_id & 31] = bits
    suspend(lane, AT_WARP)
    return box


@device
def lw_lane_done(lane: Ptr[Lane]):
    """A lane has returned from the kernel; its stack is never entered again."""
    suspend(lane, DONE)


@device
def lw_trap(lane: Ptr[Lane], site: u32):
    """End a lane: record where, then leave it for good."""
    record_trap(Ptr[Launch](lane.launch), lane.thread_id, site)
    worker = Ptr[Worker](lane.worker)
    if worker.scheduler_sp != 0:
        suspend(lane, DONE)
    worker.next = lane.thread_id + 1
    lw_leave(worker.sp, TRAPPED)


@device
def record_trap(launch: Ptr[Launch], thread: u32, site: u32):
    """Count a trap and keep the one of the lowest thread."""
    atomic_add(launch.traps.count, 1)
    atomic_min(launch.traps.first, (u64(thread) << 32) | u64(site))


@device
def lw_on_signal(number: i32, info: Ptr[u8], context: Ptr[u8]):
    """End a worker's launch on a fault or a cancellation; another thread's fault goes to the handler before ours."""
    table = lw_worker_table()
    me = pthread_self()
    for index in range(table.count):
        if table.entries[index].thread == me:
            worker = Ptr[Worker](table.entries[index].worker)
            if worker.sp != 0:
                worker.signal = u32(number)
                worker.fault_address = Ptr[u64](info)[FAULT_ADDRESS_WORD]
                if worker.guest_sp != 0 and number != CANCEL_SIGNAL:
                    registers = Ptr[u64](context)
                    trace_calls(worker, registers[CONTEXT_PC], registers[CONTEXT_FRAME])
                    lw_leave(worker.guest_sp, FAULTED)
                worker.guest_sp = 0
                lw_leave(worker.sp, INTERRUPTED)
    if number == CANCEL_SIGNAL:
        return  # it only came too late
    if lw_chain(number, info, context) == 0:
        sigaction(number, lw_old_action(number), Ptr[u8](u64(0)))  # the default: the fault comes again and ends us


@device
def trace_calls(worker: Ptr[Worker], pc: u64, frame: u64):
    """Note where a guest is: `pc`, if it is not 0, then the return addresses along the chain of frames."""
    count = u32(0)
    if pc != 0:
        worker.trace[0] = pc + 1  # as a return address, which lies behind the instruction that it belongs to
        count = 1
    last = worker.guest_sp
    while count < MAX_TRACE and frame >= worker.stack_low and frame < last and frame & 7 == 0:
        words = Ptr[u64](frame)
        worker.trace[count] = words[1]
        count += 1
        if words[0] <= frame:
            last = 0  # the chain must lead up
        frame = words[0]
    worker.trace_count = count


@device
def lw_guest_trap(state: Ptr[u32], kind: u32, place: u32, frame: u64):
    """End a guest: store why and where, note the calls it was in, and leave it for good."""
    state[0] = kind
    state[1] = place
    table = lw_worker_table()
    me = pthread_self()
    for index in range(table.count):
        if table.entries[index].thread == me:
            worker = Ptr[Worker](table.entries[index].worker)
            trace_calls(worker, u64(0), frame)
            lw_leave(worker.guest_sp, TRAPPED)


@device
def enter_guest(worker: Ptr[Worker], state: Ptr[u32], function: u64, a: u64, b: u64, c: u64) -> u32:
    """Call a guest function; a fault in it is a trap, stored where the guest itself stores the others."""
    outer = worker.guest_sp  # guests may call the host, which may call guests
    code = lw_enter(addressof(worker.guest_sp), function, a, b, c)
    worker.guest_sp = outer
    if code == FAULTED:
        state[0] = u32(GUEST_OUT_OF_BOUNDS)
        # The place is not known here, but the instruction is: how far it is from the function that was entered.
        state[1] = u32(worker.trace[0] - function) | u32(FAULT_PLACE)
        if worker.fault_address < worker.stack_low + PAGE and worker.fault_address + OVERFLOW_REACH > worker.stack_low:
            state[0] = u32(GUEST_STACK_EXHAUSTED)
    return code


@device
def lw_guest_call(launch: Ptr[Launch], worker: Ptr[Worker], args: Ptr[u64]):
    """Call one guest function: see `GuestCall`."""
    call = Ptr[GuestCall](u64(args))
    call.outcome = enter_guest(worker, Ptr[u32](call.shared), call.thunk, call.state, call.code, call.values)
    if call.outcome != FINISHED:
        call.trace_count = worker.trace_count
        for index in range(worker.trace_count):
            call.trace[index] = worker.trace[index]


@external
def lw_call_host(callback: u64, function: u64, values: u64) -> u32: ...


@device
def lw_guest_host(callback: u64, function: u64, values: u64) -> u32:
    """Call back into the host. Meanwhile this thread is not in device code, so that nothing ends it there."""
    table = lw_worker_table()
    me = pthread_self()
    for index in range(table.count):
        if table.entries[index].thread == me:
            worker = Ptr[Worker](table.entries[index].worker)
            outer, guest = worker.sp, worker.guest_sp
            if u64(addressof(outer)) < worker.stack_low + HOST_STACK:
                return u32(STACK_TOO_LOW)
            worker.guest_sp = 0
            worker.sp = 0
            code = lw_call_host(callback, function, values)
            if code == HOST_CANCELLED:
                worker.signal = u32(CANCEL_SIGNAL)
                lw_leave(outer, INTERRUPTED)
            worker.guest_sp = guest
            worker.sp = outer
            return code
    return u32(1)


@device
def lw_guest_enter(worker: Ptr[Worker], state: Ptr[u32], function: u64, a: u64, b: u64, c: u64) -> u32:
    """Run guest code that has a loop over lanes of its own; see `enter_guest`."""
    return enter_guest(worker, state, function, a, b, c)


@device
def lw_guest_fiber(lane: Ptr[Lane], state: Ptr[u32], function: u64, frame: u64) -> u32:
    """Run guest code on a fiber, where it may wait for other fibers; see `enter_guest`."""
    worker = Ptr[Worker](lane.worker)
    worker.stack_low = lane.stack_limit - worker.stack_reserve  # until the fiber is left; a launch begins with its own
    code = enter_guest(worker, state, function, frame, u64(0), u64(0))
    worker.guest_sp = 0
    return code


@device
def suspend_guest(lane: Ptr[Lane], state: u32):
    """Let other fibers run; what the worker knows of a guest is this one's again afterwards."""
    worker = Ptr[Worker](lane.worker)
    guest, low = worker.guest_sp, worker.stack_low
    suspend(lane, state)
    worker.guest_sp = guest
    worker.stack_low = low


@device
def lw_guest_barrier(lane: Ptr[Lane]):
    """Wait, in a guest, for the other lanes of the group."""
    suspend_guest(lane, AT_BARRIER)


@device
def lw_guest_yield(lane: Ptr[Lane]):
    """Let, in a guest, the other lanes of the group run."""
    suspend_guest(lane, READY)


CORE = (lw_run, lw_trap, lw_on_signal, lw_guest_call, lw_guest_enter, lw_guest_trap, lw_guest_host)
SCHEDULER = (lw_run_groups, lw_barrier, lw_yield, lw_warp_exchange, lw_lane_done)
GUEST_GROUPS = (lw_guest_fiber, lw_guest_barrier, lw_guest_yield)
"""Also of the scheduler: for guests whose lanes wait for each other."""
