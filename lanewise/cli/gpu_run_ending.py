"""When a run is to end before its lanes do, and what must not keep it from that: whoever does not read its output."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import stat
import threading
import time
from collections.abc import Iterator
from typing import BinaryIO

from lanewise.cli.gpu_run_output import OutputError

_GRACE = 0.5
"""Seconds that a reader may take nothing of what is finished, once the run is to end."""
_STEP = 0.05


class TimeIsOverError(BaseException):
    """The time of the run is over, and no lane has begun."""


class StalledError(OutputError):
    """The run is to end, and nobody reads what it has written."""


class Ending:
    """The signals that have come, and the moment by which the run is to be over."""

    def __init__(self, deadline: float | None = None) -> None:
        self.deadline = deadline
        self.signals: list[int] = []
        self._asked_at = 0.0

    def note(self, number: int) -> None:
        """A signal came that asks the run to end."""
        self._asked_at = self._asked_at or time.monotonic()
        self.signals.append(number)

    @property
    def is_overdue(self) -> bool:
        """Whether there has been time enough to write what was finished."""
        now = time.monotonic()
        asked = bool(self.signals) and now > self._asked_at + _GRACE
        return asked or (self.deadline is not None and now > self.deadline + _GRACE)


class PatientStream:
    """A stream whose reader is waited for, but not once the run is overdue."""

    def __init__(self, stream: BinaryIO, ending: Ending) -> None:
        self._stream = stream
        self._ending = ending
        self._pipe = _pipe_of(stream)
        self._taken_at = 0.0

    def write(self, data: bytes) -> int:
        """Write all of it: into a pipe in pieces that never block."""
        if self._pipe is None:
            return _write_all(self._stream, data)
        self._stream.flush()
        rest = memoryview(data)
        while rest:
            while not select.select([], [self._pipe], [], _STEP)[1]:
                if self._ending.is_overdue and time.monotonic() > self._taken_at + _GRACE:
                    raise StalledError("nobody reads the output")
            with contextlib.suppress(BlockingIOError):  # whoever shares the pipe may have had it not wait
                rest = rest[os.write(self._pipe, rest[: select.PIPE_BUF]) :]
                self._taken_at = time.monotonic()
        return len(data)

    def flush(self) -> None:
        """Nothing is held back in a pipe."""
        if self._pipe is None:
            self._stream.flush()


def _write_all(stream: BinaryIO, data: bytes) -> int:
    """Write again and again: with PYTHONUNBUFFERED a disk that gets full takes a part, and says so only after that."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) :]
    return len(data)


def _pipe_of(stream: BinaryIO) -> int | None:
    """The descriptor of a stream that may keep its writer waiting; None for files, and for streams without one."""
    try:
        number = stream.fileno()
        kind = os.fstat(number).st_mode
    except (OSError, ValueError, AttributeError):
        return None
    return number if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or os.isatty(number) else None


@contextlib.contextmanager
def alarm(deadline: float | None) -> Iterator[None]:
    """Raise TimeIsOverError at the deadline, while input is read and the program compiled."""
    if deadline is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: object) -> None:
        raise TimeIsOverError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(1e-6, deadline - time.monotonic()))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
