"""What placements there are to try for a program on a GPU."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from lanewise.settings import MAX_THREADS, WARP_SIZE
from lanewise.wasm.placement import FIT, Placement

USUAL = Placement()
_REGISTERS = (64, 48, 32)
_UNROLLED_REGISTERS = (168, 128, 96, 64, 40)
"""Registers that a thread may have; unrolled code can use very many."""
_GROUP = 64
_PER_SCHEDULER = 512
"""Threads that a GPU has for each of its schedulers, or more: a warp for each of these costs the others nothing."""


def candidates(threads: int) -> list[Placement]:
    """What is tried on a GPU that has so many threads at once, the most promising first."""
    found = [
        Placement("interleaved", WARP_SIZE, FIT, unrolled=True),
        Placement("words", WARP_SIZE, FIT, unrolled=True),
        Placement("words", WARP_SIZE),
        Placement("interleaved", WARP_SIZE, threads // 8),
        Placement("flat", 2),
        Placement("words", WARP_SIZE, threads // 8),
        Placement("flat", WARP_SIZE),
        Placement("interleaved", WARP_SIZE, threads // 4),
        Placement("flat", 8),
        Placement("interleaved", WARP_SIZE, threads // 16),
        Placement("interleaved", 8),
        Placement("flat", 1, threads // 64),
        Placement("interleaved", WARP_SIZE, registers=32),
        Placement("words", WARP_SIZE, FIT, registers=64, unrolled=True),
    ]
    return [place for place in found if not isinstance(place.resident, int) or place.resident >= WARP_SIZE]


def variants(best: Placement, threads: int) -> list[Placement]:
    """What is tried when the best of these is known: loops unrolled, a few more or less lanes to a warp, then fewer
    registers, then smaller groups; of what is unrolled, as many lanes at once as fit, all, and few, since a short run
    would spend its time on clearing memory for more."""
    lanes = best.lanes_per_warp
    near = [replace(best, lanes_per_warp=near) for near in (lanes // 2, lanes * 2) if 1 <= near <= WARP_SIZE]
    fewer = [replace(best, registers=count) for count in (_UNROLLED_REGISTERS if best.unrolled else _REGISTERS)]
    found = [*near, *fewer, replace(best, group=_GROUP)]
    if not best.unrolled:
        return [replace(best, resident=best.resident or FIT, unrolled=True), *found]
    at_once: list[int | Literal["fit"] | None] = [FIT, None]
    if threads // 16 >= WARP_SIZE:
        at_once.append(threads // 16)
    return [*found, *(replace(best, resident=count) for count in at_once if count != best.resident)]


@dataclass(frozen=True)
class Reach:
    """What there is to try for a program on a GPU."""

    threads: int
    """How many the GPU has at once."""
    room: int = MAX_THREADS
    """Lanes that there is memory for at once."""
    words: bool = True
    """Whether its memory can be in words."""
    unrolls: bool = False
    """Whether it is small enough for its loops to be unrolled."""

    def has(self, place: Placement) -> bool:
        """Whether it can live there, and there is memory for as many lanes at once as that is about."""
        fits = not isinstance(place.resident, int) or place.resident < self.room
        return fits and (self.words or place.layout != "words") and (self.unrolls or not place.unrolled)

    def slots(self, place: Placement, lanes: int = MAX_THREADS) -> int:
        """How many of so many lanes are there at once."""
        return place.slots(min(lanes, self.room), self.threads)

    def spread(self, place: Placement, lanes: int) -> Placement:
        """The placement for a run of so many lanes: if they are so few that schedulers of the GPU are without a warp,
        and warps are fewer than when it was measured, there are fewer lanes to a warp."""
        warps = max(1, self.threads // _PER_SCHEDULER)
        if place != USUAL:
            warps = min(warps, self.slots(place) // place.lanes_per_warp)
        return place.over(warps, min(lanes, self.slots(place, lanes)))
