"""WebAssembly: reading, checking, compiling and running modules."""

from __future__ import annotations

from lanewise.wasm.externs import Function, Global, Memory, Table, Tag
from lanewise.wasm.instance import Instance
from lanewise.wasm.model import FuncType
from lanewise.wasm.module import Module
from lanewise.wasm.store import Store

__all__ = ["FuncType", "Function", "Global", "Instance", "Memory", "Module", "Store", "Table", "Tag"]
