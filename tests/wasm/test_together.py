"""Functions that call each other in a ring do the same where they are lowered as one loop as where calls are calls."""

import random
from pathlib import Path

import numpy as np
import pytest
import wasmtime
from programs import assemble

import lanewise as lw
from lanewise import wasm
from lanewise.bench.wasm_seeded import SEEDED, with_seeded_run
from lanewise.compiler import Target, stages
from lanewise.errors import WasmTrap
from lanewise.wasm.build import Build, gpu_build
from lanewise.wasm.flow import BodyFlow
from lanewise.wasm.instructions import locals_of
from lanewise.wasm.program import ModuleProgram
from lanewise.wasm.recursion import rings
from lanewise.wasm.together import RingLowering


@pytest.fixture
def device(lane_device):
    return lane_device


LANES = 70
GUESTS = Path(__file__).parent / "guests"

ITSELF = """(module (memory 1)
  (func $fib (export "run") (param i64) (result i64)
    (if (result i64) (i64.lt_u (local.get 0) (i64.const 2))
      (then (local.get 0))
      (else (i64.add (call $fib (i64.sub (local.get 0) (i64.const 1)))
                     (call $fib (i64.sub (local.get 0) (i64.const 2))))))))"""

EACH_OTHER = """(module (memory 1)
  (func $even (param i64) (result i64)
    (if (result i64) (i64.eqz (local.get 0)) (then (i64.const 1))
      (else (i64.xor (call $odd (i64.sub (local.get 0) (i64.const 1))) (i64.const 0)))))
  (func $odd (param i64) (result i64)
    (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))
    (if (result i64) (i64.eqz (local.get 0)) (then (i64.const 0))
      (else (call $even (i64.sub (local.get 0) (i64.const 1))))))
  (func (export "run") (param i64) (result i64)
    (i64.add (i64.mul (call $even (local.get 0)) (i64.const 1000)) (i64.extend_i32_u (i32.load (i32.const 0))))))"""

IN_LOOPS = """(module (memory 1)
  (func $tree (export "run") (param $n i64) (result i64)
    (local $i i64) (local $j i64) (local $sum i64)
    (local.set $sum (local.get $n))
    (block $out
      (br_if $out (i64.le_s (local.get $n) (i64.const 0)))
      (loop $rows
        (local.set $j (i64.const 0))
        (loop $columns
          (if (i64.eqz (i64.rem_u (i64.add (local.get $i) (local.get $j)) (i64.const 3)))
            (then (local.set $sum (i64.add (i64.mul (local.get $sum) (i64.const 31))
              (call $tree (i64.sub (local.get $n) (i64.add (i64.const 3) (local.get $j))))))))
          (br_if $out (i64.gt_u (local.get $sum) (i64.const 0x7000000000000000)))
          (local.set $j (i64.add (local.get $j) (i64.const 1)))
          (br_if $columns (i64.lt_u (local.get $j) (i64.const 2))))
        (local.set $i (i64.add (local.get $i) (i64.const 1)))
        (br_if $rows (i64.lt_u (local.get $i) (local.get $n)))))
    (local.get $sum)))"""

BELOW_BLOCKS = """(module
  (func $f (param $n i64) (result i64)
    (local.get $n)
    (i64.const 7)
    (block (result i64)
      (i64.mul (local.get $n) (i64.const 5))
      (if (result i64) (i64.gt_s (local.get $n) (i64.const 0))
        (then (i64.xor (local.get $n) (call $f (i64.sub (local.get $n) (i64.const 2)))))
        (else (i64.const 3)))
      i64.sub)
    i64.add
    i64.mul)
  (memory 1)
  (func (export "run") (param i64) (result i64)
    (i64.store (i32.const 8) (local.get 0)) (call $f (i64.load (i32.const 8)))))"""

