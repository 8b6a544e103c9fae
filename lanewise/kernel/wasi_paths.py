"""WASI: what is done by name. Names are the host's to resolve, within the preopened directories alone."""

from lanewise.kernel.descriptors import claim_descriptor, kind_of, let_go_of_copies
from lanewise.kernel.guest_memory import fail, outside, store_u32
from lanewise.kernel.lane_io import CLOSED, COPY, FILE, PREOPENED, LaneIo, Request
from lanewise.kernel.requests import (
    begin_request,
    end_request,
    owner,
    run_of,
    send_guest_bytes,
    send_request,
    take_guest_bytes,
)
from lanewise.kernel.wasi_files import bad_times
from lanewise.kernel.wasi_numbers import (
    DIRECTORY,
    EBADF,
    EMFILE,
    ENAMETOOLONG,
    ENOTDIR,
    FAIL_ARGUMENT,
    FILESTAT_BYTES,
    REQUEST_CREATE_DIRECTORY,
    REQUEST_LINK,
    REQUEST_OPEN,
    REQUEST_PATH_FILESTAT,
    REQUEST_PATH_SET_TIMES,
    REQUEST_READLINK,
    REQUEST_REMOVE_DIRECTORY,
    REQUEST_RENAME,
    REQUEST_SYMLINK,
    REQUEST_UNLINK,
    RIGHTS_END,
    SUCCESS,
)
from lanewise.kernel.wasi_streams import tell
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, u32, u64
from lanewise.lang.vocabulary import addressof
from lanewise.settings import LANE_FILES


@device
def is_directory(io: Ptr[LaneIo], fd: u32) -> bool:
    """Whether names can be resolved from a descriptor."""
    kind = kind_of(io, fd)
    return kind == PREOPENED or (kind == FILE and owner(io).descriptors[fd].filetype == DIRECTORY)


@device
def bad_path(io: Ptr[LaneIo], path: u32, length: u32) -> u32:
    """Whether a path can be sent at all."""
    if outside(io, path, u64(length), u32(1)):
        return u32(EBADF)
    # Longer ones are too long for every host, and two of them must fit a request.
    return u32(ENAMETOOLONG) if u64(length) > run_of(io).capacity // 2 else u32(SUCCESS)


@device(inline=False)
def begin_path(io: Ptr[LaneIo], op: u32, fd: u32, path: u32, length: u32) -> Ptr[Request]:
    """A request about a path."""
    request = begin_request(io, op)
    request.arguments[0] = u64(owner(io).descriptors[fd].handle)
    send_guest_bytes(io, request, path, u64(length))
    return request


@device(inline=False)
def simple_path(io: Ptr[LaneIo], op: u32, fd: u32, path: u32, length: u32) -> u32:
    """A request about a path, of whose answer only the error number counts."""
    error = bad_path(io, path, length)
    if error != 0:
        return error
    if not is_directory(io, fd):
        return u32(EBADF)
    error = send_request(io, begin_path(io, op, fd, path, length))
    end_request(io)
    return error


@device(inline=False)
def wasi_path_open(
    io: Ptr[LaneIo],
    fd: u32,
    lookup: u32,
    path: u32,
    length: u32,
    oflags: u32,
    rights: u64,
    inheriting: u64,
    fdflags: u32,
    result: u32,
) -> u32:
    if lookup > 1 or oflags > 15 or fdflags > 31 or rights >= RIGHTS_END or inheriting >= RIGHTS_END:
        return fail(io, FAIL_ARGUMENT)
    error = bad_path(io, path, length)
    if error != 0:
        return error
    kind = kind_of(io, fd)
    if not is_directory(io, fd):
        return u32(ENOTDIR) if kind == COPY or kind == FILE else u32(EBADF)
    made = claim_descriptor(io)
    if made >= LANE_FILES:
        return u32(EMFILE)
    held = owner(io).held
    request = begin_path(io, u32(REQUEST_OPEN), fd, path, length)
    request.arguments[1] = u64(lookup)
    request.arguments[2] = u64(oflags)
    request.arguments[3] = u64(fdflags)
    request.arguments[4] = rights
    request.arguments[5] = inheriting
    error = send_request(io, request)
    if error != 0 or io.failure != 0:
        end_request(io)
        owner(io).descriptors[made].kind = CLOSED
        return error
    descriptor = addressof(owner(io).descriptors[made])
    descriptor.flags = fdflags
    descriptor.handle = u32(request.values[0])
    descriptor.filetype = u32(request.values[1])
    descriptor.rights = request.values[2]
    descriptor.inheriting = request.values[3]
    descriptor.content = request.values[4]
    descriptor.position = 0
    written = request.values[5]
    end_request(io)
    descriptor.kind = FILE
    if descriptor.content != 0:
        descriptor.kind = COPY
        if io.team == 0:
            owner(io).held = held  # the host holds nothing for a copy that it must be told to forget
    if written != 0:
        let_go_of_copies(io)
    if not outside(io, result, u64(4), u32(4)):
        store_u32(io, result, made)
    return u32(SUCCESS)


@device
def wasi_path_create_directory(io: Ptr[LaneIo], fd: u32, path: u32, length: u32) -> u32:
    return simple_path(io, u32(REQUEST_CREATE_DIRECTORY), fd, path, length)


