"""Calls about what is open: reading, writing, moving, copying descriptors."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from fcntl import ioctl as host_ioctl

from lanewise.arm64.linux.calls import call, integer, long
from lanewise.arm64.linux.memory import MOST_MOVED
from lanewise.arm64.linux.open_flags import guest_flags
from lanewise.arm64.linux.opened import HostFile, PipeEnd
from lanewise.arm64.linux.process import MOST_FILES, Process
from lanewise.arm64.linux.status import as_statfs
from lanewise.host.reply import failure

_MOST_PARTS = 1024
_CLOEXEC = 0o2000000
_DUPFD, _GETFD, _SETFD, _GETFL, _SETFL, _GETLK, _SETLK, _SETLKW, _DUPFD_CLOEXEC = 0, 1, 2, 3, 4, 5, 6, 7, 1030
_OF_PATHS = _DUPFD, _GETFD, _SETFD, _GETFL, _DUPFD_CLOEXEC
_FIONBIO, _FIONREAD = 0x5421, 0x541B
_TERMINAL = {0x5401: 36, 0x5402: 36, 0x5403: 36, 0x5404: 36, 0x5413: 8}
"""TCGETS, TCSETS, TCSETSW, TCSETSF and TIOCGWINSZ with the bytes of what they give or take, the same as on the host."""
_MOST_ADVICE = 5
_TERMINAL_ASKS = {0x5401, 0x5413}


def _length(count: int) -> int:
    """How much of what is wanted one call moves; EINVAL for less than nothing."""
    if long(count) < 0:
        raise failure(errno.EINVAL)
    return min(count, MOST_MOVED)


def _room(p: Process, address: int, count: int) -> int:
    """How much of a buffer is there, which may be said to be larger than all memory."""
    wanted = _length(count)
    found = p.memory.there(address, wanted)
    if wanted and not found:
        raise failure(errno.EFAULT)
    return found


@call(63)
def read(p: Process, fd: int, address: int, count: int) -> int:
    """Read on."""
    opened = p.opened(integer(fd))
    data = opened.read(_room(p, address, count))
    p.memory.write(address, data)
    return len(data)


@call(64)
def write(p: Process, fd: int, address: int, count: int) -> int:
    """Write on."""
    return p.opened(integer(fd)).write(p.memory.read(address, _room(p, address, count)))


def _parts(p: Process, address: int, count: int) -> list[tuple[int, int]]:
    """Addresses and lengths of the pieces of what is read or written at once, up to where one is not there."""
    if integer(count) < 0 or count > _MOST_PARTS:
        raise failure(errno.EINVAL)
    found = struct.iter_unpack("<QQ", p.memory.read(address, 16 * count))
    parts, left = [], MOST_MOVED
    for where, length in [(where, _length(wanted)) for where, wanted in found]:
        wanted = min(length, left)
        there = p.memory.there(where, wanted)
        if there:
            parts.append((where, there))
            left -= there
        if not parts and wanted:
            raise failure(errno.EFAULT)
        if there < wanted:
            break
    return parts


def _scatter(p: Process, parts: list[tuple[int, int]], data: bytes) -> int:
    at = 0
    for where, length in parts:
        p.memory.write(where, data[at : at + length])
        at += length
    return len(data)


@call(65)
def readv(p: Process, fd: int, address: int, count: int) -> int:
    """Read on, into several places."""
    opened, parts = p.opened(integer(fd)), _parts(p, address, count)
    return _scatter(p, parts, opened.read(sum(length for _, length in parts)))


@call(66)
def writev(p: Process, fd: int, address: int, count: int) -> int:
    """Write on, from several places."""
    opened = p.opened(integer(fd))
    return opened.write(b"".join(p.memory.read(where, length) for where, length in _parts(p, address, count)))


@call(67)
def pread64(p: Process, fd: int, address: int, count: int, offset: int) -> int:
    """Read from somewhere."""
    opened = p.opened(integer(fd))
    if long(offset) < 0:
        raise failure(errno.EINVAL)
    data = opened.read_at(_room(p, address, count), offset)
    p.memory.write(address, data)
    return len(data)


@call(68)
def pwrite64(p: Process, fd: int, address: int, count: int, offset: int) -> int:
    """Write to somewhere."""
    if long(offset) < 0:
        raise failure(errno.EINVAL)
    return p.opened(integer(fd)).write_at(p.memory.read(address, _room(p, address, count)), offset)


@call(69)
def preadv(p: Process, fd: int, address: int, count: int, offset: int) -> int:
    """Read from somewhere into several places."""
    opened, parts = p.opened(integer(fd)), _parts(p, address, count)
    if long(offset) < 0:
        raise failure(errno.EINVAL)
    return _scatter(p, parts, opened.read_at(sum(length for _, length in parts), offset))


@call(70)
def pwritev(p: Process, fd: int, address: int, count: int, offset: int) -> int:
    """Write to somewhere from several places."""
    opened = p.opened(integer(fd))
    if long(offset) < 0:
        raise failure(errno.EINVAL)
    data = b"".join(p.memory.read(where, length) for where, length in _parts(p, address, count))
    return opened.write_at(data, offset)


@call(71)
def sendfile(p: Process, target: int, source: int, position: int, count: int) -> int:
    """Copy from one to the other, on or from a position in memory."""
    into, from_ = p.opened(integer(target)), p.opened(integer(source))
    if long(count) < 0:
        raise failure(errno.EINVAL)
    if not position:
        return into.write(from_.read(into.room(_length(count))))
    (offset,) = p.memory.words(position, "<q")
    if offset < 0 or offset + count >= 1 << 63:
        raise failure(errno.EINVAL)
    written = into.write(from_.read_at(into.room(_length(count)), offset))
    p.memory.write_words(position, "<q", offset + written)
    return written


@call(285)
def copy_file_range(p: Process, source: int, read_at: int, target: int, write_at: int, count: int, flags: int) -> int:
    """Copy from one file to another, each on or from a position in memory."""
    from_, into = p.opened(integer(source)).descriptor, p.opened(integer(target)).descriptor
    if from_ is None or into is None or flags & 0xFFFFFFFF:
        raise failure(errno.EINVAL)
    offsets = [p.memory.words(at, "<q")[0] if at else None for at in (read_at, write_at)]
    moved = os.copy_file_range(from_, into, _length(count), *offsets)
    for at, offset in zip((read_at, write_at), offsets, strict=True):
        if offset is not None:
            p.memory.write_words(at, "<q", offset + moved)
    return moved


@call(62)
def lseek(p: Process, fd: int, offset: int, whence: int) -> int:
    """Move."""
    return p.opened(integer(fd)).seek(long(offset), integer(whence))


@call(46)
def ftruncate(p: Process, fd: int, size: int) -> int:
    """Make a file so long."""
    if long(size) < 0:
        raise failure(errno.EINVAL)
    p.opened(integer(fd)).truncate(size)
    return 0


@call(47)
def fallocate(p: Process, fd: int, mode: int, offset: int, count: int) -> int:
    """Room on the disk ahead of what is written; no holes and nothing else that modes are for."""
    opened = p.opened(integer(fd))
    if long(offset) < 0 or long(count) <= 0:
        raise failure(errno.EINVAL)
    if opened.flags & os.O_ACCMODE == os.O_RDONLY:
        raise failure(errno.EBADF)
    if integer(mode):
        raise failure(errno.EOPNOTSUPP)
    if not isinstance(opened, HostFile):
        raise failure(errno.ESPIPE if stat.S_ISFIFO(opened.status().mode) else errno.ENODEV)
    # By the system alone: where that cannot do it, the host's C library would write zeros for as long as it takes. That
    # is the guest's C library's to do, a call at a time.
    done = ctypes.CDLL(None, use_errno=True).fallocate(
        opened.descriptor, 0, ctypes.c_int64(long(offset)), ctypes.c_int64(long(count))
    )
    if done:
        raise failure(ctypes.get_errno())
    return 0


@call(44)
def fstatfs(p: Process, fd: int, address: int) -> int:
    """What there is to say of where a descriptor's content is kept."""
    descriptor = p.stands_for(integer(fd)).descriptor
    p.memory.write(address, as_statfs(None if descriptor is None else os.fstatvfs(descriptor)))
    return 0


