"""The open files of a lane."""

from lanewise.kernel.lane_io import (
    CLOSED,
    COPY,
    FILE,
    LANE_ENDED,
    LANE_RUNS,
    PREOPENED,
    STDERR,
    STDIN,
    STDOUT,
    LaneIo,
    LaneRecord,
)
from lanewise.kernel.requests import begin_request, end_request, run_of, send_request
from lanewise.kernel.wasi_numbers import (
    DIRECTORY,
    EBADF,
    REQUEST_CLOSE,
    REQUEST_LANE_OVER,
    REQUEST_REOPEN,
    RIGHT_FD_READ,
    RIGHT_FD_WRITE,
    RIGHTS_PREOPENED,
    RIGHTS_PREOPENED_INHERITING,
    SUCCESS,
)
from lanewise.lang.atomics import atomic_store
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, u32, u64
from lanewise.lang.vocabulary import addressof, memory_barrier, time_ns


@device
def kernel_begin(io: Ptr[LaneIo], index: u64):
    """A lane begins: its standard streams and the preopened directories are open, and nothing else.

    What run it belongs to has been set before, as has, on a CPU, the request of its slot.
    """
    run = run_of(io)
    io.index = u32(index)
    io.failure = 0
    io.stride = run.stride
    io.stdin_position = 0
    io.written = 0
    io.random_block = 0
    io.exit_code = 0
    io.held = 0
    io.files = 0
    open_stream(io, STDIN, run.stream_types[0], u64(RIGHT_FD_READ))
    open_stream(io, STDOUT, run.stream_types[1], u64(RIGHT_FD_WRITE))
    open_stream(io, STDERR, run.stream_types[2], u64(RIGHT_FD_WRITE))
    for number in range(run.preopened_count):
        descriptor = addressof(io.descriptors[io.files])
        descriptor.kind = PREOPENED
        descriptor.flags = 0
        descriptor.filetype = DIRECTORY
        descriptor.handle = number
        descriptor.rights = RIGHTS_PREOPENED
        descriptor.inheriting = RIGHTS_PREOPENED_INHERITING
        io.files += 1
    record = Ptr[LaneRecord](run.records) + io.index
    record.exit_code = 0
    atomic_store(record.state, LANE_RUNS)
    io.began = time_ns()


@device
def open_stream(io: Ptr[LaneIo], kind: u32, filetype: u32, rights: u64):
    """Open a standard stream."""
    descriptor = addressof(io.descriptors[io.files])
    descriptor.kind = kind
    descriptor.flags = 0
    descriptor.filetype = filetype
    descriptor.handle = 0
    descriptor.rights = rights
    descriptor.inheriting = rights
    io.files += 1


@device(inline=False)
def kernel_end(io: Ptr[LaneIo]):
    """A lane is over, by itself or not: the host forgets what it held for it, and how it ended is told."""
    run = run_of(io)
    if io.held != 0:
        # A lane that was told to stop does not wait any more: then the run is over, and all is forgotten.
        failure = io.failure
        io.failure = 0
        request = begin_request(io, REQUEST_LANE_OVER)
        send_request(io, request)
        end_request(io)
        io.failure = failure
    record = Ptr[LaneRecord](run.records) + io.index
    record.nanoseconds = time_ns() - io.began
    record.exit_code = io.exit_code
    memory_barrier()
    atomic_store(record.state, LANE_ENDED, order="release")


@device
def kind_of(io: Ptr[LaneIo], fd: u32) -> u32:
    """What a descriptor is."""
    if fd >= io.files:
        return u32(CLOSED)
    return io.descriptors[fd].kind


@device(inline=False)
def free_descriptor(io: Ptr[LaneIo]) -> u32:
    """The lowest number that is free; LANE_FILES if none is."""
    for fd in range(io.files):
        if io.descriptors[fd].kind == CLOSED:
            return fd
    return io.files


@device
def reserve_descriptor(io: Ptr[LaneIo], fd: u32):
    """Note that a number that `free_descriptor` gave is in use."""
    io.files = max(io.files, fd + 1)


@device(inline=False)
def ask(io: Ptr[LaneIo], op: u32, a: u64, b: u64, c: u64, d: u64) -> u32:
    """A request with words alone, of whose answer only the error number counts."""
    request = begin_request(io, op)
    request.arguments[0] = a
    request.arguments[1] = b
    request.arguments[2] = c
    request.arguments[3] = d
    error = send_request(io, request)
    end_request(io)
    return error


@device(inline=False)
def close_descriptor(io: Ptr[LaneIo], fd: u32) -> u32:
    """Close a descriptor that is open."""
    descriptor = addressof(io.descriptors[fd])
    kind = descriptor.kind
    descriptor.kind = CLOSED
    if kind == FILE:
        return ask(io, u32(REQUEST_CLOSE), u64(descriptor.handle), u64(0), u64(0), u64(0))
    return u32(SUCCESS)


@device(inline=False)
def let_go_of_copies(io: Ptr[LaneIo]):
    """Have the files themselves instead of copies: the lane is about to write to one of them."""
    for fd in range(io.files):
        if io.descriptors[fd].kind == COPY:
            reopen(io, fd)


@device(inline=False)
def reopen(io: Ptr[LaneIo], fd: u32) -> u32:
    """Have the file itself instead of a copy of it, at the same position."""
    descriptor = addressof(io.descriptors[fd])
    request = begin_request(io, u32(REQUEST_REOPEN))
    request.arguments[0] = u64(descriptor.handle)
    request.arguments[1] = descriptor.position
    error = send_request(io, request)
    handle = u32(request.values[0])
    end_request(io)
    if error != 0:
        return error
    descriptor.kind = FILE
    descriptor.handle = handle
    return u32(SUCCESS)


@device(inline=False)
def host_file(io: Ptr[LaneIo], fd: u32) -> u32:
    """Have a descriptor be one that the host can work on; gives an error number."""
    kind = kind_of(io, fd)
    if kind == CLOSED:
        return u32(EBADF)
    if kind == COPY:
        return reopen(io, fd)
    return u32(SUCCESS)
