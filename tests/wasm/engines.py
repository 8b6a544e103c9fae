"""Engines behind one small interface: Lanewise on its devices, and wasmtime, which is known to be right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lanewise.errors import InvalidError, MalformedError

VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "cpu": (
        {"level": 0},
        {"level": 1},
        {"level": 3},
        {"checks": "guard"},
        {"checks": "explicit"},
        {"fuel": 1 << 40},
        {"layout": "interleaved"},
        {"meeting": True},
    ),
    "cuda": ({"layout": "interleaved"}, {"meeting": True}),
}
"""For each device, options of a store that must not change what a program does."""


@dataclass(frozen=True)
class Engine:
    """What runs a script. The hooks let an engine be tested that says less than Lanewise does."""

    load: Callable[[bytes], Any]
    new_store: Callable[[], Any]
    malformed: type[MalformedError] = MalformedError
    """What `load` raises for a module that cannot be read; `InvalidError` is for one that can."""
    same_kind: Callable[[str, str], bool] = lambda kind, text: kind.startswith(text) or text.startswith(kind)


def lanewise_engine(device: str, features: frozenset[str] | None = None, **options: Any) -> Engine:
    """Lanewise on a device, with these features beyond WebAssembly 2.0; None is all that it has."""
    from lanewise import wasm
    from lanewise.wasm.model import WEBASSEMBLY_2

    allowed = None if features is None else WEBASSEMBLY_2 | features
    return Engine(
        load=lambda data: wasm.Module.load(data, features=allowed),
        new_store=lambda: wasm.Store(device, **options),
    )


def wasmtime_engine(features: frozenset[str] | None = None, canonical_nans: bool = False) -> Engine:
    """wasmtime, which has one name for malformed and invalid, and one for calls and accesses past a table's end."""
    import wasmtime_engine

    def same_kind(kind: str, text: str) -> bool:
        text = "out of bounds table access" if text == "undefined element" else text
        return text.startswith(kind)

    return Engine(
        load=lambda data: wasmtime_engine.Module.load(data, features, canonical_nans),
        new_store=lambda: wasmtime_engine.Store(features, canonical_nans),
        malformed=InvalidError,
        same_kind=same_kind,
    )


def call_in_order(store: Any, calls: Sequence[tuple[Any, list[Any]]]) -> Sequence[Any]:
    """The results of each call or what it raised; at once where the store can do that."""
    if calls and hasattr(store, "call_many"):
        try:
            return store.call_many(calls)
        except Exception as error:  # the calls' own traps are in the list: this is a fault of the engine
            return [error] * len(calls)
    return [call_one(function, args) for function, args in calls]


def call_one(function: Any, args: list[Any]) -> Any:
    """The results of a call or what it raised."""
    try:
        return function.call_bits(args)
    except Exception as error:
        return error


def describe(outcome: Any) -> str:
    """An outcome of a call in one line."""
    if isinstance(outcome, Exception):
        return f"{type(outcome).__name__}: {outcome}".partition("\n")[0]
    return "[" + ", ".join(hex(value) if isinstance(value, int) else str(value) for value in outcome) + "]"
