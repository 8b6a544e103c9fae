"""Exceptions as WebAssembly 3.0 has them: thrown, caught, kept, thrown again, and carried over calls of any kind."""

import pytest
from programs import Trap, Uncaught, link, program, run, run_at_once

from lanewise.errors import WasmException

PROGRAMS = [
    program(
        "a thrown value reaches the handler for its tag",
        """(module
          (tag $number (param i32))
          (func (export "f") (param i32) (result i32)
            (block $caught (result i32)
              (try_table (catch $number $caught) (throw $number (local.get 0)))
              (i32.const -1))
            (i32.add (i32.const 100))))""",
        ("f", [7], [107]),
        ("f", [-100], [0]),
    ),
    program(
        "a try_table without an exception gives its own results",
        """(module
          (tag $number (param i32))
          (func (export "f") (param i32) (result i32)
            (block $caught (result i32)
              (local.get 0)
              (try_table (param i32) (result i32) (catch $number $caught) (i32.mul (i32.const 3)))
              (return))
            (drop) (i32.const -1))
          (func (export "leave") (param i32) (result i32)
            (block $out (result i32)
              (block $caught (result i32)
                (try_table (catch $number $caught) (br $out (i32.add (local.get 0) (i32.const 1))))
                (unreachable))
              (drop) (i32.const -1)))
          (func (export "return") (param i32) (result i32)
            (block $caught (result i32)
              (try_table (catch $number $caught) (return (i32.add (local.get 0) (i32.const 2))))
              (unreachable))
            (drop) (i32.const -1)))""",
        ("f", [5], [15]),
        ("leave", [5], [6]),
        ("return", [5], [7]),
    ),
    program(
        "an exception carries any number of values of any type",
        """(module
          (tag $none)
          (tag $all (param i32 i64 f32 f64 v128 externref funcref))
          (func (export "none") (result i32)
            (block $caught
              (try_table (catch $none $caught) (throw $none))
              (return (i32.const 0)))
            (i32.const 1))
          (func $throw (param i32 i64 f32 f64 i64 externref)
            (throw $all (local.get 0) (local.get 1) (local.get 2) (local.get 3)
              (i64x2.replace_lane 1 (i64x2.splat (local.get 4)) (i64.const -2)) (local.get 5) (ref.null func)))
          (func (export "all") (param i32 i64 f32 f64 i64 externref)
              (result i32 i64 f32 f64 v128 externref funcref)
            (block $caught (result i32 i64 f32 f64 v128 externref funcref)
              (try_table (catch $all $caught)
                (call $throw (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5)))
              (unreachable))))""",
        ("none", [], [1]),
        (
            "all",
            [1, -2, 0.5, -0.25, 9, 77],
            [1, -2, 0.5, -0.25, 0xFFFFFFFFFFFFFFFE0000000000000009, 77, None],
        ),
        ("all", [-1, 2**40, 1.5, 1e300, -1, None], [-1, 2**40, 1.5, 1e300, -1 - (1 << 64), None, None]),
    ),
    program(
        "the first clause that fits decides",
        """(module
          (tag $a (param i32)) (tag $b (param i32)) (tag $c (param i32))
          (func $throw (param $which i32)
            (block $other
              (block $two
                (block $one (br_table $one $two $other (local.get $which)))
                (throw $a (i32.const 10)))
              (throw $b (i32.const 20)))
            (throw $c (i32.const 30)))
          (func (export "f") (param i32) (result i32)
            (block $all
              (block $on_b (result i32)
                (block $on_a (result i32)
                  (try_table (catch $a $on_a) (catch $b $on_b) (catch $a $on_b) (catch_all $all)
                    (call $throw (local.get 0)))
                  (unreachable))
                (return (i32.add (i32.const 1))))
              (return (i32.add (i32.const 2))))
            (i32.const 99))
          (func (export "all first") (param i32) (result i32)
            (block $on_a (result i32)
              (block $all
                (try_table (catch_all $all) (catch $a $on_a) (call $throw (local.get 0)))
                (unreachable))
              (i32.const 5))))""",
        ("f", [0], [11]),
        ("f", [1], [22]),
        ("f", [2], [99]),
        ("all first", [0], [5]),
        ("all first", [2], [5]),
    ),
    program(
        "an exception passes the handlers of other tags on its way out",
        """(module
          (tag $inner (param i32)) (tag $outer (param i32))
          (global $passed (mut i32) (i32.const 0))
          (func $throw (param i32)
            (if (local.get 0) (then (throw $outer (i32.const 2))) (else (throw $inner (i32.const 1)))))
          (func $middle (param i32) (result i32)
            (block $caught (result i32)
              (try_table (catch $inner $caught) (call $throw (local.get 0)))
              (unreachable))
            (global.set $passed (i32.add (global.get $passed) (i32.const 1)))
            (i32.add (i32.const 10)))
          (func (export "f") (param i32) (result i32)
            (block $caught (result i32)
              (try_table (result i32) (catch $outer $caught) (call $middle (local.get 0)))
              (return (i32.add (i32.const 100))))
            (i32.add (i32.const 200)))
          (func (export "passed") (result i32) (global.get $passed))
          (func (export "nested") (param i32) (result i32)
            (block $from_outer (result i32)
              (try_table (catch $outer $from_outer)
                (block $from_inner (result i32)
                  (try_table (catch $inner $from_inner) (call $throw (local.get 0)))
                  (unreachable))
                (return (i32.add (i32.const 1000))))
              (unreachable))
            (i32.add (i32.const 2000))))""",
        ("f", [0], [111]),
        ("f", [1], [202]),
        ("passed", [], [1]),
        ("nested", [0], [1001]),
        ("nested", [1], [2002]),
    ),
    program(
        "a handler that throws is not its own handler",
        """(module
          (tag $t (param i32))
          (func (export "f") (param i32) (result i32)
            (block $second (result i32)
              (try_table (catch $t $second)
                (block $first (result i32)
                  (try_table (catch $t $first) (throw $t (local.get 0)))
                  (unreachable))
                (throw $t (i32.add (i32.const 1))))
              (unreachable))
            (i32.mul (i32.const 2)))
          (func (export "escapes") (param i32)
            (block $first (result i32)
              (try_table (catch $t $first) (throw $t (local.get 0)))
              (unreachable))
            (throw $t)))""",
        ("f", [5], [12]),
        ("escapes", [5], Uncaught((5,))),
    ),
    program(
        "exceptions come through indirect calls",
        """(module
          (type $step (func (param i32) (result i32)))
          (tag $t (param i32))
          (table funcref (elem $fine $throw $divide))
          (func $fine (type $step) (i32.add (local.get 0) (i32.const 1)))
          (func $throw (type $step) (throw $t (local.get 0)))
          (func $divide (type $step) (i32.div_s (local.get 0) (i32.const 0)))
          (func (export "f") (param i32 i32) (result i32)
            (block $caught (result i32)
              (try_table (result i32) (catch $t $caught)
                (call_indirect (type $step) (local.get 1) (local.get 0)))
              (return))
            (i32.add (i32.const 1000))))""",
        ("f", [0, 5], [6]),
        ("f", [1, 5], [1005]),
        ("f", [2, 5], Trap("integer divide by zero")),
        ("f", [3, 5], Trap("undefined element")),
        ("f", [1, 6], [1006]),
    ),
    program(
        "traps are not exceptions",
        """(module
          (memory 1)
          (func (export "unreachable") (block $all (try_table (catch_all $all) (unreachable))))
          (func (export "load") (param i32) (result i32)
            (block $all (try_table (catch_all $all) (return (i32.load (local.get 0)))))
            (i32.const -1))
          (func $deep (call $deep) (call $deep))
          (func (export "deep") (block $all (try_table (catch_all $all) (call $deep)))))""",
        ("unreachable", [], Trap("unreachable")),
        ("load", [65532], [0]),
        ("load", [65533], Trap("out of bounds memory access")),
        ("deep", [], Trap("call stack exhausted")),
        ("load", [0], [0]),
    ),
    program(
        "a loop may throw and catch as often as it likes",
        """(module
          (tag $odd (param i32)) (tag $wide (param i64 i64 i64 i64))
          (func $classify (param i32)
            (if (i32.and (local.get 0) (i32.const 1)) (then (throw $odd (local.get 0)))))
          (func (export "sum of odd") (param $n i32) (result i32)
            (local $sum i32)
            (loop $again
              (block $next
                (block $caught (result i32)
                  (try_table (catch $odd $caught) (call $classify (local.get $n)))
                  (br $next))
                (local.set $sum (i32.add (local.get $sum))))
              (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
            (local.get $sum))
          (func (export "wide") (param $n i32) (result i64)
            (local $sum i64)
            (loop $again
              (block $caught (result i64 i64 i64 i64)
                (try_table (catch $wide $caught)
                  (throw $wide (i64.const 1) (i64.const 2) (i64.extend_i32_u (local.get $n)) (local.get $sum)))
                (unreachable))
              (local.set $sum (i64.add (i64.add (i64.add))))
              (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
            (local.get $sum)))""",
        ("sum of odd", [10], [25]),
        ("sum of odd", [10001], [5001**2]),
        ("wide", [3], [15]),
        ("wide", [10000], [10000 * 3 + 10000 * 10001 // 2]),
    ),
    program(
        "throw_ref throws the same exception again",
        """(module
          (tag $t (param i32 i64))
          (func $throw (param i32) (throw $t (local.get 0) (i64.const 40)))
          (func $again (param i32)
            (block $caught (result i32 i64 exnref)
              (try_table (catch_ref $t $caught) (call $throw (local.get 0)))
              (unreachable))
            (throw_ref))
          (func $again_all (param i32)
            (block $caught (result exnref)
              (try_table (catch_all_ref $caught) (call $throw (local.get 0)))
              (unreachable))
            (throw_ref))
          (func (export "catch_ref") (param i32) (result i32 i64)
            (block $caught (result i32 i64)
              (try_table (catch $t $caught) (call $again (local.get 0)))
              (unreachable))
            (return))
          (func (export "catch_all_ref") (param i32) (result i32 i64)
            (block $caught (result i32 i64)
              (try_table (catch $t $caught) (call $again_all (local.get 0)))
              (unreachable)))
          (func (export "twice") (param i32) (result i32 i64)
            (local $held exnref)
            (block $caught (result exnref)
              (try_table (catch_all_ref $caught) (call $throw (local.get 0)))
              (unreachable))
            (local.set $held)
            (block $first (result i32 i64)
              (try_table (catch $t $first) (throw_ref (local.get $held)))
              (unreachable))
            (drop) (drop)
            (block $second (result i32 i64)
              (try_table (catch $t $second) (throw_ref (local.get $held)))
              (unreachable)))
          (func (export "null") (throw_ref (ref.null exn)))
          (func (export "null in a handler")
            (block $all (try_table (catch_all $all) (throw_ref (ref.null exn))))))""",
        ("catch_ref", [3], [3, 40]),
        ("catch_all_ref", [4], [4, 40]),
        ("twice", [5], [5, 40]),
        ("null", [], Trap("null exception reference")),
        ("null in a handler", [], Trap("null exception reference")),
    ),
    program(
        "a reference to an exception can be kept",
        """(module
          (tag $t (param i32 i32))
          (global $held (mut exnref) (ref.null exn))
          (table $many 64 exnref)
          (func $capture (param i32) (result exnref)
            (block $caught (result exnref)
              (try_table (catch_all_ref $caught) (throw $t (local.get 0) (i32.mul (local.get 0) (local.get 0))))
              (unreachable)))
          (func $open (param exnref) (result i32 i32)
            (block $caught (result i32 i32)
              (try_table (catch $t $caught) (throw_ref (local.get 0)))
              (unreachable)))
          (func (export "hold") (param i32) (global.set $held (call $capture (local.get 0))))
          (func (export "is null") (result i32) (ref.is_null (global.get $held)))
          (func (export "open") (result i32 i32) (call $open (global.get $held)))
          (func (export "fill") (local $i i32)
            (loop $again
              (table.set $many (local.get $i) (call $capture (local.get $i)))
              (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 64)))))
          (func (export "nth") (param i32) (result i32 i32) (call $open (table.get $many (local.get 0))))
          (func (export "choose") (param i32) (result i32 i32)
            (call $open (select (result exnref)
              (call $capture (i32.const 3)) (call $capture (i32.const 4)) (local.get 0)))))""",
        ("is null", [], [1]),
        ("open", [], Trap("null exception reference")),
        ("hold", [6], []),
        ("is null", [], [0]),
        ("open", [], [6, 36]),
        ("open", [], [6, 36]),
        ("hold", [7], []),
        ("open", [], [7, 49]),
        ("fill", [], []),
        ("nth", [0], [0, 0]),
        ("nth", [63], [63, 3969]),
        ("nth", [17], [17, 289]),
        ("open", [], [7, 49]),
        ("choose", [1], [3, 9]),
        ("choose", [0], [4, 16]),
    ),
    program(
        "an uncaught exception ends the call and leaves the instance usable",
        """(module
          (tag $t (param i32 f64)) (tag $none) (tag $many (param i32 i64 f32 f64))
          (memory 1)
          (global $count (mut i32) (i32.const 0))
          (func $work (param i32)
            (global.set $count (i32.add (global.get $count) (i32.const 1)))
            (i32.store (i32.const 8) (local.get 0))
            (throw $t (local.get 0) (f64.const 2.5)))
          (func (export "f") (param i32) (call $work (local.get 0)))
          (func (export "none") (throw $none))
          (func (export "many") (throw $many (i32.const -1) (i64.const -2) (f32.const 0.5) (f64.const -0.25)))
          (func (export "rethrown") (param i32)
            (block $caught (result exnref)
              (try_table (catch_all_ref $caught) (call $work (local.get 0)))
              (unreachable))
            (throw_ref))
          (func (export "wrong tag") (param i32)
            (block $caught (try_table (catch $none $caught) (call $work (local.get 0)))))
          (func (export "count") (result i32 i32) (global.get $count) (i32.load (i32.const 8)))
          (func (export "caught") (param i32) (result i32)
            (block $caught (result i32 f64)
              (try_table (catch $t $caught) (call $work (local.get 0)))
              (unreachable))
            (drop)))""",
        ("f", [3], Uncaught((3, 2.5))),
        ("count", [], [1, 3]),
        ("none", [], Uncaught()),
        ("many", [], Uncaught((-1, -2, 0.5, -0.25))),
        ("rethrown", [4], Uncaught((4, 2.5))),
        ("wrong tag", [5], Uncaught((5, 2.5))),
        ("count", [], [3, 5]),
        ("caught", [6], [6]),
    ),
    program(
        "an exception unwinds as many calls as there are",
        """(module
          (tag $t (param i32))
          (global $unwound (mut i32) (i32.const 0))
          (func $dive (param $depth i32) (result i32)
            (if (i32.eqz (local.get $depth)) (then (throw $t (i32.const 42))))
            (i32.add (call $dive (i32.sub (local.get $depth) (i32.const 1))) (i32.const 1)))
          (func (export "f") (param i32) (result i32)
            (block $caught (result i32)
              (try_table (result i32) (catch $t $caught) (call $dive (local.get 0)))))
          (func $polite (param $depth i32)
            (if (i32.eqz (local.get $depth)) (then (throw $t (i32.const 7))))
            (block $caught (result exnref)
              (try_table (catch_all_ref $caught) (call $polite (i32.sub (local.get $depth) (i32.const 1))))
              (return))
            (global.set $unwound (i32.add (global.get $unwound) (i32.const 1)))
            (throw_ref))
          (func (export "each level") (param i32) (result i32 i32)
            (block $caught (result i32)
              (try_table (catch $t $caught) (call $polite (local.get 0)))
              (unreachable))
            (global.get $unwound)))""",
        ("f", [0], [42]),
        ("f", [500], [42]),
        ("each level", [200], [7, 200]),
    ),
    program(
        "a tail call leaves the handlers of its caller",
        """(module
          (type $step (func (param i32) (result i32)))
          (tag $t (param i32))
          (table funcref (elem $throw))
          (func $throw (type $step) (throw $t (local.get 0)))
          (func $direct (type $step)
            (block $caught (result i32)
              (try_table (catch $t $caught) (return_call $throw (local.get 0)))
              (unreachable))
            (drop) (i32.const -1))
          (func $indirect (type $step)
            (block $caught (result i32)
              (try_table (catch $t $caught) (return_call_indirect (type $step) (local.get 0) (i32.const 0)))
              (unreachable))
            (drop) (i32.const -1))
          (func (export "direct") (param i32) (result i32)
            (block $caught (result i32)
              (try_table (result i32) (catch $t $caught) (call $direct (local.get 0)))
              (return))
            (i32.add (i32.const 1)))
          (func (export "indirect") (param i32) (result i32)
            (block $caught (result i32)
              (try_table (result i32) (catch $t $caught) (call $indirect (local.get 0)))
              (return))
            (i32.add (i32.const 1)))
          (func (export "none") (param i32) (result i32) (return_call $direct (local.get 0))))""",
        ("direct", [10], [11]),
        ("indirect", [20], [21]),
        ("none", [30], Uncaught((30,))),
    ),
    program(
        "what a handler reads is what the body wrote",
        """(module
          (tag $t)
          (func $maybe (param i32) (if (local.get 0) (then (throw $t))))
          (func (export "f") (param $first i32) (param $second i32) (result i32)
            (local $at i32)
            (block $caught
              (try_table (catch $t $caught)
                (local.set $at (i32.const 1))
                (call $maybe (local.get $first))
                (local.set $at (i32.const 2))
                (call $maybe (local.get $second))
                (local.set $at (i32.const 3))))
            (local.get $at)))""",
        ("f", [1, 0], [1]),
        ("f", [0, 1], [2]),
        ("f", [0, 0], [3]),
    ),
]


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)
def test_exceptions_do_what_the_specification_says(case, engine):
    run(case, engine)


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)
def test_exceptions_are_the_same_when_calls_are_made_at_once(case, engine):
    run_at_once(case, engine)


def test_a_start_function_that_throws_ends_the_instantiation(engine):
    text = "(module (tag) (func $start (throw 0)) (start $start))"
    with pytest.raises(WasmException):
        link(engine, engine.new_store(), {"main": text})
