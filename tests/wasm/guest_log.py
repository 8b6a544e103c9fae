"""What random modules tell the outside: functions that fold all that they are given into one number.

They come as a WebAssembly module, which every engine and device can run, and as functions of the host. Any NaN counts
as the same.
"""

from __future__ import annotations

import math
import struct
from functools import cache
from typing import Any

import wasmtime
from engines import Engine

TEXT = """(module
  (global $log (export "log") (mut i64) (i64.const 0))
  (func $mix (param i64)
    (global.set $log
      (i64.mul (i64.xor (i64.rotl (global.get $log) (i64.const 7)) (local.get 0)) (i64.const 0x9e3779b97f4a7c15))))
  (func (export "log-i32") (param i32) (call $mix (i64.extend_i32_u (local.get 0))))
  (func (export "log-i64") (param i64) (call $mix (local.get 0)))
  (func (export "log-f32") (param f32)
    (call $mix (i64.extend_i32_u (select (i32.reinterpret_f32 (local.get 0)) (i32.const -1)
      (f32.eq (local.get 0) (local.get 0))))))
  (func (export "log-f64") (param f64)
    (call $mix (select (i64.reinterpret_f64 (local.get 0)) (i64.const -1) (f64.eq (local.get 0) (local.get 0)))))
  (func (export "log-v128") (param v128)
    (call $mix (i64x2.extract_lane 0 (local.get 0))) (call $mix (i64x2.extract_lane 1 (local.get 0)))))"""

TYPES = ("i32", "i64", "f32", "f64", "v128")


@cache
def binary() -> bytes:
    """The binary form of the module."""
    return bytes(wasmtime.wat2wasm(TEXT))


class GuestLog:
    """The log as an instance."""

    def __init__(self, engine: Engine, store: Any) -> None:
        self.imports = store.instantiate(engine.load(binary()), imports={})

    @property
    def value(self) -> int:
        """What has been folded so far."""
        return int(self.imports.exports["log"].bits)


class HostLog:
    """The same log as functions of the host, which Lanewise calls with Python numbers and 16 bytes for a vector."""

    def __init__(self, engine: Engine, store: Any) -> None:
        from lanewise.wasm import FuncType

        self.value = 0
        self.imports = {
            f"log-{type_}": store.host_function(
                FuncType((type_,), ()), lambda value, type_=type_: self.add(type_, value)
            )
            for type_ in TYPES
        }

    def add(self, type_: str, value: Any) -> None:
        """Fold a value."""
        for word in words_of(type_, value):
            turned = (self.value << 7 | self.value >> 57) & 2**64 - 1
            self.value = (turned ^ word) * 0x9E3779B97F4A7C15 & 2**64 - 1


def words_of(type_: str, value: Any) -> tuple[int, ...]:
    """A value as the module above folds it."""
    if type_ == "v128":
        return struct.unpack("<QQ", value)
    if type_ in ("i32", "i64"):
        return (value & (1 << int(type_[1:])) - 1,)
    if math.isnan(value):
        return ((1 << int(type_[1:])) - 1,)
    number, bits = {"f32": ("<f", "<I"), "f64": ("<d", "<Q")}[type_]
    return struct.unpack(bits, struct.pack(number, value))
