"""Several memories in one module: each instruction touches the one it names, with that one's size."""

import pytest
from programs import Program, Trap, program, run, run_at_once

OUT_OF_BOUNDS = Trap("out of bounds memory access")

PROGRAMS = [
    program(
        "loads and stores touch the memory they name",
        """(module
          (memory $a 1) (memory $b 1) (memory $c 1)
          (func (export "set") (param i32 i32 i32 i32)
            (i32.store $a (local.get 0) (local.get 1))
            (i32.store $b (local.get 0) (local.get 2))
            (i32.store $c (local.get 0) (local.get 3)))
          (func (export "get") (param i32) (result i32 i32 i32)
            (i32.load $a (local.get 0)) (i32.load $b (local.get 0)) (i32.load $c (local.get 0)))
          (func (export "narrow") (param i32 i64)
            (i32.store8 $a (local.get 0) (i32.wrap_i64 (local.get 1)))
            (i32.store16 $b (local.get 0) (i32.wrap_i64 (local.get 1)))
            (i64.store32 $c offset=4 (local.get 0) (local.get 1)))
          (func (export "signed") (param i32) (result i32 i32 i64 i64)
            (i32.load8_s $a (local.get 0)) (i32.load16_s $b (local.get 0))
            (i64.load32_u $c offset=4 (local.get 0)) (i64.load $c (local.get 0)))
          (func (export "floats") (param i32 f32 f64) (result f32 f64 f32)
            (f32.store $b (local.get 0) (local.get 1))
            (f64.store $c (local.get 0) (local.get 2))
            (f32.load $b (local.get 0)) (f64.load $c (local.get 0)) (f32.load $a (local.get 0))))""",
        ("set", [16, 1, 2, 3], []),
        ("get", [16], [1, 2, 3]),
        ("get", [20], [0, 0, 0]),
        ("narrow", [32, 0x12345678], []),
        ("narrow", [40, -1], []),
        ("signed", [32], [0x78, 0x5678, 0x12345678, 0x12345678 << 32]),
        ("signed", [40], [-1, -1, 2**32 - 1, (2**32 - 1) << 32]),
        ("floats", [64, 1.5, -2.5], [1.5, -2.5, 0.0]),
    ),
    program(
        "each memory has a size of its own",
        """(module
          (memory $small 1 2) (memory $large 3) (memory $none 0)
          (func (export "sizes") (result i32 i32 i32)
            (memory.size $small) (memory.size $large) (memory.size $none))
          (func (export "grow small") (param i32) (result i32) (memory.grow $small (local.get 0)))
          (func (export "grow large") (param i32) (result i32) (memory.grow $large (local.get 0)))
          (func (export "grow none") (param i32) (result i32) (memory.grow $none (local.get 0)))
          (func (export "load small") (param i32) (result i32) (i32.load $small (local.get 0)))
          (func (export "load large") (param i32) (result i32) (i32.load $large (local.get 0)))
          (func (export "store none") (param i32) (i32.store $none (local.get 0) (i32.const 7)))
          (func (export "load none") (param i32) (result i32) (i32.load $none (local.get 0))))""",
        ("sizes", [], [1, 3, 0]),
        ("load small", [65532], [0]),
        ("load small", [65536], OUT_OF_BOUNDS),
        ("load large", [65536], [0]),
        ("load large", [196605], OUT_OF_BOUNDS),
        ("store none", [0], OUT_OF_BOUNDS),
        ("grow none", [1], [0]),
        ("store none", [0], []),
        ("load none", [0], [7]),
        ("grow small", [1], [1]),
        ("grow small", [1], [-1]),
        ("load small", [65536], [0]),
        ("grow large", [2], [3]),
        ("load large", [196605], [0]),
        ("load large", [-1], OUT_OF_BOUNDS),
        ("sizes", [], [2, 5, 1]),
    ),
    program(
        "bytes are copied within a memory and from one to another",
        """(module
          (memory $a 1) (memory $b 2)
          (data (memory $a) (i32.const 0) "abcdefgh")
          (data (memory $b) (i32.const 0) "ABCDEFGH")
          (func (export "a to b") (param i32 i32 i32)
            (memory.copy $b $a (local.get 0) (local.get 1) (local.get 2)))
          (func (export "b to a") (param i32 i32 i32)
            (memory.copy $a $b (local.get 0) (local.get 1) (local.get 2)))
          (func (export "b to b") (param i32 i32 i32)
            (memory.copy $b $b (local.get 0) (local.get 1) (local.get 2)))
          (func (export "read a") (param i32) (result i64) (i64.load $a (local.get 0)))
          (func (export "read b") (param i32) (result i64) (i64.load $b (local.get 0))))""",
        ("read a", [0], [int.from_bytes(b"abcdefgh", "little")]),
        ("read b", [0], [int.from_bytes(b"ABCDEFGH", "little")]),
        ("a to b", [2, 1, 3], []),
        ("read b", [0], [int.from_bytes(b"ABbcdFGH", "little")]),
        ("b to b", [1, 0, 7], []),
        ("read b", [0], [int.from_bytes(b"AABbcdFG", "little")]),
        ("b to a", [65528, 0, 8], []),
        ("read a", [65528], [int.from_bytes(b"AABbcdFG", "little")]),
        ("b to a", [65529, 0, 8], OUT_OF_BOUNDS),
        ("a to b", [65536, 65528, 8], []),
        ("read b", [65536], [int.from_bytes(b"AABbcdFG", "little")]),
        ("a to b", [0, 65529, 8], OUT_OF_BOUNDS),
        ("a to b", [131072, 65536, 0], []),
        ("a to b", [131073, 0, 0], OUT_OF_BOUNDS),
        ("read a", [0], [int.from_bytes(b"abcdefgh", "little")]),
        ("read b", [0], [int.from_bytes(b"AABbcdFG", "little")]),
    ),
    program(
        "bytes are filled and initialised in the memory that is named",
        """(module
          (memory $a 1) (memory $b 1)
          (data $kept "0123456789")
          (data $used (memory $b) (i32.const 100) "xyz")
          (func (export "fill b") (param i32 i32 i32)
            (memory.fill $b (local.get 0) (local.get 1) (local.get 2)))
          (func (export "init b") (param i32 i32 i32)
            (memory.init $b $kept (local.get 0) (local.get 1) (local.get 2)))
          (func (export "drop") (data.drop $kept))
          (func (export "read") (param i32) (result i32 i32)
            (i32.load $a (local.get 0)) (i32.load $b (local.get 0))))""",
        ("read", [100], [0, int.from_bytes(b"xyz\0", "little")]),
        ("fill b", [10, 0xAB, 3], []),
        ("read", [10], [0, 0xABABAB]),
        ("init b", [20, 4, 4], []),
        ("read", [20], [0, int.from_bytes(b"4567", "little")]),
        ("init b", [20, 8, 3], OUT_OF_BOUNDS),
        ("fill b", [65535, 1, 2], OUT_OF_BOUNDS),
        ("drop", [], []),
        ("init b", [0, 0, 1], OUT_OF_BOUNDS),
        ("read", [20], [0, int.from_bytes(b"4567", "little")]),
    ),
    program(
        "vectors use the memory that is named",
        """(module
          (memory $a 1) (memory $b 1)
          (data (memory $b) (i32.const 0) "\\01\\02\\03\\04\\05\\06\\07\\08\\09\\0a\\0b\\0c\\0d\\0e\\0f\\10")
          (func (export "copy") (param i32) (v128.store $a (local.get 0) (v128.load $b (local.get 0))))
          (func (export "read") (param i32) (result v128 v128)
            (v128.load $a (local.get 0)) (v128.load $b (local.get 0)))
          (func (export "lane") (param i32) (result v128)
            (v128.load16_lane $b 3 (local.get 0) (v128.const i64x2 0 0)))
          (func (export "store lane") (param i32 v128) (v128.store32_lane $b 1 (local.get 0) (local.get 1)))
          (func (export "splat") (param i32) (result v128) (v128.load8_splat $b (local.get 0)))
          (func (export "extend") (param i32) (result v128) (v128.load8x8_u $b (local.get 0))))""",
        ("copy", [0], []),
        ("read", [0], [0x100F0E0D0C0B0A090807060504030201] * 2),
        ("lane", [4], [0x0605 << 48]),
        ("store lane", [4, 0xDDCCBBAA << 32], []),
        ("read", [0], [0x100F0E0D0C0B0A090807060504030201, 0x100F0E0D0C0B0A09DDCCBBAA04030201]),
        ("splat", [1], [int.from_bytes(b"\x02" * 16, "little")]),
        ("extend", [8], [0x0010000F000E000D000C000B000A0009]),
        ("copy", [65521], OUT_OF_BOUNDS),
    ),
    program(
        "atomics use the memory that is named",
        """(module
          (memory $plain 1) (memory $shared 1 1 shared)
          (func (export "add") (param i32 i32) (result i32)
            (i32.atomic.rmw.add $shared (local.get 0) (local.get 1)))
          (func (export "exchange") (param i32 i64 i64) (result i64)
            (i64.atomic.rmw.cmpxchg $shared (local.get 0) (local.get 1) (local.get 2)))
          (func (export "read") (param i32) (result i32 i32)
            (i32.load $plain (local.get 0)) (i32.atomic.load $shared (local.get 0))))""",
        ("add", [8, 5], [0]),
        ("add", [8, 6], [5]),
        ("read", [8], [0, 11]),
        ("exchange", [8, 11, 2**32], [11]),
        ("exchange", [8, 11, 3], [2**32]),
        ("read", [12], [0, 1]),
        ("add", [2, 1], Trap("unaligned atomic")),
        ("add", [65536, 1], OUT_OF_BOUNDS),
    ),
    Program(
        "memories of other instances stand beside a module's own",
        {
            "first": """(module
              (memory (export "memory") 1 4)
              (data (i32.const 0) "\\11")
              (func (export "read") (param i32) (result i32) (i32.load8_u (local.get 0)))
              (func (export "size") (result i32) (memory.size)))""",
            "second": """(module
              (memory $hidden 1) (memory (export "memory") 2) (export "hidden too" (memory $hidden))
              (data (memory 0) (i32.const 0) "\\22") (data (memory 1) (i32.const 0) "\\33"))""",
            "main": """(module
              (import "first" "memory" (memory $first 1 4))
              (import "second" "memory" (memory $second 2))
              (import "second" "hidden too" (memory $hidden 1))
              (import "first" "read" (func $read_first (param i32) (result i32)))
              (import "first" "size" (func $size_first (result i32)))
              (memory $own 1)
              (data (memory $own) (i32.const 0) "\\44")
              (data (memory $first) (i32.const 1) "\\55")
              (func (export "all") (param i32) (result i32 i32 i32 i32)
                (i32.load8_u $first (local.get 0)) (i32.load8_u $second (local.get 0))
                (i32.load8_u $hidden (local.get 0)) (i32.load8_u $own (local.get 0)))
              (func (export "own to first") (memory.copy $first $own (i32.const 2) (i32.const 0) (i32.const 1)))
              (func (export "seen by first") (param i32) (result i32) (call $read_first (local.get 0)))
              (func (export "grow first") (param i32) (result i32 i32)
                (memory.grow $first (local.get 0)) (call $size_first))
              (func (export "store") (param i32)
                (i32.store8 $first (local.get 0) (i32.const 1))
                (i32.store8 $second (local.get 0) (i32.const 2))))""",
        },
        [
            ("all", [0], [0x11, 0x33, 0x22, 0x44]),
            ("all", [1], [0x55, 0, 0, 0]),
            ("own to first", [], []),
            ("seen by first", [1], [0x55]),
            ("seen by first", [2], [0x44]),
            ("grow first", [2], [1, 3]),
            ("grow first", [2], [-1, 3]),
            ("store", [100000], []),
            ("seen by first", [100000], [1]),
            ("all", [100000], OUT_OF_BOUNDS),
            ("store", [150000], OUT_OF_BOUNDS),
            ("seen by first", [150000], [1]),
        ],
    ),
]


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)
def test_memories_are_kept_apart(case, engine):
    run(case, engine)


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)
def test_memories_are_kept_apart_when_calls_are_made_at_once(case, engine):
    run_at_once(case, engine)
