"""wasmtime behind the interface of `lanewise.wasm`: the script runner is tested on it, and Lanewise is compared to it.

Its own Python classes know neither vectors nor the bits of a NaN, so that values pass through its C interface here.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import wasmtime
from wasmtime import _ffi as ffi

import lanewise
from lanewise import errors

KINDS = {
    wasmtime.TrapCode.STACK_OVERFLOW: "call stack exhausted",
    wasmtime.TrapCode.MEMORY_OUT_OF_BOUNDS: "out of bounds memory access",
    wasmtime.TrapCode.HEAP_MISALIGNED: "unaligned atomic",
    wasmtime.TrapCode.TABLE_OUT_OF_BOUNDS: "out of bounds table access",
    wasmtime.TrapCode.INDIRECT_CALL_TO_NULL: "uninitialized element",
    wasmtime.TrapCode.BAD_SIGNATURE: "indirect call type mismatch",
    wasmtime.TrapCode.INTEGER_OVERFLOW: "integer overflow",
    wasmtime.TrapCode.INTEGER_DIVISION_BY_ZERO: "integer divide by zero",
    wasmtime.TrapCode.BAD_CONVERSION_TO_INTEGER: "invalid conversion to integer",
    wasmtime.TrapCode.UNREACHABLE: "unreachable",
    wasmtime.TrapCode.ATOMIC_WAIT_NON_SHARED_MEMORY: "expected shared memory",
    wasmtime.TrapCode.NULL_REFERENCE: "null exception reference",
}
"""The words of the specification for each trap. wasmtime has one code for every access past the end of a table."""

SETTINGS = {
    "exceptions": "wasm_exceptions",
    "multi-memory": "wasm_multi_memory",
    "tail-calls": "wasm_tail_call",
    "threads": "wasm_threads",
}
"""What turns a feature on that wasmtime can do without; those of WebAssembly 2.0 are always on here."""
TYPES = {
    0x7F: "i32",
    0x7E: "i64",
    0x7D: "f32",
    0x7C: "f64",
    0x7B: "v128",
    0x70: "funcref",
    0x6F: "externref",
    0x69: "exnref",
}
WIDTHS = {"i32": 4, "i64": 8, "f32": 4, "f64": 8, "v128": 16}
KIND_OF = {"i32": 0, "i64": 1, "f32": 2, "f64": 3, "v128": 4}


@dataclass(frozen=True)
class FuncType:
    """The type of a function, in the names of `lanewise.wasm`."""

    params: tuple[str, ...]
    results: tuple[str, ...]


@dataclass
class Interface:
    """What a module says about its functions: wasmtime's C interface ends the process where a type names v128."""

    imports: list[tuple[str, str, int]] = field(default_factory=list)
    """Module, name and kind of each import; kinds are those of the binary format."""
    functions: list[FuncType] = field(default_factory=list)
    exports: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The kind and the index of each export."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def name(self) -> str:
        return self.take(self.number()).decode()

    def types(self) -> tuple[str, ...]:
        return tuple(self.type() for _ in range(self.number()))

    def type(self) -> str:
        code = self.number()
        if code in (0x63, 0x64):  # a reference type spelled out: (ref null HEAP) or (ref HEAP)
            code = self.number()
        return TYPES.get(code, "reference")

    def limits(self) -> None:
        if self.number() & 1:
            self.number()
        self.number()


def interface(data: bytes) -> Interface:
    """Read the imports, exports and function types of a module that is known to be valid."""
    found, types = Interface(), list[FuncType]()
    reader = _Reader(data)
    reader.take(8)
    while reader.at < len(data):
        section, body = reader.number(), _Reader(reader.take(reader.number()))
        for _ in range(body.number() if section in (1, 2, 3, 7) else 0):
            if section == 1:
                body.take(1)
                types.append(FuncType(body.types(), body.types()))
            elif section == 2:
                _read_import(body, types, found)
            elif section == 3:
                found.functions.append(types[body.number()])
            else:
                name = body.name()
                found.exports[name] = (body.number(), body.number())
    return found


def _read_import(body: _Reader, types: list[FuncType], found: Interface) -> None:
    module, name, kind = body.name(), body.name(), body.number()
    found.imports.append((module, name, kind))
    if kind == 0:
        found.functions.append(types[body.number()])
    elif kind == 1:
        body.type()
        body.limits()
    elif kind == 2:
        body.limits()
    elif kind == 3:
        body.type()
        body.number()
    else:
        body.take(1)
        body.number()


@functools.cache
def engine(features: frozenset[str] | None, canonical_nans: bool) -> wasmtime.Engine:
    """The engine that takes these features; all of them for None."""
    # wasmtime passes faults that are not its own on to the handler before its own; Lanewise does so once only, and must
    # therefore be there first.
    lanewise.device("cpu")
    config = wasmtime.Config()
    config.wasm_relaxed_simd = False
    config.shared_memory = True
    config.cranelift_nan_canonicalization = canonical_nans
    for feature, setting in SETTINGS.items():
        setattr(config, setting, features is None or feature in features)
    return wasmtime.Engine(config)


class Module:
    """A module that wasmtime has checked and compiled."""

    def __init__(self, data: bytes, compiled: wasmtime.Module) -> None:
        self.compiled = compiled
        self.interface = interface(data)

    @classmethod
    def load(
        cls,
        source: bytes | str | Path,
        features: frozenset[str] | None = None,
        canonical_nans: bool = False,
    ) -> Module:
        """Check and compile. wasmtime does not tell malformed from invalid: both are `InvalidError` here."""
        data = source if isinstance(source, bytes) else Path(source).read_bytes()
        try:
            return cls(data, wasmtime.Module(engine(features, canonical_nans), bytearray(data)))
        except wasmtime.WasmtimeError as error:
            raise errors.InvalidError(str(error), 0) from None