@call(81)
def sync(p: Process) -> int:
    """See to it that all is kept, which the host does in its own time."""
    return 0


@call(82, 83)
def fsync(p: Process, fd: int) -> int:
    """See to it that it is kept."""
    p.opened(integer(fd)).sync()
    return 0


@call(223)
def fadvise64(p: Process, fd: int, offset: int, count: int, advice: int) -> int:
    """Advice that is not needed."""
    if stat.S_ISFIFO(p.opened(integer(fd)).status().mode):
        raise failure(errno.ESPIPE)
    if long(count) < 0 or not 0 <= integer(advice) <= _MOST_ADVICE:
        raise failure(errno.EINVAL)
    return 0


@call(57)
def close(p: Process, fd: int) -> int:
    """Close a descriptor."""
    p.drop(integer(fd))
    return 0


@call(436)
def close_range(p: Process, first: int, last: int, flags: int) -> int:
    """Close many."""
    if (last & 0xFFFFFFFF) < (first & 0xFFFFFFFF) or integer(flags) & ~6:
        raise failure(errno.EINVAL)
    for number in [one for one in p.files if first <= one <= last & 0xFFFFFFFF]:
        if flags & 4:
            p.files[number].close_on_exec = True
        else:
            p.drop(number)
    return 0


@call(23)
def dup(p: Process, fd: int) -> int:
    """Another descriptor for the same."""
    return p.put(p.stands_for(integer(fd)))


