"""Standard output and error: gathered on the device and drained by the host in bulk."""

from lanewise.kernel.lane_io import Console, ConsoleRecord, LaneIo, LaneRecord
from lanewise.kernel.requests import begin_request, end_request, owner, run_of, send_guest_bytes, send_request
from lanewise.kernel.wasi_numbers import REQUEST_CONSOLE
from lanewise.lang.atomics import atomic_add, atomic_compare_swap, atomic_load
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, u32, u64
from lanewise.lang.vocabulary import memory_barrier

CONSOLE_RECORD = ConsoleRecord.size


@device
def allowed(io: Ptr[LaneIo], count: u64) -> u64:
    """How many of so many bytes the lane may still write."""
    limit = run_of(io).output_limit
    return min(count, limit - min(atomic_load(owner(io).written), limit))


@device(inline=False)
def console_reserve(io: Ptr[LaneIo], stream: u32, count: u64) -> u64:
    """Room for what a call writes, 0 if there is none left; `console_commit` makes it be seen."""
    console = Ptr[Console](run_of(io).console)
    size = CONSOLE_RECORD + ((count + 7) & ~u64(7))
    # Once something did not fit nothing does: so what a lane wrote here was written before what it hands over itself.
    if atomic_load(console.head) > console.capacity:
        return u64(0)
    at = atomic_add(console.head, size)
    if at + size > console.capacity:
        return u64(0)
    record = Ptr[ConsoleRecord](console.records + at)
    record.nbytes = count | (u64(stream) << 48)
    return u64(record)


@device(inline=False)
def console_commit(io: Ptr[LaneIo], record: u64):
    """All bytes of a record are there: put it behind the lane's others."""
    lane = Ptr[LaneRecord](run_of(io).records) + io.index
    place = record - Ptr[Console](run_of(io).console).records + 1
    memory_barrier()
    before = atomic_load(lane.last)
    while True:
        Ptr[ConsoleRecord](record).previous = before
        memory_barrier()
        found = atomic_compare_swap(lane.last, before, place, order="acq_rel")
        if found == before:
            return
        before = found


@device(inline=False)
def write_through(io: Ptr[LaneIo], stream: u32, address: u32, count: u64) -> u64:
    """Hand bytes to the host at once; gives how many it took."""
    done = u64(0)
    io.error = 0
    while done < count and io.failure == 0:
        request = begin_request(io, REQUEST_CONSOLE)
        request.arguments[0] = u64(stream)
        part = min(count - done, run_of(io).capacity)
        send_guest_bytes(io, request, address + u32(done), part)
        error = send_request(io, request)
        taken = request.values[0]
        end_request(io)
        if error != 0 or taken == 0:
            io.error = error
            return done
        done += taken
    return done
