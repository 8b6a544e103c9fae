"""Steps that are summed up are the same steps: a limit ends an element where it does when each is counted by itself."""

import re

import numpy as np
import pytest
import wasmtime
from random_modules import random_module
from test_builds import PROGRAMS, SMALL
from test_unrolled import TABLE_ON_THE_STACK, ptx_of

import lanewise as lw

METERS = "count", "tally"


@pytest.fixture
def device(lane_device):
    return lane_device


SEEDS, AT_ONCE = 24, 8
"""How many random modules are compared, and how many in one test."""


def outcome(function, *args):
    """What came of each element: results with bits of floats, and for those that trapped why and where."""
    try:
        results = function(*args)
        whys = {}
        place = None
    except lw.LaneError as error:
        results, whys = error.results, dict(zip(error.lanes.tolist(), error.kinds, strict=True))
        place = error.function, error.offset
    arrays = results if isinstance(results, tuple) else () if results is None else (results,)
    return [np.asarray(array).tobytes() for array in arrays], whys, place


def steps_of(module, name, args, meter, most=1 << 40, **choices):
    """The least fuel with which no element of a call is out of it."""
    least, most = 1, most
    while least < most:
        middle = (least + most) // 2
        if "out of fuel" in outcome(module.func(name, fuel=middle, meter=meter, **choices), *args)[1].values():
            least = middle + 1
        else:
            most = middle
    return least


@pytest.mark.parametrize("name", SMALL)
def test_programs_take_as_many_steps_summed_up_as_one_by_one(name, device):
    program = PROGRAMS[name]
    module = lw.load(program.path)
    rounds = np.array([1])
    steps = steps_of(module, "run", (rounds,), "count", device="cpu")
    assert steps > 1
    builds = [{}, {"meeting": True}], [{"placement": f"interleaved/32/all{more}"} for more in ("", "/u")]
    for choices in builds[device.name != "cpu"]:
        enough = module.func("run", device=device, fuel=steps, meter="tally", **choices)
        assert enough(rounds).tolist() == [program.checksums[1, 1]]
        assert "_exact" not in vars(enough._runner)  # nobody had to run again, as one too many would
        found = [outcome(module.func("run", device=device, fuel=steps - 1, meter=meter), rounds) for meter in METERS]
        assert found[0] == found[1]
        assert found[0][1] == {0: "out of fuel"}


def alone(seed):
    """A random module that imports nothing."""
    text = re.sub(r'\(import "[^"]*" "[^"]*" \(func (\S+) (\(param \w+\))\)\)', r"(func \1 \2)", random_module(seed))
    assert "(import" not in text
    return lw.load(bytes(wasmtime.wat2wasm(text)))


