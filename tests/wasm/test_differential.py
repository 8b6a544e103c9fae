"""Random modules do on Lanewise what they do on wasmtime; and differences do not go unnoticed."""

import dataclasses
import shutil
import subprocess
import sys

import differential
import engines
import pytest
import wasmtime

MODULES, AT_ONCE = 60, 5
"""How many modules of each kind are compared, and how many in one test. The command compares any number."""

NEEDS_BINARYEN = pytest.mark.skipif(
    shutil.which("wasm-opt") is None, reason="wasm-opt is not installed (Debian: binaryen)"
)


def check(seeds, make, device_name):
    for seed in seeds:
        verdict = differential.check_module(make(seed), seed, device_name)
        assert verdict.status in ("same", "nan", "stack"), verdict.detail


@pytest.mark.parametrize("first", range(0, MODULES, AT_ONCE))
def test_modules_of_ours_do_what_they_do_on_wasmtime(first, device_name):
    check(range(first, first + AT_ONCE), differential.own_module, device_name)


@NEEDS_BINARYEN
@pytest.mark.parametrize("first", range(0, MODULES, AT_ONCE))
def test_modules_of_binaryen_do_what_they_do_on_wasmtime(first, device_name):
    check(range(first, first + AT_ONCE), differential.binaryen_module, device_name)


# The comparison is tested with wasmtime on both sides.

MODULE = """(module
  (import "fuzzing-support" "log-f32" (func $log (param f32)))
  (memory (export "memory") 1)
  (global (export "g_f64") (mut f64) (f64.const 1))
  (func (export "hangLimitInitializer"))
  (func (export "f") (param i32) (result f32) (BODY)))"""
SAME = "call $log (f32.const 1)) (f32.sqrt (f32.convert_i32_s (local.get 0))"

DIFFERENCES = {
    "a result": "call $log (f32.const 1)) (f32.neg (f32.sqrt (f32.convert_i32_s (local.get 0)))",
    "a trap instead of a result": "unreachable",
    "another trap": "drop (i32.div_u (i32.const 1) (i32.const 0))) (unreachable",
    "the log": "call $log (f32.const 2)) (f32.sqrt (f32.convert_i32_s (local.get 0))",
    "the memory": f"i32.store8 (i32.const 60000) (i32.const 1)) ({SAME}",
    "the size of the memory": f"drop (memory.grow (i32.const 1))) ({SAME}",
    "a global": f"global.set 0 (f64.const 2)) ({SAME}",
}


def assembled(body):
    return bytes(wasmtime.wat2wasm(MODULE.replace("BODY", body)))


def compare(expected, actual):
    """Compare two bodies; the engine under test is given another module than wasmtime is."""
    inner, given = engines.wasmtime_engine(), assembled(expected)
    swap = {given: assembled(actual)}
    engine = dataclasses.replace(inner, load=lambda data: inner.load(swap.get(data, data)))
    return differential.compare(given, 1, engine)


def test_equal_modules_are_the_same():
    assert compare(SAME, SAME).status == "same"


@pytest.mark.parametrize("what", DIFFERENCES)
def test_a_difference_is_noticed(what):
    assert compare(SAME, DIFFERENCES[what]).status == "different"


def test_a_trap_of_another_kind_is_noticed():
    verdict = compare("unreachable", DIFFERENCES["another trap"])
    assert verdict.status == "different"
    assert "unreachable" in verdict.detail
    assert "integer divide by zero" in verdict.detail


def test_bits_of_nans_end_the_comparison():
    looks = "f32.convert_i32_u (i32.reinterpret_f32 (f32.div (f32.const 0) (f32.const 0)))"
    assert compare(looks, SAME).status == "nan"


def test_equal_seeds_give_equal_modules():
    assert differential.own_module(7) == differential.own_module(7) != differential.own_module(8)


BOTH_TRAP = """
import wasmtime
from lanewise import wasm

module = bytes(wasmtime.wat2wasm('(module (memory 1) (func (export "f") (result i32) (i32.load (i32.const 100000))))'))

def lanewise():
    return wasm.Store("cpu").instantiate(wasm.Module.load(module)).exports["f"]

def other():
    store = wasmtime.Store()
    function = wasmtime.Instance(store, wasmtime.Module(store.engine, module), []).exports(store)["f"]
    return lambda: function(store)

for call in [make() for make in (ORDER)] * 2:
    try:
        call()
    except Exception as trap:
        print("out of bounds memory access" in str(trap), flush=True)
"""


@pytest.mark.parametrize(
    "order",
    [
        "lanewise, other",
        pytest.param(
            "other, lanewise",
        ),
    ],
)
def test_lanewise_and_another_engine_catch_faults_in_one_process(order):
    """Each has a handler for faults of its guests, and must leave those of the other to it, time and again."""
    script = BOTH_TRAP.replace("ORDER", order)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True"] * 4, done.stderr
