"""Lanes on a CUDA GPU: a thread an element, or a thread a slot where each element needs an instance."""

from __future__ import annotations

import contextlib
import functools
import math
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from lanewise.devices import DeviceArray
from lanewise.devices.cuda import CudaDevice, NativeKernel
from lanewise.errors import CompileError, OutOfMemoryError, WasmTrap
from lanewise.settings import WARP_SIZE
from lanewise.wasm import lane_words as lanes
from lanewise.wasm import traps
from lanewise.wasm.build import Build, check_choices, check_timeout, gpu_build
from lanewise.wasm.candidates import USUAL, Reach
from lanewise.wasm.code_aside import CodeAside
from lanewise.wasm.compile import code_bytes, part_count
from lanewise.wasm.divergence import Divergence, divergence_of
from lanewise.wasm.gpu_stack import stack_room
from lanewise.wasm.lane_code import lane_code, lane_codes_ahead
from lanewise.wasm.lane_setup import lane_choices, references_alone, uses_atomics
from lanewise.wasm.lane_words import ENTRY, LANE_GROUP, LaneFacts
from lanewise.wasm.module import Module
from lanewise.wasm.placement import FIT, SEARCH, Placement, parse_placement
from lanewise.wasm.recounting import recount, to_recount
from lanewise.wasm.tuning import Known, Tuner, Turn, layout_seconds
from lanewise.wasm.vectors import DTYPES

STACK_BYTES = 16 * 1024