ALL_TYPES = """(module (memory 1)
  (func $many (param i32 i64 f32 f64 v128) (result f64 v128 i64)
    (local $seen v128)
    (if (result f64 v128 i64) (i32.eqz (local.get 0))
      (then (local.get 3) (local.get 4) (local.get 1))
      (else
        (local.set $seen (local.get 4))
        (call $many (i32.sub (local.get 0) (i32.const 1)) (i64.mul (local.get 1) (i64.const 3))
          (f32.add (local.get 2) (f32.const 0.5)) (f64.mul (local.get 3) (f64.const 1.25))
          (i64x2.add (local.get 4) (i64x2.splat (local.get 1))))
        (drop (i64.const 0))
        (i64.add (i64x2.extract_lane 1 (local.get $seen)))
        (i64.add (i64.extend_i32_u (i32.reinterpret_f32 (local.get 2)))))))
  (func (export "run") (param i64) (result i64)
    (local $sum i64) (local $two v128)
    (call $many (i32.wrap_i64 (local.get 0)) (local.get 0) (f32.const 1) (f64.const 1) (i64x2.splat (i64.const 9)))
    (local.set $sum)
    (local.set $two)
    i64.reinterpret_f64
    (i64.add (i64.add (local.get $sum) (i64x2.extract_lane 0 (local.get $two))))))"""

UNREACHABLE = """(module (memory 1)
  (func $f (export "run") (param i64) (result i64)
    (block $done
      (br_if $done (i64.eqz (local.get 0)))
      (drop (call $f (i64.sub (local.get 0) (i64.const 1))))
      (br $done)
      (loop $never (drop (call $f (i64.const 1))) (br $never)))
    (i64.store (i32.const 0) (i64.add (i64.load (i32.const 0)) (local.get 0)))
    (i64.load (i32.const 0))))"""

PROGRAMS = {
    "itself": (ITSELF, 15),
    "each other": (EACH_OTHER, 400),
    "in loops": (IN_LOOPS, 9),
    "below blocks": (BELOW_BLOCKS, 200),
    "all types": (ALL_TYPES, 60),
    "unreachable": (UNREACHABLE, 180),
}


def outcome(text, values, device, **choices):
    return lw.load(assemble(text)).func("run", device=device, **choices)(values)


