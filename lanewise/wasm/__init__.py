"""WebAssembly: reading, checking, compiling and running modules."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lanewise.wasm.externs import Function, Global, Memory, Table, Tag
    from lanewise.wasm.instance import Instance
    from lanewise.wasm.model import FuncType
    from lanewise.wasm.module import Module
    from lanewise.wasm.store import Store

__all__ = ["FuncType", "Function", "Global", "Instance", "Memory", "Module", "Store", "Table", "Tag"]

_HOMES = {"FuncType": "model", "Instance": "instance", "Module": "module", "Store": "store"}
"""Where names are defined that are not in `externs`; they are loaded on first use, since programs need few of them."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'externs')}"), name)
