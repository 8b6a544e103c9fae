"""How many lanes a warp of a GPU has: 32, or fewer where lanes go their own ways.

Lanes of a warp that have parted wait for each other. With fewer of them in each there are more warps, which do not.
What is best differs from program to program, so the first slices of a run are the experiment: each has half as many as
the last, for as long as that makes lanes faster. They are as short as tells.
"""

from __future__ import annotations

_ALL = 32
_LONG_ENOUGH = 0.02
"""Seconds of a slice from which on it tells how fast lanes are."""
_FASTER = 1.05


class Warps:
    """The number for the next slice."""

    def __init__(self, lanes: int) -> None:
        self.lanes = min(_ALL, 1 << (lanes - 1).bit_length())
        """Lanes of a warp in the next slice."""
        self.settled = False
        """Whether there is nothing left to find out."""
        self._best, self._rate, self._length = self.lanes, 0.0, 0

    def slice_of(self, length: int) -> int:
        """Instructions of the next slice, which might have so many: while numbers are compared, as many as before."""
        return length if self.settled or not self._length else min(length, self._length)

    def ran(self, length: int, instructions: int, seconds: float) -> None:
        """Hear what a slice of so many instructions did: those of all lanes, and the time."""
        if self.settled or (seconds < _LONG_ENOUGH and not self._length):
            return
        self._length = length
        if instructions / seconds < self._rate * _FASTER:
            self.lanes, self.settled = self._best, True
            return
        self._best, self._rate = self.lanes, instructions / seconds
        if self.lanes == 1:
            self.settled = True
        else:
            self.lanes //= 2
