"""A line at the bottom of the terminal that says how far a batch is.

It is drawn by hand, since lanes' own output goes to the same terminal: the line steps aside while that is written.
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
_BAR = 24


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
        line = progress_line(self._tally.ended, self._tally.lanes, time.monotonic() - self._started)
        room = shutil.get_terminal_size().columns - 1
        self._stream.write(f"\r\x1b[K{line[:room]}")
        self._stream.flush()
        self._drawn = True

    def _clear(self) -> None:
        if self._drawn and self._stream is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False


def progress_line(ended: int, lanes: int, seconds: float) -> str:
    """How far a batch is: a bar, lanes, their rate and the time left if it stays so."""
    full = _BAR * ended // lanes
    line = f"[{'#' * full}{'.' * (_BAR - full)}] {ended:,} of {lanes:,} lanes, {duration(seconds)}"
    if ended and seconds > 0:
        rate = ended / seconds
        line += f", {rate:,.0f} lanes/s, {duration((lanes - ended) / rate)} left"
    return line
