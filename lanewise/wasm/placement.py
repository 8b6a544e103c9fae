"""Where lanes live on a GPU: how their memory lies, how many of a warp's threads have one, how many there are at once.

No choice is right for all programs: lanes in step want full warps over interleaved memory, lanes that go different ways
want fewer to a warp, and lanes that touch much memory want to be as few as the cache feeds. Registers are another such
question, for with more of them a thread waits less for memory, and fewer threads are there to wait instead of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from lanewise.errors import ArgumentError
from lanewise.settings import MAX_THREADS, WARP_SIZE, shortened
from lanewise.wasm.build import Layout

GROUP = 128
"""Threads in a group: few, so that groups that end make room for others."""
GROUPS = (32, 64, GROUP, 256)
FIT: Final = "fit"
_FORM = "LAYOUT/LANES/RESIDENT, such as interleaved/32/all or flat/1/4224"
_PARTS = (r"[a-z]+", r"\d{1,40}", r"all|fit|\d{1,40}")
_MORE = re.compile(r"/(\d{1,9})r|/(\d{1,9})g|/(u)")
_REGISTERS = range(24, 256)


@dataclass(frozen=True)
class Placement:
    """One choice."""

    layout: Layout = "interleaved"
    lanes_per_warp: int = WARP_SIZE
    """A power of two; the warp's other threads do nothing."""
    resident: int | Literal["fit"] | None = None
    """Lanes at once; None for as many as a GPU has threads for, FIT for those among them that the registers of the
    program's own threads leave room for: they are all that run, and others' memory need not be there."""
    registers: int | None = None
    """Registers that a thread may have; None for as many as it can use."""
    group: int = GROUP
    """Threads in a group."""
    unrolled: bool = False
    """Whether the program is one function with its loops unrolled, even long ones."""

    def __post_init__(self) -> None:
        if self.layout not in get_args(Layout):
            raise ArgumentError(f"a layout is flat or interleaved, or for functions words, not {self.layout!r}")
        if self.lanes_per_warp not in [1 << bits for bits in range(WARP_SIZE.bit_length())]:
            raise ArgumentError(f"lanes per warp are a power of two up to {WARP_SIZE}, not {self.lanes_per_warp}")
        if self.resident not in (None, FIT) and not (
            isinstance(self.resident, int) and 1 <= self.resident <= MAX_THREADS
        ):
            raise ArgumentError(f"there are 1 to {MAX_THREADS:,} resident lanes, not {self.resident}")
        if self.registers is not None and self.registers not in _REGISTERS:
            raise ArgumentError(f"a thread has {_REGISTERS[0]} to {_REGISTERS[-1]} registers, not {self.registers}")
        if self.group not in GROUPS:
            raise ArgumentError(f"a group has {', '.join(map(str, GROUPS))} threads, not {self.group}")

    def __str__(self) -> str:
        words = [self.layout, str(self.lanes_per_warp), "all" if self.resident is None else str(self.resident)]
        words += [] if self.registers is None else [f"{self.registers}r"]
        words += [] if self.group == GROUP else [f"{self.group}g"]
        words += ["u"] if self.unrolled else []
        return "/".join(words)

    @property
    def spread(self) -> int:
        """The logarithm of how many threads there are for each lane."""
        return (WARP_SIZE // self.lanes_per_warp).bit_length() - 1

    def slots(self, lanes: int, threads: int) -> int:
        """How many lanes are at once, in whole tiles of a warp's size, where there are so many threads."""
        most = min(lanes, threads >> self.spread, self.resident if isinstance(self.resident, int) else threads)
        return max(1, -(-most // WARP_SIZE)) * WARP_SIZE

    def over(self, warps: int, lanes: int) -> Placement:
        """The same with fewer lanes to a warp, as far as so many warps have room for all of so few lanes."""
        each = self.lanes_per_warp
        while each > 1 and lanes <= warps * (each // 2):
            each //= 2
        return replace(self, lanes_per_warp=each)


SEARCH = "search"
"""In the place of a placement: try all that may be good, and remember the best."""


def placement_or_search(text: object) -> Placement | str:
    """A placement as it is shown, or SEARCH."""
    return SEARCH if text == SEARCH else parse_placement(text, f"{_FORM}, or {SEARCH}")


def program_placement(text: object) -> Placement | str:
    """The same for programs: the kernel knows no words, and hardly any program is small enough to be unrolled."""
    found = placement_or_search(text)
    if isinstance(found, Placement):
        near = replace(
            found,
            layout="interleaved" if found.layout == "words" else found.layout,
            resident=None if found.resident == FIT else found.resident,
            unrolled=False,
        )
        if near != found:
            why = f"programs are flat or interleaved, not unrolled, and not {FIT}"
            raise ArgumentError(f"{text!r} is for functions; {why}; write {near}")
    return found


def parse_placement(text: object, form: str = _FORM) -> Placement:
    """A placement as it is shown; `form` says how it must look."""
    if not isinstance(text, str):
        raise ArgumentError(f"a placement is text, {form}; not {type(text).__name__}")
    parts = text.split("/")
    if len(parts) < len(_PARTS) or not all(map(re.fullmatch, _PARTS, parts)):
        raise ArgumentError(f"{shortened(text)!r} is no placement; write {form}")
    layout, lanes, resident, *more = parts
    registers, group, unrolled = _behind(text, more)
    return Placement(
        layout,  # type: ignore[arg-type]
        int(lanes),
        None if resident == "all" else FIT if resident == FIT else int(resident),
        registers,
        GROUP if group is None else group,
        unrolled,
    )


def _behind(text: str, parts: list[str]) -> tuple[int | None, int | None, bool]:
    """What stands behind a placement's three parts, in any order: registers, the size of groups, and whether loops are
    unrolled."""
    found: list[str | None] = [None, None, None]
    for part in parts:
        one = _MORE.fullmatch(f"/{part}")
        at = -1 if one is None else (one.lastindex or 0) - 1
        if one is None or found[at] is not None:
            why = "is there twice" if one is not None else "can mean nothing"
            may = "/64r for registers, /64g for threads in a group, and /u to unroll loops"
            raise ArgumentError(
                f"/{shortened(part)} in the placement {shortened(text)!r} {why}; "
                f"behind LAYOUT/LANES/RESIDENT there may be {may}"
            )
        found[at] = one[one.lastindex or 0]
    registers, group, unrolled = found
    return None if registers is None else int(registers), None if group is None else int(group), unrolled is not None
