"""Where lanes live on a GPU: how their memory lies, how many of a warp's threads have one, how many there are at once.

No choice is right for all programs: lanes in step want full warps over interleaved memory, lanes that go different ways
want fewer to a warp, and lanes that touch much memory want to be as few as the cache feeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from lanewise.errors import ArgumentError
from lanewise.settings import WARP_SIZE, shortened, whole_number
from lanewise.wasm.build import Layout

_FORM = "LAYOUT/LANES/RESIDENT, such as interleaved/32/all or flat/1/4224"


@dataclass(frozen=True)
class Placement:
    """One choice."""

    layout: Layout = "interleaved"
    lanes_per_warp: int = WARP_SIZE
    """A power of two; the warp's other threads do nothing."""
    resident: int | None = None
    """Lanes at once; None for as many as there are threads for."""

    def __post_init__(self) -> None:
        if self.layout not in get_args(Layout):
            raise ArgumentError(f"a layout is {' or '.join(get_args(Layout))}, not {self.layout!r}")
        if self.lanes_per_warp not in [1 << bits for bits in range(WARP_SIZE.bit_length())]:
            raise ArgumentError(f"lanes per warp are a power of two up to {WARP_SIZE}, not {self.lanes_per_warp}")
        if self.resident is not None and self.resident < 1:
            raise ArgumentError(f"there is 1 resident lane or more, not {self.resident}")

    def __str__(self) -> str:
        return f"{self.layout}/{self.lanes_per_warp}/{'all' if self.resident is None else self.resident}"

    @property
    def spread(self) -> int:
        """The logarithm of how many threads there are for each lane."""
        return (WARP_SIZE // self.lanes_per_warp).bit_length() - 1

    def slots(self, lanes: int, threads: int) -> int:
        """How many lanes are at once, in whole tiles of a warp's size, where there are so many threads."""
        most = min(lanes, threads >> self.spread, self.resident or threads)
        return max(1, -(-most // WARP_SIZE)) * WARP_SIZE


def parse_placement(text: str) -> Placement:
    """A placement as it is shown."""
    layout, *counts = text.split("/")
    lanes, resident = map(whole_number, counts) if len(counts) == 2 else (None, None)
    if lanes is None or (resident is None and counts[1] != "all"):
        raise ArgumentError(f"{shortened(text)!r} is no placement; write {_FORM}")
    return Placement(layout, lanes, resident)  # type: ignore[arg-type]
