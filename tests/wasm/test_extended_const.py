"""Extended constant expressions: sums, differences and products wherever a constant may stand."""

import pytest
from programs import Program, assemble, program, run

from lanewise.errors import InvalidError, WasmTrap

PROGRAMS = [
    program(
        "globals are computed, and wrap as instructions do",
        """(module
          (global (export "sum") i32 (i32.add (i32.const 40) (i32.const 2)))
          (global $nested i32 (i32.mul (i32.sub (i32.const 3) (i32.const 10)) (i32.add (i32.const 2) (i32.const 4))))
          (global $wrapped i32 (i32.add (i32.const 0x7fffffff) (i32.const 1)))
          (global $below i64 (i64.sub (i64.const -0x8000000000000000) (i64.const 1)))
          (global $product i64 (i64.mul (i64.const 0x100000001) (i64.const 0x100000001)))
          (global $stacked (mut i32) i32.const 1 i32.const 2 i32.const 3 i32.add i32.const 4 i32.mul i32.sub)
          (func (export "i32") (result i32 i32 i32 i32)
            (global.get 0) (global.get $nested) (global.get $wrapped) (global.get $stacked))
          (func (export "i64") (result i64 i64) (global.get $below) (global.get $product)))""",
        ("i32", [], [42, -42, -(2**31), 1 - 20]),
        ("i64", [], [2**63 - 1, 0x200000001]),
    ),
    Program(
        "imported globals take part",
        {
            "base": """(module
              (global (export "page") i32 (i32.const 0x100)) (global (export "wide") i64 (i64.const 1000)))""",
            "main": """(module
              (import "base" "page" (global $page i32)) (import "base" "wide" (global $wide i64))
              (global $twice i32 (i32.add (global.get $page) (global.get $page)))
              (global $scaled i64 (i64.mul (i64.sub (global.get $wide) (i64.const 1)) (i64.const -1)))
              (memory 1)
              (data (i32.mul (global.get $page) (i32.const 3)) "here")
              (data (offset (i32.sub (global.get $page) (i32.const 4))) "before")
              (type $number (func (result i32)))
              (table 8 funcref)
              (elem (offset (i32.sub (global.get $page) (i32.const 0xfe))) func $one $two)
              (func $one (result i32) (i32.const 1))
              (func $two (result i32) (i32.const 2))
              (func (export "globals") (result i32 i64) (global.get $twice) (global.get $scaled))
              (func (export "read") (param i32) (result i32) (i32.load (local.get 0)))
              (func (export "call") (param i32) (result i32) (call_indirect (type $number) (local.get 0))))""",
        },
        [
            ("globals", [], [0x200, -999]),
            ("read", [0x300], [int.from_bytes(b"here", "little")]),
            ("read", [0xFC], [int.from_bytes(b"befo", "little")]),
            ("read", [0x100], [int.from_bytes(b"re\0\0", "little")]),
            ("call", [2], [1]),
            ("call", [3], [2]),
        ],
    ),
]


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)
def test_constants_are_computed(case, engine):
    run(case, engine)


def test_a_computed_global_is_visible_from_outside(engine):
    store = engine.new_store()
    text = '(module (global (export "g") i64 (i64.sub (i64.const 1) (i64.const 3))))'
    assert store.instantiate(engine.load(assemble(text)), imports={}).exports["g"].bits == 2**64 - 2


def test_a_segment_that_is_computed_past_the_end_traps(engine):
    text = '(module (memory 1) (data (i32.mul (i32.const 0x8000) (i32.const 2)) "x"))'
    with pytest.raises(WasmTrap) as trapped:
        engine.new_store().instantiate(engine.load(assemble(text)), imports={})
    assert trapped.value.kind == "out of bounds memory access"


@pytest.mark.parametrize("expression", ["i32.div_s", "i32.and", "i32.shl", "i32.eq"])
def test_other_arithmetic_is_no_constant(engine, expression):
    with pytest.raises(InvalidError):
        engine.load(assemble(f"(module (global i32 ({expression} (i32.const 6) (i32.const 3))))"))
