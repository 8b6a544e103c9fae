"""The official WebAssembly test suites, a test for each script; and the runner of scripts itself."""

import dataclasses
import shutil

import engines
import pytest
import spec

import lanewise as lw

NEEDS_WABT = pytest.mark.skipif(shutil.which("wast2json") is None, reason="wast2json is not installed (Debian: wabt)")

NEEDS_SUITES = pytest.mark.skipif(not spec.scripts(), reason=f"the suites are not in {spec.SUITES}")

KNOWN_FAILURES: dict[str, dict[str, str]] = {
    "cpu": {},
    "cuda": {},
}
"""For each device: `script.wast:line` and why that command fails. One that passes after all fails the test too."""

CHUNKS = 8
"""pytest-xdist hands out tests in runs of neighbours, at first about an eighth of them to each of two workers."""


def balanced(scripts):
    """Scripts in an order in which every run of neighbours costs about the same."""
    by_cost = sorted(scripts, key=lambda script: (-script.cost, script.name))
    return [script for first in range(CHUNKS) for script in by_cost[first::CHUNKS]]


SCRIPTS = [pytest.param(script, id=script.name) for script in balanced(spec.scripts())] or [
    pytest.param(None, id="none", marks=pytest.mark.skip(reason=f"the suites are not in {spec.SUITES}"))
]


@NEEDS_WABT
@pytest.mark.parametrize("script", SCRIPTS)
def test_script_passes(script, device_name):
    report = spec.run_script(script, engines.lanewise_engine(device_name, script.suite.features))
    known = {place for place in KNOWN_FAILURES[device_name] if place.startswith(f"{script.name}:")}
    unexpected = [failure for failure in report.failures if failure.place not in known]
    cured = known - {failure.place for failure in report.failures}
    shown = "\n".join(map(str, unexpected[:20]))
    assert not unexpected, f"{len(unexpected)} of {script.name} failed, the first of them:\n{shown}"
    assert not cured, f"listed as known failures, but passed: {sorted(cured)}"


OPTIONS = [
    pytest.param(device, options, id=f"{device}-{'-'.join(f'{name}={value}' for name, value in options.items())}")
    for device, variants in engines.VARIANTS.items()
    for options in variants
]
TELLING = (
    "address call_indirect endianness linking memory_fill memory_grow memory_trap simd_address simd_load8_lane "
    "simd_store8_lane traps unwind atomic"
)
"""Scripts about what the options of a store concern: memory, traps, and calls between instances."""


@NEEDS_WABT
@NEEDS_SUITES
@pytest.mark.parametrize(("where", "options"), OPTIONS)
def test_options_of_a_store_do_not_change_what_scripts_do(where, options):
    try:
        lw.device(where)
    except lw.NoDeviceError as absent:
        pytest.skip(str(absent))
    failures = []
    for script in spec.choose(TELLING.split(), spec.scripts()):
        engine = engines.lanewise_engine(where, script.suite.features, **options)
        failures += spec.run_script(script, engine).failures
    unexpected = [failure for failure in failures if failure.place not in KNOWN_FAILURES[where]]
    assert not unexpected, "\n".join(map(str, unexpected[:20]))


@NEEDS_WABT
@NEEDS_SUITES
def test_every_script_is_converted(tmp_path):
    """What is counted is what the suites hold: a file that vanished, or that wabt can no longer read, is noticed."""
    counts = dict.fromkeys(spec.KNOWN_SUITES, 0)
    for script in spec.scripts():
        counts[script.suite.name] += spec.convert(script, tmp_path / script.suite.name).path.exists()
    assert counts == {"wasm-2.0": 146, "wasm-threads": 1, "wasm-tail-call": 2}


# The runner is tested with wasmtime, which is known to be right.

GOOD = """
(module $numbers
  (func (export "one") (result i32) (i32.const 1))
  (func (export "nan") (result f32) (f32.sqrt (f32.const -1)))
  (func (export "payload") (result f64) (f64.const nan:0x8000000000001))
  (func (export "signalling") (result f64) (f64.const nan:0x1))
  (func (export "pair") (result i32 i64) (i32.const -1) (i64.const 2))
  (func (export "vector") (result v128) (v128.const f32x4 1 nan:0x400000 nan:0x400001 -0))
  (func (export "same") (param externref) (result externref) (local.get 0))
  (func (export "trap") (unreachable))
  (func (export "deep") (call 8))
  (global (export "global") f32 (f32.const -0)))
(register "numbers" $numbers)
(assert_return (invoke "one") (i32.const 1))
(assert_return (invoke "nan") (f32.const nan:canonical))
(assert_return (invoke "nan") (f32.const nan:arithmetic))
(assert_return (invoke "payload") (f64.const nan:arithmetic))
(assert_return (invoke "signalling") (f64.const nan:0x1))
(assert_return (invoke "pair") (i32.const -1) (i64.const 2))
(assert_return (invoke "vector") (v128.const f32x4 1 nan:canonical nan:arithmetic -0))
(assert_return (invoke "same" (ref.extern 7)) (ref.extern 7))
(assert_return (invoke "same" (ref.null extern)) (ref.null extern))
(assert_return (get "global") (f32.const -0))
(assert_trap (invoke "trap") "unreachable")
(assert_exhaustion (invoke "deep") "call stack exhausted")
(module (import "numbers" "one" (func (result i32))) (export "one again" (func 0)))
(invoke "one again")
(assert_return (invoke "one again") (i32.const 1))
(assert_return (invoke $numbers "one") (i32.const 1))
(assert_unlinkable (module (import "numbers" "two" (func))) "unknown import")
(assert_unlinkable (module (import "numbers" "one" (func))) "incompatible import type")
(assert_unlinkable (module (import "spectest" "memory" (memory 3))) "incompatible import type")
(module (import "spectest" "print_i32" (func (param i32))) (import "spectest" "table" (table 10 20 funcref)))
(assert_trap (module (func $start (unreachable)) (start $start)) "unreachable")
(assert_invalid (module (func (result i32))) "type mismatch")
(assert_malformed (module binary "\\00asm\\02\\00\\00\\00") "unknown binary version")
(assert_malformed (module quote "(func") "unexpected end")
"""

