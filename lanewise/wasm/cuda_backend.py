"""Instances on a CUDA GPU: memory reserved up to a bound, modules of a store linked into one program, one lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lanewise.devices.cuda import CudaDevice, NativeKernel
from lanewise.wasm import state
from lanewise.wasm.backend import Backend, Block, Outcome
from lanewise.wasm.build import Build
from lanewise.wasm.compile import compile_parts, fingerprint, part_count, usual_level
from lanewise.wasm.gpu_stack import stack_room
from lanewise.wasm.model import PAGE, Module
from lanewise.wasm.program import ModuleProgram

_MOST_MEMORY = 1024 * PAGE
"""How far a memory can grow unless it begins larger: all of it is reserved when the instance is made."""
_MOST_ENTRIES = 1 << 16
"""The same for the entries of a table."""
STACK_BYTES = 32 * 1024
"""Stack of a lane; every thread that the GPU holds gets so much."""


class LoadedModule:
    """A module's PTX, and the program on the GPU that it is part of."""

    def __init__(self, codes: Sequence[bytes], program: ModuleProgram) -> None:
        self.codes = codes
        self.prefix = program.context.prefix
        self.entries = program.entries
        self.table = b""
        self.program: NativeKernel | None = None


class CudaBackend(Backend):
    """One GPU. A call is a launch of a single thread: right, but slow; many lanes at once are `Module.func`'s."""

    def __init__(self, device: CudaDevice, build: Build, level: int | None) -> None:
        self.build = build
        self._codes: dict[tuple[bytes, Build], list[bytes]] = {}
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

    def load(self, module: Module, throws: bool, tails: bool, fixed: bool) -> LoadedModule:
        build = replace(self.build, throws=throws, tails=tails, fixed_memory=fixed)
        key = (module.data, build)
        program = ModuleProgram(module, build, f"m{fingerprint(module)}{int(throws)}{int(tails)}{int(fixed)}_")
        if key not in self._codes:
            level = usual_level(module, self._device.target) if self._level is None else self._level
            count = part_count(module, self._device.target)
            codes = compile_parts(
                module, f"store {build.key}", self._device.target, level, lambda: program.parts(count)
            )
            self._codes[key] = codes
        # Anew for every group that is linked: code is called by address, and addresses hold within one program only.
        return LoadedModule(self._codes[key], program)

    def link(self, loaded: Sequence[LoadedModule]) -> None:
        codes = [code for member in loaded for code in member.codes]
        call = self._device.load_native(codes, "guest", f"{loaded[0].prefix}call", "QQQQ", STACK_BYTES)
        for member in loaded:
            size = member.entries * state.CODE_ENTRY
            room = self.alloc(size)
            export = self._device.load_native(codes, "guest", f"{member.prefix}export", "Q", STACK_BYTES)
            self._device.launch_native(export, 1, 1, [room.address])
            member.table = self.read(room.address, size)[state.CODE_ENTRY :]
            member.program = call

    def table_of(self, loaded: LoadedModule) -> bytes:
        return loaded.table

    @property
    def stop_word(self) -> int:
        return self._device.stop_word

    def call(self, loaded: LoadedModule, state_address: int, shared: int, entry: int, values: bytes) -> Outcome:
        room = self.alloc(len(values))
        self.write(room.address, values)
        assert loaded.program is not None
        arguments = [state_address, entry, room.address, stack_room(loaded.program, STACK_BYTES)]
        # A call that Ctrl-C ended may have left something here.
        for cell in (state.TRAP, state.PENDING, state.TAIL):
            self.write(shared + cell * self.build.stride, bytes(8))
        self._device.launch_native(loaded.program, 1, 1, arguments)
        self._device.finish_or_stop(self.timeout)
        left = self.read(room.address, len(values))
        trapped = any(self.read(shared, 4))
        return Outcome(left, trapped)
