"""Instances on a CUDA GPU: memory reserved up to a bound, modules of a store linked into one program, one lane."""

from __future__ import annotations

from collections.abc import Sequence
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


class LoadedModule:
    """A module's PTX, what it calls its things, and the program that it is part of."""

    def __init__(self, ptx: bytes, prefix: str, entries: int) -> None:
        self.ptx = ptx
        self.prefix = prefix
        self.entries = entries
        self.table = b""
        self.program = _Program([self])


class _Program:
    """Modules linked into one piece of machine code, within which functions can be called by address."""

    def __init__(self, members: list[LoadedModule]) -> None:
        self.members = members
        self.call: NativeKernel | None = None

    @property
    def loaded(self) -> bool:
        """Whether it is on the GPU."""
        return self.call is not None


class CudaBackend(Backend):
    """One GPU. A call is a launch of a single thread: right, but slow; many lanes at once are `Module.func`'s."""

    def __init__(self, device: CudaDevice, build: Build, level: int) -> None:
        self.build = build
        self._device = device
        self._level = level

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

    def join(self, loaded: Sequence[LoadedModule]) -> Sequence[LoadedModule]:
        """Link the programs that these modules are in into one, unless they are in one already."""
        programs = list(dict.fromkeys(one.program for one in loaded))
        if len(programs) == 1 and programs[0].loaded:
            return []
        members = [member for program in programs for member in program.members]
        joined = _Program(members)
        codes = [member.ptx for member in members]
        for member in members:
            size = member.entries * state.CODE_ENTRY
            room = self.alloc(size)
            export = self._device.load_native(codes, "guest", f"{member.prefix}export", "Q", STACK_BYTES)
            self._device.launch_native(export, 1, 1, [room.address])
            member.table = self.read(room.address, size)[state.CODE_ENTRY :]
            member.program = joined
        joined.call = self._device.load_native(codes, "guest", f"{members[0].prefix}call", "QQQQ", STACK_BYTES)
        return members

    def table_of(self, loaded: LoadedModule) -> bytes:
        return loaded.table

    def call(self, loaded: LoadedModule, state_address: int, shared: int, entry: int, values: bytes) -> Outcome:
        room = self.alloc(len(values))
        self.write(room.address, values)
        arguments = [state_address, entry, room.address, STACK_BYTES - STACK_MARGIN]
        self._device.launch_native(loaded.program.call, 1, 1, arguments)
        left = self.read(room.address, len(values))
        trapped = any(self.read(shared, 4))
        return Outcome(left, trapped)

