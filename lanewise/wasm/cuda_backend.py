"""Instances on a CUDA GPU: memory reserved up to a bound, modules of a store linked into one program, one lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanewise.compiler import Job, compile_guest
from lanewise.devices.cuda import CudaDevice, NativeKernel
from lanewise.wasm import state
from lanewise.wasm.backend import Backend, Block, Outcome
from lanewise.wasm.build import Build
from lanewise.wasm.model import PAGE, Module
from lanewise.wasm.program import ModuleProgram

_MOST_MEMORY = 1024 * PAGE
"""How far a memory can grow unless it begins larger: all of it is reserved when the instance is made."""
_MOST_ENTRIES = 1 << 16
"""The same for the entries of a table."""
STACK_BYTES = 32 * 1024
"""Stack of a lane; every thread that the GPU holds gets so much."""
STACK_MARGIN = 6 * 1024
"""What of it the checks leave for functions that do not check."""


@dataclass(frozen=True)
class LoadedModule:
    """A module's PTX, and what it calls its things."""

    ptx: bytes
    prefix: str
    entries: int


class CudaBackend(Backend):
    """One GPU. A call is a launch of a single thread: right, but slow; many lanes at once are `Module.func`'s."""

    def __init__(self, device: CudaDevice, build: Build, level: int) -> None:
        self.build = build
        self._device = device
        self._level = level
        self._call: NativeKernel | None = None

    def alloc(self, nbytes: int) -> Block:
        buffer = self._device.alloc(max(nbytes, 16))
        self._device.fill(buffer, 0, max(nbytes, 16))
        return Block(buffer.address, nbytes, buffer)

    def alloc_linear(self, minimum: int, maximum: int) -> tuple[Block, int]:
        most = max(minimum, min(maximum, _MOST_MEMORY))
        return self.alloc(most * (self.build.stride // 8)), most

    def alloc_table(self, minimum: int, maximum: int) -> tuple[Block, int]:
        most = max(minimum, min(maximum, _MOST_ENTRIES))
        return self.alloc(most * self.build.stride), most

    def view(self, address: int, nbytes: int, owner: Any) -> np.ndarray[Any, Any]:
        return self._device.read(address, nbytes)

    def read(self, address: int, nbytes: int) -> bytes:
        return self._device.read(address, nbytes).tobytes()

    def write(self, address: int, data: bytes) -> None:
        self._device.write(address, data)

    def add(self, module: Module, build: Build, prefix: str) -> LoadedModule:
        program = ModuleProgram(module, build, prefix)
        (ptx,) = compile_guest(
            [Job(part.ir, self._device.target, part.name, self._level) for part in program.parts()]
        )
        return LoadedModule(ptx, prefix, program.entries)

    def entries(self, loaded: Sequence[LoadedModule]) -> list[bytes]:
        if not loaded:
            return []
        codes = [one.ptx for one in loaded]
        tables = []
        for one in loaded:
            size = one.entries * state.CODE_ENTRY
            room = self.alloc(size)
            export = self._device.load_native(codes, "guest", f"{one.prefix}export", "Q", STACK_BYTES)
            self._device.launch_native(export, 1, 1, [room.address])
            tables.append(self.read(room.address, size)[state.CODE_ENTRY :])
        # All of the store's programs are one now, so the entry of any of them will do.
        self._call = self._device.load_native(codes, "guest", f"{loaded[0].prefix}call", "QQQQ", STACK_BYTES)
        return tables

    def call(self, state_address: int, shared: int, entry: int, values: bytes) -> Outcome:
        assert self._call is not None
        room = self.alloc(len(values))
        self.write(room.address, values)
        arguments = [state_address, entry, room.address, STACK_BYTES - STACK_MARGIN]
        self._device.launch_native(self._call, 1, 1, arguments)
        left = self.read(room.address, len(values))
        trapped = any(self.read(shared, 4))
        return Outcome(left, trapped)

