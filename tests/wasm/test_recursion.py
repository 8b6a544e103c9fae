"""Recursion as a loop does what recursion as calls does: results, traps and their places, fuel, and an end."""

import shutil
import subprocess

import differential
import engines
import numpy as np
import pytest
import wasmtime
from programs import Trap, assemble, program, run
from random_modules import recursive_module

import lanewise as lw
from lanewise.compiler import Target, compile_module
from lanewise.wasm import Module, Store, recursion
from lanewise.wasm.build import Build, gpu_build, host_build
from lanewise.wasm.liveness import live_behind_calls
from lanewise.wasm.program import ModuleProgram

FIB = """(module (func $fib (export "fib") (param i32) (result i32)
  (if (result i32) (i32.lt_u (local.get 0) (i32.const 2))
    (then (local.get 0))
    (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1)))
                   (call $fib (i32.sub (local.get 0) (i32.const 2))))))))"""
PARITY = """(module
  (func $even (export "even") (param i32) (result i32)
    (if (result i32) (local.get 0) (then (call $odd (i32.sub (local.get 0) (i32.const 1)))) (else (i32.const 1))))
  (func $odd (export "odd") (param i32) (result i32)
    (if (result i32) (local.get 0) (then (call $even (i32.sub (local.get 0) (i32.const 1)))) (else (i32.const 0))))
  (func (export "both") (param i32) (result i32)
    (i32.add (i32.mul (call $even (local.get 0)) (i32.const 10)) (call $odd (local.get 0)))))"""
PROGRAMS = [
    program("itself", FIB, ("fib", [1], [1]), ("fib", [20], [6765])),
    program(
        "a circle of two, entered at both",
        PARITY,
        ("even", [7], [0]),
        ("odd", [7], [1]),
        ("both", [40], [10]),
        ("both", [3001], [1]),
    ),
    program(
        "arguments and results of other types",
        """(module
          (func $whole (export "whole") (param i64 i32) (result i64)
            (if (result i64) (local.get 1)
              (then (i64.add (local.get 0)
                (i64.trunc_f64_s (call $real (f64.convert_i64_s (local.get 0)) (i32.sub (local.get 1) (i32.const 1))))))
              (else (local.get 0))))
          (func $real (param f64 i32) (result f64)
            (f64.add (f64.const 0.5) (f64.add (local.get 0)
              (f64.promote_f32 (call $short (f32.demote_f64 (local.get 0)) (local.get 1) (i64.const 3))))))
          (func $short (param f32 i32 i64) (result f32)
            (f32.convert_i64_s (i64.add (local.get 2)
              (call $whole (i64.trunc_f32_s (f32.mul (local.get 0) (f32.const 2))) (local.get 1))))))""",
        ("whole", [1, 0], [1]),
        ("whole", [1, 1], [1 + 1 + 2 + 3]),
        ("whole", [1, 2], [1 + 1 + 3 + (2 + 2 + 4 + 3)]),
    ),
    program(
        "values that wait on the stack, around blocks, branches and rounds",
        """(module (func $f (export "f") (param $n i32) (result i32) (local $i i32)
          (i32.const 1000)
          (i32.mul (local.get $n) (i32.const 100))
          (block (result i32)
            (if (result i32) (i32.and (local.get $n) (i32.const 1))
              (then (i32.add (local.get $n) (if (result i32) (local.get $n)
                (then (call $f (i32.sub (local.get $n) (i32.const 1)))) (else (i32.const 5)))))
              (else (local.get $n)))
            (loop $again (param i32) (result i32)
              (local.set $i (i32.add (local.get $i) (i32.const 1)))
              (if (param i32) (result i32) (i32.gt_s (local.get $n) (i32.const 1))
                (then (i32.add (call $f (i32.sub (local.get $n) (i32.const 2)))))
                (else (i32.add (i32.const 3))))
              (drop (br_if 1 (local.get $i) (i32.gt_u (local.get $i) (i32.const 10))))
              (br_if $again (i32.lt_u (local.get $i) (i32.const 2)))))
          i32.add i32.sub))""",
        ("f", [0], [1000 - 6]),
        ("f", [1], [1000 - (100 + 1 + 994 + 6)]),
        ("f", [2], [1000 - (200 + 2 + 994 * 2)]),
        ("f", [3], [1000 - (300 + 3 + (1000 - 2190) - 101 * 2)]),
    ),
    program(
        "locals of all types",
        """(module (func $f (export "f") (param $n i32) (result i64)
          (local $a i64) (local $b f32) (local $c f64) (local $d v128)
          (if (i32.eqz (local.get $n)) (then (return (i64.const 0))))
          (local.set $a (i64.extend_i32_u (local.get $n)))
          (local.set $b (f32.convert_i32_u (local.get $n)))
          (local.set $c (f64.convert_i32_u (local.get $n)))
          (local.set $d (i64x2.splat (local.get $a)))
          (i64.add (call $f (i32.sub (local.get $n) (i32.const 1)))
            (i64.add (i64.add (local.get $a) (i64.trunc_f32_s (local.get $b)))
              (i64.add (i64.trunc_f64_s (local.get $c)) (i64x2.extract_lane 1 (local.get $d)))))))""",
        ("f", [10], [4 * 55]),
        ("f", [1000], [4 * 500500]),
    ),
    program(
        "several results, vectors among them",
        """(module (func $f (param i32) (result i32 v128 f64)
          (local $v v128)
          (if (result i32 v128 f64) (i32.eqz (local.get 0))
            (then (i32.const 1) (v128.const i32x4 1 2 3 4) (f64.const 0.5))
            (else (call $f (i32.sub (local.get 0) (i32.const 1)))
              (f64.add (f64.const 1)) (local.set 0 (i32.trunc_f64_s))
              (local.set $v) (i32.add (i32.const 2))
              (i32x4.add (local.get $v) (i32x4.splat (local.get 0))) (f64.convert_i32_s (local.get 0)))))
          (func (export "f") (param i32) (result f64 i32 i32) (local f64 v128)
            (call $f (local.get 0)) (local.set 1) (local.set 2) (local.set 0)
            (local.get 1) (i32x4.extract_lane 3 (local.get 2)) (local.get 0)))""",
        ("f", [0], [0.5, 4, 1]),
        ("f", [3], [3.0, 10, 7]),
    ),
    program(
        "traps",
        """(module (memory 1) (func $f (export "f") (param i32 i32) (result i32)
          (if (result i32) (local.get 0)
            (then (i32.add (i32.const 1) (call $f (i32.sub (local.get 0) (i32.const 1)) (local.get 1))))
            (else (i32.div_u (i32.load (i32.const 0)) (local.get 1))))))""",
        ("f", [100, 1], [100]),
        ("f", [100, 0], Trap("integer divide by zero")),
        ("f", [-1, 1], Trap("call stack exhausted")),
        ("f", [5, 1], [5]),
    ),
    program(
        "exceptions on their way up",
        """(module (tag $t (param i32)) (func $f (export "f") (param $n i32) (param $catch i32) (result i32)
          (local $kept i32)
          (local.set $kept (i32.mul (local.get $n) (i32.const 3)))
          (if (i32.eqz (local.get $n)) (then (throw $t (i32.const 1000))))
          (if (i32.eq (local.get $n) (local.get $catch)) (then
            (return (i32.add (local.get $kept) (block (result i32)
              (return (try_table (result i32) (catch $t 0)
                (call $f (i32.sub (local.get $n) (i32.const 1)) (local.get $catch)))))))))
          (i32.add (i32.const 1) (call $f (i32.sub (local.get $n) (i32.const 1)) (local.get $catch)))))""",
        ("f", [10, 4], [6 + 1012]),
        ("f", [300, 200], [100 + 1600]),
    ),
]  # fmt: skip


