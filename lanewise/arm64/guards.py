"""Guards: loops that lanes may enter in their midst have one way in all the same.

On a GPU a lane goes on where it was when its last launch ended, in the midst of a loop perhaps. With a second way into
a loop the compiler no longer knows where lanes that have parted meet again. So such a loop has a guard ahead of it,
which all ways to its head go through. A lane that wants to its midst remembers that, and the guard lets it go there, or
to the guard of the loop inside that it wants to; it lets all others go to the head.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from lanewise.arm64.places import Plan
from lanewise.compiler.graphs import components


@dataclass
class Guard:
    """What stands ahead of a loop."""

    number: int
    heads: list[int]
    """Places that the loop is entered at by those who come from ahead of it: one, or more if it was written so."""
    inside: dict[int, Guard | None] = field(default_factory=dict)
    """Places inside that lanes come to from elsewhere, each with the guard that is next on the way there."""


@dataclass
class Guarded:
    """The guards of a unit: for each entry the first on the way there, and for each head its own."""

    guards: list[Guard]
    first: dict[int, Guard | None]
    of_head: dict[int, Guard]


def find_guards(plan: Plan) -> Guarded:
    """Guards for all loops that need them."""
    finder = _Finder(plan)
    return Guarded(finder.guards, finder.first, {head: guard for guard in finder.guards for head in guard.heads})


def no_guards(plan: Plan) -> Guarded:
    """Where loops may be entered anywhere."""
    return Guarded([], dict.fromkeys(plan.entries.values()), {})


class _Finder:
    def __init__(self, plan: Plan) -> None:
        self.guards: list[Guard] = []
        self._ways = {place.number: place.next_places for place in plan.places}
        self._from: dict[int, set[int]] = {number: set() for number in self._ways}
        for number, ways in self._ways.items():
            for way in ways:
                self._from[way].add(number)
        self._entries = set(plan.entries.values())
        self.first: dict[int, Guard | None] = {}
        """For each entry the outermost guard on the way to it."""
        self._left: list[tuple[set[int], dict[int, Guard | None]]] = [(set(self._ways), self.first)]
        """Places in which loops are still to be found, and where to say which guard each entry there has first: loops
        inside others may be hundreds, more than calls can be inside others here."""
        while self._left:
            self._look(*self._left.pop())

    def _look(self, places: set[int], first: dict[int, Guard | None]) -> None:
        """Find the outermost loops among some places."""
        for part in components(sorted(places), lambda place: self._among(place, places)):
            entries = sorted(part & self._entries)
            if len(part) > 1 or part & set(self._ways[next(iter(part))]):
                first |= dict.fromkeys(entries, self._guard(part, entries))
            else:
                first |= dict.fromkeys(entries, None)

    def _among(self, place: int, places: set[int]) -> Iterable[int]:
        return [way for way in self._ways[place] if way in places]

    def _guard(self, loop: set[int], entries: list[int]) -> Guard | None:
        """The guard of a loop, if it needs one; what is inside is looked at later."""
        heads = sorted(place for place in loop if self._from[place] - loop) or entries[:1] or [min(loop)]
        guard = Guard(len(self.guards), heads)
        self._left.append((loop - set(heads), guard.inside))
        if len(heads) == 1 and set(entries) <= set(heads):
            return None
        self.guards.append(guard)
        return guard
