"""A program ready to be compiled: checked, given the kernel's functions, with its memory limits settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanewise.batch import amounts
from lanewise.batch.services import services
from lanewise.batch.source import LINUX_TOO, MAGIC
from lanewise.batch.spec import Task
from lanewise.batch.vocabulary import check_use, lacking
from lanewise.compiler import Target
from lanewise.errors import ArgumentError, LinkError, MalformedError
from lanewise.wasm.build import Build
from lanewise.wasm.entries import entry_of, thread_entry_of
from lanewise.wasm.lane_code import LaneCode, code_of
from lanewise.wasm.model import PAGE, Module
from lanewise.wasm.module import Module as LoadedModule
from lanewise.wasm.provided import meets_others, provide

if TYPE_CHECKING:
    from lanewise.wasm.lanes import LaneProgram


OPTIMISE_AFTER = 0.5
"""Seconds after which a program that still runs is worth optimising."""


@dataclass(frozen=True)
class Program:
    """A program that can be compiled."""

    module: Module
    meets: bool
    """Whether lanes of a group wait for each other."""
    team: int
    """Threads that a lane may have, its own included, a power of two; 0 if the program starts none."""
    lacking: tuple[str, ...] = ()
    """Buffers of the GPU vocabulary that the program may use and was not given."""


def program_of(task: Task, loaded: LoadedModule | None = None) -> Program:
    """The program of a task; `loaded` where its module has been read already."""
    loaded = loaded or _load(task)
    entry_of(loaded.model)
    module = provide(loaded.model, services())
    check_use(loaded.model, task.buffers)
    limit = task.limits.memory
    if limit is not None and limit > amounts.MOST_LINEAR:
        raise ArgumentError(f"a memory of {limit:,} bytes is more than a module of WebAssembly can have, which is 4G")
    for memory in module.memories:
        least = memory.limits.minimum * PAGE
        if limit is not None and least > limit:
            raise ArgumentError(
                f"the program begins with {least:,} bytes of memory, more than the limit of {limit:,} bytes"
            )
    team = _team(task, module)
    if team and meets_others(loaded.model):
        raise LinkError("the program both starts threads and has lanes wait for each other; it can do one of them")
    return Program(module, meets_others(loaded.model), team, lacking(loaded.model, task.buffers))


def _load(task: Task) -> LoadedModule:
    try:
        return LoadedModule.load(task.program)
    except MalformedError as error:
        other = not task.program.startswith(MAGIC[: len(task.program)])
        error.args = (f"{task.name}: {error}" + (f"; {LINUX_TOO}" if other else ""),)
        raise


def _team(task: Task, module: Module) -> int:
    if not module.imported_memories:  # see `provide`
        return 0
    thread_entry_of(module)
    return 1 << task.threads.bit_length()


def process_code(module: Module, build: Build, target: Target, level: int | None = None) -> LaneCode:
    """Machine code of a program, without the kernel that it calls."""

    def program() -> LaneProgram:
        from lanewise.wasm.process import ProcessProgram  # the compiler, which cached code does without

        return ProcessProgram(module, build)

    return code_of(module, f"process {build.key}", program, target, level, OPTIMISE_AFTER)
