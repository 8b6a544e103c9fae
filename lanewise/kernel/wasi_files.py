"""WASI: what is done with an open file other than reading and writing it."""

from lanewise.kernel.descriptors import ask, close_descriptor, content_of, host_file, kind_of
from lanewise.kernel.guest_memory import copy_to_guest, fail, outside, store_u8, store_u32, store_u64
from lanewise.kernel.lane_io import CLOSED, COPY, FILE, PREOPENED, STDERR, STDIN, LaneIo, Span
from lanewise.kernel.requests import begin_request, end_request, owner, run_of, send_request, take_guest_bytes
from lanewise.kernel.wasi_numbers import (
    DIRECTORY,
    EBADF,
    EINVAL,
    ENAMETOOLONG,
    ENOTDIR,
    ENOTSUP,
    ESPIPE,
    FAIL_ARGUMENT,
    FDFLAG_APPEND,
    FDFLAG_NONBLOCK,
    FILESTAT_BYTES,
    FST_ATIM,
    FST_ATIM_NOW,
    FST_MTIM,
    FST_MTIM_NOW,
    REQUEST_ADVISE,
    REQUEST_DATASYNC,
    REQUEST_FILESTAT,
    REQUEST_READDIR,
    REQUEST_SEEK,
    REQUEST_SET_FLAGS,
    REQUEST_SET_SIZE,
    REQUEST_SET_TIMES,
    REQUEST_SYNC,
    REQUEST_TELL,
    RIGHTS_END,
    SUCCESS,
    WHENCE_CUR,
    WHENCE_END,
)
from lanewise.kernel.wasi_streams import FILESTAT_SIZE_WORD, tell
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, i64, u32, u64
from lanewise.lang.vocabulary import addressof

# --- descriptors ------------------------------------------------------------------------------------------------------


@device
def is_stream(kind: u32) -> bool:
    """Whether a descriptor is a standard stream."""
    return kind >= STDIN and kind <= STDERR


@device
def is_regular(io: Ptr[LaneIo], fd: u32) -> bool:
    """Whether a descriptor is a file and no directory."""
    kind = kind_of(io, fd)
    return kind == COPY or (kind == FILE and owner(io).descriptors[fd].filetype != DIRECTORY)


@device
def wasi_fd_close(io: Ptr[LaneIo], fd: u32) -> u32:
    if kind_of(io, fd) == CLOSED:
        return u32(EBADF)
    return close_descriptor(io, fd)


@device
def wasi_fd_renumber(io: Ptr[LaneIo], source: u32, target: u32) -> u32:
    if kind_of(io, source) == CLOSED or kind_of(io, target) == CLOSED:
        return u32(EBADF)
    if source == target:
        return u32(SUCCESS)
    close_descriptor(io, target)
    before = addressof(owner(io).descriptors[source])
    after = addressof(owner(io).descriptors[target])
    after.flags = before.flags
    after.filetype = before.filetype
    after.handle = before.handle
    after.rights = before.rights
    after.inheriting = before.inheriting
    after.position = before.position
    after.content = before.content
    after.kind = before.kind
    before.kind = CLOSED
    return u32(SUCCESS)


@device
def wasi_fd_fdstat_get(io: Ptr[LaneIo], fd: u32, result: u32) -> u32:
    if kind_of(io, fd) == CLOSED:
        return u32(EBADF)
    if outside(io, result, u64(24), u32(8)):
        return u32(0)
    descriptor = addressof(owner(io).descriptors[fd])
    store_u64(io, result, u64(descriptor.filetype) | (u64(descriptor.flags) << 16))
    store_u64(io, result + 8, descriptor.rights)
    store_u64(io, result + 16, descriptor.inheriting)
    return u32(SUCCESS)


@device
def wasi_fd_fdstat_set_flags(io: Ptr[LaneIo], fd: u32, flags: u32) -> u32:
    if flags > 31:
        return fail(io, FAIL_ARGUMENT)
    if not is_regular(io, fd):
        return u32(EBADF)
    if flags & ~u32(FDFLAG_APPEND | FDFLAG_NONBLOCK) != 0:
        return u32(EINVAL)
    error = host_file(io, fd)
    if error == 0:
        error = ask(io, u32(REQUEST_SET_FLAGS), u64(owner(io).descriptors[fd].handle), u64(flags), u64(0), u64(0))
    if error == 0:
        owner(io).descriptors[fd].flags = flags
    return error