def arguments(kinds, rng):
    """Twenty elements for parameters of these types."""
    few = np.array([0, 1, 2, 3, 5, 8, 31, 100, 0x7FFF, -1], np.int64)
    for kind in kinds:
        numbers = rng.choice(few, 20)
        yield numbers.astype({"i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}[kind])


@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_random_modules_end_at_the_same_step_for_the_same_reason(first, device):
    reasons = set()
    for seed in range(first, first + AT_ONCE):
        module, rng = alone(seed), np.random.default_rng(seed)
        for export in module.model.exports:
            kind = module.model.functions[export.index] if re.fullmatch(r"f\d+", export.name) else None
            if kind is None or "v128" in (*kind.params, *kind.results):
                continue
            args = list(arguments(kind.params, rng))
            for fuel in (1, 2, 5, 13, 34, 89, 1000, 1 << 40):
                counted, summed = (
                    outcome(module.func(export.name, device=device, fuel=fuel, meter=meter, level=1), *args)
                    for meter in METERS
                )
                assert summed == counted, (seed, export.name, fuel)
                reasons |= set(counted[1].values())
    assert {"out of fuel"} < reasons


LEAF = """(type $t (func (param i32) (result i32))) (table funcref (elem $g))
  (func $g (type $t) (i32.add (local.get 0) (i32.const 1)))"""
BIG = "".join(
    f"(local.set 0 (i32.rotl (i32.xor (local.get 0) (i32.const {i * 7919})) (i32.const {i % 31 + 1})))"
    for i in range(400)
)
ENDLESS = {
    "calls by reference": f"""(module {LEAF} (func (export "f") (param i32) (result i32)
      (loop $l (result i32) (local.set 0 (call_indirect (type $t) (local.get 0) (i32.const 0))) (br $l))))""",
    "calls of what is large": f"""(module (func $g (param i32) (result i32) {BIG} (local.get 0))
      (func $h (param i32) (result i32) (call $g (call $g (local.get 0))))
      (func (export "f") (param i32) (result i32)
        (loop $l (result i32) (local.set 0 (call $g (call $h (local.get 0)))) (br $l))))""",
    "calls that throw": """(module (tag $e) (table funcref (elem $g)) (type $t (func))
      (func $g (type $t) (throw $e))
      (func (export "f") (param i32) (result i32) (loop $l (result i32)
        (block $c (try_table (catch $e $c) (call_indirect (type $t) (i32.const 0)))) (br $l))))""",
    "tail calls of itself": """(module (func $f (export "f") (param i32) (result i32)
      (return_call $f (i32.add (local.get 0) (i32.const 1)))))""",
    "tail calls of each other": """(module
      (func $f (export "f") (param i32) (result i32) (return_call $g (local.get 0)))
      (func $g (param i32) (result i32) (return_call $f (i32.add (local.get 0) (i32.const 1)))))""",
    "calls in loops in calls": f"""(module {LEAF} (func $h (param i32) (result i32)
        (loop $l (local.set 0 (call_indirect (type $t) (local.get 0) (i32.const 0)))
          (br_if $l (i32.lt_u (local.get 0) (i32.const 9))))
        (local.get 0))
      (func (export "f") (param i32) (result i32) (loop $l (result i32) (drop (call $h (i32.const 0))) (br $l))))""",
}


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("level", [0, 1, None])
def test_programs_without_end_are_out_of_fuel(name, level, device):
    module = lw.load(bytes(wasmtime.wat2wasm(ENDLESS[name])))
    found = [
        outcome(module.func("f", device=device, fuel=100_000, meter=meter, level=level, timeout=20), np.arange(3))
        for meter in METERS
    ]
    assert found[0] == found[1]
    assert found[0][1] == dict.fromkeys(range(3), "out of fuel")


def test_more_steps_than_a_register_holds_are_too_many(device):
    """They would be few again if they were added up until somebody asks."""
    module = lw.load(
        bytes(
            wasmtime.wat2wasm("""(module (func $f (export "f") (param i64) (result i32)
      (if (result i32) (i64.eqz (local.get 0)) (then (i32.const 7))
        (else (return_call $f (i64.sub (local.get 0) (i64.const 1)))))))""")
        )
    )
    with pytest.raises(lw.LaneError, match="1 of 1 lanes trapped: lane 0: out of fuel"):
        module.func("f", device=device, fuel=100_000, meter="tally")(2**32 + 5)


CORNERS = {
    "tail calls that throw": """(module (tag $e (param i32))
      (func $g (param i32) (if (i32.eqz (local.get 0)) (then (throw $e (i32.const 3))))
        (return_call $h (i32.sub (local.get 0) (i32.const 1))))
      (func $h (param i32) (if (i32.eqz (local.get 0)) (then (throw $e (i32.const 4))))
        (return_call $g (i32.sub (local.get 0) (i32.const 1))))
      (func (export "f") (param i32) (result i32)
        (block $c (result i32) (try_table (catch $e $c) (call $g (local.get 0))) (i32.const 0))))""",
    "throws across calls": """(module (tag $e (param i32)) (tag $w (param i64 i64)) (memory 1 4)
      (func $thrower (param i32) (if (i32.rem_u (local.get 0) (i32.const 3))
        (then (if (i32.and (local.get 0) (i32.const 1)) (then (throw $e (local.get 0)))
          (else (throw $w (i64.const 1) (i64.const 2)))))))
      (func $mid (param i32) (local $i i32) (loop $l (call $thrower (i32.add (local.get 0) (local.get $i)))
        (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 5)))))
      (func (export "f") (param i32) (result i32) (local $i i32) (local $s i32)
        (loop $l
          (block $done (block $c (result i32) (try_table (catch $e $c) (catch_all $done) (call $mid (local.get $i)))
            (br $done)) (local.set $s (i32.add (local.get $s))))
          (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get 0))))
        (local.get $s)))""",
    "calls of itself": """(module (func $f (export "f") (param i32) (result i32) (if (result i32) (local.get 0)
      (then (i32.add (i32.const 1) (call $f (i32.sub (local.get 0) (i32.const 1))))) (else (i32.const 7)))))""",
    "loops in a ring of calls": """(module (memory 1)
      (func $even (export "f") (param i32) (result i32) (local $i i32) (local $s i32)
        (if (i32.eqz (local.get 0)) (then (return (i32.const 1))))
        (loop $l (local.set $s (i32.add (local.get $s)
            (call $odd (i32.sub (i32.and (local.get 0) (i32.const 7)) (i32.const 1)))))
          (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 2)))) (local.get $s))
      (func $odd (param i32) (result i32) (if (i32.le_s (local.get 0) (i32.const 0)) (then (return (i32.const 0))))
        (i32.add (i32.const 1) (call $even (i32.sub (local.get 0) (i32.const 1))))))""",
    "a start function": """(module (memory 1 1) (global $g (mut i32) (i32.const 0)) (func $s (local $i i32)
        (loop $l (global.set $g (i32.add (global.get $g) (i32.const 3)))
          (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 77))))) (start $s)
      (func (export "f") (param i32) (result i32) (i32.add (global.get $g) (local.get 0))))""",
    "memory that grows": """(module (memory 1 20)
      (func (export "f") (param i32) (result i32) (local $i i32) (local $s i32)
      (loop $l (local.set $s (i32.add (local.get $s) (memory.grow (i32.const 1))))
        (memory.fill (i32.const 10) (local.get $i) (i32.const 5000))
        (memory.copy (i32.const 60000) (i32.const 0) (i32.const 20000))
        (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get 0))))
      (i32.add (local.get $s) (i32.load (i32.const 60010)))))""",
    "an access between words": """(module (memory 1 1) (func (export "f") (param i32) (result i32) (local $i i32)
      (loop $l (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get 0))))
      (i32.load align=4 (i32.add (i32.shl (local.get 0) (i32.const 1)) (i32.const 1)))))""",
}


@pytest.mark.parametrize("name", CORNERS)
@pytest.mark.parametrize("choices", [{}, {"level": 1, "meeting": True}, {"level": 0, "alignment": "exit"}], ids=str)
def test_the_last_step_is_the_same_one_on_all_ways(name, choices, device):
    module, given = lw.load(bytes(wasmtime.wat2wasm(CORNERS[name]))), np.array([1, 5, 60])
    steps = steps_of(module, "f", (given,), "count", 1 << 20, device="cpu")
    for fuel in (steps, steps - 1, steps // 2):
        found = [outcome(module.func("f", device=device, fuel=fuel, meter=meter, **choices), given) for meter in METERS]
        assert found[0] == found[1], fuel


LOOKS = """(module (memory 1 1)
  (func (export "f") (param $rounds i32) (param $then i32) (result i32) (local $i i32)
    (loop $l (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (local.get $i)))
      (br_if $l (i32.lt_u (local.get $i) (local.get $rounds))))
    (if (i32.eq (local.get $then) (i32.const 1)) (then (unreachable)))
    (if (i32.eq (local.get $then) (i32.const 2))
      (then (memory.fill (i32.const 65000) (i32.const 0) (i32.const 65000))))
    (if (i32.eq (local.get $then) (i32.const 3)) (then (drop (i32.load (i32.const 65536)))))
    (local.get $i)))"""
"""So many rounds, then nothing, or a trap of its own, in a helper, or in an access."""


def test_a_trap_counts_only_for_those_who_had_enough_steps_for_it(device):
    module = lw.load(bytes(wasmtime.wat2wasm(LOOKS)))
    rounds = np.array([10, 99_999, 100_000, 100_001], np.uint32)
    kinds = {1: "unreachable", 2: "out of bounds memory access", 3: "out of bounds memory access"}
    for then, kind in kinds.items():
        found = [outcome(module.func("f", device=device, fuel=100_001, meter=meter), rounds, then) for meter in METERS]
        assert found[0] == found[1]
        assert found[0][1] == {0: kind, 1: kind, 2: kind, 3: "out of fuel"}


@pytest.mark.parametrize("checks", ["guard", "explicit"])
def test_results_on_the_device_and_single_numbers_are_counted_again_as_well(checks, device):
    module = lw.load(bytes(wasmtime.wat2wasm(LOOKS)))
    choices = {"checks": checks} if device.name == "cpu" else {}
    function = module.func("f", device=device, fuel=1000, meter="tally", errors="mask", **choices)
    rounds = device.array(np.array([[5, 2000], [998, 1000]], np.uint32))
    found = function(rounds, 0)
    assert found.mask.tolist() == [[False, True], [False, True]]
    assert found.compressed().tolist() == [5, 998]
    with pytest.raises(lw.LaneError, match="1 of 1 lanes trapped: lane 0: out of fuel in f"):
        module.func("f", device=device, fuel=1000, meter="tally", **choices)(1000, 0)
    assert module.func("f", device=device, fuel=1001, meter="tally", **choices)(1000, 0) == 1000


def test_an_element_without_end_is_ended_by_its_limit_and_by_time(device):
    endless = bytes(wasmtime.wat2wasm('(module (func (export "f") (param i32) (loop (br_if 0 (local.get 0)))))'))
    again = """(module (func $f (export "f") (param i32)
      (if (local.get 0) (then (call $f (local.get 0)) (call $f (i32.const 0))))))"""
    for data in (endless, bytes(wasmtime.wat2wasm(again))):
        module = lw.load(data)
        with pytest.raises(lw.LaneError, match="2 of 3 lanes trapped: lane 0: out of fuel") as error:
            module.func("f", device=device, fuel=300, meter="tally")(np.array([1, 0, 2]))
        assert error.value.kinds == ["out of fuel"] * 2
    for limits in ({"fuel": 1 << 60, "meter": "tally"}, {}):
        function = lw.load(endless).func("f", device=device, timeout=0.3, **limits)
        with pytest.raises(lw.LaneError, match="1 of 1 lanes trapped: lane 0: interrupted"):
            function(1)


def test_steps_before_a_tail_call_are_counted(device):
    text = """(module (type $t (func (param i32) (result i32))) (table funcref (elem $f $g))
      (func $f (export "f") (type $t) (if (result i32) (local.get 0)
        (then (return_call_indirect (type $t) (i32.sub (local.get 0) (i32.const 1)) (i32.const 1)))
        (else (i32.const 7))))
      (func $g (type $t) (return_call_indirect (type $t) (local.get 0) (i32.const 0))))"""
    module = lw.load(bytes(wasmtime.wat2wasm(text)))
    assert module.func("f", device=device, fuel=100_001, meter="tally")(50_000) == 7
    with pytest.raises(lw.LaneError, match="lane 0: out of fuel"):
        module.func("f", device=device, fuel=100_000, meter="tally")(50_000)


def test_sums_leave_a_table_on_the_stack_in_registers():
    reads = re.compile(r"ld\.global\.b32")
    summed, counted = (
        ptx_of(TABLE_ON_THE_STACK, layout="words", unrolled=True, marks=True, meter=meter)
        for meter in ("tally", "count")
    )
    assert len(reads.findall(summed[summed.index(".entry g_lanes") :])) < 8  # what is left begins an instance
    assert len(reads.findall(counted[counted.index(".entry g_lanes") :])) > 40


def test_a_limit_of_steps_needs_steps_that_are_counted():
    module = lw.load(bytes(wasmtime.wat2wasm(LOOKS)))
    for meter in ("off", "stop"):
        with pytest.raises(lw.ArgumentError, match=f"meter='{meter}' counts no steps, of which fuel is a limit; leave"):
            module.func("f", device="cpu", fuel=10, meter=meter)(1, 1)
        with pytest.raises(lw.ArgumentError, match=f"meter='{meter}' counts no steps, of which fuel is a limit; leave"):
            module.instantiate(device="cpu", fuel=10, meter=meter)
    with pytest.raises(lw.ArgumentError, match="meter='tally' is for functions over arrays; an instance counts each"):
        module.instantiate(device="cpu", meter="tally")
