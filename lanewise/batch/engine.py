"""A run: wave after wave of lanes on a device, their outcomes as they end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

from lanewise.batch.backend import WaveBackend
from lanewise.batch.backlog import Backlog
from lanewise.batch.console import Outputs
from lanewise.batch.open_wave import OpenWave
from lanewise.batch.program import Program, program_of
from lanewise.batch.running import CUT_OFF_BY, DEVICE_FAILED, INTERRUPTED, LANE_FAILED, TIMED_OUT
from lanewise.batch.service import HostService
from lanewise.batch.spec import LaneOutcome, Results, Task
from lanewise.devices.registry import device_for_programs
from lanewise.errors import ArgumentError, DeviceError, OutOfMemoryError
from lanewise.host.files import Filesystem
from lanewise.wasm.module import Module

_STEP = 0.05
"""Seconds between two looks at a wave that runs."""


class Run:
    """A task that is being run; see `running.Running`."""

    def __init__(self, task: Task, module: Module | None = None) -> None:
        if task.lanes < 1:
            raise ArgumentError(f"a run needs 1 lane or more, not {task.lanes}")
        self.task = task
        self.stopped: str | None = None
        self._wish: str | None = None
        self._lost = False
        """Whether nothing can be asked of the device any more."""
        self._program = program_of(task, module)
        self.results: Results | None = None
        """What lanes have left in the buffers, once the outcomes have ended."""
        self.statistics: list[str] = []
        """What lanes counted, once they have ended, if the task wants to know."""
        self.backlog = Backlog()
        self._placing = threading.Lock()
        self._files = Filesystem(task.directories, self._place)
        try:
            self._backend = _backend_for(task, self._program)
        except BaseException:
            self._files.close()
            raise
        self._files.native = self._backend.native
        self._open: list[OpenWave] = []

    def _place(self, content: bytes) -> int:
        with self._placing:  # lanes open files from several threads
            return self._backend.place(content)

    remarks = ()

    @property
    def device_name(self) -> str:
        """Where it runs."""
        return self._backend.device_name

    @property
    def placement(self) -> str:
        """How lanes lie on a GPU; empty on the CPU."""
        return self._backend.placement

    @property
    def explanation(self) -> list[str]:
        """Why lanes lie so, in a few lines."""
        return self._backend.explain()

    @property
    def lacking(self) -> tuple[str, ...]:
        """Buffers of the GPU vocabulary that the program may use and was not given."""
        return self._program.lacking

    def stop(self) -> None:
        """End soon; from any thread."""
        self._wish = self._wish or INTERRUPTED
        for wave in tuple(self._open):
            wave.service.stop()
        if self._open:
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
        over = False
        try:
            try:
                yield from self._waves(deadline)
                over = not self._open
            except DeviceError as error:
                self._failed(error)
            except GeneratorExit:  # nobody wants to hear of the rest
                self._wish = self._wish or INTERRUPTED
                raise
            finally:
                if not over:  # one that was just being started may run, too
                    self._end_waves()
            last = self._left()
            if last:
                yield last
            if not self._lost:
                self.results = self._backend.results()
                self.statistics = self._backend.statistics() if self.task.stats else []
        finally:
            self._open.clear()  # what waves have on the device goes with them
            self._backend.close()
            self._files.close()
            self.stopped = self._wish

    def _failed(self, error: DeviceError) -> None:
        """The run ends by it; if it is a want of memory that waiting did not mend, the device is still there."""
        self._wish = f"{DEVICE_FAILED}: {error}"
        self._lost = self._lost or not isinstance(error, OutOfMemoryError)

    def _waves(self, deadline: float | None) -> Iterator[list[LaneOutcome]]:
        """Start waves as there is room for them, until all lanes have ended or the run is to end."""
        first = 0
        while self._wish is None and (first < self.task.lanes or self._open):
            if not self._open and self._backend.forget_copies():
                self._files.forget_copies()
            full = self.backlog.full and bool(self._open)  # without lanes that run, nobody is waited for
            count = 0 if full else min(self._backend.next_wave(self.task.lanes - first), self.task.lanes - first)
            if count and self._start(first, count):
                first += count
            self._backend.wait(_STEP)
            over = [wave for wave in self._open if wave.wave.over]  # before the look, which must see all of their lanes
            for wave in self._open:
                if wave.service.failure is not None:
                    raise wave.service.failure
            burst: list[LaneOutcome] = []
            try:
                for wave in self._open:
                    burst += wave.ended()
            except DeviceError as error:
                self._failed(error)
            for wave in over if self._wish is None else ():  # lanes that a wish has ended are yet to be told of
                self._open.remove(wave)
                wave.service.close()
            more = first < self.task.lanes or bool(self._open)
            if more and self.task.fail_fast and not all(outcome.ok for outcome in burst):
                self._wish = self._wish or LANE_FAILED
            if burst:
                yield burst
                self.backlog.done()
            if self._lost:
                return
            if more and deadline is not None and time.monotonic() > deadline:
                self._wish = self._wish or f"{TIMED_OUT} after {self.task.limits.timeout:g} s"

    def _start(self, first: int, count: int) -> bool:
        """Start a wave; says whether there was memory for it beside those that run."""
        service = HostService(self._files, Outputs(self.backlog), self.task.streaming)
        try:
            wave = self._backend.start(first, count, service)
        except OutOfMemoryError:
            if not self._open:
                raise
            return False
        self._open.append(OpenWave(self._program.module, first, count, service, wave))
        if self._wish is not None:  # it came while the wave was being started
            service.stop()
        return True

    def _end_waves(self) -> None:
        """End waves that are not over."""
        self._wish = self._wish or INTERRUPTED
        for wave in self._open:
            wave.service.stop()
        self._files.interrupt()
        try:
            self._backend.stop()
        except DeviceError as error:
            self._failed(error)
        finally:
            for wave in self._open:
                wave.service.close()

    def _left(self) -> list[LaneOutcome]:
        """Lanes of waves that were ended: those that had ended by themselves, and those that were cut off."""
        found: list[LaneOutcome] = []
        try:
            for wave in [] if self._lost else self._open:
                found += wave.ended()
        except DeviceError as error:
            self._failed(error)
        if self._open:
            assert self._wish is not None
            kind = next(words for wish, words in CUT_OFF_BY.items() if self._wish.startswith(wish))
            now = 0 if self._lost else self._backend.now()
            for wave in self._open:
                found += wave.cut_off(kind, now, lost=self._lost)
        return found


def _backend_for(task: Task, program: Program) -> WaveBackend:
    device: Any = device_for_programs(task.device)
    kind = device.name.partition(":")[0]
    if kind == "cpu":
        from lanewise.batch.cpu_engine import CpuWaves

        return CpuWaves(task, program, device)
    if kind == "cuda":
        from lanewise.batch.cuda_engine import CudaWaves

        return CudaWaves(task, program, device)
    raise ArgumentError(
        f"programs run on the devices cpu and cuda, not on {device.name}; write auto, cpu, cuda or cuda:1"
    )
