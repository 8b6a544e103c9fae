"""The choices of one compilation of a module: for what device, where lanes keep their memory, what is checked how."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from lanewise.errors import ArgumentError
from lanewise.settings import WARP_SIZE

Layout = Literal["flat", "interleaved", "words"]
Meter = Literal["off", "stop", "count", "tally"]


@dataclass(frozen=True)
class Build:
    """One way to compile a module; equal builds of equal modules give equal code."""

    gpu: bool = False
    layout: Layout = "flat"
    """`flat`: each lane's memory in one piece. `interleaved`: 8-byte cells of the 32 lanes of a tile side by side, so
    that lanes in step read from the same lines. `words`: the same with cells of 4 bytes, of which 32-bit numbers fill
    whole lines, and 64-bit ones take two; state and tables stay in cells of 8."""
    checks: Literal["guard", "explicit"] = "guard"
    """Who notices accesses out of bounds: pages that may not be touched behind the memory, or a comparison."""
    alignment: Literal["any", "careful", "branch", "exit"] = "any"
    """Misaligned accesses: the hardware does them (`any`); a call that looks does them byte by byte (`careful`), which
    is less code, or one that aligned accesses branch around (`branch`), which is faster; or the lane ends, to be run
    again in a careful build (`exit`)."""
    meter: Meter = "off"
    """What loops and calls count: nothing (`off`: a CPU is interrupted by signals), enough for a request to stop to be
    seen (`stop`), or every step, so that a limit is the same on every device: each by itself (`count`), or in sums
    (`tally`), where a lane that may have had too few of them ends, to be run again in a build that counts each."""
    linked: bool = False
    """Whether functions may belong to other instances of a store; a module alone is simpler."""
    lanes: bool = False
    """Whether many lanes run at once: a trap is then reported where the state says, not in the state itself."""
    throws: bool = False
    """Whether calls may come back with an exception."""
    tails: bool = False
    """GPU: whether calls may come back with a request for a tail call."""
    places: bool = False
    """CPU: whether the code carries a table from its addresses to the bytes of the module, to tell where a trap was."""
    fixed_memory: bool = False
    """Whether no memory can ever grow: their sizes are constants then."""
    process: bool = False
    """Whether lanes are programs over the device's kernel, which is told when one of them ends."""
    fibers: bool = False
    """CPU, programs: whether lanes wait for each other, so that each runs on a fiber."""
    team: int = 0
    """Programs: how many threads a lane may have, a power of two; 0 if it cannot have any but its own."""
    reserve: int = 0
    """Bytes that a lane's memory can grow to; 0 for the usual."""

    registers: int = 0
    """GPU, many lanes: registers that a thread may have; 0 for as many as it can use."""
    unrolled: bool = False
    """GPU, many lanes: whether a small program is one function with its loops unrolled, even long ones."""
    meeting: bool = False
    """Many lanes: whether functions that call each other in a ring are one loop, in which lanes can meet whatever
    the depth of their calls. Not for lanes that wait for each other."""
    marks: bool = False
    """Many lanes whose memories are side by side, or on a GPU: whether they note where they store, so that no more is
    cleared for the next ones; see `marking`. Little work where all is one function."""
    stats: bool = False
    """GPU, many lanes: whether loops count how many lanes of a warp are in step; slower."""

    @property
    def rings(self) -> bool:
        """Whether rings of calls are loops. Calls that may come back with something else than a result stay calls."""
        return self.meeting and not (self.throws or self.tails)

    @property
    def marked(self) -> bool:
        """Whether stores are noted. The kernel of programs stores, too, and notes nothing."""
        return self.marks and self.lanes and not self.process and (self.gpu or self.layout != "flat")

    @property
    def counts(self) -> bool:
        """Whether each step is counted, one way or the other."""
        return self.meter in ("count", "tally")

    @property
    def key(self) -> str:
        """All choices as text for cache keys."""
        return repr(astuple(self))

    @property
    def looks_written(self) -> bool:
        """Whether looks in loops are no calls: not those of programs, which the kernel has more to say to."""
        return self.gpu and self.lanes and not self.process

    @property
    def columns(self) -> int:
        """How many lanes lie side by side."""
        return 1 if self.layout == "flat" else WARP_SIZE

    @property
    def stride(self) -> int:
        """Bytes from one 8-byte cell of a lane to its next."""
        return 8 * self.columns

    @property
    def cell(self) -> int:
        """Bytes of linear memory in one piece, as far as others' lie between them."""
        return 4 if self.layout == "words" else 8


