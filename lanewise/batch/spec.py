"""What to run, and how it went: the words between the command line, the Python API and the engines."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from lanewise.devices.arrays import DeviceArray
    from lanewise.wasm.placement import Placement


class Inputs(Protocol):
    """What lanes get that differs from lane to lane. Asked for a wave at a time, when the wave is about to run."""

    def arguments(self, lane: int) -> Sequence[bytes]:
        """The arguments of a lane, the program's name included."""

    def stdin(self, lane: int) -> bytes | None:
        """What a lane reads on its standard input; None for that of the host."""

    def sizes(self, lanes: range) -> Sequence[int] | None:
        """How much each of these lanes has to read, where that is known: lanes with as much run side by side."""

    @property
    def same_arguments(self) -> bool:
        """Whether all lanes have the same arguments, so that one copy does for all."""


@dataclass(frozen=True)
class Limits:
    """What a lane may use; None is without limit."""

    memory: int | None = None
    """Bytes that linear memory can grow to, or all that a program of Linux has."""
    stack: int | None = None
    """GPU: bytes of stack for the calls of a lane."""
    fuel: int | None = None
    """Steps."""
    timeout: float | None = None
    """Seconds that the whole run may take, from its first lane on."""
    deadline: float | None = None
    """When that time is over, on the clock of `time.monotonic`, where it has begun before; None if not."""
    output: int | None = None
    """Bytes that a lane may write to its standard streams."""


@dataclass(frozen=True)
class Buffers:
    """What lanes share by the GPU vocabulary; arrays are of 32-bit words."""

    state: np.ndarray[Any, Any] | None = None
    input: np.ndarray[Any, Any] | None = None
    output: int = 0
    """Words of the output."""
    size: tuple[int, int] = (0, 0)
    """Width and height of the picture."""
    group: int = 256
    """Lanes that wait for each other at barriers and share words: a power of two."""


@dataclass(frozen=True)
class Results:
    """What lanes have left in the buffers."""

    state: np.ndarray[Any, Any]
    output: np.ndarray[Any, Any]
    picture_on_device: DeviceArray
    """A word a pixel, of shape (height, width): it stays where the lanes ran until somebody asks for it."""

    @functools.cached_property
    def picture(self) -> np.ndarray[Any, Any]:
        """A copy of the picture on the host: bytes of red, green, blue and alpha, of shape (height, width, 4)."""
        return self.picture_on_device.get().view(np.uint8).reshape(*self.picture_on_device.shape, 4)


@dataclass(frozen=True)
class Task:
    """A program and all that it is run with."""

    program: bytes
    name: str
    lanes: int
    inputs: Inputs
    environment: Mapping[str, str] = field(default_factory=dict)
    directories: Sequence[tuple[Path, str]] = ()
    """Preopened directories: where each is on the host, and what lanes call it."""
    device: str = "auto"
    seed: int | None = None
    """What random numbers come from; None for others each time. Each lane has its own."""
    limits: Limits = Limits()
    threads: int = 15
    """How many threads a lane may start, for programs that start any."""
    buffers: Buffers = Buffers()
    streaming: bool = False
    """Whether output goes to the host's own streams as it is written, instead of being gathered: for one lane."""
    fail_fast: bool = False
    """Whether the first lane that fails ends the run."""
    placement: Placement | None = None
    """Where lanes live on a GPU; None for what is known to be best, or the usual."""
    stats: bool = False
    """Whether lanes on a GPU count how far they are in step, which makes them slower."""
    search: bool = False
    """Whether all placements that may be good are tried with lanes of this run, whatever that costs."""


@dataclass(frozen=True, slots=True)
class LaneOutcome:
    """How one lane ended."""

    lane: int
    exit_code: int | None
    """None if it did not end by itself."""
    trap: str | None
    """Why it was ended, with function and byte where they are known."""
    kind: str | None
    """What it was ended by in a word or two, the same for all lanes that ended so: for counting."""
    seconds: float
    stdout: bytes
    stderr: bytes
    signal: int | None = None
    """The signal that ended it, where that was a program of Linux."""
    instructions: int | None = None
    """How many it ran, where that is counted: of programs of Linux."""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with 0."""
        return self.exit_code == 0
