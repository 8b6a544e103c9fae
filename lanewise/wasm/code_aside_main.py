"""The process that compiles a function for trials: is told in which builds, and fills the cache."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from lanewise.compiler import Target, assemble_pieces, find_ptxas
from lanewise.compiler.cache import use_cache
from lanewise.compiler.outliving_main import be_modest, next_frame
from lanewise.errors import CompileError
from lanewise.wasm.build import Build
from lanewise.wasm.lane_code import lane_code, lane_codes_ahead
from lanewise.wasm.module import Module


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
    lane_codes_ahead(module, index, builds, scalars, target, level)
    for build in builds:
        with suppress(CompileError):
            codes = lane_code(module, index, build, scalars, target, level).codes
            if find_ptxas() is not None:
                assemble_pieces(codes, told["sm"])
