"""Lanes on a CUDA GPU: a thread an element, or a thread a slot where each element needs an instance."""

from __future__ import annotations

import struct
import threading
from dataclasses import replace
from typing import Any

import numpy as np

from lanewise.devices import DeviceArray
from lanewise.devices.cuda import CudaDevice, NativeKernel
from lanewise.errors import OutOfMemoryError, WasmTrap
from lanewise.settings import WARP_SIZE
from lanewise.wasm import lane_words as lanes
from lanewise.wasm import traps
from lanewise.wasm.build import Build, check_choices, gpu_build
from lanewise.wasm.gpu_stack import stack_room
from lanewise.wasm.lane_code import lane_code
from lanewise.wasm.lane_setup import lane_choices, references_alone
from lanewise.wasm.lane_words import ENTRY, LANE_GROUP, LaneFacts
from lanewise.wasm.module import Module
from lanewise.wasm.placement import Placement, parse_placement
from lanewise.wasm.vectors import DTYPES

STACK_BYTES = 16 * 1024
SLOT_GROUP = 128
"""Threads in a group of slots: small, so that groups that end make room for others."""


_BLOCKS = 64
"""What was told to so many runs is kept on the device."""


class CudaLanes:
    """One vectorised function on one GPU."""

    def __init__(
        self,
        module: Module,
        index: int,
        device: CudaDevice,
        *,
        fuel: int | None = None,
        timeout: float | None = None,
        level: int | None = None,
        **choices: Any,
    ) -> None:
        self._module = module.model
        self._index = index
        self._device = device
        self._level = level
        self.fuel = fuel
        self._timeout = timeout
        placed = choices.pop("placement", None)
        self._placement = Placement(choices.get("layout", "interleaved")) if placed is None else parse_placement(placed)
        check_choices(choices)
        usual: dict[str, Any] = {
            "layout": self._placement.layout,
            "alignment": "exit",
            "meter": "stop" if fuel is None else "count",
        }
        self._build = gpu_build(**usual | lane_choices(self._module) | {"lanes": True} | choices)
        self._lock = threading.Lock()
        self._loaded: dict[tuple[Any, ...], tuple[NativeKernel, LaneFacts]] = {}
        self._blocks: dict[bytes, DeviceArray] = {}

    @property
    def placement(self) -> str:
        """Where elements live that need a slot."""
        return str(self._placement)

    def _load(self, scalars: tuple[bool, ...], build: Build) -> tuple[NativeKernel, LaneFacts]:
        with self._lock:
            key = (scalars, build.alignment)  # all else is the same in the builds of one function
            if key not in self._loaded:
                made = lane_code(self._module, self._index, build, scalars, self._device.target, self._level)
                stack = STACK_BYTES if made.facts.can_stop else 0
                kernel = self._device.load_native(made.codes, "lanes", ENTRY, "Q", stack)
                self._loaded[key] = kernel, made.facts
            return self._loaded[key]

    def run(self, arrays: list[Any], shape: tuple[int, ...], on_device: bool) -> tuple[list[Any], Any]:
        """Run every element; gives the results and, if any element can trap, a word per element that says why."""
        device = self._device
        scalars = tuple(not array.shape for array in arrays)
        _, facts = self._load(scalars, self._build)
        kinds = self._module.functions[self._index].results
        count = int(np.prod(shape, dtype=np.int64))
        given = [array if isinstance(array, DeviceArray) else device.array(array) for array in arrays]
        make = device.zeros if facts.can_trap or facts.can_stop else device.empty  # lanes that trap give 0
        results = [make(shape, DTYPES[kind]) for kind in kinds]
        status = None
        if facts.can_trap or facts.can_stop:
            status = device.zeros(max(count, 1), np.uint64)
        if count:
            self._launch(scalars, self._build, given, results, status, count, None)
        words = None if status is None else status.get()[:count]
        if words is not None and self._build.alignment == "exit":
            again = np.flatnonzero((words & 0xFFFFFFFF) == traps.MISALIGNED)
            if len(again):
                words = self._run_carefully(scalars, given, results, words, again)
        return (results if on_device else [result.get() for result in results]), words

    def _run_carefully(
        self, scalars: tuple[bool, ...], given: list[Any], results: list[Any], words: Any, again: np.ndarray[Any, Any]
    ) -> Any:
        """Run the elements that met a misaligned address once more, from the start, where such accesses work."""
        words[again] = 0
        status = self._device.array(words)
        careful = replace(self._build, alignment="careful")
        self._launch(scalars, careful, given, results, status, len(again), self._device.array(again.astype(np.uint64)))
        return status.get()

    def _launch(
        self,
        scalars: tuple[bool, ...],
        build: Build,
        given: list[Any],
        results: list[Any],
        status: Any,
        count: int,
        indices: Any,
    ) -> None:
        device = self._device
        kernel, facts = self._load(scalars, build)
        words = [0] * lanes.ARRAYS
        words[lanes.COUNT] = count
        words[lanes.STATUS] = status.address if status is not None else 0
        words[lanes.STACK] = stack_room(kernel, STACK_BYTES)
        words[lanes.FUEL] = lanes.UNLIMITED if self.fuel is None else self.fuel
        words[lanes.STOP] = device.stop_word
        words[lanes.INDICES] = indices.address if indices is not None else 0
        words += [array.address for array in (*results, *given)]
        if facts.plain:
            device.launch_native(kernel, count, LANE_GROUP, [self._block(words)])
            if status is not None:
                device.finish_or_stop(self._timeout)
            return
        slots = self._placement.slots(count, device.properties.resident_threads)
        states, memory, slots = self._slots(facts, slots)
        progress = device.array(np.arange(slots, dtype=np.uint64))
        data = device.array(np.frombuffer(self._module.data, np.uint8))
        references = device.array(np.array(references_alone(self._module) or [0], np.uint64))
        words[lanes.SLOTS], words[lanes.SPREAD] = slots, self._placement.spread
        words[lanes.STATES], words[lanes.MEMORY] = states.address, memory.address
        words[lanes.PROGRESS] = progress.address
        words[lanes.DATA], words[lanes.ELEMENTS] = data.address, references.address
        while True:
            device.launch_native(kernel, slots << self._placement.spread, SLOT_GROUP, [self._block(words)])
            finished = device.finish_or_stop(self._timeout)
            left = progress.get()
            if left.min() >= count:  # lanes that trapped left their slot's other elements behind
                return
            if not finished:
                raise WasmTrap("interrupted")

    def _block(self, words: list[int]) -> int:
        """Where a run finds what it is told. Calls that follow each other tend to say the same, for arrays come to lie
        where others lay that are gone."""
        packed = struct.pack(f"<{len(words)}Q", *words)
        block = self._blocks.get(packed)
        if block is None:
            if len(self._blocks) >= _BLOCKS:
                self._blocks.clear()  # memory is given back behind the launches that use it
            block = self._blocks[packed] = self._device.array(np.frombuffer(packed, np.uint64))
        return int(block.address)

    def _slots(self, facts: LaneFacts, slots: int) -> tuple[Any, Any, int]:
        """States and memories, all zero, for as many slots as there is room for."""
        while True:
            try:
                states = self._device.zeros(slots * facts.cells, np.uint64)
                memory = self._device.zeros(max(slots * facts.arena_bytes, 16), np.uint8)
            except OutOfMemoryError:
                if slots <= WARP_SIZE:
                    raise
                slots = max(WARP_SIZE, slots // 2 // WARP_SIZE * WARP_SIZE)
                continue
            return states, memory, slots
