"""WASI: reading and writing. Standard streams and copies of files stay on the device; the rest is the host's."""

from lanewise.kernel.console import CONSOLE_RECORD, allowed, console_commit, console_reserve, write_through
from lanewise.kernel.descriptors import content_of, kind_of
from lanewise.kernel.gpu_debug import flush_text
from lanewise.kernel.guest_memory import copy_from_guest, copy_to_guest, fail, load_u32, outside, store_u32
from lanewise.kernel.lane_io import CLOSED, COPY, FILE, PREOPENED, STDERR, STDIN, STDOUT, LaneIo, Span
from lanewise.kernel.requests import (
    begin_request,
    end_request,
    owner,
    run_of,
    send_guest_bytes,
    send_request,
    take_guest_bytes,
)
from lanewise.kernel.wasi_numbers import (
    DIRECTORY,
    EBADF,
    EINVAL,
    ENOMEM,
    ESPIPE,
    FAIL_OUTPUT,
    FILESTAT_BYTES,
    REGULAR_FILE,
    REQUEST_PREAD,
    REQUEST_PWRITE,
    REQUEST_READ,
    REQUEST_STDIN,
    REQUEST_WRITE,
    RIGHT_FD_READ,
    RIGHT_FD_WRITE,
    SUCCESS,
)
from lanewise.lang.atomics import atomic_add, atomic_load
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, u32, u64
from lanewise.lang.vocabulary import addressof

PART_BYTES = 8
"""A part of what is read or written: u32 address, u32 length."""
SIZE_IN_FILESTAT = 32
FILESTAT_SIZE_WORD = SIZE_IN_FILESTAT // 8


@device(inline=False)
def bad_parts(io: Ptr[LaneIo], parts: u32, count: u32) -> u32:
    """Whether the parts are within memory; ENOMEM for so many that they cannot be."""
    if count == 0:
        return u32(SUCCESS)
    if u64(count) * PART_BYTES > io.memory_bytes:
        return u32(ENOMEM)
    if outside(io, parts, u64(count) * PART_BYTES, u32(4)):
        return u32(EINVAL)
    for number in range(count):
        if outside(io, load_u32(io, parts + number * 8), u64(load_u32(io, parts + number * 8 + 4)), u32(1)):
            return u32(EINVAL)
    return u32(SUCCESS)


@device(inline=False)
def total_of(io: Ptr[LaneIo], parts: u32, count: u32) -> u64:
    """How many bytes the parts are in all."""
    total = u64(0)
    for number in range(count):
        total += u64(load_u32(io, parts + number * 8 + 4))
    return total


@device
def can(io: Ptr[LaneIo], fd: u32, right: u64) -> bool:
    """Whether a descriptor is a stream or file that can be read, or written."""
    kind = kind_of(io, fd)
    if kind == CLOSED or kind == PREOPENED or owner(io).descriptors[fd].filetype == DIRECTORY:
        return False
    return owner(io).descriptors[fd].rights & right != 0


# --- reading ----------------------------------------------------------------------------------------------------------


@device(inline=False)
def read_here(io: Ptr[LaneIo], source: u64, left: u64, parts: u32, count: u32) -> u64:
    """Give bytes that lie on the device; gives how many."""
    done = u64(0)
    for number in range(count):
        some = min(u64(load_u32(io, parts + number * 8 + 4)), left - done)
        copy_to_guest(io, load_u32(io, parts + number * 8), source + done, some)
        done += some
    return done


@device(inline=False)
def read_host(
    io: Ptr[LaneIo], op: u32, handle: u32, filetype: u32, offset: u64, parts: u32, count: u32, result: u32
) -> u32:
    """Read from the host until it gives less than it was asked for; what is no regular file is asked once."""
    streams = op == REQUEST_STDIN or filetype != REGULAR_FILE
    done = u64(0)
    for number in range(count):
        address = load_u32(io, parts + number * 8)
        length = u64(load_u32(io, parts + number * 8 + 4))
        part = u64(0)
        while part < length:
            request = begin_request(io, op)
            room = min(length - part, run_of(io).capacity)
            request.room = u32(room)
            request.arguments[0] = u64(handle)
            request.arguments[1] = room
            request.arguments[2] = offset + done
            error = send_request(io, request)
            got = u64(request.received)
            if error == 0 and io.failure == 0:
                take_guest_bytes(io, request, address + u32(part))
            end_request(io)
            if io.failure != 0:
                return u32(0)
            if error != 0:
                if done == 0:
                    return error
                got = u64(0)
            part += got
            done += got
            if got < room or streams:
                return tell(io, result, done)
    return tell(io, result, done)


@device
def tell(io: Ptr[LaneIo], result: u32, count: u64) -> u32:
    """Say how many bytes it were."""
    if not outside(io, result, u64(4), u32(4)):
        store_u32(io, result, u32(count))
    return u32(SUCCESS)


