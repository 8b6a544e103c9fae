"""Instances on the CPU device: memory behind guard pages, code loaded into this process, calls on worker threads."""

from __future__ import annotations

import bisect
import ctypes
import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lanewise.compiler import OPTIMISED, QUICK, Job, Library, Target, compile_guest, load_object
from lanewise.devices.cpu import CpuDevice
from lanewise.devices.cpu_launch import NativeCode, cancelled_here
from lanewise.devices.cpu_native import runtime
from lanewise.devices.cpu_scheduler import FINISHED, HOST_CANCELLED, GuestCall
from lanewise.errors import OutOfMemoryError, WasmTrap
from lanewise.wasm import state
from lanewise.wasm.backend import Backend, Block, HostCall, Outcome
from lanewise.wasm.build import Build, with_fixed_memory
from lanewise.wasm.compile import (
    QUICK_FROM,
    Later,
    code_bytes,
    compile_parts,
    is_cached,
    optimise_parts,
    part_count,
)
from lanewise.wasm.cpu_slots import zeros
from lanewise.wasm.guarded import RESERVED, GuardedMemory
from lanewise.wasm.host_functions import HOST_SYMBOL, host_program
from lanewise.wasm.lowering_calls import type_identity
from lanewise.wasm.model import PAGE, FuncType, Module
from lanewise.wasm.places import LineTables
from lanewise.wasm.program import ModuleProgram

_MAX_TABLE = 10_000_000
"""Entries that a table may grow to; only those in use take memory."""


class LoadedModule:
    """A module's code in this process."""

    def __init__(self, program: ModuleProgram, codes: Sequence[bytes]) -> None:
        self.program = program
        self.entries = program.entries
        self.better: Later[list[bytes]] | None = None
        self.use(codes)

    def use(self, codes: Sequence[bytes]) -> None:
        """Load code; the code before it, if there was any, stays for calls that are still in it."""
        table = self.program.context.functions_symbol[1:]
        before = getattr(self, "library", None)
        self.codes = codes
        self.library: Library = load_object(codes, [table], runtime().guest_imports())
        self.table = self.library.address(table)
        self.kept = before
        self.lines = LineTables(codes, self.program.context.prefix)
        words = np.frombuffer(ctypes.string_at(self.table, self.entries * state.CODE_ENTRY), np.uint64).reshape(-1, 4)
        # The last entry is the instance's beginning, which is no function of the module.
        self.starts = sorted((int(start), at) for at, start in enumerate(words[1:-1, 1]))