def loops_of(text, build):
    """How many loops a module's functions become."""
    parts = ModuleProgram(Module.load(assemble(text)).model, build).parts()
    return sum(line.startswith("define internal") and " @m" in line for line in parts[0].ir.splitlines())


@pytest.mark.parametrize("options", [{}, {"level": 0}, {"fuel": 1 << 40}, {"layout": "interleaved"}], ids=str)
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)
def test_a_loop_gives_what_calls_give(case, options, device_name):
    (text,) = case.modules.values()
    assert loops_of(text, Build(recursion="loop", throws="tag" in text)) == 1
    run(case, engines.lanewise_engine(device_name, recursion="loop", **options))


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)
def test_the_cases_ask_for_the_right_thing(case):
    run(case, engines.wasmtime_engine())


@pytest.mark.parametrize("room", [1280, 800], ids=["usual", "little"])
@pytest.mark.parametrize("first", range(0, 40, 5))
def test_random_functions_that_call_each_other_do_what_they_do_on_wasmtime(first, room, monkeypatch):
    monkeypatch.setattr(recursion, "FRAMES_BYTES", room)
    monkeypatch.setattr(recursion, "_MOST_FRAME", 700)  # so that hardly any function is left out
    for seed in range(first, first + 5):
        options = ({}, {"level": 0}, {"fuel": 1 << 40}, {"layout": "interleaved"}, {"meter": "stop"})[seed % 5]
        engine = engines.lanewise_engine("cpu", recursion="loop", **options)
        verdict = differential.compare(bytes(wasmtime.wat2wasm(recursive_module(seed))), seed, engine)
        assert verdict.status in ("same", "nan", "stack"), verdict.detail


