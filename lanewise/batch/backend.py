"""What a run needs of a device: waves of lanes that are started, looked at while they run, and ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from lanewise.batch.program import Program
from lanewise.batch.service import HostService
from lanewise.batch.spec import Buffers, Results, Task
from lanewise.batch.wave import RunFacts, run_record
from lanewise.devices.arrays import DeviceArray
from lanewise.devices.base import Buffer
from lanewise.kernel.lane_io import SHARED_WORDS

if TYPE_CHECKING:
    from lanewise.host.native_copies import NativeCopies


class Wave(ABC):
    """Lanes that were started together."""

    over = False
    """Whether all of them have ended; `WaveBackend.wait` says so."""

    @abstractmethod
    def look(self) -> np.ndarray[Any, Any]:
        """The LaneRecords as they are now."""

    @abstractmethod
    def console(self) -> np.ndarray[Any, Any]:
        """What lanes have gathered; that of lanes that had ended when `look` was called is complete."""

    @abstractmethod
    def traps(self) -> np.ndarray[Any, Any]:
        """A word per lane: kind and place of its trap."""


class WaveBackend(ABC):
    """A device as a place for the lanes of one task, in waves, of which some may run at the same time."""

    device_name: str
    placement: str = ""

    def __init__(self, task: Task, program: Program) -> None:
        self.task = task
        self.program = program
        self.module = program.module
        self._facts: RunFacts | None = None
        self.native: NativeCopies | None = None
        """What opens files for lanes without Python."""

    @abstractmethod
    def next_wave(self, left: int) -> int:
        """How many lanes the next wave can have, where so many are left; 0 if none can be started now."""

    @abstractmethod
    def place(self, content: bytes) -> int:
        """Put the copy of a file where all lanes can read it, for as long as the run lasts; 0 if there is no room."""

    @abstractmethod
    def forget_copies(self) -> bool:
        """Whether copies of files take much room; it is used anew then. No lane may be running."""

    @abstractmethod
    def start(self, first: int, count: int, service: HostService) -> Wave:
        """Start a wave, as large as `next_wave` said at most: lanes from `first` on."""

    @abstractmethod
    def wait(self, seconds: float) -> None:
        """Wait until a wave is over or another can be started, but not for long."""

    @abstractmethod
    def now(self) -> int:
        """The time on the clock of lanes, in nanoseconds."""

    @abstractmethod
    def stop(self) -> None:
        """End all waves; returns when they are over."""

    def statistics(self) -> list[str]:
        """What lanes counted besides, in a few lines, once they have ended."""
        return ["divergence: none; a core runs one lane at a time"]

    def explain(self) -> list[str]:
        """Why lanes lie as they do, in a few lines."""
        return ["placement: none; a core runs one lane at a time"]

    @abstractmethod
    def results(self) -> Results:
        """What lanes have left in the buffers."""

    @abstractmethod
    def close(self) -> None:
        """The run is over."""

    # --- what is the same on all devices -----------------------------------------------------------------------------

    def _run_record(self, first: int, count: int, service: HostService) -> Any:
        """What the kernel is told of a wave, but for what a device has of its own."""
        self._facts = self._facts or RunFacts(self.task, service.names)
        run = run_record(self.task, self._facts, first, count, self._put)
        run["stream_types"] = service.stream_types
        run["group_shift"] = self.task.buffers.group.bit_length() - 1
        run["width"], run["height"] = self.task.buffers.size
        run["team_size"] = self.task.threads + 1 if self.program.team else 1
        return run

    @abstractmethod
    def _put(self, array: np.ndarray[Any, Any]) -> int:
        """Put an array where lanes of this wave can read it; gives its address."""


def words_of(given: np.ndarray[Any, Any] | None) -> np.ndarray[Any, Any]:
    """A buffer's words, with one more where it would be empty."""
    return np.zeros(1, np.uint32) if given is None else np.ascontiguousarray(given).reshape(-1).view(np.uint32).copy()


def count_of(given: np.ndarray[Any, Any] | None) -> int:
    """How many words a buffer has."""
    return 0 if given is None else given.nbytes // 4


def results_of(
    buffers: Buffers, state: np.ndarray[Any, Any], output: np.ndarray[Any, Any], picture: DeviceArray
) -> Results:
    """Words as they were given: of the same type and shape. Of the picture there may be more than was asked for."""
    width, height = buffers.size
    given = np.zeros(0, np.int32) if buffers.state is None else buffers.state
    painted = Buffer(picture.device, picture.address, width * height * picture.dtype.itemsize, owner=picture)
    return Results(
        state[: given.nbytes // 4].view(given.dtype).reshape(given.shape),
        output[: buffers.output].view(np.int32),
        DeviceArray(painted, (height, width), picture.dtype, picture.element),
    )


SHARED_BYTES = SHARED_WORDS * 4
"""What the lanes of a group share."""
