"""Memory in words: numbers of every width are where they belong, at every alignment, up to the last byte."""

import numpy as np
import pytest
import wasmtime

import lanewise as lw


@pytest.fixture
def device(lane_device):
    return lane_device


BYTES = 65536
STORES = {
    "i32.store8": "i32.wrap_i64 (local.get $value)",
    "i32.store16": "i32.wrap_i64 (local.get $value)",
    "i32.store": "i32.wrap_i64 (local.get $value)",
    "i64.store32": "local.get $value",
    "i64.store": "local.get $value",
    "f32.store": "f32.reinterpret_i32 (i32.wrap_i64 (local.get $value))",
    "f64.store": "f64.reinterpret_i64 (local.get $value)",
    "v128.store": "i64x2.splat (local.get $value)",
}
LOADS = {
    "i64.load8_s": "{}",
    "i64.load16_u": "{}",
    "i64.load32_s": "{}",
    "i64.load": "{}",
    "i32.load": "(i64.extend_i32_u {})",
    "f32.load": "(i64.extend_i32_u (i32.reinterpret_f32 {}))",
    "f64.load": "(i64.reinterpret_f64 {})",
    "v128.load": "(i64x2.extract_lane 1 {})",
}


def choose(number, texts):
    """One of several texts, by a number."""
    return "".join(
        f"(if (i32.eq (local.get {number}) (i32.const {at})) (then {text}))" for at, text in enumerate(texts)
    )


def module(hint):
    """Stores a number in one way, then loads one in another, and sums up the bytes around."""
    stores = [f"({name} {hint} (local.get $to) ({value}))" for name, value in STORES.items()]
    loads = [f"(local.set $sum {wrap.format(f'({name} {hint} (local.get $from))')})" for name, wrap in LOADS.items()]
    return wasmtime.wat2wasm(f"""(module (memory 1 1)
      (func (export "f") (param $store i32) (param $load i32) (param $to i32) (param $from i32) (param $value i64)
        (result i64) (local $sum i64) (local $i i32)
        {choose("$store", stores)}
        {choose("$load", loads)}
        (local.set $i (i32.sub (local.get $to) (i32.const 20)))
        (loop $each
          (if (i32.lt_u (local.get $i) (i32.const {BYTES}))
            (then (local.set $sum (i64.add (i64.mul (local.get $sum) (i64.const 31)) (i64.load8_u (local.get $i))))))
          (br_if $each (i32.lt_s (local.tee $i (i32.add (local.get $i) (i32.const 1)))
            (i32.add (local.get $to) (i32.const 40)))))
        (local.get $sum)))""")


def arguments():
    chosen = np.random.default_rng(3)
    count = 3000
    to = chosen.integers(0, 60, count) + np.where(chosen.random(count) < 0.3, BYTES - 50, 30)
    start = to + chosen.integers(-9, 10, count)
    value = chosen.integers(-(2**63), 2**63, count)
    given = [chosen.integers(0, len(STORES), count), chosen.integers(0, len(LOADS), count), to, start]
    return [*(one.astype(np.int32) for one in given), value]


@pytest.mark.parametrize("hint", ["", "align=1"])
def test_numbers_are_where_they_belong(hint, device):
    data = module(hint)
    given = arguments()
    wanted = lw.load(data).func("f", device="cpu", errors="mask")(*given)
    assert np.ma.getmaskarray(wanted).any()
    # What leaves at a misaligned address is run again by a GPU alone: a CPU has no need to.
    for alignment in ("careful", "branch") if device.name == "cpu" else ("careful", "branch", "exit"):
        found = lw.load(data).func("f", device=device, layout="words", alignment=alignment, errors="mask")(*given)
        assert np.array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(wanted)), alignment
        assert np.array_equal(found.filled(0), wanted.filled(0)), alignment


def test_what_needs_cells_of_eight_bytes_is_refused():
    data = wasmtime.wat2wasm("""(module (memory 1 1)
      (func (export "add") (param i64) (result i64) (i64.atomic.rmw.add (i32.const 0) (local.get 0))))""")
    with pytest.raises(lw.ArgumentError, match="atomic accesses need their numbers in one piece"):
        lw.load(data).func("add", device="cpu", layout="words")(1)
    with pytest.raises(lw.ArgumentError, match="an instance is flat or interleaved"):
        lw.load(data).instantiate(device="cpu", layout="words")
