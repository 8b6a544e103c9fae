"""Threads of a lane (wasi-threads): parked until one is spawned, over memory that they share, and their futex."""

from lanewise.kernel.gpu_debug import flush_text
from lanewise.kernel.guest_memory import fail
from lanewise.kernel.lane_io import LaneIo, Team
from lanewise.kernel.requests import LONGEST_PAUSE, rest, run_of, stopping
from lanewise.kernel.wasi_numbers import EAGAIN, FAIL_STOP
from lanewise.lang.atomics import atomic_add, atomic_compare_swap, atomic_exchange, atomic_load, atomic_store
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, i32, i64, u32, u64
from lanewise.lang.vocabulary import memory_barrier, time_ns

PARKED = 0
BUSY = 0xFFFFFFFF
"""In the place of a thread's number: it is being given one."""
WOKEN = 0xFFFFFFFFFFFFFFFF
WAS_WOKEN, NOT_EQUAL, TIMED_OUT = 0, 1, 2


@device(inline=False)
def threads_spawn(io: Ptr[LaneIo], argument: u32) -> i32:
    """Wake a parked thread; gives its number, or an error below 0 if none is left."""
    if io.team == 0:
        return -i32(EAGAIN)
    team = Ptr[Team](io.team)
    for member in range(u32(1), u32(run_of(io).team_size)):
        if atomic_compare_swap(team.ids[member], u32(PARKED), u32(BUSY)) == PARKED:
            team.arguments[member] = argument
            number = (atomic_add(team.last_id, 1) & 0x0FFFFFFF) + 1
            memory_barrier()
            atomic_store(team.ids[member], number, order="release")
            return i32(number)
    return -i32(EAGAIN)


@device(inline=False)
def kernel_thread_wait(io: Ptr[LaneIo]) -> u32:
    """A parked thread waits to be spawned; gives its number, or 0 when the lane is over."""
    team = Ptr[Team](io.team)
    pause = u32(1)
    while True:
        number = atomic_load(team.ids[io.member], order="acquire")
        if number != PARKED and number != BUSY:
            io.failure = 0
            return number
        if stopping(io):
            return u32(0)
        rest(io, pause)
        pause = min(pause * 2, u32(LONGEST_PAUSE))
    return u32(0)


@device
def kernel_thread_argument(io: Ptr[LaneIo]) -> u32:
    """What a thread that was spawned is given."""
    return Ptr[Team](io.team).arguments[io.member]


@device
def kernel_thread_done(io: Ptr[LaneIo]):
    """A thread has returned and is parked again."""
    if io.text_bytes != 0:
        flush_text(io)
    atomic_store(Ptr[Team](io.team).ids[io.member], u32(PARKED), order="release")


@device(inline=False)
def kernel_look(io: Ptr[LaneIo]) -> u32:
    """Whether the lane is to stop; lets others go on that might wait for it."""
    if io.fiber != 0:
        rest(io, u32(1))
    return u32(1) if stopping(io) else u32(0)


# --- waiting for a word to change -------------------------------------------------------------------------------------


@device
def lock(io: Ptr[LaneIo], team: Ptr[Team]):
    """Have the waits of a team to oneself, for a few instructions."""
    while atomic_exchange(team.lock, u32(1), order="acquire") != 0:
        rest(io, u32(1))


@device
def unlock(team: Ptr[Team]):
    """Let others at the waits."""
    atomic_store(team.lock, u32(0), order="release")


@device(inline=False)
def kernel_wait(io: Ptr[LaneIo], at: u64, expected: u64, wide: u32, timeout: i64) -> u32:
    """Wait until somebody notifies the address, unless what is there is not what was expected."""
    team = Ptr[Team](io.team)
    if io.team != 0:
        lock(io, team)
    now = u64(0)
    if wide != 0:
        now = atomic_load(Ptr[u64](at)[0], order="seq_cst")
    else:
        now = u64(atomic_load(Ptr[u32](at)[0], order="seq_cst"))
    if now == expected and io.team != 0:
        team.waits[io.member] = at
    if io.team != 0:
        unlock(team)
    if now != expected:
        return u32(NOT_EQUAL)
    began = time_ns()
    pause = u32(1)
    while True:
        if io.team != 0 and atomic_load(team.waits[io.member], order="acquire") == WOKEN:
            team.waits[io.member] = 0
            return u32(WAS_WOKEN)
        if timeout >= 0 and time_ns() - began >= u64(timeout):
            return stop_waiting(io)
        if stopping(io):
            return fail(io, FAIL_STOP)
        rest(io, pause)
        pause = min(pause * 2, u32(LONGEST_PAUSE))
    return u32(TIMED_OUT)


@device
def stop_waiting(io: Ptr[LaneIo]) -> u32:
    """Time is over, unless somebody was just before that."""
    if io.team == 0:
        return u32(TIMED_OUT)
    team = Ptr[Team](io.team)
    lock(io, team)
    woken = team.waits[io.member] == WOKEN
    team.waits[io.member] = 0
    unlock(team)
    return u32(WAS_WOKEN) if woken else u32(TIMED_OUT)


@device(inline=False)
def kernel_notify(io: Ptr[LaneIo], at: u64, most: u32) -> u32:
    """Wake threads that wait at an address; gives how many."""
    if io.team == 0:
        return u32(0)
    team = Ptr[Team](io.team)
    woken = u32(0)
    lock(io, team)
    for member in range(u32(run_of(io).team_size)):
        if woken < most and team.waits[member] == at:
            atomic_store(team.waits[member], u64(WOKEN), order="release")
            woken += 1
    unlock(team)
    return woken
