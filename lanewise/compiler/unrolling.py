"""Programs that ask for it become one function with its loops unrolled, even long ones, as far as that is bearable.

It pays where what a loop keeps in memory can then stay in registers, and where addresses become constants. LLVM by
itself unrolls loops of a few hundred instructions at most, and function by function, before it inlines them: what has
been unrolled is too large for that.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from lanewise.compiler import _llvm

UNROLLED = "!lanewise.unrolled = !{}"
"""A line by which a module asks for it."""
_LOOP_SIZES = 4_500, 2_200, 1_100
"""How large a loop may become, as LLVM estimates it; the first with which the whole does not become too large."""
_MOST_INSTRUCTIONS = 30_000
"""What the whole may come to: it takes LLVM and the GPU's assembler some ten seconds then."""
_LOOK_FURTHER = (
    "--memdep-block-scan-limit=3000",
    "--earlycse-mssa-optimization-cap=10000",
    "--licm-mssa-optimization-cap=10000",
    "--licm-mssa-max-acc-promotion=10000",
)
"""By itself LLVM looks a hundred instructions back for what was stored at an address, and gives up on loops with more
accesses than that."""
_USUAL_SIZE = 300
"""What LLVM takes by itself."""
_SWALLOW = "always_inliner", "global_dead_code_eliminate", "sroa"
_UNROLL = "loop_simplify", "lcssa", "loop_unroll", "sroa", "instruction_combine", "simplify_cfg"


def asked_for(ir: str) -> bool:
    """Whether a module asks for it. Its options are LLVM's from then on, since there is no way to take them back: the
    process that compiled it compiles nothing else (see `workers`)."""
    return UNROLLED in ir


def prepare(llvm: Any, module: Any, machine: Any, level: int) -> None:
    """Make one function of a module, and have LLVM unroll the loops when it optimises."""
    _llvm.run_passes(module, machine, level, _SWALLOW)
    _allow(llvm, _bearable(llvm, module, machine, level))


def _allow(llvm: Any, size: int) -> None:
    """Set options, all of them at once, from a file: llvmlite passes on one at a time."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "options"
        file.write_text("\n".join([f"--unroll-threshold={size}", *_LOOK_FURTHER]))
        llvm.set_option("lanewise", f"@{file}")


def _bearable(llvm: Any, module: Any, machine: Any, level: int) -> int:
    """How large loops may become: found by unrolling copies, which takes little by itself."""
    with module.clone() as tidy:
        _optimise_rolled(llvm, tidy, machine, level)
        for size in _LOOP_SIZES:
            with tidy.clone() as copy:
                _allow(llvm, size)
                for _ in range(2):  # loops within one that was unrolled have a known length only then
                    _llvm.run_passes(copy, machine, level, _UNROLL)
                if str(copy).count("\n  ") <= _MOST_INSTRUCTIONS:
                    return size
    return _USUAL_SIZE


def _optimise_rolled(llvm: Any, module: Any, machine: Any, level: int) -> None:
    """Do all but unroll: where checks stand in a loop LLVM does not know its length."""
    with llvm.create_pipeline_tuning_options(speed_level=level) as options:
        options.loop_unrolling = False
        with llvm.create_pass_builder(machine, options) as builder, builder.getModulePassManager() as passes:
            passes.run(module, builder)
