"""A run: wave after wave of lanes on a device, their outcomes as they end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from lanewise.batch.backend import WaveBackend
from lanewise.batch.console import Outputs
from lanewise.batch.program import Program, program_of
from lanewise.batch.running import DEVICE_FAILED, INTERRUPTED, LANE_FAILED, TIMED_OUT
from lanewise.batch.service import HostService
from lanewise.batch.spec import LaneOutcome, Results, Task
from lanewise.devices import device as find_device
from lanewise.errors import ArgumentError, DeviceError, WasmTrap
from lanewise.host.files import Filesystem
from lanewise.kernel.lane_io import LANE_ENDED, LANE_WAITS, LaneRecord
from lanewise.kernel.wasi_numbers import FAIL_STOP
from lanewise.wasm import traps
from lanewise.wasm.module import Module
from lanewise.wasm.places import function_at

_STEP = 0.05
"""Seconds between two looks at a wave that runs."""
_CUT_OFF = {
    INTERRUPTED: "interrupted",
    TIMED_OUT: "timed out",
    LANE_FAILED: "interrupted",
    DEVICE_FAILED: "device lost",
}
_STOPPED = (traps.INTERRUPTED, traps.KERNEL + FAIL_STOP)


class Run:
    """A task that is being run; see `running.Running`."""

    def __init__(self, task: Task, module: Module | None = None) -> None:
        if task.lanes < 1:
            raise ArgumentError(f"a run needs 1 lane or more, not {task.lanes}")
        self.task = task
        self.stopped: str | None = None
        self._wish: str | None = None
        self._program = program_of(task, module)
        self.results: Results | None = None
        """What lanes have left in the buffers, once the outcomes have ended."""
        self._placing = threading.Lock()
        self._files = Filesystem(task.directories, self._place)
        try:
            self._backend = _backend_for(task, self._program)
        except BaseException:
            self._files.close()
            raise
        self._files.native = self._backend.native
        self._service: HostService | None = None

    def _place(self, content: bytes) -> int:
        with self._placing:  # lanes open files from several threads
            return self._backend.place(content)

    @property
    def device_name(self) -> str:
        """Where it runs."""
        return self._backend.device_name

    @property
    def placement(self) -> str:
        """How lanes lie on a GPU; empty on the CPU."""
        return self._backend.placement

    def stop(self) -> None:
        """End soon; from any thread."""
        self._wish = self._wish or INTERRUPTED
        if self._service is not None:
            self._service.stop()
            self._files.interrupt()

    def outcomes(self) -> Iterator[LaneOutcome]:
        """Lanes in the order in which they end."""
        for burst in self.bursts():
            yield from burst

    def bursts(self) -> Iterator[list[LaneOutcome]]:
        """The same, all at once that have ended since the last look."""
        limit = self.task.limits.timeout
        begun = None if limit is None else time.monotonic() + limit
        deadline = begun if self.task.limits.deadline is None else self.task.limits.deadline
        first = 0
        try:
            while first < self.task.lanes and self._wish is None:
                count = min(self._backend.wave_lanes, self.task.lanes - first)
                yield from self._wave(first, count, deadline)
                first += count
                if first < self.task.lanes:
                    self._watch(deadline)
                    if self._backend.forget_copies():
                        self._files.forget_copies()
            if self._wish is None or not self._wish.startswith(DEVICE_FAILED):
                self.results = self._backend.results()
        except GeneratorExit:  # nobody wants to hear of the rest
            self._wish = self._wish or INTERRUPTED
            raise
        finally:
            self._backend.close()
            self._files.close()
            self.stopped = self._wish

    def _watch(self, deadline: float | None) -> None:
        """Have the run end when its time is over."""
        if deadline is not None and time.monotonic() > deadline:
            self._wish = self._wish or f"{TIMED_OUT} after {self.task.limits.timeout:g} s"

    def _wave(self, first: int, count: int, deadline: float | None) -> Iterator[list[LaneOutcome]]:
        service = self._service = HostService(self._files, Outputs(), self.task.streaming)
        told = np.zeros(count, bool)
        self._records = np.zeros(count, LaneRecord.dtype)
        over = lost = False
        try:
            self._backend.start(first, count, service)
            while not over and self._wish is None:
                over = self._backend.wait(_STEP)
                if service.failure is not None:
                    raise service.failure
                burst = list(self._ended(first, told))
                if self.task.fail_fast and not all(outcome.ok for outcome in burst):
                    self._wish = self._wish or LANE_FAILED
                if burst:
                    yield burst
                if not over:
                    self._watch(deadline)
        except DeviceError as error:
            lost = True
            self._wish = f"{DEVICE_FAILED}: {error}"
        finally:
            if not over:
                lost = self._end_wave(service) or lost
            service.close()
        last = [] if lost else list(self._ended(first, told))
        if self._wish is not None:
            last += self._cut_off(first, told, lost)
        if last:
            yield last

    def _end_wave(self, service: HostService) -> bool:
        """End a wave that is not over, or never began; says whether the device was lost by it."""
        self._wish = self._wish or INTERRUPTED
        service.stop()
        self._files.interrupt()
        try:
            self._backend.stop()
        except DeviceError as error:
            self._wish = f"{DEVICE_FAILED}: {error}"
            return True
        return False

    def _ended(self, first: int, told: np.ndarray[Any, Any]) -> Iterator[LaneOutcome]:
        """Lanes that have ended since the last look."""
        assert self._service is not None
        self._records = self._backend.look()
        fresh = np.flatnonzero((self._records["state"] == LANE_ENDED) & ~told)
        if not len(fresh):
            return
        told[fresh] = True
        self._records = self._backend.look()  # a record that was being written may have been read in two halves
        status = self._backend.traps()[fresh].tolist()
        seconds = (self._records["nanoseconds"][fresh] / 1e9).tolist()
        codes = self._records["exit_code"][fresh].tolist()
        chains, console = self._records["last"][fresh].tolist(), self._backend.console()
        for lane, word, taken, code, last in zip(fresh.tolist(), status, seconds, codes, chains, strict=True):
            kind = word & 0xFFFFFFFF
            if self._wish is not None and kind in _STOPPED:
                told[lane] = False  # it did not end by itself, see `_cut_off`
                continue
            out, err = self._service.outputs.take(lane, console, last)
            if kind in (0, traps.EXIT):
                yield LaneOutcome(first + lane, code, None, None, taken, out, err)
            else:
                words, trap = self._trap(kind, word >> 32)
                yield LaneOutcome(first + lane, None, trap, words, taken, out, err)

    def _trap(self, kind: int, place: int) -> tuple[str, str]:
        words = traps.KINDS[kind]
        name = function_at(self._program.module, place) if place else ""
        return words, str(WasmTrap(words, function=name, offset=place))

    def _cut_off(self, first: int, told: np.ndarray[Any, Any], lost: bool) -> Iterator[LaneOutcome]:
        """Lanes that were running when the run was ended."""
        assert self._service is not None
        assert self._wish is not None
        kind = next(words for wish, words in _CUT_OFF.items() if self._wish.startswith(wish))
        cut = np.flatnonzero((self._records["state"] != LANE_WAITS) & ~told).tolist()
        console = np.zeros(0, np.uint8) if lost or not cut else self._backend.console()
        now = 0 if lost or not cut else self._backend.now()
        for lane in cut:
            last = 0 if lost else int(self._records["last"][lane])
            out, err = self._service.outputs.take(lane, console, last)
            time = int(self._records["nanoseconds"][lane])  # how long it ran, or when it began if it has not ended
            taken = time if self._records["state"][lane] == LANE_ENDED else max(0, now - time)
            yield LaneOutcome(first + lane, None, kind, kind, 0.0 if lost else taken / 1e9, out, err)


def _backend_for(task: Task, program: Program) -> WaveBackend:
    device: Any = find_device(task.device)
    kind = device.name.partition(":")[0]
    if kind == "cpu":
        from lanewise.batch.cpu_engine import CpuWaves

        return CpuWaves(task, program, device)
    if kind == "cuda":
        from lanewise.batch.cuda_engine import CudaWaves

        return CudaWaves(task, program, device)
    raise ArgumentError(f"programs run on cpu or cuda, not on {device.name}")
