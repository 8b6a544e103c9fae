"""How many instructions lanes run at a time: enough that looks in between cost little, and that nobody waits long."""

from __future__ import annotations

from typing import NamedTuple

from lanewise.arm64.lane import LONGEST_SLICE

_FIRST = 1 << 16


class Going(NamedTuple):
    """What lanes say when a slice is over."""

    some: bool
    """Whether some could go on."""
    paused: bool
    """Whether some had interpreted as many instructions as they may, before they had run all that they may."""


class Slices:
    """Instructions of one slice, which follow the time that slices take.

    An interpreted instruction may take a hundred times as long as a translated one, and a slice that begins in
    translated code may go on in what is not. So interpreted ones have a limit of their own, which grows only when it
    was what ended a slice.
    """

    def __init__(self) -> None:
        self.length = _FIRST
        """Instructions that a lane may run."""
        self.interpreted = _FIRST
        """How many of them may be interpreted, where some are translated."""
        self.cut_short = False
        """Whether the last one had fewer, since it was a trial: that it took little says nothing."""

    def adapt(self, taken: float, wanted: float, *, full: bool, paused: bool) -> None:
        """A slice took so many seconds; `full` says whether a lane had use for a longer one."""
        if full and taken < wanted / 2 and not self.cut_short:
            times = 2 if taken > wanted / 8 else 4
            if paused:
                self.interpreted = min(self.interpreted * times, LONGEST_SLICE)
                self.length = max(self.length, self.interpreted)
            else:
                self.length = min(self.length * times, LONGEST_SLICE)
        elif taken > wanted * 2:
            times = int(taken / wanted)  # at once: half as long may still be long
            self.length = max(self.length // times, 1)
            if paused:
                self.interpreted = max(self.interpreted // times, 1)
