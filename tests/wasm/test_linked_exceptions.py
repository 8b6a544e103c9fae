"""Exceptions between instances: a tag is the same wherever it is imported, and differs from all others."""

import pytest
from programs import Program, Uncaught, run, run_at_once

PROGRAMS = [
    Program(
        "a tag is known by the instance that made it, not by its type",
        {
            "a": """(module
              (tag (export "tag") (param i32)) (tag $other (export "other") (param i32))
              (func (export "throw") (param i32) (throw 0 (local.get 0)))
              (func (export "throw other") (param i32) (throw $other (local.get 0))))""",
            "b": """(module
              (import "a" "tag" (tag (param i32)))
              (export "same tag" (tag 0))
              (tag (export "own tag") (param i32))
              (func (export "throw own") (param i32) (throw 1 (local.get 0))))""",
            "c": """(module
              (import "a" "tag" (tag $tag (param i32)))
              (import "a" "other" (tag $other (param i32)))
              (import "b" "same tag" (tag $same (param i32)))
              (import "b" "own tag" (tag $own (param i32)))
              (import "a" "throw" (func $throw (param i32)))
              (import "a" "throw other" (func $throw_other (param i32)))
              (import "b" "throw own" (func $throw_own (param i32)))
              (func $throw_same (param i32) (throw $same (local.get 0)))
              (type $thrower (func (param i32)))
              (table funcref (elem $throw $throw_other $throw_own $throw_same))
              (func (export "f") (param i32 i32) (result i32 i32)
                (block $on_own (result i32)
                  (block $on_other (result i32)
                    (block $on_tag (result i32)
                      (try_table (catch $tag $on_tag) (catch $other $on_other) (catch $own $on_own)
                        (call_indirect (type $thrower) (local.get 1) (local.get 0)))
                      (unreachable))
                    (return (i32.const 1)))
                  (return (i32.const 2)))
                (i32.const 3))
              (func (export "f by the second name") (param i32) (result i32)
                (block $caught (result i32)
                  (try_table (catch $same $caught) (call $throw (local.get 0)))
                  (unreachable)))
              (func (export "none fits") (param i32) (result i32)
                (block $caught (result i32)
                  (try_table (catch $own $caught) (catch $other $caught) (call $throw (local.get 0)))
                  (unreachable))))""",
        },
        [
            ("f", [0, 10], [10, 1]),
            ("f", [1, 20], [20, 2]),
            ("f", [2, 30], [30, 3]),
            ("f", [3, 40], [40, 1]),
            ("f by the second name", [50], [50]),
            ("none fits", [60], Uncaught((60,))),
        ],
    ),
    Program(
        "each instance of a module has tags of its own",
        {
            "first": (
                twin := """(module
                  (tag (export "tag"))
                  (func (export "throw") (throw 0)))"""
            ),
            "second": twin,
            "main": """(module
              (import "first" "tag" (tag $first))
              (import "second" "tag" (tag $second))
              (import "first" "throw" (func $throw_first))
              (import "second" "throw" (func $throw_second))
              (func (export "f") (param i32) (result i32)
                (block $on_second
                  (block $on_first
                    (try_table (catch $first $on_first) (catch $second $on_second)
                      (if (local.get 0) (then (call $throw_second)) (else (call $throw_first))))
                    (unreachable))
                  (return (i32.const 1)))
                (i32.const 2)))""",
        },
        [("f", [0], [1]), ("f", [1], [2])],
    ),
    Program(
        "an exception passes through an instance that knows nothing of it",
        {
            "thrower": """(module
              (tag (export "tag") (param i64))
              (func (export "throw") (param i64) (throw 0 (local.get 0))))""",
            "between": """(module
              (import "thrower" "throw" (func $throw (param i64)))
              (global $calls (export "calls") (mut i32) (i32.const 0))
              (func (export "call") (param i64)
                (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
                (call $throw (local.get 0))
                (global.set $calls (i32.const -1))))""",
            "main": """(module
              (import "thrower" "tag" (tag $tag (param i64)))
              (import "between" "call" (func $call (param i64)))
              (import "between" "calls" (global $calls (mut i32)))
              (func (export "f") (param i64) (result i64 i32)
                (block $caught (result i64)
                  (try_table (catch $tag $caught) (call $call (local.get 0)))
                  (unreachable))
                (global.get $calls)))""",
        },
        [("f", [-5], [-5, 1]), ("f", [2**50], [2**50, 2])],
    ),
]


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)
def test_tags_are_known_by_who_made_them(case, engine):
    run(case, engine)


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)
def test_tags_are_the_same_when_calls_are_made_at_once(case, engine):
    run_at_once(case, engine)
