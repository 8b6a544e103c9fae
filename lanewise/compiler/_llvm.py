"""The one door to LLVM: llvmlite is imported and initialised when it is first needed, not by importing lanewise."""

from __future__ import annotations

import functools
import threading
from typing import Any

lock = threading.RLock()
"""Held around every use of a shared target machine or of the JIT; llvmlite's own lock covers single calls only."""


@functools.cache
def binding() -> Any:
    """Return `llvmlite.binding` with all targets and printers ready; llvmlite has no types, hence Any."""
    with lock:
        import llvmlite.binding as llvm  # type: ignore[import-untyped]

        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        llvm.initialize_native_asmparser()  # inline assembly of the host is parsed when an object is made
        return llvm


@functools.cache
def version() -> str:
    """Name the LLVM that compiles, for cache keys: two llvmlite builds may carry different patches."""
    import llvmlite

    return f"llvm {'.'.join(map(str, binding().llvm_version_info))}, llvmlite {llvmlite.__version__}"
