"""A run of a static AArch64 program of Linux: wave after wave of lanes, their outcomes as they end."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from lanewise.arm64.arguments import MEMORY_OPTION
from lanewise.arm64.cpu import ParallelCPU
from lanewise.arm64.linux.elf import PAGE, read_program
from lanewise.arm64.linux.hot import HotCode
from lanewise.arm64.linux.loading import lay_out
from lanewise.arm64.linux.mounts import Mounts
from lanewise.arm64.linux.opened import Kept, Opened, Sink, Source
from lanewise.arm64.linux.result import Outcome
from lanewise.arm64.linux.run import MEMORY
from lanewise.arm64.linux.wave import Start, Wave
from lanewise.batch.backlog import Backlog
from lanewise.batch.linux_remarks import MORE_MEMORY, Remarks, described
from lanewise.batch.linux_streams import HostOutput, host_input
from lanewise.batch.running import CUT_OFF_BY, DEVICE_FAILED, INTERRUPTED, LANE_FAILED, TIMED_OUT
from lanewise.batch.spec import LaneOutcome, Results, Task
from lanewise.batch.streams import StoppedError
from lanewise.devices.registry import device_for_programs
from lanewise.errors import ArgumentError, DeviceError, OutOfMemoryError

_BEGIN = b"/"
"""Where programs begin; names of directories that do not begin with a slash are from there."""
_CPU_LANES = 1024
"""Lanes at once on a CPU, which does not get faster by more."""
_CPU_SHARE, _GPU_SHARE = 0.5, 0.7
"""How much of the memory of a device lanes may take."""
_NO_LIMIT = 2**62


class LinuxRun:
    """A task that is being run; see `running.Running`."""

    placement = ""
    lacking = ()
    results: Results | None = None

    def __init__(self, task: Task) -> None:
        if task.lanes < 1:
            raise ArgumentError(f"a run needs 1 lane or more, not {task.lanes}")
        _check_options(task)
        self.task = task
        self.stopped: str | None = None
        self.backlog = Backlog()
        self.statistics: list[str] = []
        self._remarks = Remarks(task.lanes)
        self._wish: str | None = None
        self._program = read_program(task.program, name=task.name)
        self._size = (task.limits.memory or MEMORY) // PAGE * PAGE
        lay_out(self._program, self._program.start, self._size)
        self._device: Any = device_for_programs(task.device)
        self.device_name: str = self._device.name
        self._cpu: ParallelCPU | None = self._make_cpu(_lanes_at_once(self._device, self._size, task.lanes))
        self._most = self._cpu.get_num_lanes()
        self._hot: HotCode | None = HotCode(self._cpu, self._program)
        self._cpu.prepare()  # compiled now, before lanes begin and their time is taken
        self._environment = [os.fsencode(f"{name}={value}") for name, value in task.environment.items()]
        self._deadline: float | None = None
        self._mounts = Mounts(_mount_names(task))

    @property
    def explanation(self) -> list[str]:
        """Why lanes lie as they do."""
        lanes = "1 lane" if self._most == 1 else f"{self._most:,} lanes"
        return [f"placement: {lanes} at once, {self._size:,} bytes of memory each"]

    @property
    def remarks(self) -> list[str]:
        """Once the outcomes have ended: what whoever runs the program should know."""
        return self._remarks.lines()

    def stop(self) -> None:
        """End soon; from any thread."""
        self._wish = self._wish or INTERRUPTED

    def outcomes(self) -> Iterator[LaneOutcome]:
        """Lanes in the order in which they end."""
        for burst in self.bursts():
            yield from burst

    def bursts(self) -> Iterator[list[LaneOutcome]]:
        """The same, all at once that have ended since the last look."""
        limit = self.task.limits.timeout
        begun = None if limit is None else time.monotonic() + limit
        self._deadline = begun if self.task.limits.deadline is None else self.task.limits.deadline
        first = 0
        try:
            while first < self.task.lanes and not self._stopping():
                count = min(self._most, self.task.lanes - first)
                yield from self._wave(first, count)
                first += count
        except GeneratorExit:  # nobody wants to hear of the rest
            self._wish = self._wish or INTERRUPTED
            raise
        finally:
            self._cpu = self._hot = None
            self._mounts.close()
            self.stopped = self._wish

    def _stopping(self) -> bool:
        """Whether the run is to end; asked by all that waits."""
        if self._wish is None and self._deadline is not None and time.monotonic() > self._deadline:
            self._wish = f"{TIMED_OUT} after {self.task.limits.timeout:g} s"
        return self._wish is not None

    def _make_cpu(self, lanes: int) -> ParallelCPU:
        """So many lanes, or fewer where the device has not as much memory free."""
        while True:
            try:
                return ParallelCPU(lanes, self._size, "private", self._device, self._program.start)
            except OutOfMemoryError:
                if lanes == 1:
                    raise
                lanes //= 2

    def _wave(self, first: int, count: int) -> Iterator[list[LaneOutcome]]:
        """Run some lanes: all of them end, or are cut off by the end of the run."""
        begin = time.monotonic()
        wave: Wave | None = None
        ended: set[int] = set()
        try:
            wave = self._start(first, count)
            for fresh in wave.rounds(self.task.limits.fuel):
                burst = [self._outcome(wave, first, number, time.monotonic() - begin) for number in fresh]
                ended.update(fresh)
                more = first + len(ended) < self.task.lanes
                if more and self.task.fail_fast and not all(outcome.ok for outcome in burst):
                    self._wish = self._wish or LANE_FAILED
                if burst:
                    yield burst
                    self.backlog.done()
        except StoppedError:
            pass  # the wish says why
        except DeviceError as error:
            if wave is None and not first:
                raise
            self._wish = f"{DEVICE_FAILED}: {error}"
        finally:
            if wave is not None:
                wave.close()
        if wave is not None and len(ended) < count:
            seconds = time.monotonic() - begin
            left = wave.left()
            late = sorted(set(range(count)) - ended - set(left))  # they ended in the round that could not be finished
            burst = [self._outcome(wave, first, number, seconds) for number in late]
            yield burst + self._cut_off(wave, left, first, seconds)

    def _start(self, first: int, count: int) -> Wave:
        assert self._cpu is not None
        assert self._hot is not None
        if first:
            self._cpu.begin_anew()
        inputs = self.task.inputs
        starts = [
            Start(inputs.arguments(lane), self._environment, self._streams(inputs.stdin(lane)))
            for lane in range(first, first + count)
        ]
        seed = self.task.seed
        wave = Wave(self._cpu, self._program, self._hot, starts, self._mounts, _BEGIN, seed, self._stopping, first)
        wave.serving.holds_back = lambda: self.backlog.full
        return wave

    def _streams(self, stdin: bytes | None) -> tuple[Opened, Sink, Sink]:
        """Standard input, output and error of a lane."""
        kept = Kept(_NO_LIMIT if self.task.limits.output is None else self.task.limits.output)
        source = host_input(self._stopping) if stdin is None else Source(stdin)
        if self.task.streaming:
            return source, HostOutput(1, kept, self._stopping), HostOutput(2, kept, self._stopping)
        return source, KeptOutput(kept, self.backlog), KeptOutput(kept, self.backlog)

    def _outcome(self, wave: Wave, first: int, number: int, seconds: float) -> LaneOutcome:
        found = wave.outcome(number)
        kind, trap = described(found)
        self._remarks.look(wave, number, found)
        return self._told(wave, first, number, found, kind, trap, seconds)

    def _told(
        self, wave: Wave, first: int, number: int, found: Outcome, kind: str | None, trap: str | None, seconds: float
    ) -> LaneOutcome:
        if not self.task.streaming:
            self.backlog.take(len(found.stdout) + len(found.stderr))
        code, signal, ran = found.exit_code, found.signal, found.instructions
        outcome = LaneOutcome(first + number, code, trap, kind, seconds, found.stdout, found.stderr, signal, ran)
        self._remarks.add(outcome, found.unknown_calls, wave.processes[number])
        return outcome

    def _cut_off(self, wave: Wave, left: list[int], first: int, seconds: float) -> list[LaneOutcome]:
        """Lanes that were running when the run was ended."""
        assert self._wish is not None
        kind = next(words for wish, words in CUT_OFF_BY.items() if self._wish.startswith(wish))
        wave.serving.end_all(kind)
        return [self._told(wave, first, number, wave.outcome(number), kind, kind, seconds) for number in left]


class KeptOutput(Sink):
    """Standard output or error of a lane of a batch, which counts among what waits to be dealt with."""

    def __init__(self, kept: Kept, backlog: Backlog) -> None:
        super().__init__(kept)
        self._backlog = backlog

    def take(self, data: bytes) -> None:
        super().take(data)
        self._backlog.add(len(data))


def _check_options(task: Task) -> None:
    """Refuse what means something to programs of WebAssembly alone."""
    usual = Task(b"", "", 1, task.inputs)
    given = {
        "stack": task.limits.stack is not None,
        "threads": task.threads != usual.threads,
        "placement": task.placement is not None or task.search,
        "stats": task.stats,
        "state": task.buffers.state is not None,
        "input": task.buffers.input is not None,
        "output": task.buffers.output != 0,
        "picture": task.buffers.size != usual.buffers.size,
        "group": task.buffers.group != usual.buffers.group,
    }
    named = [name for name, is_given in given.items() if is_given]
    if named:
        them = "them" if len(named) > 1 else "it"
        stack = f"; its stack is a part of its memory {MORE_MEMORY}" if "stack" in named else ""
        what = f"{task.name} is a program of Linux, to which {' and '.join(named)} can mean nothing"
        raise ArgumentError(f"{what}; leave {them} out{stack}")


def _lanes_at_once(device: Any, size: int, wanted: int) -> int:
    """How many lanes a wave has."""
    memory = device.properties.memory_bytes
    if memory and size > memory:
        raise ArgumentError(
            f"lanes are to have {size:,} bytes of memory, and {device.name} has {memory:,}; give them less "
            f"({MEMORY_OPTION})"
        )
    if device.name == "cpu":
        return max(1, min(wanted, _CPU_LANES, int(memory * _CPU_SHARE) // size))
    return max(1, min(wanted, int(memory * _GPU_SHARE) // size))


def _mount_names(task: Task) -> dict[str, str]:
    """Directories by the paths that programs have for them."""
    found: dict[str, str] = {}
    for host, name in task.directories:
        path = os.path.normpath(os.path.join("/", name)).replace("//", "/")
        if path in found:
            raise ArgumentError(f"two directories are {path!r} to the program; give one another name")
        found[path] = os.fspath(host)
    return found
