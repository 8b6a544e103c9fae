"""The process that compiles a function for trials: is told in which builds, and fills the cache."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from lanewise.compiler import Target, assemble_pieces, find_ptxas
from lanewise.compiler.cache import use_cache
from lanewise.compiler.outliving_main import be_modest, next_frame
from lanewise.errors import CompileError
from lanewise.settings import cpu_threads
from lanewise.wasm.build import Build
from lanewise.wasm.code_aside import MADE
from lanewise.wasm.lane_code import lane_code, lane_codes_ahead
from lanewise.wasm.module import Module

_SOON = 2
"""Builds that are made before all others."""


def main() -> None:
    """Do it; a build that there is no code for is left to whoever tries it, who hears why."""
    be_modest()
    frame = next_frame(bytearray())
    if frame is not None:
        told, data = frame
        use_cache(told["directory"], told["limit"])
        _make(told, data)


def _make(told: dict[str, Any], data: bytes) -> None:
    module = Module.load(data, frozenset(told["features"])).model
    index, scalars, level = told["index"], tuple(told["scalars"]), told["level"]
    target, builds = Target(**told["target"]), [Build(**build) for build in told["builds"]]

    def assemble(build: Build) -> None:
        with suppress(CompileError):
            codes = lane_code(module, index, build, scalars, target, level).codes
            if find_ptxas() is not None:
                assemble_pieces(codes, told["sm"])

    with ThreadPoolExecutor(cpu_threads()) as pool:
        for some in (builds[:_SOON], builds[_SOON:]):
            lane_codes_ahead(module, index, some, scalars, target, level)
            for _ in pool.map(assemble, some):
                with suppress(BrokenPipeError):  # nobody waits any more, but later runs will want it
                    os.write(1, MADE)
