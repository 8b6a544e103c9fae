"""The standard streams of the host as a program of Linux has them, where it runs alone."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

from lanewise.arm64.linux.opened import READABLE, WRITABLE, Kept, Opened, Sink
from lanewise.arm64.linux.status import PIPE, Status
from lanewise.batch.streams import input_comes, is_terminal, read_through, write_through
from lanewise.host.reply import failure


def _status_of(terminal: int | None) -> Status:
    """A program only wants to know if somebody watches: files and pipes of the host are all pipes to it."""
    return PIPE if terminal is None else Status.of(os.fstat(terminal))


class HostInput(Opened):
    """Standard input, of which only what is asked for is read."""

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
