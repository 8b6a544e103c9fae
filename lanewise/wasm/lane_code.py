"""Compiled lane programs, by what they are made of; facts about them are kept with the code."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

from lanewise.compiler import OPTIMISED, QUICK, Target
from lanewise.wasm.build import Build
from lanewise.wasm.compile import (
    QUICK_FROM,
    Later,
    cached_text,
    code_bytes,
    compile_ahead,
    compile_parts,
    is_cached,
    optimise_parts,
    part_count,
    usual_level,
)
from lanewise.wasm.lane_setup import check_imports
from lanewise.wasm.lane_words import LaneFacts
from lanewise.wasm.model import Module

if TYPE_CHECKING:
    from lanewise.wasm.lanes import LaneProgram
    from lanewise.wasm.program import Part


class LaneCode(NamedTuple):
    """Machine code of a lane program; `better` is a build that will be faster, if one is being made."""

    codes: list[bytes]
    facts: LaneFacts
    better: Later[list[bytes]] | None


def lane_code(
    module: Module, index: int, build: Build, scalars: tuple[bool, ...], target: Target, level: int | None
) -> LaneCode:
    """Compile one function of a module for many lanes."""
    name, program = _lane_program(module, index, build, scalars)
    return code_of(module, name, program, target, level)


def lane_codes_ahead(
    module: Module, index: int, builds: Iterable[Build], scalars: tuple[bool, ...], target: Target, level: int | None
) -> None:
    """Compile a function that needs an instance in several builds at the same time, for `lane_code` to find."""
    count, chosen = part_count(module, target), usual_level(module, target) if level is None else level
    programs = dict(_lane_program(module, index, build, scalars) for build in builds)
    parts = {name: functools.partial(_parts, program, count) for name, program in programs.items()}
    compile_ahead(module, target, chosen, parts)


def _parts(program: Callable[[], LaneProgram], count: int) -> list[Part]:
    return program().parts(count)


def _lane_program(
    module: Module, index: int, build: Build, scalars: tuple[bool, ...]
) -> tuple[str, Callable[[], LaneProgram]]:
    """What the code of a build is known by, and its program."""

    def program() -> LaneProgram:
        from lanewise.wasm.lanes import LaneProgram  # the compiler, which cached code does without

        made = LaneProgram(module, index, build, scalars)
        check_imports(made)
        return made

    return f"lanes {index} {scalars} {build.key}", program


def code_of(
    module: Module,
    name: str,
    program: Callable[[], LaneProgram],
    target: Target,
    level: int | None,
    delay: float = 0.0,
) -> LaneCode:
    """Compile a lane program, of which `name` says all that decides it but the module.

    A better build, where one is to follow, is begun after `delay` seconds.
    """
    text = cached_text(f"facts of {name}", module, lambda: json.dumps(asdict(program().facts())))
    facts = LaneFacts(**json.loads(text))
    count = 1 if facts.plain else part_count(module, target)

    @functools.cache
    def parts() -> list[Part]:
        return program().parts(count)

    def compiled(chosen: int) -> list[bytes]:
        return compile_parts(module, name, target, chosen, parts)

    best = usual_level(module, target)
    if target.kind == "nvptx" or facts.plain or level is not None or code_bytes(module) < QUICK_FROM:
        return LaneCode(compiled(best if level is None else level), facts, None)
    if is_cached(module, name, target, OPTIMISED):
        return LaneCode(compiled(OPTIMISED), facts, None)
    return LaneCode(compiled(QUICK), facts, Later(lambda: optimise_parts(module, name, target, parts), delay))
