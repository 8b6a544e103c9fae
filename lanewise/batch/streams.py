"""The standard streams of the host for a lane that has them: used in steps, so that a run that is to end does."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import sys
import time
from collections.abc import Callable

from lanewise.host.reply import failure

STEP = 0.05
"""Seconds between two looks whether the run is to end, while a lane waits for the outside."""


class StoppedError(Exception):
    """The run is to end: there is no answer."""


def write_through(stream: int, data: bytes, stopping: Callable[[], bool]) -> int:
    """Write to the standard output (1) or error, behind what Python itself has written.

    In pieces that never block, so that a run that is to end does not wait for whoever does not read.
    """
    target = sys.stdout if stream == 1 else sys.stderr
    with contextlib.suppress(ValueError, OSError):
        target.flush()
    try:
        number = target.fileno()
    except (OSError, ValueError, AttributeError):  # a notebook's, which has no file of its own
        target.write(data.decode(errors="replace"))
        return len(data)
    done = 0
    while done < len(data):
        while not select.select([], [number], [], STEP)[1]:
            if stopping():
                raise StoppedError
        done += os.write(number, data[done : done + select.PIPE_BUF])
    return done


def read_through(room: int, stopping: Callable[[], bool]) -> bytes:
    """What comes next on the standard input, which is waited for; OSError with EBADF if there is none."""
    number = input_descriptor()
    input_comes(None, stopping)
    return os.read(number, room)


def input_comes(seconds: float | None, stopping: Callable[[], bool]) -> bool:
    """Whether there is something to read on the standard input within this time, or ever."""
    number = input_descriptor()
    until = None if seconds is None else time.monotonic() + seconds
    while True:
        left = STEP if until is None else min(STEP, max(0.0, until - time.monotonic()))
        if select.select([number], [], [], left)[0]:
            return True
        if stopping():
            raise StoppedError
        if until is not None and time.monotonic() >= until:
            return False


def input_descriptor() -> int:
    """The standard input; OSError with EBADF if there is none."""
    try:
        return sys.stdin.fileno()
    except (OSError, ValueError, AttributeError):
        raise failure(errno.EBADF) from None


def is_terminal(stream: int) -> bool:
    """Whether somebody watches or types there."""
    try:
        return os.isatty(stream)
    except OSError:
        return False
