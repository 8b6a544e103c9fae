"""How many lanes a warp of a GPU has, and how many lanes run at once: fewer where lanes go their own ways.

Lanes of a warp that have parted wait for each other. With fewer of them in each there are more warps, which do not. And
lanes that use much memory each are faster if the cache holds what those use that run at once: then a slice runs some of
them, and the others behind. What is best differs from program to program, so the first slices of a run are the
experiment: each has half as many lanes to a warp as the last, for as long as that makes lanes faster; then one lane to
a warp, and twice as many at once as there can be warps, or just as many. They are as short as tells, and those of few
lanes at once shorter, as they may be much slower. The first one is no measure for others, since lanes begin in step.

Where 16 lanes to a warp were much slower than 32, lanes are in step, and few at once would be slower still.
"""

from __future__ import annotations

_ALL = 32
_LONG_ENOUGH = 0.02
"""Seconds of a slice from which on it tells how fast lanes are."""
_COMPARED = 0.04
"""Seconds that slices have which are compared."""
_SHORTER = 4
"""How much shorter are those of few lanes at once."""
_FASTER = 1.05
_IN_STEP = 0.75


class Warps:
    """The numbers for the next slice."""

    def __init__(self, lanes: int, warps: int = 0) -> None:
        """A GPU has so many `warps` at a time; 0 if lanes cannot run one behind the other."""
        self.lanes = min(_ALL, 1 << (lanes - 1).bit_length())
        """Lanes of a warp in the next slice."""
        self.at_once = lanes
        """Lanes that run at once."""
        self.settled = False
        """Whether there is nothing left to find out."""
        few = [count for count in (2 * warps, warps) if 0 < count < lanes]
        self._few = [(1, count) for count in few]
        """What is left to try when fewer lanes to a warp are no faster."""
        self._halving = True
        self._best, self._rate, self._length = (self.lanes, lanes), 0.0, 0

    def slice_of(self, length: int) -> int:
        """Instructions of the next slice, which might have so many."""
        if self.settled or not self._length:
            return length
        return min(length, self._length if self._halving else max(1, self._length // _SHORTER))

    def ran(self, length: int, instructions: int, seconds: float) -> None:
        """Hear what a slice of so many instructions did: those of all lanes, and the time."""
        if self.settled or (seconds < _LONG_ENOUGH and not self._length):
            return
        if not self._length:  # lanes begin in step, and part later: the first that tells is not compared
            self._length = max(1, int(length * min(1.0, _COMPARED / seconds)))
            return
        rate, before = instructions / seconds, self._rate
        faster = rate >= before * _FASTER
        if faster:
            self._best, self._rate = (self.lanes, self.at_once), rate
        if faster and self._halving and self.lanes > 1:
            self.lanes //= 2
            return
        in_step = self._halving and self.lanes == _ALL // 2 and rate < before * _IN_STEP
        if self._few and not in_step and (faster or self._halving):
            self._halving = False
            self.lanes, self.at_once = self._few.pop(0)
            return
        (self.lanes, self.at_once), self.settled = self._best, True
