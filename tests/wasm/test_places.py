"""A trap tells where it was: function, byte of the module, and the calls it was in."""

import numpy as np
import pytest
import wasmtime

import lanewise as lw
from lanewise.wasm import Module, Store, places

TEXT = """(module
  (memory 1)
  (func $deep (param i32) (result i32) (i32.load (local.get 0)))
  (func $middle (param i32) (result i32)
    (if (i32.gt_u (local.get 0) (i32.const 100))
      (then (return (call $middle (i32.sub (local.get 0) (i32.const 1))))))
    (i32.add (call $deep (i32.mul (local.get 0) (i32.const 1000))) (i32.const 1)))
  (func $outer (export "outer") (param i32) (result i32) (i32.mul (call $middle (local.get 0)) (i32.const 3)))
  (func $divide (export "divide") (param i32) (result i32) (i32.div_u (i32.const 1) (local.get 0)))
  (func $endless (export "endless") (param i32) (result i32) (i32.add (i32.const 1) (call $endless (local.get 0)))))
"""


@pytest.fixture(scope="module")
def module():
    return Module.load(bytes(wasmtime.wat2wasm(TEXT)))


def offset_of(module, function, instruction):
    """Where the first such instruction of a function is, by the disassembly."""
    for line in module.disassemble(function).splitlines():
        if instruction in line:
            return int(line.split()[0], 16)
    raise AssertionError(f"{function} has no {instruction}")


def test_a_fault_names_its_function_its_place_and_its_callers(module):
    with pytest.raises(lw.WasmTrap, match="out of bounds memory access in deep") as caught:
        Store("cpu").instantiate(module).exports["outer"](103)
    trap = caught.value
    assert trap.function == "deep"
    assert trap.offset == offset_of(module, "deep", "i32.load")
    names = [frame.split(" (")[0].split(", inlined in ")[-1] for frame in trap.frames]
    assert names[0] in ("deep", "middle")
    assert names[-1] == "outer"
    assert names.count("middle") >= 3


def test_a_trap_that_is_compared_for_tells_its_place_on_every_device(module, device):
    with pytest.raises(lw.WasmTrap, match="integer divide by zero") as caught:
        Store(device).instantiate(module).exports["divide"](0)
    assert caught.value.function == "divide"
    assert caught.value.offset == offset_of(module, "divide", "i32.div_u")


def test_recursion_without_end_names_the_function_and_not_all_of_its_calls(module, device):
    with pytest.raises(lw.WasmTrap, match="call stack exhausted") as caught:
        Store(device).instantiate(module).exports["endless"](1)
    assert caught.value.function == "endless"
    assert len(caught.value.frames) < 32


def test_lanes_that_trap_tell_their_places_and_on_request_their_callers(module, device):
    function = module.func("outer", device=device)
    with pytest.raises(lw.LaneError, match="lane 2: out of bounds memory access in deep") as caught:
        function(np.array([1, 2, 105, 3]))
    assert caught.value.offset == offset_of(module, "deep", "i32.load")
    trap = caught.value.trap_of(2)
    assert trap is not None
    assert trap.kind == "out of bounds memory access"
    assert trap.frames[-1].startswith("outer")
    assert trap.lane == 2
    for lane, message in ((0, "lane 0 did not trap"), (4, "lane 4 does not exist"), (-1, "does not exist")):
        with pytest.raises(lw.ArgumentError, match=message):
            caught.value.trap_of(lane)
    with pytest.raises(lw.ArgumentError, match="a lane is a number"):
        caught.value.trap_of("two")


def trap_again(text, *args, **choices):
    """The trap of the first lane that traps, run again."""
    with pytest.raises(lw.LaneError) as caught:
        Module.load(bytes(wasmtime.wat2wasm(text))).func("f", device="cpu", **choices)(*args)
    return caught.value.trap_of(), caught.value


def test_a_lane_that_is_run_again_names_every_call():
    text = """(module (memory 1)
      (func $inner (param i32) (result i32) (i32.div_u (i32.const 8) (local.get 0)))
      (func $middle (param i32) (result i32) (i32.add (call $inner (local.get 0)) (i32.const 1)))
      (func (export "f") (param i32) (result i32) (i32.add (call $middle (local.get 0)) (i32.const 1))))"""
    trap, _ = trap_again(text, [1, 0])
    assert [frame.split(" (")[0] for frame in trap.frames] == ["inner", "middle", "f"]


