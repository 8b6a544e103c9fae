"""Programs that run at the same time: lanes are loaded, served until they are over, and told of then."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from lanewise.arm64.cpu import ParallelCPU
from lanewise.arm64.linux.ahead import Ahead, FarMemory
from lanewise.arm64.linux.elf import Program
from lanewise.arm64.linux.heap import Heap
from lanewise.arm64.linux.hot import HotCode
from lanewise.arm64.linux.loading import lay_out, load
from lanewise.arm64.linux.memory import LaneMemory
from lanewise.arm64.linux.mounts import Mounts
from lanewise.arm64.linux.opened import Opened, Sink
from lanewise.arm64.linux.process import Process
from lanewise.arm64.linux.result import Outcome
from lanewise.arm64.linux.serving import Serving
from lanewise.arm64.linux.stack import RANDOM_BYTES


class Start(NamedTuple):
    """What a lane begins with: the program's name is the first of its arguments."""

    argv: Sequence[bytes]
    env: Sequence[bytes]
    streams: tuple[Opened, Sink, Sink]


class Wave:
    """A program in lanes of a ParallelCPU, whose memory begins where the program does. `close` it in the end."""

    def __init__(
        self,
        cpu: ParallelCPU,
        program: Program,
        hot: HotCode,
        starts: Sequence[Start],
        mounts: Mounts,
        here: bytes,
        seed: int | None,
        stopping: Callable[[], bool],
        first: int = 0,
    ) -> None:
        """Lanes are numbered from `first` on, and begin in the directory `here`. `hot` is that of the program there.

        Whoever makes a wave has it end soon by `stopping`, which is asked often.
        """
        self._cpu, self._program = cpu, program
        self.processes: list[Process] = []
        layout = self.layout = lay_out(program, cpu.memory_start, cpu.memory_size)
        name = os.fsencode(program.name)
        ahead = Ahead(cpu.runner) if cpu.runner.far else None
        for number, start in enumerate(starts):
            place = cpu.memory_place(number), cpu.memory_start, cpu.memory_size
            memory = LaneMemory(cpu.runner, *place) if ahead is None else FarMemory(ahead, *place)
            memory.watch(hot.code, cpu.modified_place(number))
            process = Process(
                first + number, memory, Heap(memory, layout.heap, layout.stack), mounts, name, start.streams, seed
            )
            process.here = here
            process.stack_room = layout.top - layout.stack
            self.processes.append(process)
        random = [process.random(RANDOM_BYTES) for process in self.processes]
        load(cpu, program, [one.argv for one in starts], [one.env for one in starts], random)
        self._hot = hot
        hot.begin()
        self.serving = Serving(cpu, self.processes, stopping, ahead)

    def rounds(self, max_cycles: int | None) -> Iterator[list[int]]:
        """Run lanes, and give those that have ended since the last time, until all have or are to stop."""
        for ended in self.serving.rounds(max_cycles):
            self._hot.look()
            yield ended

    def left(self) -> list[int]:
        """Lanes that have not ended."""
        return [number for number, process in enumerate(self.processes) if process.ending is None]

    def outcome(self, number: int) -> Outcome:
        """How a lane ended. What it wrote is handed over, so ask once."""
        process, ending = self.processes[number], self.processes[number].ending
        assert ending is not None
        pc, detail, cycles = self.serving.place(number)
        return Outcome(
            ending.code,
            ending.signal,
            ending.reason,
            pc,
            "" if ending.code is not None else self._program.function(pc),
            detail,
            process.stdout.handed_over(),
            process.stderr.handed_over(),
            cycles,
            dict(sorted(process.unknown.items())),
        )

    def is_off_its_stack(self, number: int) -> bool:
        """Whether the stack pointer of a lane is not where its stack is: perhaps that was too small."""
        pointer = int(self._cpu.get_lane_registers(number)[31])
        return not self.layout.stack <= pointer <= self.layout.top

    def close(self) -> None:
        """Close what lanes have left open."""
        for process in self.processes:
            process.close()
