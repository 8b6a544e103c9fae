"""When frames begin: at the beats of a display while something moves, and between them for input."""

from __future__ import annotations

import contextlib
import threading
import time

EARLY_PART = 8
"""A frame for input that begins less than such a part of a period before a beat is the frame of that beat, too."""


class Pace:
    """The beats of a display. What moves waits for the next one; input has half a period to wait at most.

    So there are no more than two frames a period, and the beats stay where they are whatever comes between them.
    """

    def __init__(self, rate: float, now: float) -> None:
        self.period = 1 / rate
        self.dropped = 0
        """Beats that passed while a frame took too long."""
        self.beats = 0
        """Frames that began at a beat; the others were between two."""
        self._due = now
        self._free = now
        """From when on input may have a frame of its own."""

    def next_start(self, input_waits: bool) -> float:
        """When the next frame is to begin."""
        return min(self._due, self._free) if input_waits else self._due

    def begin(self, now: float) -> None:
        """A frame begins: that of a beat if one is due, or nearly."""
        self._free = now + self.period / 2
        if now >= self._due - self.period / EARLY_PART:
            self._due += self.period
            self.beats += 1

    def end(self, now: float) -> None:
        """A frame is over: whole periods that have passed since the next one was due are dropped."""
        missed = max(0, int((now - self._due) / self.period))
        self.dropped += missed
        self._due += missed * self.period

    def rest_until(self, now: float) -> None:
        """Nothing was to be drawn until now: nobody misses the beats that passed."""
        self._due = max(self._due, now)


class Alarm:
    """A clock, and a sleep that ends when somebody rings. One thread sleeps, any may ring."""

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._gate.acquire()

    def now(self) -> float:
        """The time in seconds."""
        return time.perf_counter()

    def ring(self) -> None:
        """End the sleep, or the next one if there is none."""
        with contextlib.suppress(RuntimeError):  # it has rung already
            self._gate.release()

    def sleep(self, seconds: float | None) -> bool:
        """Sleep for so long, or without end; says whether somebody rang."""
        return self._gate.acquire(timeout=-1 if seconds is None else max(0.0, seconds))
