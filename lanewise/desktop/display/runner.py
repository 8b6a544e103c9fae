"""A desktop that runs: a thread that makes frames at the display's pace, and only while something changes."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanewise.desktop import limits
from lanewise.desktop.ui import Desktop
from lanewise.desktop.ui.events import Input, read_event

KEPT_TIMES = 4096
"""How many frame times and latencies are remembered for statistics."""
MOST_WAITING = 4096
"""Events that may be in line: who sends more than frames can take does not fill memory."""
BLINK_SECONDS = 0.1
"""How often a desktop at rest with a caret in it is drawn."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Stats:
    """What frames took, in milliseconds: the middle one and the slowest of a hundred."""

    frames: int
    dropped: int
    """Beats of the display that passed while a frame took too long."""
    frame_ms: float
    frame_ms_p99: float
    latency_ms: float
    """From an event's arrival to the end of the frame that shows it."""
    latency_ms_p99: float

    def __str__(self) -> str:
        return (
            f"{self.frames:,} frames, {self.dropped:,} dropped; frame {self.frame_ms:.2f} ms "
            f"(p99 {self.frame_ms_p99:.2f}), input to frame {self.latency_ms:.2f} ms (p99 {self.latency_ms_p99:.2f})"
        )


class Runner:
    """Runs a desktop on a thread of its own until it is closed. Events may come from any thread.

    `on_tiles` is called on that thread after a frame that drew something, with the numbers of its tiles and their
    pixels, while somebody watches; it must not wait.
    """

    def __init__(self, desktop: Desktop, rate: float = 120) -> None:
        self.desktop = desktop
        self.period = 1 / rate
        self.on_tiles: Callable[[Array, Array], None] | None = None
        self.failure: BaseException | None = None
        self._events: deque[tuple[list[Input], float]] = deque()
        self._calls: deque[Callable[[], Any]] = deque()
        self._wake = threading.Event()
        self._closing = False
        self._watchers = 0
        self._frame_times: deque[float] = deque(maxlen=KEPT_TIMES)
        self._latencies: deque[float] = deque(maxlen=KEPT_TIMES)
        self._frames = 0
        self._dropped = 0
        self._thread = threading.Thread(target=self._run, name="lanewise-desktop", daemon=True)

    def start(self) -> None:
        """Begin to make frames."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the frame under way, and raise what went wrong on the way."""
        self._closing = True
        self._wake.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        if self.failure is not None:
            raise self.failure

    @property
    def running(self) -> bool:
        """Whether frames are being made."""
        return self._thread.is_alive()

    def send(self, event: Mapping[str, Any]) -> None:
        """Put an event in line, in the vocabulary of rendercanvas; with too many in line it is left out.

        What is wrong with it is raised here, to who sends it, and not in the frame.
        """
        inputs = read_event(event)
        if len(self._events) >= MOST_WAITING:
            return
        self._events.append((inputs, time.perf_counter()))
        self._wake.set()

    def call(self, function: Callable[[], Any]) -> None:
        """Call a function between two frames, on the desktop's own thread."""
        self._calls.append(function)
        self._wake.set()

    def watch(self, watchers: int) -> None:
        """Say how many watch: for none no pixel leaves the device; when somebody comes, all of them do once."""

        def change() -> None:
            if watchers > self._watchers:
                self.desktop.machine.change_state(full_redraw=1)
            self._watchers = watchers

        self.call(change)

    def stats(self) -> Stats:
        """What frames have taken so far."""

        def parts(times: deque[float]) -> tuple[float, float]:
            found = np.array(times or [0.0]) * 1000
            return float(np.median(found)), float(np.percentile(found, 99))

        return Stats(self._frames, self._dropped, *parts(self._frame_times), *parts(self._latencies))

    def _run(self) -> None:
        try:
            self.desktop.step()  # compiles, and is no frame that anybody waits for
            beat = time.perf_counter()
            while not self._closing:
                busy = self._calls or self._events or self.desktop.restless
                if not busy:
                    last = self.desktop.last
                    busy = last is not None and bool(last.state["blinks"])
                    self._wake.wait(BLINK_SECONDS if busy else 1.0)
                    beat = time.perf_counter()
                self._wake.clear()
                if busy or self._calls or self._events:
                    self._frame()
                beat = self._next_beat(beat)
        except BaseException as failure:
            self.failure = failure

    def _next_beat(self, beat: float) -> float:
        """Sleep until the display's next beat; those that have passed are dropped frames."""
        now = time.perf_counter()
        due = beat + self.period
        if now > due:
            missed = int((now - due) / self.period)
            self._dropped += missed
            due += missed * self.period
        time.sleep(max(0.0, due - now))
        return due

    def _frame(self) -> None:
        while self._calls:
            self._calls.popleft()()
        arrivals = []
        for _ in range(min(len(self._events), limits.FRAME_EVENTS)):
            inputs, arrived = self._events.popleft()
            self.desktop.put_in_line(inputs)
            arrivals.append(arrived)
        started = time.perf_counter()
        frame = self.desktop.step()
        ended = time.perf_counter()
        self._frames += 1
        self._frame_times.append(ended - started)
        self._latencies.extend(ended - arrived for arrived in arrivals)
        if self._watchers and self.on_tiles is not None and frame.state["dirty_tiles"]:
            self.on_tiles(*self.desktop.machine.dirty_tiles(frame))
