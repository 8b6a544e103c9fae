"""An instance of a module: its state on the device and what it exports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lanewise.errors import ArgumentError
from lanewise.wasm import describe, state
from lanewise.wasm.externs import Extern, Function, Global, Memory, Table, Tag
from lanewise.wasm.model import Module

if TYPE_CHECKING:
    from lanewise.wasm.store import Store


class Exports(dict[str, Any]):
    """What an instance exports, by name; a name that it has not is told with those that it has."""

    def __missing__(self, name: object) -> Any:
        raise ArgumentError(_no_export(name, self))


class Instance:
    """A module with memory of its own; `exports` is what others may use of it.

    What is exported is also an attribute, unless its name is one that instances have themselves. Calls from several
    threads take turns.
    """

    def __init__(self, store: Store, module: Module, address: int) -> None:
        self.store = store
        self.module = module
        self.state = address
        self.exports: dict[str, Any] = Exports()

    def bind(self, given: list[Extern]) -> None:
        """Make the objects that stand for the exports; what is imported is exported as it is."""
        imported: dict[str, list[Extern]] = {}
        for extern in given:
            imported.setdefault(extern.kind, []).append(extern)
        made: dict[tuple[str, int], Extern] = {}
        for export in self.module.exports:
            key = (export.kind, export.index)
            if key not in made:
                own = imported.get(export.kind, [])
                made[key] = own[export.index] if export.index < len(own) else self._make(export.kind, export.index)
            self.exports[export.name] = made[key]

    def _make(self, kind: str, index: int) -> Extern:
        layout, module, store = state.StateLayout(self.module), self.module, self.store
        base = store.read_cell(self.state, state.BASE)
        number = base >> 32
        if kind == "function":
            return store.function_of(base + index - module.imported_functions)
        if kind == "tag":
            return Tag(store, store.read_cell(self.state, layout.tags + index), module.tags[index], number)
        if kind == "memory":
            return Memory(store, self.state + layout.memories[index] * store.stride, module.memories[index], number)
        if kind == "table":
            return Table(store, self.state + layout.tables[index] * store.stride, module.tables[index], number)
        return Global(store, self.state + layout.globals[index] * store.stride, module.globals[index], number)

    def __getattr__(self, name: str) -> Any:
        exports = self.__dict__.get("exports", {})
        if name in exports:
            return exports[name]
        raise AttributeError(_no_export(name, exports))

    def __setattr__(self, name: str, value: Any) -> None:
        # An attribute of that name would hide the export, while the guest goes on with what it has.
        exported = self.__dict__.get("exports", {}).get(name)
        if exported is not None and name not in self.__dict__:
            settable = isinstance(exported, Global) and exported.type.mutable
            hint = f'; write instance.exports["{name}"].value = ...' if settable else ""
            raise AttributeError(
                f"{name!r} is a {exported.kind} that the instance exports; it cannot be replaced{hint}"
            )
        super().__setattr__(name, value)

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *(name for name in self.exports if name.isidentifier())]

    def _title(self) -> str:
        name = self.module.names.module
        return f"WebAssembly instance{' of ' + describe.shown_name(name) if name else ''} on {self.store.device.name}"

    def __repr__(self) -> str:
        return describe.as_text(self._title(), describe.export_rows(self.module))

    def _repr_html_(self) -> str:
        return describe.as_html(self._title(), describe.export_rows(self.module))


def _no_export(name: object, exports: Iterable[str]) -> str:
    return f"the instance exports no {name!r}; {describe.known_names(name, exports, 'it exports')}"


__all__ = ["Exports", "Function", "Instance"]