PUBLIC: dict[str, tuple[object, ...]] = {
    "layout": get_args(Layout),
    "checks": ("guard", "explicit"),
    "alignment": ("any", "careful", "branch", "exit"),
    "meter": get_args(Meter),
    "fixed_memory": (False, True),
    "meeting": (False, True),
    "marks": (False, True),
    "stats": (False, True),
}
"""The fields that users may choose, and their values; the others follow from what is compiled for what."""


def check_choices(choices: Mapping[str, object], fuel: int | None = None) -> None:
    """Raise unless each choice is a public field with a value that it can have, also beside a limit of steps."""
    for name, value in choices.items():
        if name not in PUBLIC:
            raise ArgumentError(f"there is no choice {name!r} for a build; the choices are {', '.join(PUBLIC)}")
        if not isinstance(value, str | int) or value not in PUBLIC[name]:
            known = ", ".join(map(repr, PUBLIC[name]))
            raise ArgumentError(f"{name} is {value!r}; it can be {known}")
    if fuel is not None and choices.get("meter") in ("off", "stop"):
        raise ArgumentError(f"meter={choices['meter']!r} counts no steps, of which fuel is a limit; leave it out")


def check_timeout(build: Build, timeout: float | None) -> None:
    """Raise if lanes on a GPU would have a time limit that none of them hears of."""
    if timeout is not None and build.gpu and build.meter == "off":
        raise ArgumentError('with meter="off" no lane of a GPU sees that its time is over; leave meter or timeout out')


_LEVELS = 0, 1, 2, 3


def checked_fuel(fuel: object) -> int | None:
    """A limit of steps, as a number of Python; raises if it is none."""
    if fuel is None:
        return None
    if isinstance(fuel, bool) or not isinstance(fuel, numbers.Integral) or not 1 <= int(fuel) < 2**63:
        raise ArgumentError(
            f"fuel is {_shown(fuel)}; it is a number of steps from 1 to {2**63 - 1:,}, or None for no limit"
        )
    return int(fuel)


def checked_timeout(timeout: object) -> float | None:
    """A limit of seconds, as a number of Python; raises if it is none."""
    if timeout is None:
        return None
    seconds = 0.0
    if isinstance(timeout, numbers.Real) and not isinstance(timeout, bool):
        try:
            seconds = float(timeout)
        except OverflowError:
            seconds = float("inf") if timeout > 0 else 0.0  # type: ignore[operator]
    if not seconds > 0:
        raise ArgumentError(f"timeout is {_shown(timeout)}; it is a number of seconds, or None for no limit")
    return seconds


def checked_level(level: object) -> int | None:
    """How much code is optimised; raises if there is no such level."""
    if level is None:
        return None
    if isinstance(level, bool) or not isinstance(level, numbers.Integral) or int(level) not in _LEVELS:
        raise ArgumentError(f"level is {_shown(level)}; it can be 0, 1, 2 or 3, or None to have it chosen")
    return int(level)


def _shown(value: Any) -> str:
    try:
        return repr(value.item() if isinstance(value, np.generic) else value)[:60]
    except ValueError:
        return f"{type(value).__name__} of very many digits"


def host_build(**choices: object) -> Build:
    """The usual build for a CPU; memories that are interleaved with others' have no pages to guard them."""
    usual: dict[str, object] = {"places": True}
    if choices.get("layout", "flat") != "flat":
        if choices.get("checks", "explicit") != "explicit" or choices.get("alignment", "careful") == "any":
            raise ArgumentError(
                "interleaved memory needs checks='explicit' and alignment='careful', 'branch' or 'exit'"
            )
        usual |= {"checks": "explicit", "alignment": "careful"}
    return Build(**usual | choices)  # type: ignore[arg-type]


def with_fixed_memory(build: Build, fixed: bool) -> Build:
    """A build for a CPU that knows whether memories can grow.

    Comparing an address with a constant is cheaper than what guard pages cost: an access that may be what ends the lane
    can be neither dropped nor moved nor joined with others.
    """
    if not fixed or build.checks != "guard":
        return replace(build, fixed_memory=fixed)
    return replace(build, fixed_memory=True, checks="explicit")


def gpu_build(**choices: object) -> Build:
    """The usual build for a GPU: no guard pages there, misaligned accesses fault, and only fuel can stop a lane."""
    if choices.get("alignment") == "any":
        raise ArgumentError("a GPU faults on misaligned addresses; alignment is 'careful', 'branch' or 'exit' there")
    if choices.get("checks") == "guard":
        raise ArgumentError("a GPU has no pages that guard memories; checks is 'explicit' there")
    usual: dict[str, object] = {"gpu": True, "checks": "explicit", "alignment": "careful", "meter": "stop"}
    usual["meeting"] = bool(choices.get("lanes"))
    return Build(**usual | choices)  # type: ignore[arg-type]