@device(inline=False)
def wasi_fd_read(io: Ptr[LaneIo], fd: u32, parts: u32, count: u32, result: u32) -> u32:
    kind = kind_of(io, fd)
    if not can(io, fd, u64(RIGHT_FD_READ)):
        return u32(EBADF)
    error = bad_parts(io, parts, count)
    if error != 0:
        return error
    if kind == STDIN:
        run = run_of(io)
        if run.stdin == 0:
            return read_host(io, u32(REQUEST_STDIN), u32(0), u32(0), u64(0), parts, count, result)
        given = Ptr[Span](run.stdin) + io.index
        position = min(atomic_load(owner(io).stdin_position), u64(given.nbytes))  # threads may have read at once
        done = read_here(io, given.address + position, u64(given.nbytes) - position, parts, count)
        atomic_add(owner(io).stdin_position, done)
        return tell(io, result, done)
    if kind == COPY:
        descriptor = addressof(owner(io).descriptors[fd])
        done = read_copy(io, fd, descriptor.position, parts, count)
        descriptor.position += done
        return tell(io, result, done)
    if kind == FILE:
        file = addressof(owner(io).descriptors[fd])
        return read_host(io, u32(REQUEST_READ), file.handle, file.filetype, u64(0), parts, count, result)
    return u32(EBADF)


@device
def read_copy(io: Ptr[LaneIo], fd: u32, position: u64, parts: u32, count: u32) -> u64:
    """Read from a copy of a file."""
    content = content_of(io, fd)
    size = Ptr[u64](content)[FILESTAT_SIZE_WORD]
    if position >= size:
        return u64(0)
    return read_here(io, content + FILESTAT_BYTES + position, size - position, parts, count)


@device(inline=False)
def wasi_fd_pread(io: Ptr[LaneIo], fd: u32, parts: u32, count: u32, offset: u64, result: u32) -> u32:
    kind = kind_of(io, fd)
    if kind == STDIN:
        return u32(ESPIPE)
    if can(io, fd, u64(RIGHT_FD_READ)):
        error = bad_parts(io, parts, count)
        if error != 0:
            return error
        if offset >> 63 != 0:
            return u32(EINVAL)
        if kind == COPY:
            return tell(io, result, read_copy(io, fd, offset, parts, count))
        file = addressof(owner(io).descriptors[fd])
        return read_host(io, u32(REQUEST_PREAD), file.handle, file.filetype, offset, parts, count, result)
    return u32(EBADF)


# --- writing ----------------------------------------------------------------------------------------------------------


@device(inline=False)
def write_host(io: Ptr[LaneIo], op: u32, handle: u32, offset: u64, parts: u32, count: u32, result: u32) -> u32:
    """Write to a file of the host until it takes less than it was given."""
    done = u64(0)
    for number in range(count):
        address = load_u32(io, parts + number * 8)
        length = u64(load_u32(io, parts + number * 8 + 4))
        part = u64(0)
        while part < length or (length == 0 and number + 1 == count and done == 0 and part == 0):
            request = begin_request(io, op)
            some = min(length - part, run_of(io).capacity)
            send_guest_bytes(io, request, address + u32(part), some)
            request.arguments[0] = u64(handle)
            request.arguments[1] = offset + done
            error = send_request(io, request)
            taken = request.values[0]
            end_request(io)
            if io.failure != 0:
                return u32(0)
            if error != 0:
                if done == 0:
                    return error
                return tell(io, result, done)
            part += taken
            done += taken
            if taken < some or some == 0:
                return tell(io, result, done)
    return tell(io, result, done)


@device(inline=False)
def write_console(io: Ptr[LaneIo], stream: u32, parts: u32, count: u32, result: u32) -> u32:
    """Write to standard output or error: all parts in one piece, so that lines stay whole."""
    if stream == 1 and io.text_bytes != 0:
        flush_text(io)
    total = total_of(io, parts, count)
    left = allowed(io, total)
    atomic_add(owner(io).written, left)
    cut = left < total
    record = u64(0)
    if left != 0:
        record = console_reserve(io, stream, left)
    at = record + CONSOLE_RECORD
    done = u64(0)
    error = u32(0)
    for number in range(count):
        address = load_u32(io, parts + number * 8)
        some = min(u64(load_u32(io, parts + number * 8 + 4)), left - done)
        if record != 0:
            copy_from_guest(io, at + done, address, some)
            done += some
        elif some != 0 and error == 0:
            done += write_through(io, stream, address, some)
            error = io.error
    if record != 0:
        console_commit(io, record)
    if cut:
        return fail(io, FAIL_OUTPUT)
    if error != 0 and done == 0:
        return error
    return tell(io, result, done)


@device(inline=False)
def wasi_fd_write(io: Ptr[LaneIo], fd: u32, parts: u32, count: u32, result: u32) -> u32:
    kind = kind_of(io, fd)
    if not can(io, fd, u64(RIGHT_FD_WRITE)):
        return u32(EBADF)
    error = bad_parts(io, parts, count)
    if error != 0:
        return error
    if kind == STDOUT or kind == STDERR:
        return write_console(io, kind - STDOUT + 1, parts, count, result)
    if kind == FILE:
        return write_host(io, u32(REQUEST_WRITE), owner(io).descriptors[fd].handle, u64(0), parts, count, result)
    return u32(EBADF)


@device(inline=False)
def wasi_fd_pwrite(io: Ptr[LaneIo], fd: u32, parts: u32, count: u32, offset: u64, result: u32) -> u32:
    kind = kind_of(io, fd)
    if kind == STDOUT or kind == STDERR:
        return u32(ESPIPE)
    if not can(io, fd, u64(RIGHT_FD_WRITE)):
        return u32(EBADF)
    error = bad_parts(io, parts, count)
    if error != 0:
        return error
    if offset >> 63 != 0:
        return u32(EINVAL)
    return write_host(io, u32(REQUEST_PWRITE), owner(io).descriptors[fd].handle, offset, parts, count, result)