BAD = {
    '(assert_return (invoke "one") (i32.const 2))': "expected [i32 0x2], got [0x1]",
    '(assert_return (invoke "payload") (f64.const nan:canonical))': "expected [f64 nan:canonical]",
    '(assert_return (invoke "signalling") (f64.const nan:arithmetic))': "expected [f64 nan:arithmetic]",
    '(assert_return (invoke "pair") (i32.const -1) (i64.const 3))': "got [0xffffffff, 0x2]",
    '(assert_return (invoke "vector") (v128.const f32x4 1 nan:canonical nan:canonical -0))': "nan:canonical",
    '(assert_return (invoke "vector") (v128.const f32x4 1 nan:canonical nan:arithmetic 0))': "nan:arithmetic",
    '(assert_return (invoke "same" (ref.extern 7)) (ref.extern 8))': "got [0x7]",
    '(assert_return (invoke "same" (ref.extern 0)) (ref.null extern))': "got [0x0]",
    '(assert_return (invoke "same" (ref.null extern)) (ref.extern 0))': "got [None]",
    '(assert_return (get "global") (f32.const 0))': "got [0x80000000]",
    '(assert_return (invoke "trap"))': "raised WasmTrap: unreachable",
    '(invoke "trap")': "raised WasmTrap: unreachable",
    '(assert_trap (invoke "one") "unreachable")': "expected the trap 'unreachable', got [0x1]",
    '(assert_trap (invoke "trap") "integer overflow")': "got the trap 'unreachable'",
    '(assert_exhaustion (invoke "trap") "call stack exhausted")': "got the trap 'unreachable'",
    '(module (import "numbers" "two" (func)))': "raised LinkError: unknown import",
    "(module (func $start (unreachable)) (start $start))": "raised WasmTrap: unreachable",
    '(assert_unlinkable (module (import "numbers" "one" (func))) "unknown import")': "incompatible import type",
    '(assert_trap (module (func $start) (start $start)) "unreachable")': "went well",
    '(assert_malformed (module binary "\\00asm\\01\\00\\00\\00") "unexpected end")': "went well",
}


def write_script(folder, text):
    path = folder / "own.wast"
    path.write_text(text)
    return spec.Script(spec.Suite("own"), path)


@NEEDS_WABT
def test_the_runner_passes_what_is_right(tmp_path):
    report = spec.run_script(write_script(tmp_path, GOOD), engines.wasmtime_engine())
    assert report.failures == []
    assert report.passed.total() == GOOD.count("\n(") - 1
    assert report.skipped == {"the text format is wabt's to read": 1}


@NEEDS_WABT
@pytest.mark.parametrize("command", BAD)
def test_the_runner_notices_what_is_wrong(tmp_path, command):
    script = GOOD.partition("(module (import")[0] + command
    report = spec.run_script(write_script(tmp_path, script), engines.wasmtime_engine())
    assert [failure.line for failure in report.failures] == [script.count("\n") + 1]
    assert BAD[command] in report.failures[0].reason
    assert report.failures[0].place == f"own.wast:{script.count(chr(10)) + 1}"


@NEEDS_WABT
def test_commands_on_a_module_that_is_not_there_fail_and_do_not_reach_the_one_before(tmp_path):
    text = """(module $good (func (export "f") (result i32) (i32.const 1)))
        (module $bad (import "no" "such" (func)) (func (export "f") (result i32) (i32.const 1)))
        (assert_return (invoke "f") (i32.const 1))
        (assert_return (invoke $good "f") (i32.const 1))
        (register "bad" $bad)"""
    report = spec.run_script(write_script(tmp_path, text), engines.wasmtime_engine())
    assert [failure.line for failure in report.failures] == [2, 3, 5]
    assert "the module of line 2 is not there" in report.failures[1].reason


class BulkStore:
    """A store that makes many calls at once, one after the other, and counts how often it is asked to."""

    def __init__(self, inner, batches):
        self.inner = inner
        self.batches = batches

    def instantiate(self, module, imports):
        return self.inner.instantiate(module, imports)

    def call_many(self, calls):
        self.batches.append(len(calls))
        return [engines.call_one(function, args) for function, args in calls]


@NEEDS_WABT
def test_neighbouring_calls_of_an_instance_are_made_at_once(tmp_path):
    batches = []
    single = engines.wasmtime_engine()
    bulk = dataclasses.replace(single, new_store=lambda: BulkStore(single.new_store(), batches))
    script = write_script(tmp_path, GOOD)
    assert spec.run_script(script, bulk) == spec.run_script(script, single)
    assert batches == [9, 1, 1, 2, 1]


@NEEDS_WABT
def test_a_fault_of_the_engine_fails_the_calls_that_met_it(tmp_path):
    def fault(self, calls):
        raise KeyError("engine")

    single = engines.wasmtime_engine()
    store = type("Faulty", (BulkStore,), {"call_many": fault})
    report = spec.run_script(
        write_script(tmp_path, GOOD), dataclasses.replace(single, new_store=lambda: store(single.new_store(), []))
    )
    assert len(report.failures) == 14
    assert {failure.reason for failure in report.failures} >= {"raised KeyError: 'engine'"}