@device
def wasi_fd_fdstat_set_rights(io: Ptr[LaneIo], fd: u32, rights: u64, inheriting: u64) -> u32:
    if rights >= RIGHTS_END or inheriting >= RIGHTS_END:
        return fail(io, FAIL_ARGUMENT)
    kind = kind_of(io, fd)
    return u32(EBADF) if kind == CLOSED or is_stream(kind) else u32(ENOTSUP)


@device
def wasi_fd_prestat_get(io: Ptr[LaneIo], fd: u32, result: u32) -> u32:
    if kind_of(io, fd) != PREOPENED:
        return u32(EBADF)
    if not outside(io, result, u64(8), u32(4)):
        store_u32(io, result, u32(0))
        store_u32(io, result + 4, (Ptr[Span](run_of(io).preopened) + owner(io).descriptors[fd].handle).nbytes)
    return u32(SUCCESS)


@device
def wasi_fd_prestat_dir_name(io: Ptr[LaneIo], fd: u32, buffer: u32, room: u32) -> u32:
    kind = kind_of(io, fd)
    if kind != PREOPENED:
        return u32(EBADF) if kind == CLOSED else u32(ENOTDIR)
    name = Ptr[Span](run_of(io).preopened) + owner(io).descriptors[fd].handle
    if room < name.nbytes:
        return u32(ENAMETOOLONG)
    if not outside(io, buffer, u64(name.nbytes), u32(1)):
        copy_to_guest(io, buffer, name.address, u64(name.nbytes))
    return u32(SUCCESS)


# --- positions --------------------------------------------------------------------------------------------------------


@device(inline=False)
def wasi_fd_seek(io: Ptr[LaneIo], fd: u32, offset: u64, whence: u32, result: u32) -> u32:
    if whence > WHENCE_END:
        return fail(io, FAIL_ARGUMENT)
    kind = kind_of(io, fd)
    if is_stream(kind):
        return u32(ESPIPE)
    if not is_regular(io, fd):
        return u32(EBADF)
    descriptor = addressof(owner(io).descriptors[fd])
    found = u64(0)
    if kind == COPY:
        base = u64(0)
        if whence == WHENCE_CUR:
            base = descriptor.position
        if whence == WHENCE_END:
            base = Ptr[u64](content_of(io, fd))[FILESTAT_SIZE_WORD]
        found = base + offset
        back = whence != 0 and i64(offset) < 0
        if (back and found > base) or (not back and found < base):
            return u32(EINVAL)
        if whence == 0 and i64(offset) < 0:
            return u32(EINVAL)
        descriptor.position = found
    else:
        request = begin_request(io, u32(REQUEST_SEEK))
        request.arguments[0] = u64(descriptor.handle)
        request.arguments[1] = offset
        request.arguments[2] = u64(whence)
        error = send_request(io, request)
        found = request.values[0]
        end_request(io)
        if error != 0 or io.failure != 0:
            return error
    if not outside(io, result, u64(8), u32(8)):
        store_u64(io, result, found)
    return u32(SUCCESS)


@device(inline=False)
def wasi_fd_tell(io: Ptr[LaneIo], fd: u32, result: u32) -> u32:
    kind = kind_of(io, fd)
    if is_stream(kind):
        return u32(ESPIPE)
    if not is_regular(io, fd):
        return u32(EBADF)
    found = owner(io).descriptors[fd].position
    if kind == FILE:
        request = begin_request(io, u32(REQUEST_TELL))
        request.arguments[0] = u64(owner(io).descriptors[fd].handle)
        error = send_request(io, request)
        found = request.values[0]
        end_request(io)
        if error != 0 or io.failure != 0:
            return error
    if not outside(io, result, u64(8), u32(8)):
        store_u64(io, result, found)
    return u32(SUCCESS)


# --- the file itself --------------------------------------------------------------------------------------------------


@device
def wasi_fd_advise(io: Ptr[LaneIo], fd: u32, offset: u64, length: u64, advice: u32) -> u32:
    if advice > 5:
        return fail(io, FAIL_ARGUMENT)
    if not is_regular(io, fd):
        return u32(EBADF)
    if length >> 63 != 0:
        return u32(EINVAL)
    if kind_of(io, fd) == COPY:
        return u32(SUCCESS)
    return ask(io, u32(REQUEST_ADVISE), u64(owner(io).descriptors[fd].handle), offset, length, u64(advice))


@device
def wasi_fd_allocate(io: Ptr[LaneIo], fd: u32, offset: u64, length: u64) -> u32:
    return u32(ENOTSUP) if is_regular(io, fd) else u32(EBADF)


