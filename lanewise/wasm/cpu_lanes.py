"""Lanes on the CPU: each worker thread runs chunks of elements, with an instance of its own where one is needed."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from lanewise.compiler import Library, Target
from lanewise.devices import DeviceArray
from lanewise.devices.cpu import CpuDevice
from lanewise.devices.cpu_launch import NativeCode
from lanewise.devices.cpu_native import runtime
from lanewise.errors import WasmTrap
from lanewise.wasm import lane_words as lanes
from lanewise.wasm.build import check_choices, host_build, with_fixed_memory
from lanewise.wasm.cpu_slots import find_places, load_lanes, make_slots
from lanewise.wasm.lane_code import LaneCode, lane_code
from lanewise.wasm.lane_setup import lane_choices
from lanewise.wasm.lane_words import ENTRY
from lanewise.wasm.module import Module
from lanewise.wasm.placement import parse_placement
from lanewise.wasm.vectors import DTYPES

_CHUNKS = 16
"""Chunks per worker: few enough to cost nothing, many enough to even out."""


class CpuLanes:
    """One vectorised function on the CPU device."""

    def __init__(
        self,
        module: Module,
        index: int,
        device: CpuDevice,
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
        if (placement := choices.pop("placement", None)) is not None:
            parse_placement(placement)  # that of a GPU; a core has one lane at a time
        check_choices(choices)
        usual: dict[str, Any] = {"lanes": True, "meter": "off" if fuel is None else "count"}
        made = host_build(**usual | lane_choices(self._module) | choices)
        self._build = made if "checks" in choices else with_fixed_memory(made, made.fixed_memory)
        self._lock = threading.Lock()
        self._loaded: dict[tuple[bool, ...], _Loaded] = {}

    def _load(self, scalars: tuple[bool, ...]) -> _Loaded:
        with self._lock:
            if scalars not in self._loaded:
                made = lane_code(self._module, self._index, self._build, scalars, Target.host(), self._level)
                self._loaded[scalars] = _loaded(made)
            loaded = self._loaded[scalars]
            if loaded.made.better is not None and loaded.made.better.result is not None:
                loaded = _loaded(LaneCode(loaded.made.better.result, loaded.made.facts, None))
                self._loaded[scalars] = loaded
            return loaded

    placement = ""
    """A core has one lane at a time: there is nothing to place."""

    def run(self, arrays: list[Any], shape: tuple[int, ...], on_device: bool) -> tuple[list[Any], Any]:
        """Run every element; gives the results and, if any element can trap, a word per element that says why."""
        loaded = self._load(tuple(not array.shape for array in arrays))
        code, facts = loaded.code, loaded.made.facts
        kinds = self._module.functions[self._index].results
        count = int(np.prod(shape, dtype=np.int64))
        results = [] if on_device else [np.zeros(shape, DTYPES[kind]) for kind in kinds]
        made = [self._device.zeros(shape, DTYPES[kind]) for kind in kinds] if on_device else []
        status = np.zeros(count, np.uint64) if facts.can_trap or facts.can_stop else None
        workers = min(self._device.properties.cores, max(1, count))
        words = np.zeros(lanes.ARRAYS + len(kinds) + len(arrays), np.uint64)
        words[lanes.COUNT] = count
        words[lanes.CHUNK] = max(1, -(-count // (workers * _CHUNKS)))
        words[lanes.STATUS] = status.ctypes.data if status is not None else 0
        words[lanes.SLOTS] = workers
        words[lanes.FUEL] = lanes.UNLIMITED if self.fuel is None else self.fuel
        keep: list[Any] = [words, arrays, results, status, made]
        if not facts.plain:
            runtime().check_pagemap()
            keep.append(make_slots(self._module, self._build, facts, words, workers))
        targets = [one.address for one in made] if on_device else [result.ctypes.data for result in results]
        sources = [array.address if isinstance(array, DeviceArray) else array.ctypes.data for array in arrays]
        words[lanes.ARRAYS :] = [*targets, *sources]
        block = np.array([words.ctypes.data], np.uint64).tobytes()
        launch = self._device.launch_native(code, block, workers, keep)
        if not launch.wait(self._timeout):
            launch.cancel()
            raise WasmTrap("interrupted")
        if status is not None:
            find_places(status, loaded.made.codes, loaded.library, loaded.made.facts.plain)
        return (made if on_device else results), status


class _Loaded(NamedTuple):
    """Code in this process."""

    code: NativeCode
    library: Library
    made: LaneCode


def _loaded(made: LaneCode) -> _Loaded:
    library = load_lanes(made.codes, [], runtime().guest_imports(), made.facts.plain)
    return _Loaded(NativeCode("lanes", library.address(ENTRY), library), library, made)
