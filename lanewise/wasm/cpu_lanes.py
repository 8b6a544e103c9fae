"""Lanes on the CPU: each worker thread runs chunks of elements, with an instance of its own where one is needed."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lanewise.compiler import Library, Target
from lanewise.devices import DeviceArray
from lanewise.devices.cpu import CpuDevice
from lanewise.devices.cpu_launch import NativeCode
from lanewise.devices.cpu_native import runtime
from lanewise.devices.cpu_scheduler import FAULT_PLACE
from lanewise.wasm import lane_words as lanes
from lanewise.wasm import model, traps
from lanewise.wasm.build import Build, check_choices, host_build, with_fixed_memory
from lanewise.wasm.cpu_slots import find_places, load_lanes, make_slots
from lanewise.wasm.divergence import Divergence
from lanewise.wasm.lane_code import LaneCode, code_of, lane_code
from lanewise.wasm.lane_setup import check_imports, lane_choices
from lanewise.wasm.lane_words import ENTRY
from lanewise.wasm.module import Module
from lanewise.wasm.placement import Placement
from lanewise.wasm.recounting import recount, to_recount
from lanewise.wasm.vectors import DTYPES

if TYPE_CHECKING:
    from lanewise.wasm.lanes import LaneProgram

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
        choices.pop("placement", None)  # that of a GPU; a core has one lane at a time
        check_choices(choices, fuel)
        usual: dict[str, Any] = {"lanes": True, "meter": "off" if fuel is None else "count"}
        made = host_build(**usual | lane_choices(self._module) | choices)
        self._build = made if "checks" in choices else with_fixed_memory(made, made.fixed_memory)
        again = {"fuel": fuel, "timeout": timeout, "level": level, **choices, "meter": "count"}
        self._again = functools.partial(CpuLanes, module, index, device, **again)
        self._lock = threading.Lock()
        self._loaded: dict[tuple[bool, ...], _Loaded] = {}

    @functools.cached_property
    def _exact(self) -> CpuLanes:
        """The same function, with each step counted where it is taken."""
        return self._again()

    def _load(self, scalars: tuple[bool, ...]) -> _Loaded:
        with self._lock:
            if scalars not in self._loaded:
                self._loaded[scalars] = _loaded(self._code(scalars), self._timeout)
            loaded = self._loaded[scalars]
            if loaded.made.better is not None and loaded.made.better.result is not None:
                loaded = _loaded(LaneCode(loaded.made.better.result, loaded.made.facts, None), self._timeout)
                self._loaded[scalars] = loaded
            return loaded

    def _code(self, scalars: tuple[bool, ...]) -> LaneCode:
        module, index, build = self._module, self._index, self._build
        if self._timeout is None:
            return lane_code(module, index, build, scalars, Target.host(), self._level)
        name = f"marked lanes {index} {scalars} {build.key}"
        return code_of(module, name, lambda: _marked_program(module, index, build, scalars), Target.host(), self._level)

    divergence = Divergence()
    placement = ""
    """A core has one lane at a time: there is nothing to place."""

    def explain(self) -> list[str]:
        """What a GPU would say of where elements live."""
        return ["placement: none; a core runs one lane at a time"]

    def tune(self, arrays: list[Any], shape: tuple[int, ...], places: Sequence[Placement] | None) -> dict[str, float]:
        """There is nothing to try."""
        return {}

    def run(
        self, arrays: list[Any], shape: tuple[int, ...], on_device: bool, seconds: float | None = None
    ) -> tuple[list[Any], Any]:
        """Run every element; gives the results and, if any element can trap, a word per element that says why.

        `seconds` is what is left of the time that a call has.
        """
        loaded = self._load(tuple(not array.shape for array in arrays))
        code, facts = loaded.code, loaded.made.facts
        kinds = self._module.functions[self._index].results
        count = int(np.prod(shape, dtype=np.int64))
        results = [] if on_device else [np.zeros(shape, DTYPES[kind]) for kind in kinds]
        made = [self._device.zeros(shape, DTYPES[kind]) for kind in kinds] if on_device else []
        status = np.zeros(count, np.uint64) if facts.can_trap or facts.can_stop else None
        workers = min(self._device.properties.cores, max(1, count))
        marks = [] if self._timeout is None else [np.zeros(count, np.uint8)]
        words = np.zeros(lanes.ARRAYS + len(kinds) + len(arrays) + len(marks), np.uint64)
        words[lanes.COUNT] = count
        words[lanes.CHUNK] = max(1, -(-count // (workers * _CHUNKS)))
        words[lanes.STATUS] = status.ctypes.data if status is not None else 0
        words[lanes.SLOTS] = workers
        words[lanes.FUEL] = lanes.UNLIMITED if self.fuel is None else self.fuel
        keep: list[Any] = [words, arrays, results, status, made, marks]
        if not facts.plain:
            runtime().check_pagemap()
            keep.append(make_slots(self._module, self._build, facts, words, workers))
        targets = [one.address for one in made] if on_device else [result.ctypes.data for result in results]
        sources = [array.address if isinstance(array, DeviceArray) else array.ctypes.data for array in arrays]
        words[lanes.ARRAYS :] = [*targets, *sources, *(one.ctypes.data for one in marks)]
        block = np.array([words.ctypes.data], np.uint64).tobytes()
        launch = self._device.launch_native(_within(code, seconds), block, workers, keep)
        if not launch.wait_limited():
            status = np.zeros(count, np.uint64) if status is None else status
            status[(status == 0) & (marks[0] == 0)] = traps.INTERRUPTED
        if status is not None and self._build.meter == "tally":
            # What a fault ended had steps in registers that nobody can read any more.
            faults = np.flatnonzero(status & np.uint64(FAULT_PLACE << 32))
            again = np.union1d(to_recount(status), faults)
            if len(again):
                left = None if self._timeout is None else max(0.0, launch.began + self._timeout - time.monotonic())
                recount(self._exact, arrays, made if on_device else results, status, again, left)
        elif status is not None:
            find_places(status, loaded.made.codes, loaded.library, loaded.made.facts.plain)
        return (made if on_device else results), status


def _within(code: NativeCode, seconds: float | None) -> NativeCode:
    """Code that may take no more than so many seconds."""
    return code if seconds is None else replace(code, seconds=seconds)


def _marked_program(module: model.Module, index: int, build: Build, scalars: tuple[bool, ...]) -> LaneProgram:
    """A lane program whose elements leave a mark when they have finished: behind the other arrays, a byte each."""
    from lanewise.wasm.lane_ir import word
    from lanewise.wasm.lanes import LaneProgram  # the compiler, which cached code does without
    from lanewise.wasm.lowering import FunctionLowering

    class Marked(LaneProgram):
        def _pointers(self) -> list[str]:
            return [*super()._pointers(), "ptr noalias %marks"]

        def _pointer_arguments(self) -> str:
            return super()._pointer_arguments() + ", ptr %marks"

        def _load_pointers(self) -> str:
            number = lanes.ARRAYS + len(self.type.results) + len(self.type.params)
            return super()._load_pointers() + word(number, "marks", "ptr")

        def _apply(self, fn: FunctionLowering, memory: str) -> None:
            super()._apply(fn, memory)
            where = fn.assign("getelementptr i8, ptr %marks, i64 %i")
            fn.emit(f"store atomic i8 1, ptr {where} release, align 1")  # after the results: nothing moves behind it

    made = Marked(module, index, build, scalars)
    check_imports(made)
    return made


class _Loaded(NamedTuple):
    """Code in this process."""

    code: NativeCode
    library: Library
    made: LaneCode


def _loaded(made: LaneCode, timeout: float | None) -> _Loaded:
    library = load_lanes(made.codes, [], runtime().guest_imports(), made.facts.plain)
    return _Loaded(NativeCode("lanes", library.address(ENTRY), library, seconds=timeout), library, made)
