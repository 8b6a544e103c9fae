"""The open files of a lane."""

from lanewise.kernel.gpu_debug import flush_text
from lanewise.kernel.lane_io import (
    CLAIMED,
    CLOSED,
    COPY,
    FILE,
    LANE_ENDED,
    LANE_RUNS,
    PREOPENED,
    SHARED_WORDS,
    STDERR,
    STDIN,
    STDOUT,
    LaneIo,
    LaneRecord,
    Team,
)
from lanewise.kernel.requests import begin_request, end_request, owner, run_of, send_request
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
from lanewise.lang.atomics import atomic_compare_swap, atomic_max, atomic_store
from lanewise.lang.functions import device
from lanewise.lang.intrinsics import ON_GPU
from lanewise.lang.types import Ptr, u32, u64
from lanewise.lang.vocabulary import addressof, memory_barrier, time_ns
from lanewise.settings import LANE_FILES


@device
def kernel_begin(io: Ptr[LaneIo], index: u64):
    """A lane begins: its standard streams and the preopened directories are open, and nothing else.

    What run it belongs to has been set before, as has, on a CPU, the request of its slot.
    """
    run = run_of(io)
    io.process = u64(io)
    io.index = u32(index)
    io.failure = 0
    io.stride = run.stride
    if io.team != 0:
        team = Ptr[Team](io.team)
        team.lock = 0
        team.over = 0
        team.last_id = 0
        for member in range(u32(run.team_size)):
            team.ids[member] = 0
            team.waits[member] = 0
    if not ON_GPU and run.shared != 0 and io.slot & ((u32(1) << run.group_shift) - 1) == 0:
        words = Ptr[u32](run.shared + u64(io.slot >> run.group_shift) * (SHARED_WORDS * 4))
        for word in range(u32(SHARED_WORDS)):
            words[word] = 0  # the first lane of a group begins before the others do
    owner(io).stdin_position = 0
    owner(io).written = 0
    owner(io).random_block = 0
    io.text_bytes = 0
    owner(io).exit_code = 0
    owner(io).held = 0
    for fd in range(io.files):
        io.descriptors[fd].kind = CLOSED
    io.files = 0
    open_stream(io, STDIN, run.stream_types[0], u64(RIGHT_FD_READ))
    open_stream(io, STDOUT, run.stream_types[1], u64(RIGHT_FD_WRITE))
    open_stream(io, STDERR, run.stream_types[2], u64(RIGHT_FD_WRITE))
    for number in range(run.preopened_count):
        descriptor = addressof(owner(io).descriptors[owner(io).files])
        descriptor.kind = PREOPENED
        descriptor.flags = 0
        descriptor.filetype = DIRECTORY
        descriptor.handle = number
        descriptor.rights = RIGHTS_PREOPENED
        descriptor.inheriting = RIGHTS_PREOPENED_INHERITING
        owner(io).files += 1
    record = Ptr[LaneRecord](run.records) + io.index
    record.exit_code = 0
    io.began = time_ns()
    record.nanoseconds = io.began  # until it ends, which tells how long a lane has run that is cut off
    atomic_store(record.state, LANE_RUNS, order="release")


@device
def kernel_join(io: Ptr[LaneIo], index: u64):
    """A further thread of a lane begins, parked; what lane and which thread of it has been set before."""
    io.index = u32(index)
    io.failure = 0
    io.stride = run_of(io).stride
    io.text_bytes = 0


@device
def open_stream(io: Ptr[LaneIo], kind: u32, filetype: u32, rights: u64):
    """Open a standard stream."""
    descriptor = addressof(owner(io).descriptors[owner(io).files])
    descriptor.kind = kind
    descriptor.flags = 0
    descriptor.filetype = filetype
    descriptor.handle = 0
    descriptor.rights = rights
    descriptor.inheriting = rights
    owner(io).files += 1


@device(inline=False)
def kernel_end(io: Ptr[LaneIo]):
    """A lane is over, by itself or not: the host forgets what it held for it, and how it ended is told."""
    run = run_of(io)
    if io.text_bytes != 0:
        flush_text(io)
    if owner(io).held != 0 and io.member == 0:
        # A lane that was told to stop does not wait any more: then the run is over, and all is forgotten.
        failure = io.failure
        io.failure = 0
        request = begin_request(io, REQUEST_LANE_OVER)
        send_request(io, request)
        end_request(io)
        io.failure = failure
    if io.team != 0:
        atomic_store(Ptr[Team](io.team).over, 1)
        if io.member != 0:
            return  # the first thread tells how the lane ended
    record = Ptr[LaneRecord](run.records) + io.index
    record.nanoseconds = time_ns() - io.began
    record.exit_code = owner(io).exit_code
    memory_barrier()
    atomic_store(record.state, LANE_ENDED, order="release")


@device
def kind_of(io: Ptr[LaneIo], fd: u32) -> u32:
    """What a descriptor is."""
    if fd >= owner(io).files:
        return u32(CLOSED)
    kind = owner(io).descriptors[fd].kind
    return u32(CLOSED) if kind == CLAIMED else kind


@device
def content_of(io: Ptr[LaneIo], fd: u32) -> u64:
    """The filestat and content of a copy; an empty one if another thread has closed it this moment."""
    content = owner(io).descriptors[fd].content
    return content if content != 0 else u64(addressof(io.nothing[0]))


@device(inline=False)
def claim_descriptor(io: Ptr[LaneIo]) -> u32:
    """The lowest number that is free, for this thread to open; LANE_FILES if none is."""
    for fd in range(u32(LANE_FILES)):
        if atomic_compare_swap(owner(io).descriptors[fd].kind, u32(CLOSED), u32(CLAIMED)) == CLOSED:
            atomic_max(owner(io).files, fd + 1)
            return fd
    return u32(LANE_FILES)


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
    descriptor = addressof(owner(io).descriptors[fd])
    kind = descriptor.kind
    if atomic_compare_swap(descriptor.kind, kind, u32(CLAIMED)) != kind:
        return u32(EBADF)  # another thread was first
    handle = descriptor.handle
    atomic_store(descriptor.kind, u32(CLOSED))
    if kind == FILE:
        return ask(io, u32(REQUEST_CLOSE), u64(handle), u64(0), u64(0), u64(0))
    return u32(SUCCESS)


@device(inline=False)
def let_go_of_copies(io: Ptr[LaneIo]):
    """Have the files themselves instead of copies: the lane is about to write to one of them."""
    for fd in range(owner(io).files):
        if owner(io).descriptors[fd].kind == COPY:
            reopen(io, fd)


@device(inline=False)
def reopen(io: Ptr[LaneIo], fd: u32) -> u32:
    """Have the file itself instead of a copy of it, at the same position."""
    descriptor = addressof(owner(io).descriptors[fd])
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
