"""Where a program begins, and where its threads do."""

from __future__ import annotations

from lanewise.errors import LinkError
from lanewise.wasm.model import FuncType, Module

_ENTRIES = ("_start", "main")
_TYPES = (FuncType((), ()), FuncType((), ("i32",)), FuncType(("i32", "i32"), ("i32",)))
"""The last is how compilers of C and Rust write a main without arguments of its own: it is given none."""
_THREAD_ENTRY = "wasi_thread_start"
THREAD_TYPE = FuncType(("i32", "i32"), ())


def entry_of(module: Module) -> int:
    """The function that a program begins with: `_start`, else `main`."""
    exported = _exported(module)
    for name in _ENTRIES:
        if name in exported:
            kind = module.functions[exported[name]]
            if kind not in _TYPES:
                raise LinkError(f"the program's {name} is {kind}; it must take nothing and return nothing or an i32")
            return exported[name]
    have = ", ".join(exported) or "none"
    raise LinkError(
        f"the module is no program: it exports no function _start or main; the functions it exports: {have}. "
        "Build an executable, not a library or an object file; lanewise.load(...).func calls single functions"
    )


def thread_entry_of(module: Module) -> int:
    """The function that a thread begins with."""
    index = _exported(module).get(_THREAD_ENTRY)
    if index is None or module.functions[index] != THREAD_TYPE:
        raise LinkError(f"the program starts threads but exports no {_THREAD_ENTRY} of type {THREAD_TYPE}")
    return index


def _exported(module: Module) -> dict[str, int]:
    return {one.name: one.index for one in module.exports if one.kind == "function"}
