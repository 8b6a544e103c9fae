"""Code for trials, made while calls go on: by a process of the lowest priority, which leaves it in the cache.

So a trial costs what its lanes take, and nobody waits for a compiler that he has not asked for. The process outlives
this one, as its code is for later runs as well.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict

from lanewise.compiler import Target, default_cache, start_outliving, taken
from lanewise.compiler.frames import pack
from lanewise.wasm.build import Build
from lanewise.wasm.compile import Later
from lanewise.wasm.model import Module

_MAIN = "lanewise.wasm.code_aside_main"


def make_aside(
    module: Module,
    index: int,
    builds: Sequence[Build],
    scalars: tuple[bool, ...],
    target: Target,
    level: int | None,
    sm: int,
) -> Later[bool]:
    """Have a function compiled in several builds, for a GPU of compute capability `sm`. The result is whether that was
    done, as far as there is code for them: somebody else's code may be in the making, or there may be no cache."""
    header = {
        "directory": str(default_cache().directory.absolute()),
        "limit": default_cache().limit,
        "features": sorted(module.features),
        "index": index,
        "builds": [asdict(build) for build in builds],
        "scalars": scalars,
        "target": asdict(target),
        "level": level,
        "sm": sm,
    }
    said = pack(header, module.data)
    return Later(lambda: _made(said))


def _made(said: bytes) -> bool:
    lock = default_cache().lock("optimise")
    if lock is None or not sys.executable:
        return False
    try:
        if not taken(lock):
            return False
        process = start_outliving(_MAIN, [said], lock)
    finally:
        os.close(lock)
    assert process.stdout is not None
    with process.stdout:
        return process.wait() == 0