def test_lanes_at_different_depths_give_what_each_gives_alone(device):
    wanted = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610] * 4
    numbers = np.array(list(range(16)) * 4)
    function = Module.load(assemble(FIB)).func("fib", device=device, recursion="loop")
    assert function(numbers).tolist() == wanted


def test_recursion_goes_on_where_one_room_for_frames_is_full(device):
    # Frames of an activation hold about a hundred of these calls; the stack of a GPU holds several activations.
    depth = 400 if device.name.startswith("cuda") else 20_000
    instance = Module.load(assemble(PARITY)).instantiate(device=device, recursion="loop")
    assert instance.exports["both"](depth) == 10
    assert instance.exports["both"](depth + 1) == 1


@pytest.mark.parametrize("rounds", [1, 7, 30])
def test_fuel_is_the_same_as_with_calls(rounds, device):
    text = """(module (func $f (export "f") (param i32) (result i32) (local i32)
      (if (i32.eqz (local.get 0)) (then (return (i32.const 0))))
      (loop (local.set 1 (i32.add (local.get 1) (i32.const 1))) (br_if 0 (i32.lt_u (local.get 1) (local.get 0))))
      (i32.add (local.get 1) (call $f (i32.sub (local.get 0) (i32.const 1))))))"""
    module = Module.load(assemble(text))
    needed = rounds + 1 + rounds * (rounds + 1) // 2  # a step for each call, and one for each round
    for choice in ("calls", "loop"):
        enough = Store(device, fuel=needed, recursion=choice).instantiate(module)
        assert enough.exports["f"](rounds) == rounds * (rounds + 1) // 2
        with pytest.raises(lw.WasmTrap, match="out of fuel"):
            Store(device, fuel=needed - 1, recursion=choice).instantiate(module).exports["f"](rounds)


@pytest.mark.parametrize("meter", ["off", "stop"])
def test_recursion_that_never_ends_is_ended_on_request(meter, device):
    if meter == "off" and device.name != "cpu":
        pytest.skip("only a CPU is interrupted without counting")
    text = '(module (func $f (export "f") (param i32) (if (local.get 0) (then (call $f (i32.sub (local.get 0)'
    text += "(i32.const 1))) (call $f (i32.sub (local.get 0) (i32.const 1)))))))"
    module = Module.load(assemble(text))
    instance = module.instantiate(device=device, timeout=0.2, recursion="loop", meter=meter)
    with pytest.raises(lw.WasmTrap, match="interrupted"):
        instance.exports["f"](60)
    assert instance.exports["f"](3) is None
    with pytest.raises(lw.WasmTrap, match="interrupted"):
        module.func("f", device=device, timeout=0.2, recursion="loop", meter=meter)(60)


def test_a_trap_in_a_loop_names_its_function_and_place(device):
    text = """(module
      (func $up (export "up") (param i32) (result i32)
        (i32.add (i32.const 1) (call $down (i32.sub (local.get 0) (i32.const 1)))))
      (func $down (export "down") (param i32) (result i32)
        (if (result i32) (local.get 0) (then (call $up (local.get 0))) (else (i32.div_u (i32.const 1) (local.get 0)))))
      (func $without_end (export "without_end") (param i32) (result i32) (call $other (local.get 0)))
      (func $other (param i32) (result i32) (i32.add (i32.const 1) (call $without_end (local.get 0)))))"""
    module = Module.load(assemble(text))
    line = next(line for line in module.disassemble("down").splitlines() if "i32.div_u" in line)
    for entry in ("up", "down"):
        for choice in ("calls", "loop"):
            with pytest.raises(lw.WasmTrap, match="integer divide by zero") as caught:
                Store(device, recursion=choice).instantiate(module).exports[entry](9)
            assert (caught.value.function, caught.value.offset) == ("down", int(line.split()[0], 16))
    with pytest.raises(lw.WasmTrap, match="call stack exhausted") as caught:
        Store(device, recursion="loop").instantiate(module).exports["without_end"](9)
    assert caught.value.function in ("without_end", "other")


def test_functions_in_pieces_of_a_program_find_their_loop(monkeypatch):
    monkeypatch.setattr("lanewise.wasm.cpu_backend.part_count", lambda module, target: 4)
    body = "(i32.load (i32.and (local.get 0) (i32.const 1023)))" * 20 + "i32.add " * 19
    functions = "".join(
        f'(func $f{n} (export "f{n}") (param i32) (result i32) {body} (if (param i32) (result i32) (local.get 0) '
        f"(then (i32.add (call $f{(n + 2) % 6} (i32.sub (local.get 0) (i32.const 1))))) "
        f"(else (i32.add (i32.const {n})))))"
        for n in range(6)
    )
    module = Module.load(assemble(f"(module (memory 1) {functions})"))
    instance = module.instantiate(device="cpu", recursion="loop")
    assert [instance.exports[f"f{n}"](7) for n in range(6)] == [(n + 14) % 6 for n in range(6)]


