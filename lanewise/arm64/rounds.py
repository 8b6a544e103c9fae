"""Rounds: loops of one short block are written several times over, one round behind the other.

A lane asks once a round whether it has enough instructions left, and jumps back. In a loop of four instructions that is
as much work as the four. So such a loop gets four rounds, and lanes ask for all of them ahead of the first.
"""

from __future__ import annotations

from dataclasses import replace

from lanewise.arm64.places import Place, Plan

_ROUNDS = 4
_SHORT = 16
"""Instructions in a loop."""
_FURTHER = 64
"""Instructions in all further rounds of a unit. On a CPU there may be as many as the unit has; on a GPU, lanes that are
apart wait for code to arrive."""


def with_rounds(plan: Plan, gpu: bool) -> Plan:
    """The same with short loops written out, the shortest first."""
    places = [*plan.places]
    left = _FURTHER if gpu else max(_FURTHER, sum(len(place.block.words) for place in places))
    loops = [place for place in plan.places if place.number in place.ways.values()]
    for place in sorted(loops, key=lambda loop: len(loop.block.words)):
        words = len(place.block.words)
        left -= (_ROUNDS - 1) * words
        if words > _SHORT or left < 0:
            break
        further = [len(places) + more for more in range(_ROUNDS - 1)]
        rounds = [_round(place, *two) for two in zip([place.number, *further], [*further, place.number], strict=True)]
        places[place.number] = rounds[0]
        places += rounds[1:]
    return Plan(places, plan.entries, plan.own)


def _round(place: Place, number: int, behind: int) -> Place:
    """One round of a loop, and the number of the next."""
    ways = {address: behind if way == place.number else way for address, way in place.ways.items()}
    return replace(place, number=number, ways=ways)