def test_a_lane_of_a_module_with_imports_is_run_again():
    text = """(module
      (import "env" "log" (func $log (param i32)))
      (import "env" "table" (table 2 externref))
      (import "env" "memory" (memory 2))
      (import "env" "changes" (global $g (mut f64)))
      (import "env" "wide" (global v128))
      (import "env" "base" (global $function funcref))
      (import "env" "any" (global externref))
      (import "env" "oops" (tag (param i64)))
      (data (i32.const 131070) "xy")
      (table funcref (elem $log (;1;)))
      (global $own (mut i32) (i32.const 0))
      (func (export "_initialize") (call $log (i32.const 1)))
      (func (export "other") (global.set $own (i32.const 1)) (global.set $g (f64.const 1)) (call $log (i32.const 2)))
      (func $inner (param i32) (result i32) (i32.div_u (i32.const 8) (local.get 0)))
      (func (export "f") (param i32) (result i32) (call $inner (local.get 0))))"""
    trap, error = trap_again(text, [1, 2, 0])
    assert trap.kind == "integer divide by zero"
    assert trap.lane == 2
    assert trap.offset == error.offset
    assert [frame.split(" (")[0] for frame in trap.frames] == ["inner", "f"]


def test_an_exception_that_nobody_catches_is_a_trap_when_its_lane_is_run_again():
    text = """(module (tag $oops (param i32))
      (func (export "f") (param i32) (if (local.get 0) (then (throw $oops (local.get 0))))))"""
    trap, _ = trap_again(text, [0, 5])
    assert isinstance(trap, lw.WasmTrap)
    assert (trap.kind, trap.lane) == ("uncaught exception", 1)
    assert trap.__cause__.values == (5,)


def test_an_exception_that_nobody_catches_names_where_it_was_thrown(device):
    module = lw.load(
        wasmtime.wat2wasm("""(module (tag $oops (param i32)) (memory 1)
      (func $thrower (param i32) (throw $oops (local.get 0)))
      (func (export "f") (param i32) (i32.store (i32.const 0) (local.get 0)) (call $thrower (local.get 0))))""")
    )
    with pytest.raises(lw.LaneError) as caught:
        module.func("f", device=device)([1, 2])
    assert (caught.value.kind, caught.value.function) == ("uncaught exception", "thrower")
    assert f"{caught.value.offset:#08x}    throw $oops" in module.disassemble("thrower")


def test_an_exception_that_a_cleanup_throws_on_is_where_it_was_thrown_first(device):
    module = lw.load(
        wasmtime.wat2wasm("""(module (tag $oops (param i32)) (memory 1)
      (func $thrower (param i32) (throw $oops (local.get 0)))
      (func $cleanup (param i32)
        (block $caught (result exnref)
          (try_table (catch_all_ref $caught) (call $thrower (local.get 0)))
          (return))
        (i32.store (i32.const 0) (i32.const 7))
        (throw_ref))
      (func (export "f") (param i32) (call $cleanup (local.get 0))))""")
    )
    with pytest.raises(lw.LaneError) as caught:
        module.func("f", device=device)([1, 2])
    assert (caught.value.kind, caught.value.function) == ("uncaught exception", "thrower")


def test_a_lane_that_was_interrupted_is_interrupted_again():
    text = '(module (func (export "f") (param i32) (loop (br_if 0 (local.get 0)))))'
    trap, error = trap_again(text, [1, 1, 1], timeout=0.2)
    assert error.kinds == ["interrupted"] * 3
    assert trap.kind == "interrupted"


def test_a_start_function_that_traps_is_told_when_a_lane_is_run_again():
    trap, _ = trap_again('(module (start $s) (func $s unreachable) (func (export "f") (param i32)))', [1])
    assert trap.kind == "unreachable"
    assert trap.function == "s"


@pytest.mark.parametrize("number", range(4))
def test_a_fault_in_any_piece_of_a_program_names_its_place(number, monkeypatch):
    body = "(i32.load (i32.mul (local.get 0) (i32.const 1000)))" * 20
    functions = "\n".join(
        f'(func $f{n} (export "f{n}") (param i32) (result i32) {body} {"i32.add " * 19})' for n in range(4)
    )
    calls = "".join(
        f"(if (i32.eq (local.get 0) (i32.const {n})) (then (drop (call $f{n} (local.get 1)))))" for n in range(4)
    )
    text = f'(module (memory 1 100) {functions} (func (export "run") (param i32 i32) {calls}))'
    monkeypatch.setattr("lanewise.wasm.lane_code.part_count", lambda module, target: 4)
    run = lw.load(bytes(wasmtime.wat2wasm(text))).func("run", device="cpu", checks="guard")
    with pytest.raises(lw.LaneError, match=rf"out of bounds memory access in f{number} \(\+0x"):
        run(number, np.array([1, 100]))


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZN3bad3rec17h835839c64c527ddfE", "bad::rec"),
        ("_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE",
         "core::ptr::drop_in_place<alloc::string::String>"),
        ("_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "app::main::{{closure}}"),
        ("_ZN3fooE", "foo"), ("main", "main"), ("_ZN9999fooE", "_ZN9999fooE"), ("_ZN", "_ZN"), ("", ""),
    ],
)  # fmt: skip
def test_symbols_of_rust_are_shown_as_they_were_written(symbol, name):
    assert places.readable(symbol) == name
