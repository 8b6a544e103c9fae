"""Small programs for what the official suites lack: WebAssembly text, and calls with what must come of them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import wasmtime
from engines import Engine, call_in_order, call_one, describe

from lanewise.errors import WasmException, WasmTrap

FORMATS = {"f32": ("<f", "<I"), "f64": ("<d", "<Q")}
WIDTHS = {"i32": 32, "i64": 64, "v128": 128}


@dataclass(frozen=True)
class Trap:
    """The call traps, for this reason."""

    kind: str


@dataclass(frozen=True)
class Uncaught:
    """The call ends with an exception that nobody caught and that carries these values."""

    values: tuple[int | float, ...] = ()


Outcome = Sequence[int | float | None] | Trap | Uncaught
Call = tuple[str, Sequence[int | float | None], Outcome]
"""The name of an export, arguments, and results or how it ends; integers may be written signed or unsigned."""


@dataclass(frozen=True)
class Program:
    """Modules that are linked in order by the names they have here, and calls of the last one's exports in order."""

    name: str
    modules: Mapping[str, str]
    calls: Sequence[Call]


def program(name: str, text: str, *calls: Call) -> Program:
    """A program of one module."""
    return Program(name, {"main": text}, calls)


def assemble(text: str) -> bytes:
    """The binary form of a module in text form; wabt's assembler does not know the exceptions of WebAssembly 3.0."""
    return bytes(wasmtime.wat2wasm(text))


def link(engine: Engine, store: Any, modules: Mapping[str, str]) -> dict[str, Any]:
    """Instantiate modules in order, each with the exports of those before it."""
    instances: dict[str, Any] = {}
    for name, text in modules.items():
        instances[name] = store.instantiate(engine.load(assemble(text)), imports=dict(instances))
    return instances


def run(program: Program, engine: Engine) -> None:
    """Make the calls of a program one after the other and check each."""
    store = engine.new_store()
    exports = list(link(engine, store, program.modules).values())[-1].exports
    for call in program.calls:
        function = exports[call[0]]
        outcome = call_one(function, encode_all(function, call[1]))
        check(engine, function, call, outcome)


def run_at_once(program: Program, engine: Engine) -> None:
    """Hand all calls of a program to the store together: they must give what they give one after the other."""
    store = engine.new_store()
    exports = list(link(engine, store, program.modules).values())[-1].exports
    calls = [(exports[name], encode_all(exports[name], args)) for name, args, _ in program.calls]
    for call, outcome in zip(program.calls, call_in_order(store, calls), strict=True):
        check(engine, exports[call[0]], call, outcome)


def check(engine: Engine, function: Any, call: Call, outcome: Any) -> None:
    """Compare what came of a call with what must."""
    name, args, wanted = call
    shown = f"{name}({', '.join(map(str, args))}) gave {describe(outcome)}"
    if isinstance(wanted, Trap):
        assert isinstance(outcome, WasmTrap), shown
        assert engine.same_kind(outcome.kind, wanted.kind), shown
    elif isinstance(wanted, Uncaught):
        assert isinstance(outcome, WasmException), shown
        assert outcome.values == wanted.values, shown
    else:
        assert not isinstance(outcome, Exception), shown
        assert list(outcome) == [encode(*pair) for pair in zip(function.type.results, wanted, strict=True)], shown


def encode_all(function: Any, args: Sequence[Any]) -> list[Any]:
    """Arguments of a function as bits."""
    return [encode(type_, value) for type_, value in zip(function.type.params, args, strict=True)]


def encode(type_: str, value: Any) -> Any:
    """A value as bits; references stay what they are."""
    if type_ in FORMATS:
        number, bits = FORMATS[type_]
        return struct.unpack(bits, struct.pack(number, value))[0]
    if type_ in WIDTHS:
        return value & (1 << WIDTHS[type_]) - 1
    return value