@device
def wasi_path_remove_directory(io: Ptr[LaneIo], fd: u32, path: u32, length: u32) -> u32:
    return simple_path(io, u32(REQUEST_REMOVE_DIRECTORY), fd, path, length)


@device
def wasi_path_unlink_file(io: Ptr[LaneIo], fd: u32, path: u32, length: u32) -> u32:
    return simple_path(io, u32(REQUEST_UNLINK), fd, path, length)


@device(inline=False)
def wasi_path_filestat_get(io: Ptr[LaneIo], fd: u32, lookup: u32, path: u32, length: u32, result: u32) -> u32:
    if lookup > 1:
        return fail(io, FAIL_ARGUMENT)
    error = bad_path(io, path, length)
    if error != 0:
        return error
    if not is_directory(io, fd):
        return u32(EBADF)
    request = begin_path(io, u32(REQUEST_PATH_FILESTAT), fd, path, length)
    request.arguments[1] = u64(lookup)
    request.room = FILESTAT_BYTES
    error = send_request(io, request)
    if error == 0 and io.failure == 0 and not outside(io, result, u64(FILESTAT_BYTES), u32(8)):
        take_guest_bytes(io, request, result)
    end_request(io)
    return error


@device(inline=False)
def wasi_path_filestat_set_times(
    io: Ptr[LaneIo], fd: u32, lookup: u32, path: u32, length: u32, access: u64, change: u64, flags: u32
) -> u32:
    if lookup > 1:
        return fail(io, FAIL_ARGUMENT)
    error = bad_times(io, flags)
    if error == 0:
        error = bad_path(io, path, length)
    if error != 0:
        return error
    if not is_directory(io, fd):
        return u32(EBADF)
    request = begin_path(io, u32(REQUEST_PATH_SET_TIMES), fd, path, length)
    request.arguments[1] = u64(lookup)
    request.arguments[2] = access
    request.arguments[3] = change
    request.arguments[4] = u64(flags)
    error = send_request(io, request)
    end_request(io)
    return error


@device(inline=False)
def wasi_path_link(
    io: Ptr[LaneIo], fd: u32, lookup: u32, path: u32, length: u32, target: u32, name: u32, name_length: u32
) -> u32:
    if lookup > 1:
        return fail(io, FAIL_ARGUMENT)
    return two_paths(io, u32(REQUEST_LINK), fd, path, length, target, name, name_length, lookup)


@device(inline=False)
def wasi_path_rename(io: Ptr[LaneIo], fd: u32, path: u32, length: u32, target: u32, name: u32, name_length: u32) -> u32:
    return two_paths(io, u32(REQUEST_RENAME), fd, path, length, target, name, name_length, u32(0))


@device(inline=False)
def two_paths(
    io: Ptr[LaneIo],
    op: u32,
    fd: u32,
    path: u32,
    length: u32,
    target: u32,
    name: u32,
    name_length: u32,
    lookup: u32,
) -> u32:
    """A request about an old and a new path; `lookup` is for links alone."""
    error = bad_path(io, path, length)
    if error == 0:
        error = bad_path(io, name, name_length)
    if error != 0:
        return error
    if not is_directory(io, fd) or not is_directory(io, target):
        return u32(EBADF)
    request = begin_path(io, op, fd, path, length)
    send_guest_bytes(io, request, name, u64(name_length))
    handle = u64(owner(io).descriptors[target].handle)
    if op == REQUEST_LINK:
        request.arguments[1] = u64(lookup)
        request.arguments[2] = handle
        request.arguments[3] = u64(length)
    else:
        request.arguments[1] = handle
        request.arguments[2] = u64(length)
    error = send_request(io, request)
    end_request(io)
    return error


@device(inline=False)
def wasi_path_symlink(io: Ptr[LaneIo], content: u32, length: u32, fd: u32, path: u32, path_length: u32) -> u32:
    error = bad_path(io, content, length)
    if error == 0:
        error = bad_path(io, path, path_length)
    if error != 0:
        return error
    if not is_directory(io, fd):
        return u32(EBADF)
    request = begin_path(io, u32(REQUEST_SYMLINK), fd, content, length)
    send_guest_bytes(io, request, path, u64(path_length))
    request.arguments[1] = u64(length)
    error = send_request(io, request)
    end_request(io)
    return error


@device(inline=False)
def wasi_path_readlink(io: Ptr[LaneIo], fd: u32, path: u32, length: u32, buffer: u32, room: u32, result: u32) -> u32:
    error = bad_path(io, path, length)
    if error != 0:
        return error
    if not is_directory(io, fd):
        return u32(EBADF)
    if outside(io, buffer, u64(room), u32(1)):
        return u32(0)
    request = begin_path(io, u32(REQUEST_READLINK), fd, path, length)
    some = min(u64(room), run_of(io).capacity)
    request.room = u32(some)
    request.arguments[1] = some
    error = send_request(io, request)
    got = u64(request.received)
    if error == 0 and io.failure == 0:
        take_guest_bytes(io, request, buffer)
    end_request(io)
    if error != 0 or io.failure != 0:
        return error
    return tell(io, result, got)
