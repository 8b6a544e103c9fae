"""Programs on a CUDA GPU: a thread a lane over interleaved memories, with the host serving requests meanwhile."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from lanewise.batch.backend import SHARED_BYTES, WaveBackend, count_of, results_of, words_of
from lanewise.batch.program import Program, process_code
from lanewise.batch.ring import DATA_BYTES, HostRing
from lanewise.batch.service import HostService
from lanewise.batch.spec import Results, Task
from lanewise.batch.wave import tell_time
from lanewise.devices.cuda import CudaDevice
from lanewise.errors import OutOfMemoryError
from lanewise.kernel.clock_kernel import read_clock
from lanewise.kernel.code import kernel_code
from lanewise.kernel.lane_io import Console, LaneIo, LaneRecord, Team
from lanewise.settings import WARP_SIZE
from lanewise.wasm import lane_words as lanes
from lanewise.wasm.build import gpu_build
from lanewise.wasm.compile import code_bytes
from lanewise.wasm.cuda_lanes import SLOT_GROUP, STACK_BYTES
from lanewise.wasm.gpu_stack import stack_room
from lanewise.wasm.lane_setup import lane_choices, references_alone
from lanewise.wasm.lane_words import ENTRY
from lanewise.wasm.model import PAGE
from lanewise.wasm.placement import Placement

_CONSOLE_BYTES = 256 * 2**20
_COPIES_BYTES = 1 << 30
"""Room for copies of files; a sixteenth of the GPU's memory where that is less."""
_LANES_PER_SLOT = 4
"""Lanes of a wave that a slot runs one after the other."""
_IDLE_CHECKS_SECONDS = 200e-6
_GROW_BYTES = 64 * PAGE
_BRANCH_BELOW = 256 * 1024
"""Bytes of code below which aligned accesses branch around what misaligned ones need: lanes are half again to three
times as fast as where all of them call it, and two thirds more time goes into compiling."""
_MEMORY_SHARE = 0.7
"""How much of the GPU's memory lanes may take."""
_LARGE = ("_memory", "_states", "_ios", "_console_bytes", "_copies", "_teams", "_shared", "_records", "_status")
"""Arrays of a run that are worth giving back at once."""


