"""The module of the benchmark `wasm-map`: a quadratic surface, ten instructions of arithmetic on two numbers."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

A, B, C, D, E, F = 0.75, -1.25, 0.5, 2.0, -0.375, 1.5

Floats = np.ndarray[Any, np.dtype[np.float64]]

_MUL, _ADD = b"\xa2", b"\xa0"  # f64.mul, f64.add
_X, _Y = b"\x20\x00", b"\x20\x01"  # local.get 0, local.get 1


def surface(x: float, y: float) -> float:
    """Five products and five sums; written so that NumPy, Numba and the module do them in one order."""
    return A + x * (B + D * x + E * y) + y * (C + F * y)


def surface_module() -> bytes:
    """A module that exports surface(f64, f64) -> f64."""
    inner_x = _const(B) + _const(D) + _X + _MUL + _ADD + _const(E) + _Y + _MUL + _ADD
    inner_y = _const(C) + _const(F) + _Y + _MUL + _ADD
    code = _const(A) + _X + inner_x + _MUL + _ADD + _Y + inner_y + _MUL + _ADD
    body = b"\x00" + code + b"\x0b"  # no locals; end
    name = b"surface"
    return b"\0asm\1\0\0\0" + b"".join((
        _section(1, b"\x01\x60\x02\x7c\x7c\x01\x7c"),  # one type: (f64, f64) -> f64
        _section(3, b"\x01\x00"),  # one function, of that type
        _section(7, bytes([1, len(name)]) + name + b"\x00\x00"),  # which is exported
        _section(10, bytes([1, len(body)]) + body),
    ))  # fmt: skip


def _const(value: float) -> bytes:
    return b"\x44" + struct.pack("<d", value)


def _section(number: int, content: bytes) -> bytes:
    assert len(content) < 128, "sizes of one byte are all that this writes"
    return bytes([number, len(content)]) + content
