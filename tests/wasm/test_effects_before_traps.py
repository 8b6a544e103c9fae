"""What a program did before it trapped can be seen afterwards, even if the next thing it does would undo it."""

import pytest
from programs import Program, Trap, run

TRAPS = {
    "i32.load": ("(drop (i32.load (local.get $far)))", "out of bounds memory access"),
    "v128.load": ("(drop (v128.load16x4_u (local.get $far)))", "out of bounds memory access"),
    "i64.store": ("(i64.store (local.get $far) (i64.const 9))", "out of bounds memory access"),
    "i32.atomic.rmw.add": ("(drop (i32.atomic.rmw.add (local.get $far) (i32.const 1)))", "out of bounds memory access"),
    "memory.fill": ("(memory.fill (local.get $far) (i32.const 1) (i32.const 1))", "out of bounds memory access"),
    "i32.div_s": (
        "(drop (i32.div_s (i32.const 1) (i32.gt_s (i32.const 0) (local.get $far))))",
        "integer divide by zero",
    ),
    "call_indirect": ("(call_indirect (type $none) (local.get $far))", "undefined element"),
    "unreachable": ("(if (local.get $far) (then (unreachable)))", "unreachable"),
}
"""Instructions that trap if `$far` is 100,000, and why."""

EFFECTS = {
    "a global": ("(global.set $seen (i32.const VALUE))", "(global.get $seen)"),
    "a wide global": (
        "(global.set $wide (i64x2.splat (i64.const VALUE)))",
        "(i32.wrap_i64 (i64x2.extract_lane 1 (global.get $wide)))",
    ),
    "a memory": ("(i32.store (i32.const 64) (i32.const VALUE))", "(i32.load (i32.const 64))"),
    "part of a memory": ("(i32.store8 (i32.const 65) (i32.const VALUE))", "(i32.load8_u (i32.const 65))"),
    "a range of a memory": (
        "(memory.fill (i32.const 64) (i32.const VALUE) (i32.const 40))",
        "(i32.load8_u (i32.const 99))",
    ),
    "a table": ("(table.set $refs (i32.const 1) (ELEMENT))", "(i32.eqz (ref.is_null (table.get $refs (i32.const 1))))"),
}
"""Something that a program does, with a value to tell it by, and an expression that gives that value."""

MODULE = """(module
  (type $none (func))
  (memory 1)
  (table $calls 1 funcref)
  (table $refs 4 funcref)
  (elem declare func $trap)
  (global $seen (mut i32) (i32.const 0))
  (global $wide (mut v128) (v128.const i64x2 0 0))
  (func $trap (export "trap") (param $far i32) DO TRAP UNDO)
  (func (export "trap in a loop") (param $far i32) (local $left i32)
    (local.set $left (i32.const 5))
    (loop $again
      DO
      (if (i32.eq (local.get $left) (i32.const 2)) (then TRAP))
      UNDO
      (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1))))))
  (func (export "seen") (result i32) SEEN))"""

COUNTING = """(module
  (type $none (func))
  (memory 1)
  (table $calls 1 funcref)
  (global $seen (mut i32) (i32.const 0))
  (func (export "count") (param $stop i32) (local $far i32)
    (loop $again
      (global.set $seen (i32.add (global.get $seen) (i32.const 1)))
      (local.set $far (select (i32.const 100000) (i32.const 0) (i32.ge_u (global.get $seen) (local.get $stop))))
      TRAP
      (br_if $again (i32.lt_u (global.get $seen) (i32.const 1000)))))
  (func (export "seen") (result i32) (global.get $seen)))"""


def with_value(text, value):
    return text.replace("VALUE", str(value)).replace("ELEMENT", "ref.func $trap" if value else "ref.null func")


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("trap", TRAPS)
def test_an_effect_before_a_trap_stays(effect, trap, engine):
    do, seen = EFFECTS[effect]
    instruction, kind = TRAPS[trap]
    text = MODULE.replace("UNDO", with_value(do, 0)).replace("DO", with_value(do, 1)).replace("SEEN", seen)
    calls = [
        ("seen", [], [0]),
        ("trap", [100000], Trap(kind)),
        ("seen", [], [1]),
    ]
    text = text.replace("TRAP", instruction)
    run(Program("once", {"main": text}, calls), engine)
    in_a_loop = [(name.replace("trap", "trap in a loop"), args, wanted) for name, args, wanted in calls]
    run(Program("in a loop", {"main": text}, in_a_loop), engine)


@pytest.mark.parametrize("trap", ["i32.load", "i64.store", "i32.atomic.rmw.add", "call_indirect"])
def test_a_count_is_right_when_the_loop_ends_in_a_trap(trap, engine):
    instruction, kind = TRAPS[trap]
    instruction = instruction if trap != "call_indirect" else f"(if (local.get $far) (then {instruction}))"
    calls = [("count", [37], Trap(kind)), ("seen", [], [37])]
    run(Program("count", {"main": COUNTING.replace("TRAP", instruction)}, calls), engine)