class CudaWaves(WaveBackend):
    """One GPU."""

    def __init__(self, task: Task, program: Program, device: CudaDevice) -> None:
        super().__init__(task, program)
        self.device_name = f"{device.name} {device.properties.name}"
        self._device = device
        # Lanes that wait for each other are in whole blocks, and threads of a lane share a memory in one piece.
        usual = Placement("flat" if program.team else "interleaved")
        self._place = usual if program.team or program.meets else task.placement or usual
        module = self.module
        least = max((memory.limits.minimum * PAGE for memory in module.memories), default=0)
        choices: dict[str, Any] = {
            "lanes": True,
            "process": True,
            "layout": self._place.layout,
            "alignment": "branch" if code_bytes(module) < _BRANCH_BELOW else "careful",
            "meter": "stop" if task.limits.fuel is None else "count",
            "team": program.team,
            "reserve": task.limits.memory or least + _GROW_BYTES,
        }
        choices |= lane_choices(module)
        choices["fixed_memory"] = choices["fixed_memory"] and not program.team
        self._build = gpu_build(**choices)
        made = process_code(module, self._build, device.target)
        self._cells, self._arena = made.facts.cells, made.facts.arena_bytes
        self._stack = task.limits.stack or STACK_BYTES
        codes = [*made.codes, kernel_code(device.target)]
        self._kernel = device.load_native(codes, "program", ENTRY, "Q", self._stack)
        self._room = stack_room(self._kernel, self._stack)
        self._group = task.buffers.group if program.meets else SLOT_GROUP
        self._allocate(task)
        self.placement = f"{self._place.layout}, {self._place.lanes_per_warp} lanes/warp, {self._slots:,} at once"
        # Lanes that wait for each other, or have threads, must begin together: none may follow another on its slot.
        alone = program.meets or program.team
        self._wave_lanes: int = self._slots // max(1, program.team) * (1 if alone else _LANES_PER_SLOT)
        self._ring = HostRing(device)
        self._records = device.zeros(1, LaneRecord)
        self._count = 0
        self._service: HostService | None = None

    @property
    def wave_lanes(self) -> int:
        return self._wave_lanes

    def _allocate(self, task: Task) -> None:
        """All device memory of the run: nothing may be allocated while lanes run."""
        device = self._device
        console = 0 if task.streaming else _CONSOLE_BYTES
        self._console_bytes = device.zeros(max(console, 8), np.uint8)
        self._console_size = console
        self._console = device.zeros(1, Console.dtype)
        copies = min(_COPIES_BYTES, device.properties.memory_bytes // 16) if task.directories else 8
        self._copies, self._copied = device.empty(copies, np.uint8), 0
        # Lanes lie in whole warps, and where they meet in whole groups.
        unit = max(WARP_SIZE, self._group if self.program.meets else self.program.team)
        each = self._arena + self._cells * 8 + LaneIo.size
        most = int(device.properties.memory_bytes * _MEMORY_SHARE) // each // unit * unit
        wanted = -(-task.lanes * max(1, self.program.team) // unit) * unit
        placed = self._place.slots(wanted, device.properties.resident_threads) // unit * unit
        slots = max(unit, min(wanted, placed, most))
        while True:
            try:
                self._states = device.zeros(slots * self._cells, np.uint64)
                self._memory = device.zeros(max(slots * self._arena, 16), np.uint8)
                self._ios = device.zeros(slots * LaneIo.size // 8, np.uint64)
            except OutOfMemoryError:
                if slots <= unit:
                    raise
                slots = max(unit, slots // 2 // unit * unit)
                continue
            break
        self._slots = slots
        self._progress = device.zeros(slots, np.uint64)
        self._teams = device.zeros(max(1, slots // self.program.team if self.program.team else 0), Team)
        self._shared = device.zeros(max(8, slots // self._group * SHARED_BYTES if self.program.meets else 0), np.uint8)
        buffers = task.buffers
        self._state, self._input = device.array(words_of(buffers.state)), device.array(words_of(buffers.input))
        self._output = device.zeros(max(1, buffers.output), np.uint32)
        self._picture = device.zeros(max(1, buffers.size[0] * buffers.size[1]), np.uint32)
        self._data = device.array(np.frombuffer(self.module.data, np.uint8))
        self._references = device.array(np.array(references_alone(self.module) or [0], np.uint64))

    def place(self, content: bytes) -> int:
        at = (self._copied + 7) // 8 * 8
        if at + len(content) > self._copies.size:
            return 0
        self._copied = at + len(content)
        self._device.poke(self._copies.address + at, content)
        return self._copies.address + at

    def forget_copies(self) -> bool:
        if self._copied < self._copies.size // 2:
            return False
        self._copied = 0
        return True

    def start(self, first: int, count: int, service: HostService) -> None:
        device = self._device
        self._service, self._count = service, count
        self._keep: list[Any] = []
        run = self._run_record(first, count, service)
        tell_time(run, self.now())
        self._records = device.zeros(count, LaneRecord.dtype)
        self._status = device.zeros(count, np.uint64)
        console = Console.record()
        console["capacity"], console["records"] = self._console_size, self._console_bytes.address
        device.write(self._console.address, console.tobytes())
        run["records"], run["console"] = self._records.address, self._console.address
        run["ring"], run["stop"] = self._ring.address, self._ring.stop_address
        run["capacity"], run["stride"] = DATA_BYTES, self._build.stride
        buffers = self.task.buffers
        run["state"] = (self._state.address, count_of(buffers.state))
        run["input"] = (self._input.address, count_of(buffers.input))
        run["output"] = (self._output.address, buffers.output)
        run["picture"], run["shared"] = self._picture.address, self._shared.address
        words = np.zeros(lanes.ARRAYS, np.uint64)
        words[lanes.COUNT], words[lanes.SLOTS], words[lanes.SPREAD] = count, self._slots, self._place.spread
        words[lanes.STATUS], words[lanes.PROGRESS] = self._status.address, self._progress.address
        words[lanes.STACK] = self._room
        words[lanes.FUEL] = lanes.UNLIMITED if self.task.limits.fuel is None else self.task.limits.fuel
        words[lanes.STOP] = self._ring.stop_address
        words[lanes.STATES], words[lanes.MEMORY] = self._states.address, self._memory.address
        words[lanes.DATA], words[lanes.ELEMENTS] = self._data.address, self._references.address
        words[lanes.LANES_IO], words[lanes.TEAMS] = self._ios.address, self._teams.address
        if self.program.team:
            self._reset_teams()
        if self.program.meets:
            device.fill(self._shared.buffer, 0, self._shared.buffer.nbytes)
        words[lanes.RUN_IO] = self._put(np.frombuffer(run.tobytes(), np.uint8))
        device.write(self._progress.address, np.arange(self._slots, dtype=np.uint64).tobytes())
        self._words = self._put(words)
        self._ring.serve_for(service)
        self._begin()

    def _reset_teams(self) -> None:
        """Threads of other lanes were there before; how much of a memory they used stays, for it is to be cleared."""
        teams = self._teams.get()
        for field in ("lock", "over", "last_id", "ids", "arguments", "waits"):
            teams[field] = 0
        self._device.write(self._teams.address, teams.tobytes())

    def _begin(self) -> None:
        threads = self._slots << self._place.spread
        self._device.launch_native(self._kernel, threads, min(self._group, threads), [self._words])

    def _put(self, array: np.ndarray[Any, Any]) -> int:
        made = self._device.array(np.frombuffer(array.tobytes(), np.uint8))
        self._keep.append(made)
        return made.address

    def now(self) -> int:
        out = self._device.zeros(1, np.uint64)
        self._device.launch(read_clock, 1, 1, [out])
        return int(out.get()[0])

    def wait(self, seconds: float) -> bool:
        assert self._service is not None
        deadline = time.monotonic() + seconds
        while True:
            if self._device.idle():
                if self._service.stopping or self.program.team or int(self._progress.get().min()) >= self._count:
                    return True
                self._begin()  # lanes that ended early left their slot's other lanes behind
            elif time.monotonic() >= deadline:
                return False
            else:
                time.sleep(_IDLE_CHECKS_SECONDS)

    def look(self) -> np.ndarray[Any, Any]:
        raw = self._device.peek(self._records.address, self._count * LaneRecord.size)
        records: np.ndarray[Any, Any] = raw.view(LaneRecord.dtype)
        return records

    def console(self) -> np.ndarray[Any, Any]:
        head = self._device.peek(self._console.address, Console.size).view(Console.dtype)["head"][0]
        return self._device.peek(self._console_bytes.address, min(int(head), self._console_size))

    def traps(self) -> np.ndarray[Any, Any]:
        words: np.ndarray[Any, Any] = self._device.peek(self._status.address, self._count * 8).view(np.uint64)
        return words

    def stop(self) -> None:
        self._ring.ask_to_stop()
        while not self._device.idle():
            time.sleep(_IDLE_CHECKS_SECONDS)

    def results(self) -> Results:
        return results_of(self.task.buffers, self._state.get(), self._output.get(), self._picture.get())

    def close(self) -> None:
        """Give the memory back at once: the next run needs it, and this object may live on in some traceback."""
        self._ring.close()
        for name in _LARGE:
            self.__dict__.pop(name, None)
        self._keep = []
