"""Object code into this process: one LLVM JIT links each object as a library of its own."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lanewise.compiler import _llvm
from lanewise.compiler.targets import Target
from lanewise.errors import CompileError

_numbers = itertools.count(1)
_NONE: Mapping[str, int] = MappingProxyType({})


class Library:
    """Loaded code; its addresses hold until it is closed or collected, so whoever calls them keeps it."""

    def __init__(self, tracker: Any, exports: Sequence[str]) -> None:
        self._tracker = tracker
        self._addresses = {name: int(tracker[name]) for name in exports}

    def address(self, name: str) -> int:
        """Return the address of an exported function or variable."""
        if self._tracker.closed:
            raise CompileError(f"{name!r} is in a library that was closed; load it again")
        if name not in self._addresses:
            exported = ", ".join(self._addresses) or "nothing"
            raise CompileError(f"{name!r} is not exported; this library exports {exported}")
        return self._addresses[name]

    def close(self) -> None:
        """Unload the code; no thread may be running in it. At exit libraries stay: the process takes them with it."""
        with _llvm.lock:
            self._tracker.close()


def load_object(code: bytes | Sequence[bytes], exports: Sequence[str], imports: Mapping[str, int] = _NONE) -> Library:
    """Link the object file `code`, or several that refer to each other, into this process; return where `exports` are.

    Symbols that the objects miss come from `imports` (name to address), then from the process: memcpy, fma,
    clock_gettime. Libraries do not see each other's symbols.
    """
    codes = [code] if isinstance(code, bytes) else code
    return _llvm.undisturbed(lambda: _link(codes, exports, imports))


def _link(codes: Sequence[bytes], exports: Sequence[str], imports: Mapping[str, int]) -> Library:
    builder = _llvm.binding().JITLibraryBuilder().add_current_process()
    for code in codes:
        builder.add_object_img(code)
    for name in exports:
        builder.export_symbol(name)
    for name, address in imports.items():
        builder.import_symbol(name, address)
    with _llvm.lock:
        try:
            tracker = builder.link(_jit(), f"lanewise.{next(_numbers)}")
        except RuntimeError as error:
            message = str(error).strip()
            if message.startswith("Failed to materialize"):  # LLVM names the symbol on stderr only
                message += "; it needs a symbol that is neither in `imports` nor in this process (see stderr)"
            raise CompileError(f"the compiled code cannot be loaded: {message}") from None
    return Library(tracker, exports)


@functools.cache
def _jit() -> Any:
    """Make the process's one JIT; it is never disposed of, because threads may still run its code at exit.

    JITLink, because the older linker keeps 10 kB of every library that was unloaded.
    """
    return _llvm.binding().create_lljit_compiler(Target.host().machine(), use_jit_link=True)
