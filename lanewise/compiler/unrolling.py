"""Programs that ask for it become one function with its loops unrolled, even long ones, as far as that is bearable.

It pays where what a loop keeps in memory can then stay in registers, and where addresses become constants. LLVM by
itself unrolls loops of a few hundred instructions at most, and function by function, before it inlines them: what has
been unrolled is too large for that.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

UNROLLED = "!lanewise.unrolled = !{}"
"""A line by which a module asks for it."""
_LOOP_SIZES = 4_500, 2_200, 1_100
"""How large a loop may become, as LLVM estimates it; the first with which the whole does not become too large."""
_MOST_INSTRUCTIONS = 22_000
"""What the whole may come to: it takes LLVM and the GPU's assembler some ten seconds then."""
_LOOK_FURTHER = (
    "--memdep-block-scan-limit=3000",
    "--earlycse-mssa-optimization-cap=10000",
    "--licm-mssa-optimization-cap=10000",
    "--licm-mssa-max-acc-promotion=10000",
)
"""By itself LLVM looks a hundred instructions back for what was stored at an address, and gives up on loops with more
accesses than that."""
_AS_IT_WAS = "--unroll-max-percent-threshold-boost=400"
"""An option with the value that it has anyway: LLVM forgets all earlier ones when it is given another."""
_SWALLOW = "always_inliner", "global_dead_code_eliminate", "sroa"
_TIDY = "simplify_cfg", "instruction_combine", "loop_simplify", "loop_rotate", "instruction_combine", "simplify_cfg"
_UNROLL = "loop_simplify", "lcssa", "loop_unroll", "sroa", "instruction_combine", "simplify_cfg"


@contextmanager
def as_asked_for(llvm: Any, module: Any, machine: Any, ir: str, level: int) -> Iterator[None]:
    """Within it LLVM optimises a module as it asks to be. LLVM's options belong to the process: whoever compiles holds
    the lock."""
    if UNROLLED not in ir or not level:
        yield
        return
    _run(llvm, module, machine, level, _SWALLOW)
    size = _bearable(llvm, module, machine, level)
    try:
        if size is not None:
            _allow(llvm, size)
        yield
    finally:
        llvm.set_option("lanewise", _AS_IT_WAS)


def _allow(llvm: Any, size: int) -> None:
    """Set options, from a file: llvmlite passes on one at a time, and LLVM forgets the one before."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "options"
        file.write_text("\n".join([f"--unroll-threshold={size}", *_LOOK_FURTHER]))
        llvm.set_option("lanewise", f"@{file}")


def _bearable(llvm: Any, module: Any, machine: Any, level: int) -> int | None:
    """How large loops may become, if they may at all: found by unrolling a copy, which takes little by itself."""
    with module.clone() as tidy:
        _run(llvm, tidy, machine, level, _TIDY)
        for size in _LOOP_SIZES:
            with tidy.clone() as copy:
                _allow(llvm, size)
                for _ in range(2):  # loops within one that was unrolled have a known length only then
                    _run(llvm, copy, machine, level, _UNROLL)
                if str(copy).count("\n  ") <= _MOST_INSTRUCTIONS:
                    return size
    return None


def _run(llvm: Any, module: Any, machine: Any, level: int, names: Sequence[str]) -> None:
    with (
        llvm.create_pipeline_tuning_options(speed_level=level) as options,
        llvm.create_pass_builder(machine, options) as builder,
        llvm.create_new_module_pass_manager() as passes,
    ):
        for name in names:
            getattr(passes, f"add_{name}_pass")()
        passes.run(module, builder)