@pytest.mark.parametrize("name", PROGRAMS)
def test_lanes_of_different_depth_return_what_calls_would(name, device):
    text, most = PROGRAMS[name]
    values = np.random.default_rng(1).integers(0, most, LANES)
    store = wasmtime.Store()
    expected = []
    for value in values:
        instance = wasmtime.Instance(store, wasmtime.Module(store.engine, assemble(text)), [])
        expected.append(instance.exports(store)["run"](store, int(value)))
    for meeting in (False, True):
        assert outcome(text, values, device, meeting=meeting).tolist() == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_rings_take_the_steps_that_calls_would(name, device):
    """A limit that is just enough is enough, and one less is not."""
    text, most = PROGRAMS[name]
    value = np.array([most // 2])

    def enough(fuel, meeting):
        try:
            outcome(text, value, device, fuel=fuel, meeting=meeting)
        except WasmTrap:
            return False
        return True

    low, high = 0, 1 << 22
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle, False) else (middle, high)
    assert enough(high, True)
    assert not enough(high - 1, True)


def test_calls_deeper_than_the_stack_of_a_ring_are_calls(device):
    values = np.array([3, 5_000, 40, 2_500])
    assert outcome(UNREACHABLE, values, "cpu", meeting=True).tolist() == [n * (n + 1) // 2 for n in values]
    shallow = np.array([3, 150, 40, 77])
    assert outcome(UNREACHABLE, shallow, device, meeting=True).tolist() == [n * (n + 1) // 2 for n in shallow]


def test_calls_without_end_exhaust_the_stack(device):
    text = """(module (memory 1) (func $f (export "run") (param i64) (result i64)
      (if (result i64) (i64.eqz (local.get 0)) (then (i64.const 0))
        (else (i64.add (i64.const 1) (call $f (local.get 0)))))))"""
    function = lw.load(assemble(text)).func("run", device=device, meeting=True)
    with pytest.raises(WasmTrap, match="call stack exhausted"):
        function(np.array([0, 1, 0]))


def test_a_ring_that_calls_for_ever_can_be_stopped(device):
    text = """(module (memory 1)
      (func $f (export "run") (param i64) (result i64)
        (block (result i64) (loop (drop (call $g (i64.const 0))) (br 0)) (unreachable)))
      (func $g (param i64) (result i64)
        (if (result i64) (i64.eqz (local.get 0)) (then (i64.const 1)) (else (call $f (local.get 0))))))"""
    function = lw.load(assemble(text)).func("run", device=device, meeting=True, timeout=0.3)
    with pytest.raises(WasmTrap, match="interrupted"):
        function(np.array([1, 2]))


def test_a_tail_call_takes_the_place_of_its_function_alone(device):
    text = """(module
      (func $last (param i64) (result i64) (i64.mul (local.get 0) (i64.const 3)))
      (func $f (export "run") (param i64) (result i64)
        (if (i64.eqz (local.get 0)) (then (return_call $last (i64.const 5))))
        (i64.add (i64.const 1) (call $f (i64.sub (local.get 0) (i64.const 1))))))"""
    instance = wasm.Store(device, meeting=True).instantiate(lw.load(assemble(text)))
    assert instance.exports["run"](9) == 24
    assert outcome(text, np.array([9, 0, 2]), device, meeting=True).tolist() == [24, 15, 17]


def test_calls_that_enter_a_ring_are_counted():
    """Few rounds in each call, and calls without end: the rounds of one call know nothing of those before."""
    module = lw.load(assemble(EACH_OTHER)).model
    (part,) = ModuleProgram(module, gpu_build(lanes=True)).parts()
    functions = stages(part.ir, Target.nvptx(90))["optimised"].split("\ndefine ")
    (ring,) = [text for text in functions if text.startswith("hidden i64 @f0(")]
    assert "@lw.refuel(" in ring


def random_ring(seed):
    """Functions that call each other at random, with loops, blocks, early returns and values that lie below calls."""
    rng = random.Random(seed)
    count = rng.randint(1, 4)

    def expression(depth):
        if depth == 0 or rng.random() < 0.2:
            return rng.choice(["(local.get 0)", "(local.get 1)", "(local.get 2)", f"(i64.const {rng.randint(-9, 9)})"])
        kind = rng.random()
        if kind < 0.35:
            return f"(call $f{rng.randrange(count)} (i64.sub (local.get 0) (i64.const {rng.randint(1, 3)})))"
        if kind < 0.75:
            one = rng.choice(["add", "sub", "mul", "xor"])
            return f"(i64.{one} {expression(depth - 1)} {expression(depth - 1)})"
        condition = f"(i32.wrap_i64 (i64.and (i64.const 1) {expression(depth - 1)}))"
        return f"(if (result i64) {condition} (then {expression(depth - 1)}) (else {expression(depth - 1)}))"

    def statement(depth):
        kind = rng.random()
        if kind < 0.5 or depth == 0:
            return f"(local.set {rng.randint(1, 2)} {expression(2)})"
        if kind < 0.6:
            return f"(if (i64.lt_s (local.get 1) {expression(1)}) (then (return {expression(1)})))"
        if kind < 0.8:
            return f"(block {statement(depth - 1)} (br_if 0 (i64.eqz {expression(1)})) {statement(depth - 1)})"
        number = rng.randint(3, 5)
        step = f"(local.set {number} (i64.add (local.get {number}) (i64.const 1)))"
        again = f"(br_if 0 (i64.lt_s (local.get {number}) (i64.const {rng.randint(1, 3)})))"
        return f"(loop {statement(depth - 1)} {step} {again})"

    functions = [
        f"(func $f{number} (param i64) (result i64) (local i64 i64 i64 i64 i64)"
        f" (if (i64.le_s (local.get 0) (i64.const 0)) (then (return (i64.const {rng.randint(1, 9)}))))"
        f" {' '.join(statement(2) for _ in range(rng.randint(1, 3)))} {expression(3)})"
        for number in range(count)
    ]
    begin = '(func (export "run") (param i64) (result i64) (i64.store (i32.const 0) (local.get 0))'
    return f"(module (memory 1) {' '.join(functions)} {begin} (call $f0 (i64.load (i32.const 0)))))"


@pytest.mark.parametrize("first", range(0, 24, 6))
def test_random_rings_return_what_calls_would(first, device):
    values = np.arange(-1, 8)
    for seed in range(first, first + 6):
        text = random_ring(seed)
        limits = {"fuel": 200_000, "device": device}
        module = lw.load(assemble(text))
        results = []
        for meeting in (False, True):
            status = []
            for value in values:
                try:
                    status.append(int(module.func("run", meeting=meeting, **limits)(np.array([value]))[0]))
                except WasmTrap as trap:
                    status.append(str(trap).splitlines()[0])
            results.append(status)
        assert results[0] == results[1], text


def test_what_is_a_ring_and_how_it_is_entered():
    module = lw.load(assemble(EACH_OTHER)).model
    assert rings(module) == {0: (0, 1)}
    assert rings(lw.load(assemble(ITSELF)).model) == {0: (0,)}
    assert rings(lw.load(assemble("(module (func $a (call $b)) (func $b))")).model) == {}
    entered_twice = '(module (func $a (export "a") (call $b)) (func $b (export "b") (call $a)))'
    assert rings(lw.load(assemble(entered_twice)).model) == {0: (0, 1), 1: (1, 0)}
    referred = """(module (table funcref (elem $b)) (func $a (export "a") (call $b)) (func $b (call $a)))"""
    assert set(rings(lw.load(assemble(referred)).model)) == {0, 1}


def test_large_rings_stay_calls():
    body = "(i32.store (i32.const 0) (i32.const 1))" * 3_000
    module = lw.load(assemble(f'(module (memory 1) (func $f (export "f") {body} (call $f)))')).model
    assert rings(module) == {}


def with_many_locals(count):
    """A ring in which each call saves so many values of 8 bytes."""
    numbers = range(1, count + 1)
    first = " ".join(f"(local.set {at} (i64.load offset={8 * at} (i32.const 0)))" for at in numbers)
    last = " ".join(f"(i64.store offset={8 * at} (i32.const 0) (local.get {at}))" for at in numbers)
    return f"""(module (memory 1) (func $f (export "run") (param i64) (result i64) (local {"i64 " * count})
      {first} (if (i64.eqz (local.get 0)) (then (return (i64.const 1))))
      (call $f (i64.sub (local.get 0) (i64.const 1))) {last}))"""


@pytest.mark.parametrize(("count", "expected"), [(60, True), (70, False)])
def test_rings_that_save_much_stay_calls(count, expected):
    """A GPU's stack holds what lies below a check, though its assembler need not say how much that is."""
    module = lw.load(assemble(with_many_locals(count))).model
    lowered = ModuleProgram(module, gpu_build(lanes=True))._lower_all()
    assert isinstance(lowered[0], RingLowering) == expected


def test_only_code_for_many_lanes_of_a_gpu_has_rings():
    module = lw.load(assemble(ITSELF)).model
    for build, expected in (
        (Build(), False),
        (gpu_build(), False),
        (gpu_build(lanes=True), True),
        (gpu_build(lanes=True, throws=True), False),
        (gpu_build(lanes=True, tails=True), False),
        (gpu_build(lanes=True, meeting=False), False),
    ):
        lowered = ModuleProgram(module, build)._lower_all()
        assert isinstance(lowered[0], RingLowering) == expected


def test_locals_are_wanted_behind_a_call_that_are_read_before_they_are_set():
    text = """(module (func $f (param i32 i32) (result i32) (local i32 i32)
      (local.set 2 (i32.const 4))
      (loop $again
        (local.set 3 (call $f (local.get 0) (local.get 1)))
        (local.set 1 (i32.const 0))
        (br_if $again (local.get 2)))
      (i32.add (local.get 1) (local.get 3))))"""
    module = lw.load(assemble(text)).model
    flow = BodyFlow(module, module.bodies[0])
    ((place, loops, callee),) = flow.calls()
    assert callee == 0
    assert len(loops) == 1
    assert flow.wanted_behind() == {place: [0, 2]}
    assert locals_of(module, module.bodies[0])[0] == ["i32", "i32"]


@pytest.mark.parametrize("name", ["json", "fib", "mix"])
@pytest.mark.parametrize("layout", ["interleaved", "flat"])
def test_guests_that_recurse_return_on_many_lanes_what_calls_would(name, layout, device):
    """All lanes: what goes wrong where lanes of a warp part may do so in a few of them."""
    data = with_seeded_run((GUESTS / f"{name}.wasm").read_bytes())
    seeds = np.arange(512 if device.name.startswith("cpu") else 32_768, dtype=np.int32)
    expected = lw.load(data).func(SEEDED, device="cpu", meeting=False)(2, seeds)
    choices = {"placement": f"{layout}/32/all"} if device.name.startswith("cuda") else {}
    function = lw.load(data).func(SEEDED, device=device, meeting=True, **choices)
    for _ in range(3):
        assert np.array_equal(function(2, seeds), expected)