_HOPELESS = 1.5
"""A placement that takes so many times as long as the best is not tried to the end."""
_NEAR = 1.1
_LONG_SECONDS = 0.25
"""It is tried once more if it is that near the best, or took so little that memory that is new may have slowed it."""
_NAME = "lanes"
_KEPT_WORDS = 1 << 20
"""Elements up to which there is memory of the host for what became of them."""
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
        if placed is None and "layout" in choices:
            placed = str(Placement(choices["layout"]))
        self._search = placed == SEARCH
        self._pinned = None if placed is None or self._search else parse_placement(placed)
        check_choices(choices, fuel)
        usual: dict[str, Any] = {
            "layout": USUAL.layout if self._pinned is None else self._pinned.layout,
            "alignment": "exit",
            "meter": "stop" if fuel is None else "tally",
        }
        again = {"fuel": fuel, "timeout": timeout, "level": level, **choices, "meter": "count"}
        self._again = functools.partial(CudaLanes, module, index, device, **again)
        self._build = gpu_build(**usual | lane_choices(self._module) | {"lanes": True} | choices)
        check_timeout(self._build, timeout)
        self._lock = threading.Lock()
        self._tuning = device.measuring
        self._loaded: dict[tuple[Any, ...], tuple[NativeKernel, LaneFacts]] = {}
        self._blocks: dict[bytes, DeviceArray] = {}
        self._kept = threading.local()
        self._ahead: set[tuple[tuple[bool, ...], Build]] = set()
        """What has been made for trials."""
        self._aside = CodeAside(self._module, index, device, level, self._placed)
        self.divergence = Divergence()
        """How far lanes were in step, in builds with `stats`."""

    @cached_property
    def _exact(self) -> CudaLanes:
        """The same function, with each step counted where it is taken."""
        place = self._pinned or self._tuner.known.best()
        return self._again(placement=str(replace(place, unrolled=False)))

    def _load(self, scalars: tuple[bool, ...], build: Build) -> tuple[NativeKernel, LaneFacts]:
        with self._lock:
            # All else is the same in the builds of one function.
            key = (scalars, build.alignment, build.layout, build.registers, build.unrolled, build.marks)
            if key not in self._loaded:
                made = lane_code(self._module, self._index, build, scalars, self._device.target, self._level)
                stack = STACK_BYTES if made.facts.can_stop else 0
                kernel = self._device.load_native(made.codes, _NAME, ENTRY, "Q", stack)
                stack_room(kernel, STACK_BYTES)  # raises if there is too little
                self._loaded[key] = kernel, made.facts
            return self._loaded[key]

    def _make_ahead(self, scalars: tuple[bool, ...], places: Sequence[Placement]) -> None:
        """Make all code at the same time that placements need."""
        builds = [build for build in dict.fromkeys(map(self._placed, places)) if (scalars, build) not in self._ahead]
        if not builds:
            return
        self._ahead.update((scalars, build) for build in builds)
        lane_codes_ahead(self._module, self._index, builds, scalars, self._device.target, self._level)
        programs = []
        for build in builds:
            with contextlib.suppress(CompileError):  # a trial of it says so
                made = lane_code(self._module, self._index, build, scalars, self._device.target, self._level)
                programs.append(made.codes)
        self._device.assemble_ahead(programs, _NAME)

    def _loads(self, scalars: tuple[bool, ...], build: Build) -> bool:
        """Whether a build for a trial can be used: nobody asked for it, so it must not fail a call."""
        try:
            self._load(scalars, build)
        except CompileError:
            return False
        return True

    def run(
        self, arrays: list[Any], shape: tuple[int, ...], on_device: bool, seconds: float | None = None
    ) -> tuple[list[Any], Any]:
        """Run every element; gives the results and, if any element has trapped, a word per element that says why.

        `seconds` is what is left of the time that a call has, if that is not all of it.
        """
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
        most = self._timeout if seconds is None else seconds
        deadline = None if most is None else time.monotonic() + most
        if count and facts.plain:
            self._launch_plain(scalars, given, results, status, count, most)
        elif count:
            deadline = self._run_placed(scalars, given, results, status, count, deadline)
        words = None if status is None else self._trapped(status, count)
        if words is not None and self._build.alignment == "exit":
            again = np.flatnonzero((words & 0xFFFFFFFF) == traps.MISALIGNED)
            if len(again):
                words, deadline = self._run_carefully(scalars, given, results, words, again, deadline)
        if words is not None and self._build.meter == "tally" and len(again := to_recount(words)):
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            recount(self._exact, given, results, words, again, left)
            words = words if words.any() else None
        return (results if on_device else [result.get() for result in results]), words

    def _trapped(self, status: DeviceArray, count: int) -> np.ndarray[Any, Any] | None:
        """The words of all elements, if there is anything in them.

        Unless they are many they come to memory that is kept: new memory takes longer, as the system gives it by pages.
        """
        host = getattr(self._kept, "words", None)
        if host is None or len(host) < count:
            host = np.empty(count, np.uint64)
            if count <= _KEPT_WORDS:
                self._kept.words = host
        self._device.copy_out(host[:count], status.buffer)
        return host[:count].copy() if host[:count].any() else None

    @cached_property
    def _tuner(self) -> Tuner:
        counted = ("counted",) if self._build.meter == "count" else ()  # whose loops stay as they are
        program = ("lanes", str(self._index), *counted, self._module.data)
        seconds = layout_seconds(code_bytes(self._module))
        properties = self._device.properties
        return Tuner(program, properties.name, self._reach, search=self._search, layout_seconds=seconds)

    @cached_property
    def _constants(self) -> tuple[DeviceArray, DeviceArray]:
        """The bytes of the module, and the references of its element segments."""
        references = np.array(references_alone(self._module) or [0], np.uint64)
        return self._device.array(np.frombuffer(self._module.data, np.uint8)), self._device.array(references)

    @cached_property
    def _reach(self) -> Reach:
        return Reach(
            self._device.properties.resident_threads,
            words=not uses_atomics(self._module),
            unrolls=part_count(self._module, self._device.target) == 1,
        )

    @property
    def placement(self) -> str:
        """Where elements live that need a slot, in the last call or the next; nowhere if none does."""
        return "" if self._plain else str(self._pinned or self._tuner.here)

    @cached_property
    def _plain(self) -> bool:
        """Whether the function needs nothing of an instance."""
        from lanewise.wasm.lanes import LaneProgram  # which calls do without whose code is in the cache

        scalars = (False,) * len(self._module.functions[self._index].params)
        return LaneProgram(self._module, self._index, self._build, scalars).plain

    def explain(self) -> list[str]:
        """Lines that say why they live there."""
        if self._plain:
            return ["placement: none; the function needs no instance, and each element is a thread"]
        return [f"placement: {self._pinned}, as asked for"] if self._pinned else self._tuner.explain()

    def _run_placed(
        self,
        scalars: tuple[bool, ...],
        given: list[Any],
        results: list[Any],
        status: Any,
        count: int,
        deadline: float | None,
    ) -> float | None:
        """Run all elements on slots: in the placement that was asked for, or as the tuner says.

        Gives the deadline, which what is made ready for trials puts off.

        Calls from other threads meanwhile, of any function, and those that count how far lanes are in step, are in the
        best placement known, and nothing is learned from them: they would measure each other, or what counting takes.
        Those that count are not spread over more warps, where there are less to be in step with.
        """
        tunes = self._pinned is None and not self._build.stats and self._tuning.acquire(blocking=False)
        try:
            if tunes:
                self._tuner.begin(count)
            first = 0
            while first < count:
                best = self._tuner.known.best() if self._build.stats else self._tuner.best(count)
                settled = self._pinned or best
                within = math.inf if deadline is None else deadline - time.monotonic()
                turn = self._tuner.turn(count - first, within=within) if tunes else Turn(settled, count - first)
                build = self._placed(turn.placement)
                start = time.perf_counter()
                if turn.trial:
                    self._make_ahead(scalars, [turn.placement])
                usable = self._loads(scalars, build) if turn.trial else self._load(scalars, build) is not None
                most = turn.most if turn.trial and usable and self._can_end(scalars, build) else math.inf
                preparing = time.perf_counter() - start
                deadline = None if deadline is None else deadline + preparing  # what nobody asked for is not their time
                if not usable:
                    self._tuner.failed(turn, preparing)
                    continue
                elements = range(first, first + turn.lanes)
                seconds, finished = self._launch(
                    scalars, build, turn.placement, given, results, status, elements, None, deadline, most
                )
                if seconds < math.inf and not finished:  # what its elements did is forgotten: they run once more
                    self._tuner.ended(turn, seconds, preparing)
                    self._device.clear(status.address + 8 * first, 8 * turn.lanes)
                    continue
                first = elements.stop
                if seconds == math.inf:
                    if turn.trial:  # which took even longer than was feared: it does not come again
                        self._tuner.took(turn, time.perf_counter() - start - preparing, preparing)
                    self._interrupt(status, np.arange(first, count), None)
                    break
                if tunes:
                    self._tuner.took(turn, seconds, preparing)
            if tunes:
                self._tuner.save()
                self._aside.go_on(self._tuner, scalars)
        finally:
            if tunes:
                self._tuning.release()
        return deadline

    def _can_end(self, scalars: tuple[bool, ...], build: Build) -> bool:
        """Whether a launch ends that is asked to, and no other with it."""
        _, facts = self._load(scalars, build)
        return facts.can_stop and build.meter != "off" and bool(self._device.stop_word)

    def _placed(self, place: Placement) -> Build:
        unrolled = place.unrolled and self._reach.unrolls
        marks = self._build.marks or unrolled  # which hardly takes anything where all is one function
        return replace(self._build, layout=place.layout, registers=place.registers or 0, unrolled=unrolled, marks=marks)

    def tune(self, arrays: list[Any], shape: tuple[int, ...], places: Sequence[Placement] | None) -> dict[str, float]:
        """Run all elements in every placement that is worth a trial, and remember which is the fastest.

        Gives the seconds of each; those that are far behind the best are given up, and have what that took.
        """
        with self._tuning:
            return self._tune(arrays, shape, places)

    def _tune(self, arrays: list[Any], shape: tuple[int, ...], places: Sequence[Placement] | None) -> dict[str, float]:
        scalars = tuple(not array.shape for array in arrays)
        count = int(np.prod(shape, dtype=np.int64))
        _, facts = self._load(scalars, self._build)  # raises where none can be used
        if facts.plain or not count:
            return {}
        device = self._device
        given = [array if isinstance(array, DeviceArray) else device.array(array) for array in arrays]
        results = [device.zeros(shape, DTYPES[kind]) for kind in self._module.functions[self._index].results]
        taken: dict[Placement, float] = {}
        fresh = Known()
        to_try = [USUAL, *(fresh.untried(self._reach) if places is None else places)]
        while to_try:
            self._make_ahead(scalars, to_try)
            place = to_try.pop(0)
            best = min(taken.values(), default=math.inf)
            most = _HOPELESS * best
            for _ in range(2):
                status = device.zeros(count, np.uint64)
                build, elements = self._placed(place), range(count)
                if not self._loads(scalars, build):
                    taken[place] = math.inf
                    break
                endless = self._timeout is None or most < math.inf
                deadline = None if endless else time.monotonic() + (self._timeout or 0.0)
                seconds, _ = self._launch(scalars, build, place, given, results, status, elements, None, deadline, most)
                if seconds == math.inf:
                    raise WasmTrap(traps.KINDS[traps.INTERRUPTED])
                taken[place] = min(seconds, taken.get(place, math.inf))
                if seconds >= min(most, max(_LONG_SECONDS, _NEAR * best)):
                    break
            ratio = taken[USUAL] / taken[place]
            self._tuner.learn(place, ratio)
            fresh.ratios[place] = ratio
            to_try = fresh.untried(self._reach) if places is None else [one for one in to_try if one != USUAL]
        self._tuner.save()
        return {str(place): seconds for place, seconds in taken.items() if seconds < math.inf}

    def _run_carefully(
        self,
        scalars: tuple[bool, ...],
        given: list[Any],
        results: list[Any],
        words: Any,
        again: np.ndarray[Any, Any],
        deadline: float | None,
    ) -> tuple[Any, float | None]:
        """Run the elements that met a misaligned address once more, from the start, where such accesses work.

        Gives the words of all, and the deadline, which making the code puts off.
        """
        words[again] = 0
        status = self._device.array(words)
        place = self._pinned or self._tuner.best(len(again))
        careful = replace(self._placed(place), alignment="careful", unrolled=False, marks=False)
        indices = self._device.array(again.astype(np.uint64))
        start = time.monotonic()
        self._load(scalars, careful)
        deadline = None if deadline is None else deadline + time.monotonic() - start
        self._launch(scalars, careful, place, given, results, status, range(len(again)), indices, deadline)
        return status.get(), deadline

    def _words(self, kernel: NativeKernel, given: list[Any], results: list[Any], status: Any) -> list[int]:
        """What all runs are told."""
        words = [0] * lanes.ARRAYS
        words[lanes.STATUS] = status.address if status is not None else 0
        words[lanes.STACK] = stack_room(kernel, STACK_BYTES)
        words[lanes.FUEL] = lanes.UNLIMITED if self.fuel is None else self.fuel
        words[lanes.STOP] = self._stop_word()
        return words + [array.address for array in (*results, *given)]

    def _stop_word(self) -> int:
        """Where launches of this thread look whether they are to end, as those of others do not."""
        word = getattr(self._kept, "stop", None)
        if word is None:
            word = self._kept.stop = self._device.zeros(1, np.uint64)
        return int(word.address)

    def _launch_plain(
        self,
        scalars: tuple[bool, ...],
        given: list[Any],
        results: list[Any],
        status: Any,
        count: int,
        most: float | None,
    ) -> None:
        kernel, _ = self._load(scalars, self._build)
        words = self._words(kernel, given, results, status)
        words[lanes.COUNT] = count
        block = self._block(words)
        self._device.launch_native(kernel, count, LANE_GROUP, [block.address])
        if status is not None:
            self._device.finish_or_stop(most, self._stop_word())

    def _launch(
        self,
        scalars: tuple[bool, ...],
        build: Build,
        place: Placement,
        given: list[Any],
        results: list[Any],
        status: Any,
        elements: range,
        indices: Any,
        deadline: float | None,
        most: float = math.inf,
    ) -> tuple[float, bool]:
        """Run elements on slots; gives how long they took, without what was prepared before, and if that was all.

        When the time is over that a call has, they are ended, and it is inf; a trial is ended after `most` seconds.
        """
        device = self._device
        kernel, facts = self._load(scalars, build)
        words = self._words(kernel, given, results, status)
        words[lanes.COUNT] = elements.stop
        words[lanes.INDICES] = indices.address if indices is not None else 0
        most_threads = device.properties.resident_threads
        if place.resident == FIT:
            most_threads = device.threads_at_once(kernel, place.group)
        wanted = place.slots(len(elements), most_threads)
        states, memory, slots = self._slots(facts, wanted)
        if slots < wanted:  # trials are to fill what there is room for, and not the GPU
            self._tuner.limit(slots)
        following = device.array(np.array([elements.start], np.uint64))
        words[lanes.SLOTS], words[lanes.SPREAD] = slots, place.spread
        words[lanes.STATES], words[lanes.MEMORY] = states.address, memory.address
        words[lanes.PROGRESS] = following.address
        constants = self._constants  # another thread may be making them, too: these must live as long as the launch
        words[lanes.DATA], words[lanes.ELEMENTS] = (array.address for array in constants)
        device.wait()  # for the memory: what follows is timed, clearing it included, of which fewer slots need less
        start = time.perf_counter()
        for array in (states, memory):
            device.fill(array.buffer, 0, array.nbytes)
        block = self._block(words)
        while True:
            device.launch_native(kernel, slots << place.spread, place.group, [block.address])
            left = math.inf if deadline is None else max(0.0, deadline - time.monotonic())
            of_trial = max(0.0, most - (time.perf_counter() - start))
            allowed = min(left, of_trial)
            finished = device.finish_or_stop(None if allowed == math.inf else allowed, self._stop_word())
            if not finished and of_trial < left:
                return time.perf_counter() - start, False
            taken = int(following.get()[0])
            if not finished:
                self._interrupt(status, np.arange(min(taken, elements.stop), elements.stop), indices)
                return math.inf, False
            if taken >= elements.stop:  # else all lanes trapped before all elements were taken
                seconds = time.perf_counter() - start
                if build.stats:
                    counted = divergence_of(states.get(), facts.cells, build)
                    with self._lock:
                        self.divergence += counted
                return seconds, True

    def _interrupt(self, status: Any, numbers: np.ndarray[Any, Any], indices: Any) -> None:
        """Note that elements never began: there was no time for them. `indices` lists them, if they are listed."""
        words = status.get()
        words[numbers if indices is None else indices.get()[numbers]] = traps.INTERRUPTED
        self._device.write(status.address, words.tobytes())

    def _block(self, words: list[int]) -> DeviceArray:
        """What a run is told; it must live until that is launched. Calls that follow each other tend to say the same,
        for arrays come to lie where others lay that are gone."""
        packed = struct.pack(f"<{len(words)}Q", *words)
        block = self._blocks.get(packed)
        if block is None:
            if len(self._blocks) >= _BLOCKS:
                self._blocks.clear()  # memory is given back behind the launches that use it
            block = self._blocks[packed] = self._device.array(np.frombuffer(packed, np.uint64))
        return block

    def _slots(self, facts: LaneFacts, slots: int) -> tuple[Any, Any, int]:
        """States and memories, not yet cleared, for as many slots as there is room for."""
        while True:
            try:
                states = self._device.empty(slots * facts.cells, np.uint64)
                memory = self._device.empty(max(slots * facts.arena_bytes, 16), np.uint8)
            except OutOfMemoryError:
                if slots <= WARP_SIZE:
                    raise
                slots = max(WARP_SIZE, slots // 2 // WARP_SIZE * WARP_SIZE)
                continue
            return states, memory, slots
