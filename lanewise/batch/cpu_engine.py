"""Programs on the CPU: each worker thread runs lanes one after the other, and calls back for what the host must do."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lanewise.batch.backend import SHARED_BYTES, Wave, WaveBackend, count_of, results_of, words_of
from lanewise.batch.program import OPTIMISE_AFTER, Program, process_code
from lanewise.batch.requests import read_request, write_reply
from lanewise.batch.service import HostService
from lanewise.batch.spec import Results, Task
from lanewise.batch.streams import StoppedError
from lanewise.batch.wave import tell_time
from lanewise.compiler import Target
from lanewise.devices.cpu import CpuDevice
from lanewise.devices.cpu_launch import CpuLaunch, NativeCode
from lanewise.devices.cpu_native import runtime
from lanewise.kernel.code import kernel_code, optimise_kernel, optimised_kernel
from lanewise.kernel.lane_io import LANE_ENDED, Console, LaneIo, LaneRecord, Request, Team
from lanewise.kernel.system_numbers import OPENAT2_WORKS
from lanewise.wasm import lane_words as lanes
from lanewise.wasm.build import host_build, with_fixed_memory
from lanewise.wasm.compile import Later
from lanewise.wasm.cpu_slots import find_places, load_lanes, make_slots
from lanewise.wasm.lane_setup import lane_choices
from lanewise.wasm.lane_words import ENTRY

if TYPE_CHECKING:
    from lanewise.host.native_copies import NativeCopies

_CONSOLE_BYTES = 16 * 2**20
_COPIES_BYTES = 1 << 30
"""Copies of files that are kept at a time; what has no room is read through the host."""
_COPIES_PIECE = 4 << 20
_REQUEST_BYTES = 64 * 1024
"""Data that a request can take."""
_WAVE_LANES = 16 * 1024
_FIRST_LANES = 1024
"""Lanes of a wave that runs in code that is soon to be replaced; whole groups of any size."""
_CHUNKS = 64
"""Chunks per worker: lanes of a wave may differ much in how long they take."""
_MOST_BYTES = 2**32
_FIBER_STACK_BYTES = 3 * 2**20
"""Stack of a lane that waits for others; functions of the host that it calls are promised a third of that."""


T = TypeVar("T")


def _beside(make: Callable[[], T]) -> Callable[[], T]:
    """Begin to make something on another thread; what is given waits for it."""
    from concurrent.futures import ThreadPoolExecutor  # for the first program on a machine alone

    thread = ThreadPoolExecutor(1)
    made = thread.submit(make)
    thread.shutdown(wait=False)
    return made.result


def _reserve(task: Task) -> int:
    return task.limits.memory or _MOST_BYTES


def _is_next(records: np.ndarray[Any, Any], service: HostService, lane: int) -> bool:
    ended = records["state"] == LANE_ENDED
    return bool(ended[:lane].all()) and int(ended.sum()) == service.told


class CpuWave(Wave):
    """Lanes on all cores, in code that tells where traps were."""

    def __init__(
        self,
        launch: CpuLaunch,
        records: np.ndarray[Any, Any],
        status: np.ndarray[Any, Any],
        console: np.ndarray[Any, Any],
        code: tuple[list[bytes], Any],
    ) -> None:
        self.launch = launch
        self._records = records
        self._status = status
        self._console = console
        self._code = code

    def look(self) -> np.ndarray[Any, Any]:
        return self._records.copy()

    def console(self) -> np.ndarray[Any, Any]:
        return self._console

    def traps(self) -> np.ndarray[Any, Any]:
        status = self._status.copy()
        find_places(status, *self._code)
        return status


class CpuWaves(WaveBackend):
    """The machine that Python runs on."""

    def __init__(self, task: Task, program: Program, device: CpuDevice) -> None:
        super().__init__(task, program)
        self.device_name = device.name
        self._device = device
        self._fibers = program.meets or program.team > 0
        meter = "count" if task.limits.fuel is not None else "stop" if self._fibers else "off"
        choices: dict[str, Any] = {"lanes": True, "process": True, "meter": meter, "reserve": _reserve(task)}
        choices |= {"fibers": self._fibers, "team": program.team}
        made = host_build(**choices | lane_choices(self.module))
        self._build = with_fixed_memory(made, made.fixed_memory and not program.team)
        self._target = Target.host()
        quick = optimised_kernel(self._target) is None
        others = _beside(self._load_others) if quick else self._load_others
        compiled = process_code(self.module, self._build, self._target)
        self._codes, self._better = compiled.codes, compiled.better
        self._kernel, self._imports, self.native = others()
        target = self._target  # the lambda must not keep this object
        self._better_kernel = Later(lambda: optimise_kernel(target), OPTIMISE_AFTER) if quick else None
        self._load()
        self._group = program.team or (task.buffers.group if program.meets else 1)
        self._workers = min(device.properties.cores, task.lanes)
        slots = self._workers * self._group
        self._copies: list[np.ndarray[Any, Any]] = []
        self._copied = self._filled = 0
        self._keep: list[Any] = []
        self._words = np.zeros(lanes.ARRAYS, np.uint64)
        self._slots = make_slots(self.module, self._build, compiled.facts, self._words, slots)
        self._requests = np.zeros((slots, Request.size + _REQUEST_BYTES), np.uint8)
        self._ios = np.zeros(slots, LaneIo.dtype)
        self._ios["request"] = self._requests.ctypes.data + np.arange(slots) * self._requests.shape[1]
        self._teams = np.zeros(self._workers, Team.dtype)
        self._console = Console.record()
        self._console_bytes = np.zeros(0 if task.streaming else _CONSOLE_BYTES, np.uint8)
        self._state, self._input = words_of(task.buffers.state), words_of(task.buffers.input)
        self._output = np.zeros(task.buffers.output, np.uint32)
        self._picture = device.zeros(max(1, task.buffers.size[0] * task.buffers.size[1]), np.uint32)
        self._shared = np.zeros(self._workers * SHARED_BYTES if program.meets else 0, np.uint8)
        self._service: HostService | None = None
        self._wave: CpuWave | None = None
        self._callback = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64)(self._answer)

    def next_wave(self, left: int) -> int:
        """One wave at a time, with few lanes while better code is being made, which the next one can use."""
        if self._wave is not None and not self._wave.over:
            return 0
        soon = any(later is not None and not later.over for later in (self._better, self._better_kernel))
        return _FIRST_LANES if soon else _WAVE_LANES

    def _load_others(self) -> tuple[bytes, Mapping[str, int], NativeCopies | None]:
        """What is the same for all programs: the kernel, the runtime, and what opens files."""
        native = None
        if self.task.directories and OPENAT2_WORKS:
            from lanewise.host.native_copies import NativeCopies  # for programs that have files

            with suppress(MemoryError):  # it needs much address space, and Python can do the same
                native = NativeCopies()
        return kernel_code(self._target), runtime().guest_imports(groups=True), native

    def _load(self) -> None:
        self._library = library = load_lanes(self._codes, [self._kernel], self._imports, plain=False)
        stack = _FIBER_STACK_BYTES if self._fibers else 0
        self._code = NativeCode("program", library.address(ENTRY), library, stack_bytes=stack)

    def _improve(self) -> None:
        """Go over to better code, of the program or of the kernel, if some has become ready."""
        before = self._codes, self._kernel
        if self._better is not None and self._better.result is not None:
            self._codes, self._better = self._better.result, None
        if self._better_kernel is not None and self._better_kernel.result is not None:
            self._kernel, self._better_kernel = self._better_kernel.result, None
        if before != (self._codes, self._kernel):
            self._load()

    def place(self, content: bytes) -> int:
        size = (len(content) + 7) // 8 * 8
        if self._copied + size > _COPIES_BYTES:
            return 0
        if not self._copies or self._filled + size > self._copies[-1].nbytes:
            self._copies.append(np.empty(max(size, _COPIES_PIECE), np.uint8))
            self._filled = 0
        address = int(self._copies[-1].ctypes.data) + self._filled
        self._filled += size
        self._copied += size
        ctypes.memmove(address, content, len(content))
        return address

    def forget_copies(self) -> bool:
        if self.native:
            self.native.forget_many()
        if self._copied < _COPIES_BYTES // 2:
            return False
        self._copies.clear()
        self._copied = 0
        return True

    def start(self, first: int, count: int, service: HostService) -> Wave:
        self._improve()
        self._service = service
        self._wave = None
        self._keep = []
        run = self._run_record(first, count, service)
        tell_time(run, time.monotonic_ns())
        records, status = np.zeros(count, LaneRecord.dtype), np.zeros(count, np.uint64)
        self._console["head"], self._console["capacity"] = 0, self._console_bytes.nbytes
        self._console["records"] = self._console_bytes.ctypes.data
        run["records"], run["console"] = records.ctypes.data, self._console.ctypes.data
        callback = ctypes.cast(self._callback, ctypes.c_void_p).value or 0
        run["callback"] = callback
        if self.native:
            self.native.begin_wave(service.roots, count, callback)
            run["callback"], run["copies"] = self.native.answer, self.native.table
        run["capacity"], run["stride"] = _REQUEST_BYTES, self._build.stride
        buffers = self.task.buffers
        run["state"] = (self._state.ctypes.data, count_of(buffers.state))
        run["input"] = (self._input.ctypes.data, count_of(buffers.input))
        run["output"] = (self._output.ctypes.data, buffers.output)
        run["picture"], run["shared"] = self._picture.address, self._shared.ctypes.data if self.program.meets else 0
        words = self._words
        words[lanes.COUNT], words[lanes.NEXT], words[lanes.SLOT] = count, 0, 0
        words[lanes.CHUNK] = max(1, count // (self._workers * _CHUNKS))
        words[lanes.STATUS] = status.ctypes.data
        words[lanes.SLOTS] = self._group if self._fibers else self._workers
        words[lanes.FUEL] = lanes.UNLIMITED if self.task.limits.fuel is None else self.task.limits.fuel
        words[lanes.LANES_IO], words[lanes.RUN_IO] = self._ios.ctypes.data, run.ctypes.data
        words[lanes.TEAMS] = self._teams.ctypes.data
        self._keep.append(run)
        block = np.array([words.ctypes.data], np.uint64).tobytes()
        threads = count * max(1, self.program.team) if self._fibers else self._workers
        keep = [self._keep, records, status, self]
        if not self._fibers:  # whose thread is that of other lanes, too
            service.is_next = partial(_is_next, records, service)
        runtime().check_pagemap()
        launch = self._device.launch_native(self._code, block, threads, keep, self._group)
        self._wave = CpuWave(launch, records, status, self._console_bytes, (self._codes, self._library))
        return self._wave

    def _put(self, array: np.ndarray[Any, Any]) -> int:
        self._keep.append(array)
        return int(array.ctypes.data)

    def _answer(self, _: int, address: int) -> int:
        """Called by lanes on worker threads: answer the request at an address; 1 if the run is to end."""
        service = self._service
        assert service is not None
        try:
            write_reply(address, service.serve(*read_request(address)[1:]))
        except StoppedError:
            return 1
        except BaseException as error:  # no exception passes through native code
            service.failure = service.failure or error
            return 1
        return 0

    def wait(self, seconds: float) -> None:
        assert self._wave is not None
        self._wave.over = self._wave.launch.wait(seconds)

    def now(self) -> int:
        return time.monotonic_ns()

    def results(self) -> Results:
        return results_of(self.task.buffers, self._state, self._output, self._picture)

    def close(self) -> None:
        """Memory goes when nobody uses it any more."""

    def stop(self) -> None:
        if self._wave is not None:
            self._wave.launch.drop()
