"""What a program can have open: its streams, files and directories of the host, pipes to itself, and some devices."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
from collections.abc import Callable
from select import POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLRDNORM, POLLWRNORM

from lanewise.arm64.linux.status import DIRECTORY, PIPE, Status, device, known_file
from lanewise.host.reply import failure

_DIRENT = struct.Struct("<QqHB")
NULL, ZERO, RANDOM = 3, 5, 9
"""Devices by their minor numbers."""
SETTABLE = os.O_APPEND | os.O_NONBLOCK
"""Flags that can change while something is open."""
READABLE, WRITABLE = POLLIN | POLLRDNORM, POLLOUT | POLLWRNORM
"""What poll tells of what can be read or written now."""
PIPE_ROOM = 1 << 16
"""Bytes that a pipe holds."""
_PIPE_WHOLE = 4096
"""What is no longer than this comes into a pipe as a whole or not at all."""


class Stop(Exception):  # noqa: N818 (no error, but a fact)
    """The program cannot go on."""

    reason = ""


class WouldWait(Stop):
    """Nothing is there, and only the program itself could change that."""

    reason = "waits for itself"


class WaitsForEver(Stop):
    """It waits for others, and there are none."""

    reason = "waits for ever"


class OutputLimit(Stop):
    """It wrote more than is kept."""

    reason = "output limit"


class Opened:
    """Something open; several descriptors may share it, position and all."""

    flags = 0
    """As fcntl gives them."""
    users = 0
    path = b""
    """The absolute path of a directory as the program has it."""
    descriptor: int | None = None
    """That of the host, if this is a file or a directory of it."""
    terminal: int | None = None
    """The descriptor of the host, if this is its terminal."""
    from_outside = False
    """Whether others than the program may write what it reads."""
    mappable = False
    """Whether its content can be in memory, as that of regular files can."""

    def anew(self, flags: int) -> Opened:
        """What comes of opening it once more, by /dev/fd: itself, but for files and directories."""
        return self

    def waiting(self) -> int:
        """How many bytes can be read, as far as that is known."""
        raise failure(errno.ENOTTY)

    def read(self, count: int) -> bytes:
        """Read on; nothing at the end."""
        raise failure(errno.EBADF)

    def write(self, data: bytes) -> int:
        """Write on; how many bytes were written."""
        raise failure(errno.EBADF)

    def room(self, count: int) -> int:
        """How many of so many bytes could be written now, one at least."""
        return count

    def set_flags(self, flags: int) -> None:
        """Set those flags that can change while it is open."""
        self.flags = self.flags & ~SETTABLE | flags & SETTABLE

    def read_at(self, count: int, offset: int) -> bytes:
        """Read without moving."""
        raise failure(errno.ESPIPE)

    def write_at(self, data: bytes, offset: int) -> int:
        """Write without moving."""
        raise failure(errno.ESPIPE)

    def seek(self, offset: int, whence: int) -> int:
        """Move; where it is then."""
        raise failure(errno.ESPIPE)

    def truncate(self, size: int) -> None:
        """Make it so long."""
        raise failure(errno.EINVAL)

    def entries(self, room: int) -> bytes:
        """The next entries of a directory, as getdents64 gives them."""
        raise failure(errno.ENOTDIR)

    def status(self) -> Status:
        """What there is to say of it."""
        return PIPE

    def ready(self) -> int:
        """What would not wait, and what else poll tells of it: as bits of poll."""
        return READABLE | WRITABLE

    def comes(self, seconds: float | None) -> bool:
        """Wait until something comes from outside; whether it did in this time."""
        return False

    def sync(self) -> None:
        """See to it that it is kept."""
        raise failure(errno.EINVAL)

    def close(self) -> None:
        """The last one who had it open has closed it."""


def _refuse_more(had: int, wanted: int) -> None:
    """Refuse to open again for more than it was opened for."""
    if had & os.O_ACCMODE not in (os.O_RDWR, wanted & os.O_ACCMODE) or (
        wanted & os.O_TRUNC and had & os.O_ACCMODE == os.O_RDONLY
    ):
        raise failure(errno.EACCES)


def _again(descriptor: int, flags: int) -> int:
    """Another descriptor of the host for the same, with a position of its own."""
    return os.open(b"/proc/self/fd/%d" % descriptor, flags | os.O_CLOEXEC)


class OnlyPath(Opened):
    """What was opened by O_PATH: it stands for where a path leads, and nobody reads, writes or changes it by this."""

    def __init__(self, opened: Opened, flags: int) -> None:
        self.flags = flags & (os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
        self.path, self.descriptor = opened.path, opened.descriptor
        self._opened = opened

    def status(self) -> Status:
        return self._opened.status()

    def ready(self) -> int:
        return POLLNVAL

    def close(self) -> None:
        self._opened.close()


class Source(Opened):
    """Standard input that is known before: a file, in which each program has a position of its own."""

    mappable = True

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def anew(self, flags: int) -> Opened:
        _refuse_more(self.flags, flags)
        return Source(self._content)

    def waiting(self) -> int:
        return max(0, len(self._content) - self._at)

    def read(self, count: int) -> bytes:
        found = self.read_at(count, self._at)
        self._at += len(found)
        return found

    def read_at(self, count: int, offset: int) -> bytes:
        return self._content[offset : offset + count]

    def write_at(self, data: bytes, offset: int) -> int:
        raise failure(errno.EBADF)

    def seek(self, offset: int, whence: int) -> int:
        at = offset + _whence(whence, self._at, len(self._content))
        if not 0 <= at < 1 << 63:
            raise failure(errno.EINVAL)
        self._at = at
        return at

    def status(self) -> Status:
        return known_file(len(self._content))

    def sync(self) -> None:
        """Nothing changes it."""


def _whence(whence: int, now: int, end: int) -> int:
    """Where a file is moved from."""
    if not 0 <= whence <= 2:
        raise failure(errno.EINVAL)
    return (0, now, end)[whence]


class Kept:
    """How much more is kept of what a program writes."""

    def __init__(self, room: int) -> None:
        self.room = room


class Sink(Opened):
    """Standard output or error, which is kept as far as there is room for both."""

    flags = os.O_WRONLY

    def __init__(self, kept: Kept) -> None:
        self.content = bytearray()
        self._kept = kept

    def write(self, data: bytes) -> int:
        self.take(data[: self._kept.room])
        if len(data) > self._kept.room:
            self._kept.room = 0
            raise OutputLimit
        self._kept.room -= len(data)
        return len(data)

    def take(self, data: bytes) -> None:
        """Keep what may be written."""
        self.content += data

    def handed_over(self) -> bytes:
        """What was kept, which is not any more."""
        found, self.content = bytes(self.content), bytearray()
        return found


def kept_streams(stdin: Opened, room: int) -> tuple[Opened, Sink, Sink]:
    """Standard input, output and error of a program whose output is kept, so many bytes of both."""
    kept = Kept(room)
    return stdin, Sink(kept), Sink(kept)


class PipeEnd(Opened):
    """One end of a pipe, of which the program has both: what is not there will not come by waiting."""

    def __init__(self, content: bytearray, writes: bool, other: PipeEnd | None = None) -> None:
        self._content, self._writes, self._other, self._closed = content, writes, other, False
        self.flags = os.O_WRONLY if writes else os.O_RDONLY
        if other is not None:
            other._other = self

    def waiting(self) -> int:
        return len(self._content)

    def read(self, count: int) -> bytes:
        if self._writes:
            raise failure(errno.EBADF)
        if not self._content and count and self._other is not None and not self._other._closed:
            if self.flags & os.O_NONBLOCK:
                raise failure(errno.EAGAIN)
            raise WouldWait
        found = bytes(self._content[:count])
        del self._content[:count]
        return found

    def write(self, data: bytes) -> int:
        if not self._writes:
            raise failure(errno.EBADF)
        if self._other is not None and self._other._closed:
            raise failure(errno.EPIPE)
        count = self.room(len(data))
        if count < len(data) and not self.flags & os.O_NONBLOCK:
            raise WouldWait
        if count < len(data) <= _PIPE_WHOLE:
            raise failure(errno.EAGAIN)
        self._content += data[:count]
        return count

    def room(self, count: int) -> int:
        free = PIPE_ROOM - len(self._content)
        if self._writes and count and not free:
            if self.flags & os.O_NONBLOCK:
                raise failure(errno.EAGAIN)
            raise WouldWait
        return min(count, free)

    def ready(self) -> int:
        alone = self._other is None or self._other._closed
        if self._writes:
            return WRITABLE * (PIPE_ROOM - len(self._content) >= _PIPE_WHOLE) | POLLERR * alone
        return READABLE * bool(self._content) | POLLHUP * alone

    def close(self) -> None:
        self._closed = True


class Device(Opened):
    """/dev/null, /dev/zero or /dev/urandom: what is written is gone, what is read is made."""

    flags = os.O_RDWR

    def __init__(self, minor: int, make: Callable[[int], bytes]) -> None:
        self._minor, self._make = minor, make
        self.is_zero = minor == ZERO

    def read(self, count: int) -> bytes:
        return self._make(count)

    def read_at(self, count: int, offset: int) -> bytes:
        return self._make(count)

    def write(self, data: bytes) -> int:
        return len(data)

    def write_at(self, data: bytes, offset: int) -> int:
        return len(data)

    def seek(self, offset: int, whence: int) -> int:
        return 0

    def status(self) -> Status:
        return device(self._minor)


class HostFile(Opened):
    """A regular file of the host."""

    descriptor: int
    mappable = True

    def __init__(self, descriptor: int, flags: int) -> None:
        self.descriptor = descriptor
        self.flags = flags

    def anew(self, flags: int) -> Opened:
        _refuse_more(self.flags, flags)
        kept = flags & (os.O_ACCMODE | os.O_APPEND)
        return HostFile(_again(self.descriptor, kept | flags & os.O_TRUNC), kept)

    def waiting(self) -> int:
        return max(0, os.fstat(self.descriptor).st_size - os.lseek(self.descriptor, 0, os.SEEK_CUR))

    def read(self, count: int) -> bytes:
        return os.read(self.descriptor, count)

    def write(self, data: bytes) -> int:
        return os.write(self.descriptor, data)

    def read_at(self, count: int, offset: int) -> bytes:
        return os.pread(self.descriptor, count, offset)

    def write_at(self, data: bytes, offset: int) -> int:
        return os.pwrite(self.descriptor, data, offset)

    def seek(self, offset: int, whence: int) -> int:
        return os.lseek(self.descriptor, offset, whence)

    def set_flags(self, flags: int) -> None:
        host = fcntl.fcntl(self.descriptor, fcntl.F_GETFL)
        fcntl.fcntl(self.descriptor, fcntl.F_SETFL, host & ~os.O_APPEND | flags & os.O_APPEND)
        super().set_flags(flags)

    def truncate(self, size: int) -> None:
        os.ftruncate(self.descriptor, size)

    def status(self) -> Status:
        return Status.of(os.fstat(self.descriptor))

    def sync(self) -> None:
        os.fsync(self.descriptor)

    def close(self) -> None:
        os.close(self.descriptor)


class Directory(Opened):
    """A directory: of the host, or one that only leads to those that were given."""

    flags = os.O_RDONLY | os.O_DIRECTORY

    def __init__(self, path: bytes, descriptor: int | None, names: tuple[bytes, ...] = ()) -> None:
        self.path = path
        self.descriptor = descriptor
        self._names = names
        self._found: list[tuple[bytes, int, int]] | None = None
        self._at = 0

    def anew(self, flags: int) -> Opened:
        if flags & os.O_ACCMODE != os.O_RDONLY:
            raise failure(errno.EISDIR)
        again = None if self.descriptor is None else _again(self.descriptor, self.flags)
        return Directory(self.path, again, self._names)

    def read(self, count: int) -> bytes:
        raise failure(errno.EISDIR)

    def seek(self, offset: int, whence: int) -> int:
        if whence != os.SEEK_SET or offset < 0:
            raise failure(errno.EINVAL)
        if offset == 0:
            self._found = None
        self._at = offset
        return offset

    def entries(self, room: int) -> bytes:
        if self._found is None:
            self._found = self._list()
        packed = bytearray()
        while self._at < len(self._found):
            name, inode, kind = self._found[self._at]
            length = -(-(_DIRENT.size + len(name) + 1) // 8) * 8
            if len(packed) + length > room:
                if not packed:
                    raise failure(errno.EINVAL)
                break
            self._at += 1
            packed += (_DIRENT.pack(inode, self._at, length, kind) + name).ljust(length, b"\0")
        return bytes(packed)

    def _list(self) -> list[tuple[bytes, int, int]]:
        inode, directory = self.status().inode, stat.S_IFDIR >> 12
        found = [(b".", inode, directory), (b"..", inode, directory)]
        if self.descriptor is None:
            return found + [(name, 1, directory) for name in self._names]
        # Opened anew, since two who read through one descriptor would share its position.
        again = os.open(b".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.descriptor)
        try:
            with os.scandir(again) as entries:
                found += [(os.fsencode(one.name), one.inode(), _kind(one)) for one in entries]
        finally:
            os.close(again)
        return found

    def status(self) -> Status:
        return DIRECTORY if self.descriptor is None else Status.of(os.fstat(self.descriptor))

    def sync(self) -> None:
        if self.descriptor is not None:
            os.fsync(self.descriptor)

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)


def _kind(entry: os.DirEntry[str]) -> int:
    """The kind of an entry as directories have it, which are the upper bits of a mode; 0 if it is gone."""
    try:
        if entry.is_symlink():
            return stat.S_IFLNK >> 12
        return stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode) >> 12
    except OSError:
        return 0
