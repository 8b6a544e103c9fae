"""Where lanes of a program live on a GPU: the code for one placement, and slots that lanes follow each other on."""

from __future__ import annotations

from typing import Any

import numpy as np

from lanewise.batch.program import Program, process_code
from lanewise.batch.spec import Task
from lanewise.devices.cuda import CudaDevice
from lanewise.errors import OutOfMemoryError
from lanewise.kernel.code import kernel_code
from lanewise.kernel.lane_io import LaneIo, Team
from lanewise.settings import WARP_SIZE
from lanewise.wasm import lane_words as lanes
from lanewise.wasm.build import gpu_build
from lanewise.wasm.compile import code_bytes
from lanewise.wasm.cuda_lanes import STACK_BYTES
from lanewise.wasm.divergence import Divergence, divergence_of
from lanewise.wasm.gpu_stack import stack_room
from lanewise.wasm.lane_setup import lane_choices
from lanewise.wasm.lane_words import ENTRY
from lanewise.wasm.model import PAGE
from lanewise.wasm.placement import Placement

_GROW_BYTES = 64 * PAGE
_BRANCH_BELOW = 256 * 1024
"""Bytes of code below which aligned accesses branch around what misaligned ones need: lanes are half again to three
times as fast as where all of them call it, and two thirds more time goes into compiling."""
_MEMORY_SHARE = 0.7
"""How much of the GPU's memory lanes may take."""


class CudaSlots:
    """The code of a program for one placement, and as many slots as there is room and use for."""

    def __init__(self, task: Task, program: Program, device: CudaDevice, place: Placement, *, wait: bool) -> None:
        """If there is no room for all slots there are fewer of them; or, with `wait`, none: OutOfMemoryError."""
        self.place = place
        self._device = device
        self._meets = program.meets
        module = program.module
        least = max((memory.limits.minimum * PAGE for memory in module.memories), default=0)
        choices: dict[str, Any] = {
            "lanes": True,
            "process": True,
            "layout": place.layout,
            "registers": place.registers or 0,
            "alignment": "branch" if code_bytes(module) < _BRANCH_BELOW else "careful",
            "meter": "stop" if task.limits.fuel is None else "count",
            "team": program.team,
            "meeting": not (program.team or program.meets),
            "reserve": task.limits.memory or least + _GROW_BYTES,
            "stats": task.stats,
        }
        choices |= lane_choices(module)
        choices["fixed_memory"] = choices["fixed_memory"] and not program.team
        self.build = gpu_build(**choices)
        made = process_code(module, self.build, device.target)
        self._cells, self._arena = made.facts.cells, made.facts.arena_bytes
        stack = task.limits.stack or STACK_BYTES
        codes = [*made.codes, kernel_code(device.target)]
        self._kernel = device.load_native(codes, "program", ENTRY, "Q", stack)
        self._room = stack_room(self._kernel, stack)
        self.group = task.buffers.group if program.meets else place.group
        self._allocate(
            task.lanes * max(1, program.team), max(WARP_SIZE, self.group if self._meets else program.team), wait
        )
        self._teams = device.zeros(max(1, self.count // program.team if program.team else 0), Team)

    def _allocate(self, lanes_wanted: int, unit: int, wait: bool) -> None:
        """Lanes lie in whole warps, where they have threads in whole teams, and where they meet in whole groups."""
        device = self._device
        each = self._arena + self._cells * 8 + LaneIo.size
        most = int(device.properties.memory_bytes * _MEMORY_SHARE) // each // unit * unit
        wanted = -(-lanes_wanted // unit) * unit
        placed = self.place.slots(wanted, device.properties.resident_threads) // unit * unit
        slots = max(unit, min(wanted, placed, most))
        while True:
            try:
                self._states = device.zeros(slots * self._cells, np.uint64)
                self._memory = device.zeros(max(slots * self._arena, 16), np.uint8)
                self._ios = device.zeros(slots * LaneIo.size // 8, np.uint64)
            except OutOfMemoryError:
                if slots <= unit or wait:
                    raise
                most = slots = max(unit, slots // 2 // unit * unit)
                continue
            break
        self.count, self.most = slots, max(unit, most)
        self._units = device.zeros(slots * (1 << self.place.spread) // WARP_SIZE, np.uint32)

    def words(self, *, alone: bool) -> np.ndarray[Any, Any]:
        """What all waves are told; `alone` if no two of them run at the same time."""
        words = np.zeros(lanes.ARRAYS, np.uint64)
        words[lanes.SLOTS], words[lanes.SPREAD] = self.count, self.place.spread
        words[lanes.STACK] = self._room
        words[lanes.STATES], words[lanes.MEMORY] = self._states.address, self._memory.address
        words[lanes.LANES_IO], words[lanes.TEAMS] = self._ios.address, self._teams.address
        words[lanes.UNITS] = 0 if alone else self._units.address
        return words

    def free_units(self) -> tuple[int, int]:
        """How many units no wave has, and how many there are."""
        living = self._device.peek(self._units.address, self._units.size * 4).view(np.uint32)
        return int((living == 0).sum()), self._units.size

    def divergence(self) -> Divergence:
        """What lanes have counted on these slots so far."""
        return divergence_of(self._states.get(), self._cells, self.build)

    def reset_teams(self) -> None:
        """Threads of other lanes were there before; how much of a memory they used stays, for it is to be cleared."""
        teams = self._teams.get()
        for field in ("lock", "over", "last_id", "ids", "arguments", "waits"):
            teams[field] = 0
        self._device.write(self._teams.address, teams.tobytes())

    def launch(self, words: int, stream: int) -> None:
        """Start the lanes of a wave that is told what lies there."""
        threads = self.count << self.place.spread
        self._device.launch_native(self._kernel, threads, min(self.group, threads), [words], stream)

    def __str__(self) -> str:
        return f"{self.place.layout}, {self.place.lanes_per_warp} lanes/warp, {self.count:,} at once"
