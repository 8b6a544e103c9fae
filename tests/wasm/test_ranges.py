"""memory.fill, memory.copy and memory.init do what they should at any address, of any length, in any layout."""

import numpy as np
import pytest
import wasmtime

import lanewise as lw

SIZE = 160
"""Bytes of memory that take part."""
SEGMENT = bytes(range(100, 200))
ESCAPED = "".join(rf"\{byte:02x}" for byte in SEGMENT)
TEXT = f"""(module (memory 1)
  (data $d "{ESCAPED}")
  (func (export "f") (param $op i32) (param $to i32) (param $from i32) (param $count i32) (result i64)
    (local $i i32) (local $sum i64)
    (loop $set
      (i32.store8 (local.get $i) (i32.add (i32.mul (local.get $i) (i32.const 7)) (i32.const 3)))
      (br_if $set (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const {SIZE}))))
    (if (i32.eq (local.get $op) (i32.const 0))
      (then (memory.fill (local.get $to) (local.get $from) (local.get $count))))
    (if (i32.eq (local.get $op) (i32.const 1))
      (then (memory.copy (local.get $to) (local.get $from) (local.get $count))))
    (if (i32.eq (local.get $op) (i32.const 2))
      (then (memory.init $d (local.get $to) (local.get $from) (local.get $count))))
    (local.set $i (i32.const 0))
    (loop $add
      (local.set $sum (i64.add (i64.mul (local.get $sum) (i64.const 1099511628211))
        (i64.load8_u (local.get $i))))
      (br_if $add (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const {SIZE}))))
    (local.get $sum)))"""


def wanted(op, to, origin, count):
    memory = bytearray((at * 7 + 3) & 255 for at in range(SIZE))
    source = (bytes([origin & 255]) * count, memory[origin : origin + count], SEGMENT[origin : origin + count])[op]
    memory[to : to + count] = source
    total = 0
    for byte in memory:
        total = (total * 1099511628211 + byte) & (2**64 - 1)
    return total - 2**64 if total >= 2**63 else total


def cases():
    rng = np.random.default_rng(5)
    for op in range(3):
        room = len(SEGMENT) if op == 2 else SIZE
        for to in range(20):
            for count in (0, 1, 7, 8, 9, 15, 16, 17, 23, 24, 31, 64, 65):
                for origin in (to, to + 8, to + 3, max(0, to - 8), max(0, to - 5), int(rng.integers(0, 30))):
                    if op == 0 or origin + count <= room:
                        yield op, to, origin, count


@pytest.mark.parametrize("layout", ["flat", "interleaved", "words"])
def test_ranges_of_bytes_are_filled_copied_and_initialised(layout, device):
    given = np.array(list(cases()), np.int32)
    function = lw.load(bytes(wasmtime.wat2wasm(TEXT))).func("f", device=device, layout=layout)
    found = function(*given.T)
    expected = [wanted(*map(int, case)) for case in given]
    wrong = [
        (tuple(case), one) for case, one, right in zip(given.tolist(), found, expected, strict=True) if one != right
    ]
    assert not wrong, f"{len(wrong)} of {len(given)}, first {wrong[0]}"
