"""A desktop that runs: a thread that makes frames at the display's pace, and only while something changes."""

from __future__ import annotations

import threading
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lanewise.desktop import limits
from lanewise.desktop.display.changes import Changes
from lanewise.desktop.display.pace import Alarm, Pace
from lanewise.desktop.display.times import FrameLog, Stats
from lanewise.desktop.ui import Desktop
from lanewise.desktop.ui.checking import A_CALL, POSITIVE, check
from lanewise.desktop.ui.desktop import A_DESKTOP
from lanewise.desktop.ui.events import Input, read_event
from lanewise.errors import ArgumentError, LanewiseError

MOST_WAITING = 4096
"""Inputs that may be in line, of which a text has one a character: who sends more than frames can take does not fill
memory."""
BLINK_SECONDS = 0.1
"""How often a desktop at rest with a caret in it is drawn."""

Array = np.ndarray[Any, Any]


class Runner:
    """Runs a desktop on a thread of its own until it is closed. Events may come from any thread.

    `on_tiles` is called on that thread after a frame that drew something, with the numbers of its tiles and their
    pixels, while somebody watches; it must not wait. The alarm is its clock and its sleep.

    What handlers, calls and `on_tiles` raise is told to the desktop's `report`, and frames go on. What ends them, such
    as a trap in a handler on the device, is the `failure`.
    """

    def __init__(self, desktop: Desktop, rate: float = 120, alarm: Alarm | None = None) -> None:
        check(self, A_DESKTOP, desktop=desktop)
        check(self, POSITIVE, rate=rate)
        self.desktop = desktop
        self.on_tiles: Callable[[Array, Array], None] | None = None
        self.failure: BaseException | None = None
        self._alarm = alarm or Alarm()
        self._pace = Pace(rate, self._alarm.now())
        self._inputs: deque[tuple[Input, float, int]] = deque()
        """With when they came: by the alarm, and in milliseconds of the desktop."""
        self._calls: deque[Callable[[], Any]] = deque()
        self._closing = self._ended = False
        self._watchers = 0
        self._log = FrameLog()
        self._thread = threading.Thread(target=self._run, name="lanewise-desktop", daemon=True)

    def start(self) -> None:
        """Begin to make frames; errors are written to stderr from now on where the desktop has no `report` yet."""
        if self._closing or self._thread.ident is not None:
            raise LanewiseError("start: a runner is started once; Runner(desktop) makes another")
        if self.desktop.report is None:
            self.desktop.report = traceback.print_exception
        self.desktop.changes = Changes(self._thread, self.call, lambda: self._over)
        self._thread.start()

    def close(self) -> None:
        """Stop after the frame under way, and raise what ended the frames before, if something did."""
        self._closing = True
        self._alarm.ring()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        if self.failure is not None:
            raise self.failure

    @property
    def running(self) -> bool:
        """Whether frames are being made."""
        return self._thread.is_alive()

    @property
    def _over(self) -> bool:
        """Whether there will be no frame any more: what is put in line before the first one waits for it."""
        return self._ended or (self._closing and not self.running)

    def _check_not_over(self, what: str) -> None:
        if self._over:
            why = "was closed" if self.failure is None else f"has failed: {str(self.failure) or repr(self.failure)}"
            raise LanewiseError(f"{what}: nothing takes it any more, since the runner {why}") from self.failure

    def send(self, event: Mapping[str, Any]) -> None:
        """Put an event in line, in the vocabulary of rendercanvas; where the line has no room for it, it is left out.

        What is wrong with it is raised here, to who sends it, and not in the frame; so it is where there are no frames
        any more.
        """
        inputs = read_event(event)
        if len(inputs) > MOST_WAITING:
            raise ArgumentError(f"send: data has {len(inputs):,} characters; it is sent in parts of {MOST_WAITING:,}")
        self._check_not_over("send")
        if not inputs or len(self._inputs) + len(inputs) > MOST_WAITING:
            return
        now, time_ms = self._alarm.now(), self.desktop.now_ms()  # not that of its frame, which a handler may hold up
        self._inputs.extend([(one, now, time_ms) for one in inputs])  # at once: nobody else's come between
        self._alarm.ring()

    def call(self, function: Callable[[], Any]) -> None:
        """Call a function between two frames, on the desktop's own thread; the `report` hears of what it raises."""
        check("call", A_CALL, function=function)
        self._check_not_over("call")
        self._calls.append(function)
        self._alarm.ring()

    def watch(self, watchers: int) -> None:
        """Say how many watch: for none no pixel leaves the device; when somebody comes, all of them do once."""

        def change() -> None:
            if watchers > self._watchers:
                self.desktop.machine.change_state(full_redraw=1)
            self._watchers = watchers

        if not self._over:  # else there is nothing to see, and viewers may come and go
            self.call(change)

    def stats(self) -> Stats:
        """What frames have taken so far."""
        return self._log.stats(self._pace.beats, self._pace.dropped)

    def _run(self) -> None:
        try:
            self.desktop.step()  # compiles, and is no frame that anybody waits for
            self._pace.rest_until(self._alarm.now())
            while not self._closing:
                self._turn()
        except BaseException as failure:
            self.failure = failure
        finally:
            self._ended = True
            self.desktop.changes = None

    def _turn(self) -> None:
        """Make a frame if it is time for one; else sleep until it is, or until there may be something new to do."""
        input_waits = bool(self._inputs) or self.desktop.machine.waiting > 0
        if input_waits or self._calls or self.desktop.restless:
            left = self._pace.next_start(input_waits) - self._alarm.now()
            if left <= 0:
                self._frame()
            else:
                self._alarm.sleep(left)
            return
        last = self.desktop.last
        blinks = last is not None and bool(last.state["blinks"])
        rung = self._alarm.sleep(BLINK_SECONDS if blinks else None)
        self._pace.rest_until(self._alarm.now())
        if not rung:
            self._frame()

    def _frame(self) -> None:
        self._pace.begin(self._alarm.now())
        for _ in range(len(self._calls)):  # not those that come meanwhile: frames go on whatever is called
            self._do(self._calls.popleft())
        arrivals = []
        for _ in range(min(len(self._inputs), limits.FRAME_EVENTS)):
            one, arrived, time_ms = self._inputs.popleft()
            self.desktop.put_in_line([one], time_ms)
            arrivals.append(arrived)
        started = self._alarm.now()
        frame = self.desktop.step()
        self._log.add(started, self._alarm.now(), arrivals)
        if self._watchers and self.on_tiles is not None and frame.state["dirty_tiles"]:
            self._do(self.on_tiles, *self.desktop.machine.dirty_tiles(frame))
        self._pace.end(self._alarm.now())

    def _do(self, function: Callable[..., Any], *given: Any) -> None:
        """Call what somebody else has written; where it fails, they are told, and frames go on."""
        try:
            function(*given)
        except Exception as error:
            if self.desktop.report is None:
                raise
            self.desktop.tell_of(error)
