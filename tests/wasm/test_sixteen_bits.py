"""16-bit lanes where assemblers err: negation of the lowest number, sums with constants that are half zero."""

import struct

import numpy as np
import pytest
import wasmtime

from lanewise.wasm import Module, Store

EDGES = (0, 1, -1, 127, -128, 32767, -32767, -32768)
CONSTANT = (0, -32768, 0, -128, -3382, -3767, 5, 0)


def saturated(value):
    return np.clip(value, -32768, 32767)


def wrapped(value):
    return np.asarray(value).astype(np.uint16).astype(np.int16).astype(np.int32)


def le(a, b):
    return np.where(a <= b, -1, 0)


CASES = {
    "neg": ("(i16x8.neg (local.get 0))", lambda x, c: wrapped(-x)),
    "abs": ("(i16x8.abs (local.get 0))", lambda x, c: wrapped(abs(x))),
    "neg, then compared": ("(i16x8.le_s (i16x8.neg (local.get 0)) (local.get 0))", lambda x, c: le(wrapped(-x), x)),
    "abs, then compared": ("(i16x8.le_s (i16x8.abs (local.get 0)) (local.get 0))", lambda x, c: le(wrapped(abs(x)), x)),
    "neg, then added": ("(i16x8.add_sat_s (i16x8.neg (local.get 0)) C)", lambda x, c: saturated(wrapped(-x) + c)),
    "add": ("(i16x8.add (local.get 0) C)", lambda x, c: wrapped(x + c)),
    "sub": ("(i16x8.sub (local.get 0) C)", lambda x, c: wrapped(x - c)),
    "add_sat_s": ("(i16x8.add_sat_s C (local.get 0))", lambda x, c: saturated(x + c)),
    "add_sat_s, then compared": (
        "(i16x8.le_s (i16x8.add_sat_s C (local.get 0)) (local.get 0))",
        lambda x, c: le(saturated(x + c), x),
    ),
    "sub_sat_s": ("(i16x8.sub_sat_s (local.get 0) C)", lambda x, c: saturated(x - c)),
    "min_s": ("(i16x8.min_s (local.get 0) C)", np.minimum),
    "max_s": ("(i16x8.max_s (local.get 0) C)", np.maximum),
    "min_u": (
        "(i16x8.min_u (local.get 0) C)",
        lambda x, c: wrapped(np.minimum(x.astype(np.uint16), c.astype(np.uint16))),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_sixteen_bit_lanes_are_exact(name, device):
    body, reference = CASES[name]
    constant = f"(v128.const i16x8 {' '.join(map(str, CONSTANT))})"
    text = f'(module (func (export "f") (param v128) (result v128) {body.replace("C", constant)}))'
    instance = Store(device).instantiate(Module.load(bytes(wasmtime.wat2wasm(text))))
    for turn in range(len(EDGES)):
        lanes = np.roll(np.array(EDGES), turn)
        (bits,) = instance.exports["f"].call_bits([int.from_bytes(struct.pack("<8h", *lanes), "little")])
        found = struct.unpack("<8h", bits.to_bytes(16, "little"))
        assert found == tuple(int(v) for v in reference(lanes, np.array(CONSTANT))), lanes