class Store:
    """Where instances live that link with each other."""

    def __init__(self, features: frozenset[str] | None = None, canonical_nans: bool = False) -> None:
        self.inner = wasmtime.Store(engine(features, canonical_nans))

    def instantiate(self, module: Module, imports: Mapping[str, Any] | None = None) -> Instance:
        """Link and start a module."""
        given = []
        for space, name, _ in module.interface.imports:
            exports = (imports or {}).get(space, {})
            exports = exports.exports if isinstance(exports, Instance) else exports
            if name not in exports:
                raise errors.LinkError(f"unknown import {space}.{name}")
            given.append(exports[name].inner)
        try:
            return Instance(self, module, wasmtime.Instance(self.inner, module.compiled, given))
        except wasmtime.Trap as trap:
            raise self.failure(trap) from None
        except wasmtime.WasmtimeError as error:
            raise self.take_exception() or errors.LinkError(str(error)) from None

    def failure(self, trap: wasmtime.Trap) -> Exception:
        """The exception that a trap of wasmtime becomes."""
        code = trap.trap_code
        if code is not None:
            return errors.WasmTrap(KINDS.get(code, code.name.lower().replace("_", " ")))
        return self.take_exception() or errors.WasmTrap(trap.message)

    def take_exception(self) -> errors.WasmException | None:
        """What was thrown and not caught; the store is free of it afterwards."""
        context, taken = self.inner._context(), ffi.wasmtime_exnref_t()
        if not ffi.wasmtime_context_take_exception(context, ctypes.byref(taken)):
            return None
        values = []
        for index in range(ffi.wasmtime_exnref_field_count(context, ctypes.byref(taken))):
            raw = ffi.wasmtime_val_t()
            ffi.wasmtime_exnref_field(context, ctypes.byref(taken), index, ctypes.byref(raw))
            values.append(
                bytes(raw.of.v128) if raw.kind == KIND_OF["v128"] else wasmtime.Val._from_raw(self.inner, raw).value
            )
        ffi.wasmtime_exnref_unroot(ctypes.byref(taken))
        return errors.WasmException("an exception was not caught", values=tuple(values))


class Instance:
    """A module linked with what it imports; `exports` by name."""

    def __init__(self, store: Store, module: Module, inner: wasmtime.Instance) -> None:
        self.exports: dict[str, Any] = {}
        for name, export in inner.exports(store.inner).items():
            kind, index = module.interface.exports[name]
            if kind == 0:
                self.exports[name] = Function(store, export, module.interface.functions[index])
            elif kind == 2:
                self.exports[name] = Memory(store, export)
            elif kind == 3:
                self.exports[name] = Global(store, export)
            else:
                self.exports[name] = Opaque(store, export)


class Opaque:
    """An export that can only be passed on: a table or a tag."""

    def __init__(self, store: Store, inner: Any) -> None:
        self.store = store
        self.inner = inner


class Global(Opaque):
    """A global."""

    @property
    def bits(self) -> Any:
        """The value as bits."""
        value = ffi.wasmtime_val_t()
        ffi.wasmtime_global_get(self.store.inner._context(), ctypes.byref(self.inner._global), ctypes.byref(value))
        return _bits_of(self.store, value)


class Memory(Opaque):
    """A linear memory, shared or not."""

    def read(self) -> bytes:
        """All of it."""
        if isinstance(self.inner, wasmtime.Memory):
            return bytes(self.inner.read(self.store.inner))
        size = self.inner.data_len()
        return ctypes.string_at(self.inner.data_ptr(), size) if size else b""


class Function(Opaque):
    """A function that takes and gives bits."""

    def __init__(self, store: Store, inner: wasmtime.Func, type_: FuncType) -> None:
        super().__init__(store, inner)
        self.type = type_

    def call_bits(self, args: Sequence[Any]) -> list[Any]:
        """Call it; a reference is None, a host's integer or an opaque object."""
        assert len(args) == len(self.type.params)
        given = (ffi.wasmtime_val_t * len(args))()
        for index, (type_, value) in enumerate(zip(self.type.params, args, strict=True)):
            given[index] = _value_of(self.store, type_, value)
        results = (ffi.wasmtime_val_t * len(self.type.results))()
        trap = ctypes.POINTER(ffi.wasm_trap_t)()
        context, function = self.store.inner._context(), ctypes.byref(self.inner._func)
        error = ffi.wasmtime_func_call(context, function, given, len(given), results, len(results), ctypes.byref(trap))
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)
        if trap:
            raise self.store.failure(wasmtime.Trap._from_ptr(trap))
        return [_bits_of(self.store, value) for value in results]


def _value_of(store: Store, type_: str, value: Any) -> ffi.wasmtime_val_t:
    if type_ == "externref":
        return wasmtime.Val.externref(value)._new_raw(store.inner)
    if type_ == "funcref":
        return wasmtime.Val.funcref(value)._new_raw(store.inner)
    raw = ffi.wasmtime_val_t(kind=KIND_OF[type_])
    ctypes.memmove(ctypes.byref(raw.of), value.to_bytes(WIDTHS[type_], "little"), WIDTHS[type_])
    return raw


def _bits_of(store: Store, value: ffi.wasmtime_val_t) -> Any:
    for type_, kind in KIND_OF.items():
        if value.kind == kind:
            return int.from_bytes(ctypes.string_at(ctypes.byref(value.of), WIDTHS[type_]), "little")
    if value.kind == ffi.WASMTIME_EXTERNREF.value and value.of.externref.store_id == 0:
        return None
    return wasmtime.Val._from_raw(store.inner, value).value
