"""Asking the host: a request is filled in, sent, and answered in place.

On a CPU the host's function is called. On a GPU the request lies in memory of the host that both see, and the lane
waits. Slots are claimed in device memory; what crosses the bus is written by one side only and published by a fence and
a plain store, since no atomic crosses it.
"""

from lanewise.kernel.guest_memory import copy_from_guest, copy_to_guest, fail
from lanewise.kernel.lane_io import REQUEST_HEAD, LaneIo, Request, Ring, RunIo, Team
from lanewise.kernel.wasi_numbers import FAIL_STOP, REQUEST_NONE
from lanewise.lang.atomics import atomic_add, atomic_load, atomic_store
from lanewise.lang.functions import device
from lanewise.lang.intrinsics import ON_GPU
from lanewise.lang.program import external
from lanewise.lang.types import Ptr, i32, u32, u64
from lanewise.lang.vocabulary import memory_barrier, thread_yield

NO_TICKET = 0xFFFFFFFFFFFFFFFF
"""In the place of a ticket: the lane came to no turn."""
LONGEST_PAUSE = 256
"""How many rests of 100 ns a lane takes between two looks at most."""


@external
def lw_guest_host(callback: u64, function: u64, values: u64) -> u32: ...


@device
def run_of(io: Ptr[LaneIo]) -> Ptr[RunIo]:
    """The run that a lane belongs to."""
    return Ptr[RunIo](io.run)


@device
def owner(io: Ptr[LaneIo]) -> Ptr[LaneIo]:
    """The first thread of a lane: it has the files and all else that threads of a lane share."""
    return Ptr[LaneIo](io.process)


@device
def halted(io: Ptr[LaneIo]) -> bool:
    """Whether all lanes are to end."""
    word = run_of(io).stop
    return word != 0 and atomic_load(Ptr[u32](word)[0], scope="system") != 0


@device
def stopping(io: Ptr[LaneIo]) -> bool:
    """Whether this lane is to end: all are, or another thread of it has ended it."""
    return halted(io) or (io.team != 0 and atomic_load(Ptr[Team](io.team).over) != 0)


@external
def lw_guest_yield(fiber: u64): ...


@external
def usleep(microseconds: u32) -> i32: ...


@device
def rest(io: Ptr[LaneIo], times: u32):
    """Let others go on: on a GPU other lanes, on a CPU other fibers."""
    if ON_GPU:
        for _ in range(times):
            thread_yield()
    elif io.fiber != 0:
        lw_guest_yield(io.fiber)
    else:
        usleep(min(times, u32(LONGEST_PAUSE)) * 4)


@device(inline=False)
def begin_request(io: Ptr[LaneIo], op: u32) -> Ptr[Request]:
    """A request to fill in. There is always one: where the ring is full, the lane waits for its turn.

    A ticket that was taken is asked and given back, whatever happens to the lane meanwhile, or nobody behind it would
    be served. Only when all lanes are to end, nobody waits any more; what is filled in then is read by nobody.
    """
    request = Ptr[Request](io.request)
    if ON_GPU:
        ring = Ptr[Ring](run_of(io).ring)
        ticket = atomic_add(ring.head, 1)
        slot = ticket & (ring.slots - 1)
        turn = Ptr[u64](ring.turns + slot * 8)
        request = Ptr[Request](ring.requests + slot * ring.step)
        pause = u32(1)
        while atomic_load(turn[0], order="acquire") != ticket:
            if halted(io):
                fail(io, FAIL_STOP)
                request = Ptr[Request](ring.nowhere)
                ticket = u64(NO_TICKET)
                break
            rest(io, pause)
            pause = min(pause * 2, u32(LONGEST_PAUSE))
        io.ticket = ticket
    request.op = op
    request.lane = io.index
    request.wave = run_of(io).wave
    request.sent = 0
    request.room = 0
    owner(io).held = 1
    return request


@device(inline=False)
def send_request(io: Ptr[LaneIo], request: Ptr[Request]) -> u32:
    """Wait for the answer; gives its error number. A lane that has failed meanwhile asks for nothing."""
    if io.failure != 0:
        request.op = REQUEST_NONE
        request.sent = 0
    if ON_GPU:
        if io.ticket == NO_TICKET:
            return u32(0)
        memory_barrier(scope="system")
        atomic_store(request.asked, io.ticket + 1, scope="system")
        pause = u32(1)
        while atomic_load(request.answered, scope="system") != io.ticket + 1:
            if halted(io):
                return fail(io, FAIL_STOP)
            rest(io, pause)
            pause = min(pause * 2, u32(LONGEST_PAUSE))
        memory_barrier(scope="system")
        return request.error
    if io.failure != 0:
        return u32(0)
    if lw_guest_host(run_of(io).callback, run_of(io).copies, u64(request)) != 0:
        return fail(io, FAIL_STOP)
    return request.error


@device
def end_request(io: Ptr[LaneIo]):
    """Give the request back, when all of the answer has been read."""
    if ON_GPU and io.ticket != NO_TICKET:
        ring = Ptr[Ring](run_of(io).ring)
        turn = Ptr[u64](ring.turns + (io.ticket & (ring.slots - 1)) * 8)
        memory_barrier()
        atomic_store(turn[0], io.ticket + ring.slots, order="release")


@device
def data_of(request: Ptr[Request]) -> u64:
    """Where the data of a request begins."""
    return u64(request) + REQUEST_HEAD


@device
def send_guest_bytes(io: Ptr[LaneIo], request: Ptr[Request], address: u32, count: u64):
    """Put bytes of guest memory behind those that go along already."""
    copy_from_guest(io, data_of(request) + u64(request.sent), address, count)
    request.sent += u32(count)


@device
def take_guest_bytes(io: Ptr[LaneIo], request: Ptr[Request], address: u32):
    """Put the data of an answer into guest memory."""
    copy_to_guest(io, address, data_of(request), u64(request.received))
