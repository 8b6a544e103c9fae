"""Memories whose interleaved addresses do not fit 32 bits."""

import re

import pytest
import wasmtime

from lanewise.wasm import Module
from lanewise.wasm.build import gpu_build
from lanewise.wasm.lanes import LaneProgram

FITS = 1 << 27
"""Bytes of a memory that 32 lanes can have so many of in 4 GiB."""
TEXT = """(module (memory 1)
  (func (export "f") (param $to i32) (result i32)
    (drop (memory.grow (i32.const 8000)))
    (i32.store (local.get $to) (i32.const 1))
    (i32.load (i32.add (local.get $to) (i32.const 65536)))))"""


@pytest.mark.parametrize("layout", ["interleaved", "words"])
@pytest.mark.parametrize(("reserve", "narrow"), [(0, True), (FITS, True), (FITS + 65536, False), (1 << 32, False)])
def test_addresses_have_64_bits_where_a_memory_may_grow_so_far(layout, reserve, narrow):
    """Else 128 MiB further on would be the same place."""
    model = Module.load(bytes(wasmtime.wat2wasm(TEXT))).model
    build = gpu_build(lanes=True, layout=layout, alignment="exit", reserve=reserve)
    (part,) = LaneProgram(model, 0, build, (False,)).parts(1)
    (function,) = re.findall(r"^define [^\n]*@g_f0\(.*?^}", part.ir, re.MULTILINE | re.DOTALL)
    assert ("shl nuw i32" in function) == narrow
