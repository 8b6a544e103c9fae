"""What frames took: all of them count, however long a desktop runs, in little memory."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

SHORTEST = 1e-6
"""Seconds: times below it count as this."""
STEP = 1.01
"""Times that differ by less than this factor are not told apart."""
STEPS = 2100
"""Up to some 1,200 seconds; what took longer counts as that."""
_LOG_STEP = math.log(STEP)


class Times:
    """Counts how often something took how long, to one part in a hundred."""

    def __init__(self, counts: np.ndarray[Any, np.dtype[np.int64]] | None = None) -> None:
        self._counts: list[int] = [0] * STEPS if counts is None else counts.tolist()

    def add(self, seconds: float) -> None:
        """Count one more."""
        step = int(math.log(max(seconds, SHORTEST) / SHORTEST) / _LOG_STEP)
        self._counts[min(step, STEPS - 1)] += 1

    def copy(self) -> Times:
        """What was counted by now."""
        return Times(np.array(self._counts, np.int64))

    def __len__(self) -> int:
        return sum(self._counts)

    def __sub__(self, before: Times) -> Times:
        return Times(np.array(self._counts, np.int64) - np.array(before._counts, np.int64))

    def milliseconds(self, part: float) -> float:
        """What this part of the times was not above, in milliseconds: 0.5 gives the middle one. 0 where none was."""
        upto = np.cumsum(self._counts)
        if not upto[-1]:
            return 0.0
        step = int(np.searchsorted(upto, max(1, math.ceil(part * upto[-1]))))
        return float(SHORTEST * STEP ** (step + 0.5) * 1000)


class FrameLog:
    """What is noted of each frame."""

    def __init__(self) -> None:
        self.frames = 0
        self._frame_times, self._latencies = Times(), Times()

    def add(self, started: float, ended: float, arrivals: Iterable[float]) -> None:
        """A frame that shows events which arrived then."""
        self.frames += 1
        self._frame_times.add(ended - started)
        for arrived in arrivals:
            self._latencies.add(ended - arrived)

    def stats(self, beats: int, dropped: int) -> Stats:
        """All of it so far, with the beats of the display that frames began at or that were dropped."""
        return Stats(self.frames, beats, dropped, self._frame_times.copy(), self._latencies.copy())


@dataclass(frozen=True)
class Stats:
    """What a desktop's frames took, in milliseconds: the middle one and the slowest of a hundred."""

    frames: int
    beats: int
    """Frames that began at a beat of the display; the others showed input between two beats."""
    dropped: int
    """Beats of the display that passed while a frame took too long."""
    frame_times: Times
    latencies: Times
    """From an event's arrival to the end of the frame that shows it."""

    @property
    def frame_ms(self) -> float:
        """What the middle frame took."""
        return self.frame_times.milliseconds(0.5)

    @property
    def frame_ms_p99(self) -> float:
        """What 99 of 100 frames did not exceed."""
        return self.frame_times.milliseconds(0.99)

    @property
    def latency_ms(self) -> float:
        """What the middle event waited."""
        return self.latencies.milliseconds(0.5)

    @property
    def latency_ms_p99(self) -> float:
        """What 99 of 100 events did not wait longer for."""
        return self.latencies.milliseconds(0.99)

    def __sub__(self, before: Stats) -> Stats:
        """What there was since then."""
        return Stats(
            self.frames - before.frames,
            self.beats - before.beats,
            self.dropped - before.dropped,
            self.frame_times - before.frame_times,
            self.latencies - before.latencies,
        )

    def __str__(self) -> str:
        frame = f"frame {self.frame_ms:.2f} ms (p99 {self.frame_ms_p99:.2f})"
        said = f"{self.frames:,} frames, {self.dropped:,} dropped; {frame}"
        if not len(self.latencies):
            return f"{said}, no input yet"
        return f"{said}, input to frame {self.latency_ms:.2f} ms (p99 {self.latency_ms_p99:.2f})"
