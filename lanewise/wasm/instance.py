"""An instance of a module: its state on the device and what it exports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lanewise.wasm import state
from lanewise.wasm.externs import Extern, Function, Global, Memory, Table, Tag
from lanewise.wasm.model import Module

if TYPE_CHECKING:
    from lanewise.wasm.store import Store


class Instance:
    """A module with memory of its own; `exports` is what others may use of it."""

    def __init__(self, store: Store, module: Module, address: int) -> None:
        self.store = store
        self.module = module
        self.state = address
        self.exports: Mapping[str, Extern] = {}

    def bind(self, given: list[Extern]) -> None:
        """Make the objects that stand for the exports; what is imported is exported as it is."""
        imported: dict[str, list[Extern]] = {}
        for extern in given:
            imported.setdefault(extern.kind, []).append(extern)
        made: dict[tuple[str, int], Extern] = {}
        exports = {}
        for export in self.module.exports:
            key = (export.kind, export.index)
            if key not in made:
                own = imported.get(export.kind, [])
                made[key] = own[export.index] if export.index < len(own) else self._make(export.kind, export.index)
            exports[export.name] = made[key]
        self.exports = exports

    def _make(self, kind: str, index: int) -> Extern:
        layout, module, store = state.StateLayout(self.module), self.module, self.store
        base = store.read_cell(self.state, state.BASE)
        number = base >> 32
        if kind == "function":
            return store.function_of(base + index - module.imported_functions)
        if kind == "tag":
            return Tag(store.read_cell(self.state, layout.tags + index), module.tags[index], number)
        if kind == "memory":
            return Memory(store, self.state + layout.memories[index] * store.stride, module.memories[index], number)
        if kind == "table":
            return Table(store, self.state + layout.tables[index] * store.stride, module.tables[index], number)
        return Global(store, self.state + layout.globals[index] * store.stride, module.globals[index], number)

    def __getattr__(self, name: str) -> Extern:
        exports = self.__dict__.get("exports", {})
        if name in exports:
            return exports[name]  # type: ignore[no-any-return]
        known = ", ".join(exports) or "nothing"
        raise AttributeError(f"the instance exports no {name!r}; it exports {known}")


__all__ = ["Function", "Instance"]
