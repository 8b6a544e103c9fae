"""What a lane has open: files, directories, and copies of files that it can have the originals of."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import termios
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from lanewise.host.listings import Listing
from lanewise.host.reply import failure
from lanewise.host.waiting import Waiting
from lanewise.kernel.wasi_numbers import FDFLAG_APPEND, FDFLAG_NONBLOCK, WHENCE_CUR, WHENCE_END, WHENCE_SET

OFFSETS = 1 << 63
"""Offsets in files of the host are below."""
_POSITIONS = 1 << 64
_Result = TypeVar("_Result")

Identity = tuple[int, int]
"""Which file it is, whatever its name: device and inode."""


def identity_of(status: os.stat_result) -> Identity:
    """Which file a status is of."""
    return status.st_dev, status.st_ino


class Location(NamedTuple):
    """Where something is: names of directories, and its own at last, beneath a preopened directory."""

    root: int
    names: tuple[bytes, ...]


@dataclass(slots=True)
class OpenDirectory:
    """A directory; paths start here."""

    descriptor: int
    location: Location
    listing: Listing | None = None
    """What was in it when a lane began to read it."""


class CopiedFile(NamedTuple):
    """A file that the lane has a copy of. The host keeps nothing open for it."""

    location: Location
    identity: Identity


@dataclass(slots=True)
class OpenFile:
    """A file that is no directory.

    The position is kept here, as guests may have positions that no host has. Its descriptor never blocks: what cannot
    be read or written at once is waited for where the waiting can be interrupted.
    """

    descriptor: int
    identity: Identity
    readable: bool
    writable: bool
    waiting: Waiting
    position: int = 0
    flags: int = 0
    stream: bool = field(init=False)
    """Whether it has no positions: a pipe, a terminal."""

    def __post_init__(self) -> None:
        try:
            os.lseek(self.descriptor, 0, os.SEEK_CUR)
            self.stream = False
        except OSError:
            self.stream = True
        if self.flags:
            self.set_flags(self.flags)

    @property
    def may_block(self) -> bool:
        """Whether reading or writing may have to wait for others."""
        return self.stream and not self.flags & FDFLAG_NONBLOCK

    def set_flags(self, flags: int) -> None:
        """Set APPEND and NONBLOCK; others cannot be set."""
        if flags & ~(FDFLAG_APPEND | FDFLAG_NONBLOCK):
            raise failure(errno.EINVAL)
        fcntl.fcntl(self.descriptor, fcntl.F_SETFL, os.O_NONBLOCK | (os.O_APPEND if flags & FDFLAG_APPEND else 0))
        self.flags = flags

    def read(self, room: int) -> bytes:
        """Read on from the position; nothing at the end."""
        if self.stream:
            return self._when_ready(self.readable, select.POLLIN, lambda: os.read(self.descriptor, room))
        data = self.read_at(room, self.position)
        self.position += len(data)
        return data

    def read_at(self, room: int, offset: int) -> bytes:
        """Read without using or changing the position."""
        _check_offset(offset)
        return os.pread(self.descriptor, room, offset)

    def write(self, data: bytes) -> int:
        """Write on from the position, or at the end with APPEND; gives how many bytes were written."""
        if self.stream:
            return self._when_ready(self.writable, select.POLLOUT, lambda: os.write(self.descriptor, data))
        if self.flags & FDFLAG_APPEND:
            written = os.write(self.descriptor, data)
            self.position = os.lseek(self.descriptor, 0, os.SEEK_CUR)
            return written
        written = self.write_at(data, self.position)
        self.position += written
        return written

    def write_at(self, data: bytes, offset: int) -> int:
        """Write without using or changing the position; with APPEND it is the offset that does not count."""
        _check_offset(offset)
        return os.pwrite(self.descriptor, data, offset)

    def seek(self, offset: int, whence: int) -> int:
        """Move the position; `offset` may be negative."""
        if self.stream:
            raise failure(errno.ESPIPE)
        if whence not in (WHENCE_SET, WHENCE_CUR, WHENCE_END):
            raise failure(errno.EINVAL)
        base = 0
        if whence == WHENCE_CUR:
            base = self.position
        elif whence == WHENCE_END:
            base = os.fstat(self.descriptor).st_size
        if not 0 <= base + offset < _POSITIONS:
            raise failure(errno.EINVAL)
        self.position = base + offset
        return self.position

    def readable_bytes(self) -> int:
        """How many bytes can be read without waiting."""
        if not self.stream:
            return max(os.fstat(self.descriptor).st_size - self.position, 0)
        return pending_bytes(self.descriptor)

    def _when_ready(self, allowed: bool, event: int, act: Callable[[], _Result]) -> _Result:
        """Read from or write to a stream when it is ready; with NONBLOCK now or not at all."""
        if not allowed:
            raise failure(errno.EBADF)
        if self.flags & FDFLAG_NONBLOCK:
            return act()
        while True:
            # Waiting comes first: a pipe that nobody has opened for writing yet would seem to be at its end.
            self.waiting.wait({self.descriptor: event})
            with suppress(BlockingIOError):  # somebody else was faster
                return act()


def pending_bytes(descriptor: int) -> int:
    """How many bytes a pipe or terminal has ready."""
    answer = fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))
    return int.from_bytes(answer, "little")


def _check_offset(offset: int) -> None:
    if offset >= OFFSETS:
        raise failure(errno.EINVAL)