OUTSIDE = {
    "a call that ends a function": """(module (func $f (param i32) (result i32)
        (if (local.get 0) (then (drop (call $f (i32.const 0)))))
        (return_call $f (local.get 0))))""",
    "more across a call than a frame has room for": f"""(module (func $f (param i32) (result i32)
        {"(f64.convert_i32_s (local.get 0))" * 40} (local.set 0 (call $f (local.get 0))) {"drop " * 40}
        (local.get 0)))""",
}


@pytest.mark.parametrize("what", OUTSIDE)
def test_what_a_loop_cannot_do_stays_calls(what):
    assert loops_of(OUTSIDE[what], host_build(recursion="loop")) == 0


REFERENCES = """(module (type $t (func (param i32))) (table 1 funcref) (elem (i32.const 0) {})
  (func $leaf (param i32))
  (func $f (export "f") (param i32)
    (if (local.get 0) (then (call $f (i32.const 0)) (call_indirect (type $t) (i32.const 0) (i32.const 0))))))"""


def test_on_a_gpu_functions_that_references_lead_back_to_stay_calls():
    assert loops_of(REFERENCES.format("$f"), gpu_build()) == 0
    assert loops_of(REFERENCES.format("$leaf"), gpu_build()) == 1
    assert loops_of(REFERENCES.format("$leaf"), gpu_build(linked=True)) == 0  # others may have a reference to it
    assert loops_of(REFERENCES.format("$f"), host_build(recursion="loop")) == 1


def test_no_more_than_three_loops_are_active_at_once():
    # Each has room for frames on the stack, which a GPU has little of.
    calls = "".join(f"(func $f{n} (call $f{n}) (call $f{n + 1}))" for n in range(6))
    assert loops_of(f"(module {calls} (func $f6))", gpu_build()) == 3
    two_chains = calls.replace("(call $f3)", "", 1)
    assert loops_of(f"(module {two_chains} (func $f6))", gpu_build()) == 6


def test_calls_are_calls_unless_the_build_says_otherwise():
    assert loops_of(FIB, host_build()) == 0
    assert loops_of(FIB, gpu_build(recursion="calls")) == 0
    assert loops_of(FIB, gpu_build()) == 1


def gpu_text(text, **choices):
    build = gpu_build(layout="interleaved", **choices)
    ir = ModuleProgram(Module.load(assemble(text)).model, build).parts()[0].ir
    return compile_module(ir, Target.nvptx(90), cache=None).code.decode()


@pytest.mark.parametrize("case", [case for case in PROGRAMS if "exceptions" not in case.name], ids=lambda one: one.name)
def test_on_a_gpu_lanes_meet_in_one_place(case):
    # Were the state known to LLVM, it would lead each call straight to the function, past the loop's head.
    (text,) = case.modules.values()
    ptx = gpu_text(text)
    (body,) = [one for one in ptx.split(".func")[1:] if " m0(" in one.partition("{")[0] and "{" in one]
    assert body.count(recursion.MARK) == 1


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("case", [PROGRAMS[0], PROGRAMS[1]], ids=lambda one: one.name)
def test_on_a_gpu_a_loop_leaves_the_stack_as_large_as_it_was(case, tmp_path):
    (text,) = case.modules.values()
    (tmp_path / "code.ptx").write_text(gpu_text(text))
    call = ["ptxas", "-arch=sm_90", "-v", "-c", "-o", "code.cubin", "code.ptx"]
    said = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    sizes = [int(line.split()[0]) for line in said.splitlines() if "bytes stack frame" in line]
    assert recursion.FRAMES_BYTES < max(sizes) <= (6 * 1024 - 1024) // 3


def test_a_local_outlives_a_call_only_if_it_is_read_before_it_is_set():
    text = """(module (func $f (param $n i32) (local $a i32) (local $b i32) (local $c i32) (local $d i32)
      (loop $again
        (local.set $b (local.get $a))
        (call $f (local.get $n))
        (local.set $c (i32.const 1))
        (if (local.get $c) (then (local.set $d (i32.const 2)) (br $again)) (else (drop (local.get $b)) (return))))))"""
    module = Module.load(assemble(text)).model
    assert list(live_behind_calls(module, module.bodies[0]).values()) == [[0, 1, 2]]