class CpuBackend(Backend):
    """The machine that Python runs on."""

    def __init__(self, device: CpuDevice, build: Build, level: int | None, as_it_is: bool = False) -> None:
        self.build = build
        self._as_it_is = as_it_is
        self._loaded: dict[Any, tuple[Module, LoadedModule]] = {}
        self._device = device
        self._level = level
        self._code = NativeCode("guest", runtime().guest_entry)
        self._host_libraries: list[Any] = []

    def alloc(self, nbytes: int) -> Block:
        memory = zeros(max(nbytes, 16) + 16, np.uint8)
        return Block(memory.ctypes.data + -memory.ctypes.data % 16, nbytes, memory)

    def alloc_linear(self, minimum: int, maximum: int) -> tuple[Block, int]:
        if self.build.checks == "guard":
            memory = GuardedMemory(minimum)
            return Block(memory.address, minimum, memory), maximum
        scale = self.build.stride // 8
        most = min(maximum, RESERVED // scale // PAGE * PAGE)
        if minimum > most:
            raise OutOfMemoryError(f"a memory of {minimum:,} bytes cannot be interleaved; use layout='flat'")
        reserve = GuardedMemory(minimum * scale)
        return Block(reserve.address, minimum, reserve), most

    def alloc_table(self, minimum: int, maximum: int) -> tuple[Block, int]:
        most = max(minimum, min(maximum, _MAX_TABLE))
        return self.alloc(most * self.build.stride), most

    def view(self, address: int, nbytes: int, owner: Any) -> np.ndarray[Any, Any]:
        memory: Any = (ctypes.c_uint8 * nbytes).from_address(address)
        memory.owner = owner  # the array keeps the buffer alive, and the buffer the memory
        return np.frombuffer(memory, np.uint8)

    def read(self, address: int, nbytes: int) -> bytes:
        return ctypes.string_at(address, nbytes)

    def write(self, address: int, data: bytes) -> None:
        ctypes.memmove(address, data, len(data))

    def load(self, module: Module, throws: bool, tails: bool, fixed: bool) -> LoadedModule:
        build, target = replace(self.build, throws=throws), Target.host()
        if not self._as_it_is:
            build = with_fixed_memory(build, fixed)
        key = (module.data, build)
        if key in self._loaded:
            return self._loaded[key][1]
        program = ModuleProgram(module, build, "g_")
        name, level = f"store {build.key}", self._level
        count = part_count(module, target)
        quick = level is None and code_bytes(module) >= QUICK_FROM and not is_cached(module, name, target, OPTIMISED)
        first = QUICK if quick else OPTIMISED if level is None else level
        parts = functools.cache(lambda: program.parts(count))  # once, whatever levels it is compiled at
        codes = compile_parts(module, name, target, first, parts)
        loaded = LoadedModule(program, codes)
        if quick:
            loaded.better = Later(lambda: optimise_parts(module, name, target, parts))
        self._loaded[key] = (module, loaded)
        return loaded

    def link(self, loaded: Sequence[LoadedModule]) -> None:
        """Code of one process can be called by address from everywhere in it."""

    def improve(self, loaded: LoadedModule) -> bool:
        if loaded.better is None or loaded.better.result is None:
            return False
        loaded.use(loaded.better.result)
        loaded.better = None
        return True

    def place_of(self, loaded: LoadedModule, address: int) -> tuple[int, int] | None:
        at = bisect.bisect_left(loaded.starts, (address, 0)) - 1
        if at < 0:
            return None
        start, body = loaded.starts[at]
        index = loaded.program.module.imported_functions + body
        place = loaded.lines.place(index, address - start)
        return None if place is None else (index, place)

    def table_of(self, loaded: LoadedModule) -> bytes:
        return ctypes.string_at(loaded.table + state.CODE_ENTRY, (loaded.entries - 1) * state.CODE_ENTRY)

    def call(self, loaded: Any, state_address: int, shared: int, entry: int, values: bytes) -> Outcome:
        words = (ctypes.c_uint64 * 4).from_address(entry)
        room = ctypes.create_string_buffer(values, max(len(values), 16))
        call = GuestCall.record()
        call["state"], call["shared"] = state_address, shared
        call["thunk"], call["code"] = words[3], words[1]
        call["values"] = ctypes.addressof(room)
        if self._code.seconds != self.timeout:
            self._code = replace(self._code, seconds=self.timeout)
        launch = self._device.launch_native(self._code, call.tobytes(), keep=room)
        if not launch.wait_limited():
            raise WasmTrap("interrupted")
        done = np.frombuffer(launch.args[: GuestCall.size], GuestCall.dtype)[0]
        if done["outcome"] == FINISHED:
            return Outcome(room.raw[: len(values)], trapped=False)
        trace = tuple(int(address) for address in done["trace"][: done["trace_count"]])
        return Outcome(b"", trapped=True, trace=trace)

    def host_entry(self, kind: FuncType, call: HostCall) -> tuple[bytes, int]:
        def call_back(number: int, values: int) -> int:
            try:
                code = call(number, values)
                return HOST_CANCELLED if cancelled_here() else code
            except BaseException:  # Python's stack may be at its end
                return 1

        callback = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64)(call_back)
        address = ctypes.cast(callback, ctypes.c_void_p).value
        assert address is not None
        (code,) = compile_guest([Job(host_program(kind, self.build), Target.host(), "host function", 1)])
        library = load_object(code, [HOST_SYMBOL], runtime().guest_imports())
        self._host_libraries.append((callback, library))
        where = library.address(HOST_SYMBOL)
        return np.array([type_identity(kind) & (2**64 - 1), where, 0, 0], np.uint64).tobytes(), address
