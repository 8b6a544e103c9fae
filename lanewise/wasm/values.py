"""Numbers on their way between Python and guests: bits in cells of 8 bytes, checked for type and range."""

from __future__ import annotations

import numbers
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lanewise.errors import ArgumentError, shown
from lanewise.wasm import state

if TYPE_CHECKING:
    from lanewise.wasm.store import Store


def pack_bits(kinds: Sequence[str], bits: Sequence[int]) -> bytes:
    """Values as guests take them from memory: each in one cell, v128 in two."""
    return b"".join(
        (value & ((1 << 64 * state.cells_of(kind)) - 1)).to_bytes(8 * state.cells_of(kind), "little")
        for kind, value in zip(kinds, bits, strict=True)
    )


_MASKS = {"i32": 2**32 - 1, "f32": 2**32 - 1}


def unpack_bits(kinds: Sequence[str], data: bytes) -> list[int]:
    """The bits of values that guests left in memory."""
    found, at = [], 0
    for kind in kinds:
        size = 8 * state.cells_of(kind)
        found.append(int.from_bytes(data[at : at + size], "little") & _MASKS.get(kind, (1 << 8 * size) - 1))
        at += size
    return found


class HostValues:
    """How Python values become bits, and bits Python values. Integers come out signed."""

    def bits_of(self, store: Store | None, kind: str, value: Any, what: str) -> int:
        """The bits of a Python value of a WebAssembly type; raises ArgumentError if it does not fit.

        References are those of a store; for numbers there need not be one.
        """
        if kind in ("i32", "i64"):
            size = int(kind[1:])
            if not isinstance(value, numbers.Integral | np.bool_):
                raise ArgumentError(f"{what} is {shown(value)}; {kind} takes a whole number")
            number = int(value)
            if not -(1 << (size - 1)) <= number < 1 << size:
                raise ArgumentError(f"{what} is {number}, which does not fit {kind}")
            return number & ((1 << size) - 1)
        if kind in ("f32", "f64"):
            if not isinstance(value, numbers.Real | np.bool_):
                raise ArgumentError(f"{what} is {shown(value)}; {kind} takes a number")
            return _number_bits(kind, value, what)
        if kind == "v128":
            if isinstance(value, bytes | bytearray) and len(value) == 16:
                return int.from_bytes(value, "little")
            if isinstance(value, numbers.Integral) and 0 <= int(value) < 1 << 128:
                return int(value)
            raise ArgumentError(f"{what} is {shown(value)}; v128 takes 16 bytes or a whole number of 128 bits")
        assert store is not None
        return self.reference_bits(store, kind, value)

    def value_of(self, store: Store, kind: str, bits: int) -> Any:
        """The Python value of bits."""
        if kind in ("i32", "i64"):
            size = int(kind[1:])
            return bits - (1 << size) if bits >> (size - 1) else bits
        if kind == "f32":
            return struct.unpack("<f", struct.pack("<I", bits))[0]
        if kind == "f64":
            return struct.unpack("<d", struct.pack("<Q", bits))[0]
        if kind == "v128":
            return bits.to_bytes(16, "little")
        return self.reference_value(store, kind, bits)

    def reference_bits(self, store: Store, kind: str, value: Any) -> int:
        """The number that guests know a reference by."""
        if value is None:
            return 0
        if kind == "funcref":
            reference = getattr(value, "reference", None)
            if reference is None or value.store is not store:
                raise ArgumentError(f"{shown(value)} is no function of this store")
            return int(reference)
        if kind == "externref":
            return store.intern(value)
        raise ArgumentError(f"a value of type {kind} cannot come from the host")

    def reference_value(self, store: Store, kind: str, bits: int) -> Any:
        """What the host knows a reference by."""
        if bits == 0:
            return None
        if kind == "funcref":
            return store.function_of(bits)
        if kind == "externref":
            return store.interned(bits)
        return bits


def _number_bits(kind: str, value: Any, what: str) -> int:
    """The bits of a number as a float: whole numbers must be kept whole, others are rounded."""
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    bits = _float_bits(kind, number)
    if isinstance(value, numbers.Integral):
        held = struct.unpack("<f", struct.pack("<I", bits))[0] if kind == "f32" else number
        if held != int(value):
            raise ArgumentError(f"{what} is {shown(int(value))}, which {kind} cannot hold exactly")
    return bits


def _float_bits(kind: str, value: float) -> int:
    if kind == "f64":
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])
    try:
        return int(struct.unpack("<I", struct.pack("<f", value))[0])
    except OverflowError:  # beyond the largest f32, as rounding has it
        return 0x7F800000 if value > 0 else 0xFF800000


to_host = HostValues()
