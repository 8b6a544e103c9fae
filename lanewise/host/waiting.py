"""Waiting for pipes, terminals and the like, in a way that the end of a run can cut short."""

from __future__ import annotations

import errno
import os
import select
import time
from collections.abc import Mapping

from lanewise.host.reply import failure

FOREVER = (1 << 64) - 1
"""Nanoseconds that stand for waiting without end."""
_LONGEST_MS = 3_600_000


class Waiting:
    """Where threads wait. Many may at once."""

    def __init__(self) -> None:
        self._interrupted = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def wait(self, events: Mapping[int, int], nanoseconds: int = FOREVER) -> dict[int, int]:
        """Wait until some descriptors are ready for what `select.poll` calls events, and say for which.

        Nothing if it takes longer than `nanoseconds`; EINTR if the waiting was interrupted.
        """
        poll = select.poll()
        poll.register(self._interrupted, select.POLLIN)
        for descriptor, wanted in events.items():
            poll.register(descriptor, wanted)
        end = time.monotonic_ns() + nanoseconds
        while True:
            left = max(end - time.monotonic_ns(), 0)
            ready = dict(poll.poll(min(-(-left // 1_000_000), _LONGEST_MS)))
            if self._interrupted in ready:
                raise failure(errno.EINTR)
            if ready or not left:
                return ready

    def interrupt(self) -> None:
        """End all waiting, that of now and that to come."""
        if self._interrupted >= 0:
            os.eventfd_write(self._interrupted, 1)

    def close(self) -> None:
        """Let go of what the host holds for this; nobody may be waiting."""
        if self._interrupted >= 0:
            os.close(self._interrupted)
            self._interrupted = -1
