"""LLVM IR text to code: `targets` says for what machine, `pipeline` compiles, `cache` keeps, `jit` loads, `workers`
compile what strangers wrote in processes that may die, `ptxas` checks PTX where the CUDA toolkit is installed.
"""

from __future__ import annotations

from lanewise.compiler.bundles import bundle, unbundle
from lanewise.compiler.cache import Cache, default_cache
from lanewise.compiler.jit import Library, load_object
from lanewise.compiler.outliving import compile_outliving, outlived, start_outliving, taken
from lanewise.compiler.pipeline import OPTIMISED, QUICK, Compiled, compile_module, made_by, stages
from lanewise.compiler.ptxas import (
    KernelUsage,
    PtxasReport,
    assemble,
    assemble_pieces,
    find_ptxas,
    find_toolkit_program,
    most_registers,
)
from lanewise.compiler.targets import Target
from lanewise.compiler.underway import compiling, what_is_compiled
from lanewise.compiler.unrolling import UNROLLED
from lanewise.compiler.workers import Job, WorkerPool, compile_each, compile_guest

__all__ = [
    "OPTIMISED",
    "QUICK",
    "UNROLLED",
    "Cache",
    "Compiled",
    "Job",
    "KernelUsage",
    "Library",
    "PtxasReport",
    "Target",
    "WorkerPool",
    "assemble",
    "assemble_pieces",
    "bundle",
    "compile_each",
    "compile_guest",
    "compile_module",
    "compile_outliving",
    "compiling",
    "default_cache",
    "find_ptxas",
    "find_toolkit_program",
    "load_object",
    "made_by",
    "most_registers",
    "outlived",
    "stages",
    "start_outliving",
    "taken",
    "unbundle",
    "what_is_compiled",
]
