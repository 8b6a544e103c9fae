"""A program ready to be compiled: checked, given the kernel's functions, with its memory limits settled."""

from __future__ import annotations

from lanewise.batch.services import services
from lanewise.batch.spec import Task
from lanewise.compiler import Target
from lanewise.errors import ArgumentError
from lanewise.kernel.library import kernel_code
from lanewise.wasm.build import Build
from lanewise.wasm.lane_code import LaneCode, code_of
from lanewise.wasm.model import PAGE, Module
from lanewise.wasm.module import Module as LoadedModule
from lanewise.wasm.process import ProcessProgram, entry_of
from lanewise.wasm.provided import provide


def program_of(task: Task, loaded: LoadedModule | None = None) -> Module:
    """The module of a task with the kernel's functions for its imports; `loaded` where it has been read already."""
    loaded = loaded or LoadedModule.load(task.program)
    entry_of(loaded.model)
    module = provide(loaded.model, services())
    limit = task.limits.memory
    for memory in module.memories:
        least = memory.limits.minimum * PAGE
        if limit is not None and least > limit:
            raise ArgumentError(
                f"the program begins with {least:,} bytes of memory, more than the limit of {limit:,} bytes"
            )
    return module


def process_code(module: Module, build: Build, target: Target, level: int | None = None) -> LaneCode:
    """Machine code of a program, without the kernel that it calls."""
    return code_of(module, f"process {build.key}", lambda: ProcessProgram(module, build), target, level)


def with_kernel(codes: list[bytes], target: Target) -> list[bytes]:
    """The pieces of a program and the kernel that they call."""
    return [*codes, kernel_code(target)]
