"""Finding what a module imports, and whether what is given fits."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lanewise.errors import ArgumentError, LinkError, shown
from lanewise.wasm.describe import known_names, shown_name
from lanewise.wasm.externs import Extern, Function, Global, Memory, Table, Tag
from lanewise.wasm.foreign import explain_import
from lanewise.wasm.model import FuncType, GlobalType, Import, Limits, MemoryType, Module, TableType, TagType
from lanewise.wasm.values import to_host

if TYPE_CHECKING:
    from lanewise.wasm.store import Store


def match_imports(store: Store, module: Module, imports: Mapping[str, Any]) -> list[Extern]:
    """What to give a module for each of its imports, in order; raises LinkError for the first that does not fit."""
    if not isinstance(imports, Mapping):
        raise LinkError(f"imports is a {type(imports).__name__}; {_FORM}")
    return [_find(store, wanted, imports) for wanted in module.imports]


_FORM = 'give a mapping of module names to mappings of names, as in imports={"env": {"log": print}}'


def _find(store: Store, wanted: Import, imports: Mapping[str, Any]) -> Extern:
    where = f"{shown_name(wanted.module)}.{shown_name(wanted.name)}"
    if wanted.module not in imports:
        raise LinkError(_missing(where, wanted, wanted.module, imports, "modules"))
    source = imports[wanted.module]
    names = getattr(source, "exports", source)
    if not isinstance(names, Mapping):
        found = "None" if source is None else f"a {type(source).__name__}"
        raise LinkError(f"imports[{wanted.module!r}] is {found}; {_FORM}")
    if wanted.name not in names:
        raise LinkError(_missing(where, wanted, wanted.name, names, f"names in {wanted.module!r}"))
    return _fit(store, wanted, names[wanted.name], where)


def _fit(store: Store, wanted: Import, given: Any, where: str) -> Extern:
    """What is given as what is wanted; numbers and Python functions become part of the store."""
    if isinstance(wanted.type, FuncType) and callable(given) and not isinstance(given, Function):
        return store.host_function(wanted.type, HostImport(where, wanted.type, given), where)
    if isinstance(wanted.type, GlobalType) and isinstance(given, numbers.Real):
        if wanted.type.mutable:
            raise LinkError(f"incompatible import type: {where} is to be {_global(wanted.type)}, which a number is not")
        try:
            return store.constant(wanted.type, given)
        except ArgumentError as error:
            raise LinkError(f"incompatible import type: {where}: {error}") from None
    if not isinstance(given, Function | Memory | Table | Global | Tag):
        raise LinkError(f"incompatible import type: {where} is to be a {wanted.kind}, not {type(given).__name__}")
    if given.store is not store:
        raise LinkError(
            f"{where} belongs to another store; instances that share things are made in one: Store(...).instantiate"
        )
    reason = _mismatch(wanted.type, given)
    if reason:
        raise LinkError(f"incompatible import type: {where} {reason}")
    return given


class HostImport:
    """A Python function as guests call it: what it gives must be what the module was told."""

    def __init__(self, where: str, kind: FuncType, function: Callable[..., Any]) -> None:
        self._where = where
        self._kind = kind
        self._function = function

    def __call__(self, *args: Any) -> Any:
        """Call the function and check how many results it gives, and that each fits."""
        result = self._function(*args)
        kinds = self._kind.results
        if not kinds:
            return None
        if len(kinds) == 1:
            values = [result]
        elif isinstance(result, tuple | list):
            values = list(result)
        else:
            raise ArgumentError(f"{self._where} is to give a tuple of {len(kinds)} results, it gave {shown(result)}")
        if len(values) != len(kinds):
            raise ArgumentError(f"{self._where} is to give {len(kinds)} results, it gave {len(values)}")
        for at, (one, value) in enumerate(zip(kinds, values, strict=True)):
            if not one.endswith("ref"):
                to_host.bits_of(None, one, value, f"result {at + 1} of {self._where}")
        return result


def _missing(where: str, wanted: Import, name: str, known: Mapping[str, Any], what: str) -> str:
    message = f"unknown import: {where}, a {wanted.kind}" + (
        f" of type {wanted.type}" if wanted.kind == "function" else ""
    )
    odd = [key for key in known if not isinstance(key, str)]
    if odd:
        message += f"; the {what} given are to be strings, not {shown(odd[0])}: {_FORM}"
    elif known:
        message += f"; {known_names(name, known, f'the {what} given are')}"
    else:
        message += "; nothing is given: pass imports={...}" if what == "modules" else f"; there are no {what}"
    hint = explain_import(wanted.module, wanted.name, wanted.type)
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
