"""Allowances: where lanes look whether they have enough instructions left, and how many they ask for there.

A lane stops after exactly as many instructions as it may run. To compare their number in each block costs more than to
count them, and each comparison is a way out of the unit with all registers. So a lane asks where ways come together in
a circle, and where it comes from elsewhere, for as many as the longest way from there to the next place that asks. If
there are fewer, the interpreter runs the last of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from lanewise.arm64.places import Plan

_MOST = 100
"""Instructions that are asked for at once, unless a block alone has more: a lane may have to interpret so many in each
slice."""


@dataclass(frozen=True)
class Allowances:
    """How many instructions lanes must have left."""

    asked: dict[int, int]
    """At places that ask, by their numbers."""
    entering: int
    """For lanes that come to any place from elsewhere."""


def find_allowances(plan: Plan, *, resting: bool = False) -> Allowances:
    """Allowances for all ways through a unit; with `resting` lanes may come from elsewhere to where they ask, too."""
    ways = {place.number: place.next_places for place in plan.places}
    words = {place.number: len(place.block.words) for place in plan.places}
    order, asking = _order(ways, [*plan.entries.values(), *ways])
    longest: dict[int, int] = {}
    for number in order:
        for way in ways[number]:
            if way not in asking and words[number] + longest[way] > _MOST:
                asking.add(way)
        longest[number] = words[number] + max((longest[way] for way in ways[number] if way not in asking), default=0)
    rests = [plan.own[plan.places[number].block.address] for number in asking] if resting else []
    entries = [*plan.entries.values(), *rests]
    return Allowances(
        {number: longest[number] for number in sorted(asking)},
        max((longest[number] for number in entries if number not in asking), default=0),
    )


def _order(ways: dict[int, list[int]], roots: list[int]) -> tuple[list[int], set[int]]:
    """All places, each behind those where it may go on; but for those that a circle comes back to, which are given."""
    order: list[int] = []
    circled: set[int] = set()
    open_places: set[int] = set()
    seen: set[int] = set()
    for root in roots:
        path = [] if root in seen else [(root, iter(ways[root]))]
        while path:
            number, left = path[-1]
            if number not in seen:
                seen.add(number)
                open_places.add(number)
            onward = next((way for way in left if way not in seen or way in open_places), None)
            if onward is None:
                path.pop()
                open_places.discard(number)
                order.append(number)
            elif onward in open_places:
                circled.add(onward)
            else:
                path.append((onward, iter(ways[onward])))
    return order, circled
