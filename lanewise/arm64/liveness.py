"""Which registers a unit puts back where it is left: those that a block on some way there sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Uses:
    """What a block does with registers, by their names, and where it goes on in its unit."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    ways: tuple[int, ...] = ()


def set_behind(uses: Mapping[int, Uses]) -> dict[int, frozenset[str]]:
    """For each block of a unit, all registers that may have been set when it is over."""
    before: dict[int, set[str]] = {address: set() for address in uses}
    wanted = list(uses)
    while wanted:
        use = uses[address := wanted.pop()]
        behind = before[address] | use.writes
        for way in use.ways:
            if not behind <= before[way]:
                before[way] |= behind
                wanted.append(way)
    return {address: frozenset(before[address] | use.writes) for address, use in uses.items()}