@device
def sync(io: Ptr[LaneIo], fd: u32, op: u32) -> u32:
    """Have what was written be safe; of a copy nothing was."""
    if not is_regular(io, fd):
        return u32(EBADF)
    if kind_of(io, fd) == COPY:
        return u32(SUCCESS)
    return ask(io, op, u64(owner(io).descriptors[fd].handle), u64(0), u64(0), u64(0))


@device
def wasi_fd_datasync(io: Ptr[LaneIo], fd: u32) -> u32:
    return sync(io, fd, u32(REQUEST_DATASYNC))


@device
def wasi_fd_sync(io: Ptr[LaneIo], fd: u32) -> u32:
    return sync(io, fd, u32(REQUEST_SYNC))


@device(inline=False)
def wasi_fd_filestat_get(io: Ptr[LaneIo], fd: u32, result: u32) -> u32:
    kind = kind_of(io, fd)
    if kind == CLOSED:
        return u32(EBADF)
    if kind == COPY:
        if not outside(io, result, u64(FILESTAT_BYTES), u32(8)):
            copy_to_guest(io, result, content_of(io, fd), u64(FILESTAT_BYTES))
        return u32(SUCCESS)
    if is_stream(kind):
        if not outside(io, result, u64(FILESTAT_BYTES), u32(8)):
            for word in range(u32(8)):
                store_u64(io, result + word * 8, u64(0))
            store_u8(io, result + 16, owner(io).descriptors[fd].filetype)
        return u32(SUCCESS)
    request = begin_request(io, u32(REQUEST_FILESTAT))
    request.arguments[0] = u64(owner(io).descriptors[fd].handle)
    request.room = FILESTAT_BYTES
    error = send_request(io, request)
    if error == 0 and io.failure == 0 and not outside(io, result, u64(FILESTAT_BYTES), u32(8)):
        take_guest_bytes(io, request, result)
    end_request(io)
    return error


@device
def wasi_fd_filestat_set_size(io: Ptr[LaneIo], fd: u32, size: u64) -> u32:
    if not is_regular(io, fd):
        return u32(EBADF)
    if kind_of(io, fd) == COPY:
        return u32(EINVAL)
    return ask(io, u32(REQUEST_SET_SIZE), u64(owner(io).descriptors[fd].handle), size, u64(0), u64(0))


@device
def bad_times(io: Ptr[LaneIo], flags: u32) -> u32:
    """Whether a time is both given and now."""
    if flags > 15:
        fail(io, FAIL_ARGUMENT)
        return u32(EINVAL)
    both = u32(FST_ATIM | FST_ATIM_NOW)
    also = u32(FST_MTIM | FST_MTIM_NOW)
    return u32(EINVAL) if flags & both == both or flags & also == also else u32(SUCCESS)


@device
def wasi_fd_filestat_set_times(io: Ptr[LaneIo], fd: u32, access: u64, change: u64, flags: u32) -> u32:
    error = bad_times(io, flags)
    if error != 0:
        return error
    if is_stream(kind_of(io, fd)):
        return u32(EBADF)
    error = host_file(io, fd)
    if error != 0:
        return error
    return ask(io, u32(REQUEST_SET_TIMES), u64(owner(io).descriptors[fd].handle), access, change, u64(flags))


@device(inline=False)
def wasi_fd_readdir(io: Ptr[LaneIo], fd: u32, buffer: u32, room: u32, cookie: u64, result: u32) -> u32:
    kind = kind_of(io, fd)
    if kind != PREOPENED and (kind != FILE or owner(io).descriptors[fd].filetype != DIRECTORY):
        return u32(EBADF)
    if outside(io, buffer, u64(room), u32(1)):
        return u32(0)
    done = u64(0)
    while done < u64(room):
        request = begin_request(io, u32(REQUEST_READDIR))
        some = min(u64(room) - done, run_of(io).capacity)
        request.room = u32(some)
        request.arguments[0] = u64(owner(io).descriptors[fd].handle)
        request.arguments[1] = cookie
        request.arguments[2] = some
        request.arguments[3] = done
        error = send_request(io, request)
        got = u64(request.received)
        if error == 0 and io.failure == 0:
            take_guest_bytes(io, request, buffer + u32(done))
        end_request(io)
        if error != 0 or io.failure != 0:
            return error
        done += got
        if got < some:
            return tell(io, result, done)
    return tell(io, result, done)
