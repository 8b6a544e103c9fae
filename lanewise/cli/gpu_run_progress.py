"""What people see while they wait: a line at the bottom of the terminal that says how far a batch is.

The line is drawn by hand, since lanes' own output goes to the same terminal: it steps aside while that is written.
"""

from __future__ import annotations

import shutil
import threading
import time
from types import TracebackType
from typing import Protocol, TextIO

from lanewise.batch.report import Tally, duration

_PATIENCE = 0.5
"""Seconds that a run may take without a word."""
_REDRAW = 0.2
_BAR, _LEAST_BAR = 24, 4
_ENDLESS = 1 << 30


class Writer(Protocol):
    """What bytes are written to."""

    def write(self, data: bytes, /) -> int:
        """Write all of them."""

    def flush(self) -> None:
        """Hold nothing back."""


class Progress:
    """A progress bar for `with`; nothing at all where `stream` is None."""

    def __init__(self, tally: Tally, stream: TextIO | None) -> None:
        self._tally = tally
        self._stream = stream
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._drawn = False
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._draw_again_and_again, daemon=True, name="gpu-run progress")

    def __enter__(self) -> Progress:
        if self._stream is not None:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._stream is not None:
            self._over.set()
            self._thread.join()
            self._clear()

    def write(self, stream: Writer, data: bytes) -> None:
        """Write to a stream that may lead to the same terminal, with the line out of the way."""
        with self._lock:
            self._clear()
            stream.write(data)
            stream.flush()

    def _draw_again_and_again(self) -> None:
        wait = _PATIENCE
        while not self._over.wait(wait):
            with self._lock:
                self._draw()
            wait = _REDRAW

    def _draw(self) -> None:
        assert self._stream is not None
        room = shutil.get_terminal_size().columns - 1
        line = progress_line(self._tally.ended, self._tally.lanes, time.monotonic() - self._started, room)
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()
        self._drawn = True

    def _clear(self) -> None:
        if self._drawn and self._stream is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False


def progress_line(ended: int, lanes: int, seconds: float, room: int = _ENDLESS) -> str:
    """How far a batch is: a bar, lanes, their rate and the time left if it stays so; in as many columns as there are.

    Where there are few, the bar shrinks first, then the time so far goes, then the rate, then the bar.
    """
    count = f"{ended:,} of {lanes:,} lanes"
    taken, rate, left = f", {duration(seconds)}", "", ""
    if ended and seconds > 0:
        rate = f", {ended / seconds:,.0f} lanes/s"
        left = f", {duration((lanes - ended) * seconds / ended)} left"
    for words in (count + taken + rate + left, count + rate + left, count + left):
        width = min(_BAR, room - len(words) - len("[] "))
        if width >= _LEAST_BAR:
            full = width * ended // lanes
            return f"[{'#' * full}{'.' * (width - full)}] {words}"
    return (words if len(words) <= room else count)[: max(0, room)]
