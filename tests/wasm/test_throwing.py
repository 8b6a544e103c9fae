"""Only calls of functions that can throw are followed by a look for an exception."""

import pytest
import wasmtime

import lanewise as lw
from lanewise.wasm.build import host_build
from lanewise.wasm.program import ModuleProgram
from lanewise.wasm.throwing import throwing_functions

FUNCTIONS = """
  (func $imported (import "m" "f"))
  (func $adds (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
  (func $throws (param i32) (result i32) (throw $small (local.get 0)))
  (func $calls_it (param i32) (result i32) (call $throws (local.get 0)))
  (func $calls_that (result i32) (call $calls_it (i32.const 1)))
  (func $calls_others (result i32) (call $adds (i32.const 1)))
  (func $catches_all (result i32)
    (block $b (try_table (catch_all $b) (drop (call $throws (i32.const 1)))) (return (i32.const 1))) (i32.const 2))
  (func $catches_one (result i32)
    (block $b (result i32)
      (try_table (result i32) (catch $small $b) (call $throws (i32.const 1)))))
  (func $throws_behind (result i32)
    (block $b (try_table (catch_all $b) (drop (call $throws (i32.const 1)))))
    (throw $small (i32.const 2)))
  (func $throws_again (param exnref) (throw_ref (local.get 0)))
  (func $leaves (param i32) (result i32)
    (block $b (try_table (catch_all $b) (return_call $throws (local.get 0)))) (i32.const 1))
  (func $like_throws (param i32) (result i32) (call_indirect (type $same) (local.get 0) (i32.const 0)))
  (func $like_none (call_indirect (type $nothing) (i32.const 0)))
  (func $calls_imported (call $imported))"""
NAMES = [part.partition(" ")[0] for part in FUNCTIONS.split("(func $")[1:]]
MODULE = wasmtime.wat2wasm(f"""(module (type $same (func (param i32) (result i32))) (type $nothing (func))
  {FUNCTIONS} (tag $small (param i32)) (table 4 funcref))""")
THROWING = {
    "throws", "calls_it", "calls_that", "catches_one", "throws_behind", "throws_again", "leaves", "like_throws",
}  # fmt: skip


@pytest.mark.parametrize(
    ("linked", "more"), [(False, set()), (True, {"imported", "calls_imported", "like_none"})], ids=["alone", "linked"]
)
def test_a_function_can_throw_if_something_in_it_can_that_it_does_not_catch(linked, more):
    found = throwing_functions(lw.load(MODULE).model, linked)
    assert {NAMES[number] for number in found} == THROWING | more


def test_other_calls_are_not_followed_by_a_look():
    module = lw.load(MODULE).model
    (part,) = ModuleProgram(module, host_build(throws=True), "g_").parts(1)
    looks = {
        name: "%unwind" in part.ir.split(f" @g_f{number}(ptr %st", 1)[1].split("\n}\n")[0]
        for number, name in enumerate(NAMES)
        if name != "imported"
    }
    assert {name for name, does in looks.items() if does} == THROWING - {"leaves"}  # whose callee returns to its caller
