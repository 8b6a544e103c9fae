"""The standard streams of the host as a program of Linux has them, where it runs alone."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress

from lanewise.arm64.linux.opened import READABLE, WRITABLE, Kept, Opened, Sink
from lanewise.arm64.linux.status import PIPE, Status
from lanewise.batch.streams import input_comes, input_descriptor, is_terminal, read_through, write_through
from lanewise.host.reply import failure


def _status_of(terminal: int | None) -> Status:
    """Of output, a program only wants to know if somebody watches: files and pipes of the host are all pipes to it."""
    return PIPE if terminal is None else Status.of(os.fstat(terminal))


def host_input(stopping: Callable[[], bool]) -> Opened:
    """Standard input, of which only what is asked for is read."""
    with suppress(OSError):
        number = input_descriptor()
        if stat.S_ISREG(os.fstat(number).st_mode):
            return FileInput(number, stopping)
    return HostInput(stopping)


class FileInput(Opened):
    """Standard input that is a file. Its position is that of the host, so that whoever reads it next goes on there.

    It has no `descriptor`: modes, owners and times are changed in directories that were given.
    """

    mappable = True

    def __init__(self, number: int, stopping: Callable[[], bool]) -> None:
        self._number, self._stopping = number, stopping

    def waiting(self) -> int:
        return max(0, self.status().size - self.seek(0, os.SEEK_CUR))

    def read(self, count: int) -> bytes:
        return read_through(count, self._stopping) if count else b""  # some of a system's files wait as pipes do

    def read_at(self, count: int, offset: int) -> bytes:
        return os.pread(self._number, count, offset)

    def write_at(self, data: bytes, offset: int) -> int:
        raise failure(errno.EBADF)

    def seek(self, offset: int, whence: int) -> int:
        return os.lseek(self._number, offset, whence)

    def status(self) -> Status:
        return Status.of(os.fstat(self._number))

    def sync(self) -> None:
        """The program has changed nothing."""


class HostInput(Opened):
    """Standard input that comes in time: a pipe or a terminal."""

    from_outside = True

    def __init__(self, stopping: Callable[[], bool]) -> None:
        self._stopping = stopping
        self.terminal = 0 if is_terminal(0) else None

    def read(self, count: int) -> bytes:
        if self.flags & os.O_NONBLOCK and not self.comes(0):
            raise failure(errno.EAGAIN)
        return read_through(count, self._stopping) if count else b""

    def ready(self) -> int:
        return WRITABLE | READABLE * self.comes(0)

    def comes(self, seconds: float | None) -> bool:
        return input_comes(seconds, self._stopping)

    def status(self) -> Status:
        return _status_of(self.terminal)


class HostOutput(Sink):
    """Standard output or error, where all is written at once."""

    def __init__(self, stream: int, kept: Kept, stopping: Callable[[], bool]) -> None:
        super().__init__(kept)
        self._stream = stream
        self._stopping = stopping
        self.terminal = stream if is_terminal(stream) else None

    def take(self, data: bytes) -> None:
        write_through(self._stream, data, self._stopping)

    def status(self) -> Status:
        return _status_of(self.terminal)
