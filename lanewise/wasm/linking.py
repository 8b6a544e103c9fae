"""Finding what a module imports, and whether what is given fits."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lanewise.errors import LinkError
from lanewise.wasm.externs import Extern, Function, Global, Memory, Table, Tag
from lanewise.wasm.foreign import explain_import
from lanewise.wasm.model import FuncType, GlobalType, Import, Limits, MemoryType, Module, TableType, TagType

if TYPE_CHECKING:
    from lanewise.wasm.store import Store


def match_imports(store: Store, module: Module, imports: Mapping[str, Any]) -> list[Extern]:
    """What to give a module for each of its imports, in order; raises LinkError for the first that does not fit."""
    return [_find(store, wanted, imports) for wanted in module.imports]


def _find(store: Store, wanted: Import, imports: Mapping[str, Any]) -> Extern:
    where = f"{wanted.module}.{wanted.name}"
    source = imports.get(wanted.module)
    if source is None:
        raise LinkError(_missing(where, wanted, wanted.module, list(imports), "modules"))
    names: Mapping[str, Any] = getattr(source, "exports", source)
    if wanted.name not in names:
        raise LinkError(_missing(where, wanted, wanted.name, list(names), f"names in {wanted.module!r}"))
    given = names[wanted.name]
    if callable(given) and not isinstance(given, Function) and isinstance(wanted.type, FuncType):
        return store.host_function(wanted.type, given, where)
    if isinstance(given, int | float) and isinstance(wanted.type, GlobalType) and not wanted.type.mutable:
        return store.constant(wanted.type, given)
    if not isinstance(given, Function | Memory | Table | Global | Tag):
        raise LinkError(f"incompatible import type: {where} is to be a {wanted.kind}, not {type(given).__name__}")
    if not isinstance(given, Tag) and given.store is not store:
        raise LinkError(f"{where} belongs to another store; instances that share things must be made in one store")
    reason = _mismatch(wanted.type, given)
    if reason:
        raise LinkError(f"incompatible import type: {where} {reason}")
    return given


def _missing(where: str, wanted: Import, name: str, known: list[str], what: str) -> str:
    message = f"unknown import: {where}, a {wanted.kind}" + (f" of type {wanted.type}" if wanted.kind == "function" else "")
    near = difflib.get_close_matches(name, known, 1)
    if near:
        message += f"; did you mean {near[0]!r}?"
    elif known:
        message += f"; the {what} given are {', '.join(sorted(known)[:12])}"
    else:
        message += "; nothing is given: pass imports={...}"
    hint = explain_import(wanted.module, wanted.name)
    return f"{message}. {hint}" if hint else message


def _mismatch(wanted: Any, given: Extern) -> str:
    """Why what is given does not fit, or nothing."""
    if type(wanted) is not type(given.type):
        return f"is to be a {_WORDS[type(wanted)]}, not a {given.kind}"
    if isinstance(wanted, FuncType | TagType):
        return "" if wanted == given.type else f"is to have type {wanted}, not {given.type}"
    if isinstance(wanted, GlobalType):
        return "" if wanted == given.type else f"is to be {_global(wanted)}, not {_global(given.type)}"
    if isinstance(wanted, TableType):
        if wanted.element != given.type.element:  # type: ignore[union-attr]
            return f"is to be a table of {wanted.element}, not of {given.type.element}"  # type: ignore[union-attr]
        return _limits(wanted.limits, given.type.limits)  # type: ignore[union-attr]
    assert isinstance(wanted, MemoryType)
    if wanted.shared != given.type.shared:  # type: ignore[union-attr]
        return "is to be a shared memory" if wanted.shared else "is not to be a shared memory"
    return _limits(wanted.limits, given.type.limits)  # type: ignore[union-attr]


_WORDS = {FuncType: "function", TagType: "tag", GlobalType: "global", TableType: "table", MemoryType: "memory"}


def _global(kind: Any) -> str:
    return f"a {'mutable ' if kind.mutable else 'constant '}{kind.value}"


def _limits(wanted: Limits, given: Limits) -> str:
    if given.minimum < wanted.minimum:
        return f"is to have {wanted.minimum} at least, it has {given.minimum}"
    if wanted.maximum is not None and (given.maximum is None or given.maximum > wanted.maximum):
        most = "no bound" if given.maximum is None else str(given.maximum)
        return f"is to grow to {wanted.maximum} at most, its bound is {most}"
    return ""
