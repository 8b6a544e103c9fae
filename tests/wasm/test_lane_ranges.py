"""Instructions on ranges do in each lane what they do in a lane alone, whoever does them on a GPU."""

import numpy as np
import pytest
import wasmtime

import lanewise as lw


@pytest.fixture
def device(lane_device):
    return lane_device


BYTES = 4096
DATA = bytes(range(1, 200))
TEXT = "".join(f"\\{byte:02x}" for byte in DATA)
RANGES = wasmtime.wat2wasm(f"""(module (memory 1 1) (data $some "{TEXT}")
  (func (export "run") (param $kind i32) (param $into i32) (param $from i32) (param $count i32) (result i64)
    (local $i i32) (local $hash i64)
    (loop $each (i32.store8 (local.get $i) (i32.mul (local.get $i) (i32.const 7)))
      (br_if $each (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const {BYTES}))))
    (if (i32.eq (local.get $kind) (i32.const 0))
      (then (memory.copy (local.get $into) (local.get $from) (local.get $count))))
    (if (i32.eq (local.get $kind) (i32.const 1))
      (then (memory.fill (local.get $into) (local.get $from) (local.get $count))))
    (if (i32.eq (local.get $kind) (i32.const 2))
      (then (memory.init $some (local.get $into) (i32.and (local.get $from) (i32.const 63))
        (i32.and (local.get $count) (i32.const 127)))))
    (local.set $i (i32.const 0))
    (loop $each (local.set $hash (i64.add (i64.mul (local.get $hash) (i64.const 31))
        (i64.load8_u (local.get $i))))
      (br_if $each (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const {BYTES}))))
    (local.get $hash)))""")


def wanted(kind: int, into: int, start: int, count: int) -> int:
    memory = bytearray(at * 7 & 255 for at in range(BYTES))
    if kind == 0:
        memory[into : into + count] = memory[start : start + count]
    elif kind == 1:
        memory[into : into + count] = bytes([start & 255]) * count
    else:
        first, length = start & 63, count & 127
        memory[into : into + length] = DATA[first : first + length]
    found = 0
    for byte in memory:
        found = (found * 31 + byte) & (1 << 64) - 1
    return found - (1 << 64) if found >> 63 else found


@pytest.mark.parametrize(
    "place", ["flat/32/all", "flat/8/64", "flat/1/32", "interleaved/32/32", "words/32/32", "words/8/64"]
)
@pytest.mark.parametrize("alike", [True, False], ids=["all the same", "each its own"])
def test_ranges_of_lanes(place, alike, device):
    chosen = np.random.default_rng(5)
    lanes = 150
    kinds = np.zeros(lanes) if alike else chosen.integers(0, 3, lanes)
    counts = np.full(lanes, 700) if alike else chosen.integers(0, 900, lanes)
    into, start = chosen.integers(0, 1000, lanes), chosen.integers(0, 1000, lanes)  # many overlap
    into[::3] = start[::3] + 8 * chosen.integers(-5, 6, len(into[::3])) + 48  # by whole cells, by few of them
    given = [one.astype(np.int32) for one in (kinds, into, start, counts)]
    found = lw.load(RANGES).func("run", device=device, placement=place)(*given)
    assert found.tolist() == [wanted(*map(int, one)) for one in zip(*given, strict=True)]