@call(24)
def dup3(p: Process, old: int, new: int, flags: int) -> int:
    """A certain descriptor for the same."""
    opened, number = p.stands_for(integer(old)), integer(new)
    if integer(old) == number or integer(flags) & ~_CLOEXEC:
        raise failure(errno.EINVAL)
    if not 0 <= number < MOST_FILES:
        raise failure(errno.EBADF)
    if number in p.files:
        p.drop(number)
    return p.put(opened, number, close_on_exec=bool(flags & _CLOEXEC))


@call(25)
def fcntl(p: Process, fd: int, command: int, word: int) -> int:
    """Copies and flags of a descriptor. Locks are always had: nobody else is there."""
    number, command = integer(fd), integer(command)
    opened = p.stands_for(number) if command in _OF_PATHS else p.opened(number)
    if command in (_DUPFD, _DUPFD_CLOEXEC):
        if not 0 <= integer(word) < MOST_FILES:
            raise failure(errno.EINVAL)
        return p.put(opened, least=integer(word), close_on_exec=command == _DUPFD_CLOEXEC)
    if command == _GETFD:
        return int(p.files[number].close_on_exec)
    if command == _SETFD:
        p.files[number].close_on_exec = bool(word & 1)
        return 0
    if command == _GETFL:
        return guest_flags(opened.flags)
    if command == _SETFL:
        opened.set_flags(word)
        return 0
    if command == _GETLK:
        p.memory.write_words(word, "<h", 2)
        return 0
    if command in (_SETLK, _SETLKW):
        return 0
    raise failure(errno.EINVAL)


@call(32)
def flock(p: Process, fd: int) -> int:
    """A lock, which is always had."""
    p.opened(integer(fd))
    return 0


@call(29)
def ioctl(p: Process, fd: int, request: int, word: int) -> int:
    """What a terminal can be asked and told, where a stream is that of the host; whether reading is to wait, and how
    much there is to be read."""
    opened, number = p.opened(integer(fd)), request & 0xFFFFFFFF
    if number == _FIONBIO:
        (wanted,) = p.memory.words(word, "<i")
        opened.set_flags(opened.flags & ~os.O_NONBLOCK | (os.O_NONBLOCK if wanted else 0))
        return 0
    if number == _FIONREAD:
        p.memory.write_words(word, "<i", min(opened.waiting(), 2**31 - 1))
        return 0
    if opened.terminal is None or number not in _TERMINAL:
        raise failure(errno.ENOTTY)
    size = _TERMINAL[number]
    answer = host_ioctl(opened.terminal, number, p.memory.read(word, size))
    if number in _TERMINAL_ASKS:
        p.memory.write(word, answer)
    return 0


@call(59)
def pipe2(p: Process, address: int, flags: int) -> int:
    """A pipe to itself."""
    p.memory.check(address, 8)
    content = bytearray()
    reader = PipeEnd(content, writes=False)
    writer = PipeEnd(content, writes=True, other=reader)
    for end in (reader, writer):
        end.flags |= flags & os.O_NONBLOCK
    first = p.put(reader, close_on_exec=bool(flags & _CLOEXEC))
    try:
        second = p.put(writer, close_on_exec=bool(flags & _CLOEXEC))
    except OSError:
        p.drop(first)
        raise
    p.memory.write_words(address, "<ii", first, second)
    return 0


@call(80)
def fstat(p: Process, fd: int, address: int) -> int:
    """What there is to say of a descriptor."""
    p.memory.write(address, p.stands_for(integer(fd)).status().as_stat())
    return 0


@call(61)
def getdents64(p: Process, fd: int, address: int, count: int) -> int:
    """The next entries of a directory."""
    opened = p.opened(integer(fd))
    if integer(count) < 0:
        raise failure(errno.EINVAL)
    data = opened.entries(_room(p, address, integer(count)))
    p.memory.write(address, data)
    return len(data)
