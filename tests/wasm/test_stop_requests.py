"""Loops that only a request to stop ends come to look for it, whatever LLVM makes of them."""

import ctypes
import re
import time

import pytest
import wasmtime

import lanewise as lw
from lanewise.bench.wasm_guests import guest
from lanewise.compiler import Target
from lanewise.compiler.loops import Flow, comes_back, short_loops
from lanewise.compiler.pipeline import stages
from lanewise.wasm import Module, Store, state
from lanewise.wasm.build import gpu_build
from lanewise.wasm.lane_setup import lane_choices
from lanewise.wasm.lanes import LaneProgram

LOOK, CALL = "@p exit; }", "call fastcc void @lw.look("
"""What follows once a loop has read the request to stop, and what reads it where no round of a loop is."""

ENDLESS = {
    "empty": "(loop (br 0))",
    "counting": "(loop (local.set 0 (i32.add (local.get 0) (i32.const 1))) (br 0))",
    "counting past its limit": """(loop (local.set 0 (i32.add (local.get 0) (i32.const 2)))
        (br_if 0 (i32.ne (local.get 0) (i32.const 7))))""",
    "writing": """(loop (i32.store (i32.and (local.get 0) (i32.const 0xfffc)) (local.get 0))
        (local.set 0 (i32.add (local.get 0) (i32.const 4))) (br 0))""",
    "reading until": "(loop (br_if 0 (i32.eqz (i32.load (i32.const 8)))))",
    "nested": """(loop $a (local.set 1 (i32.const 0))
        (loop $b (local.set 1 (i32.add (local.get 1) (i32.const 1))) (br_if $b (i32.lt_u (local.get 1) (i32.const 50))))
        (br $a))""",
    "nested, endless inside": """(loop $a (local.set 0 (i32.add (local.get 0) (i32.const 1)))
        (loop $b (br_if $b (i32.eqz (i32.load (i32.const 8)))))
        (br_if $a (i32.lt_u (local.get 0) (i32.const 10))))""",
    "nested, unrolled inside": """(loop $a (local.set 1 (i32.const 0))
        (loop $b (i32.store (i32.shl (local.get 1) (i32.const 2)) (local.get 1))
          (local.set 1 (i32.add (local.get 1) (i32.const 1))) (br_if $b (i32.lt_u (local.get 1) (i32.const 4))))
        (br $a))""",
    "by a table": """(loop $a (block $b (block $c
        (br_table $a $b $c (i32.and (i32.load (i32.const 8)) (i32.const 3))))
        (i32.store (i32.const 8) (i32.const 1)) (br $a))
        (i32.store (i32.const 8) (i32.const 0)) (br $a))""",
    "two that enter each other": """(loop $a (local.set 0 (i32.add (local.get 0) (i32.const 1)))
        (loop $b (br_if $a (i32.and (local.get 0) (i32.const 1)))
          (local.set 0 (i32.add (local.get 0) (i32.const 3)))
          (br_if $b (i32.and (local.get 0) (i32.const 2))) (br $a)))""",
    "with a parameter": "(i32.const 1) (loop (param i32) (i32.const 1) (i32.add) (br 0))",
    "calling": "(loop (call $short) (br 0))",
    "recursive": "(call $again) (call $again)",
}


def endless_module(body: str) -> Module:
    text = f"""(module (memory 1 1) (func $again (call $again) (call $again))
      (func $short (local i32) (loop (i32.store (local.get 0) (local.get 0))
        (local.set 0 (i32.add (local.get 0) (i32.const 4))) (br_if 0 (i32.lt_u (local.get 0) (i32.const 400)))))
      (func (export "f") (local i32 i32) {body}))"""
    return Module.load(bytes(wasmtime.wat2wasm(text)))


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("name", [name for name in ENDLESS if name != "recursive"])
def test_a_loop_without_end_sees_the_request_to_stop(name, level):
    asked = ctypes.c_uint32(1)
    store = Store("cpu", meter="stop", level=level, timeout=60)
    store.write_cell(store._shared, state.STOP, ctypes.addressof(asked))
    instance = store.instantiate(endless_module(ENDLESS[name]))
    begun = time.monotonic()
    with pytest.raises(lw.WasmTrap, match="interrupted"):
        instance.exports["f"]()
    assert time.monotonic() - begun < 30  # by what it saw, not by the timeout


def gpu_code(module: Module, name: str, scalars: tuple[bool, ...], **more: object) -> dict[str, str]:
    choices = {"layout": "interleaved", "alignment": "exit"} | lane_choices(module.model) | {"lanes": True} | more
    index = next(export.index for export in module.model.exports if export.name == name)
    (part,) = LaneProgram(module.model, index, gpu_build(**choices), scalars).parts(1)
    made = stages(part.ir, Target.nvptx(90))
    assert "@lw.round(" not in made["optimised"]
    assert "@lw.called(" not in made["optimised"]
    return made


def functions(text: str) -> list[str]:
    return re.findall(r"^define .*?^}", text, re.MULTILINE | re.DOTALL)


def looks(flow: Flow, look: str) -> list[int]:
    return [number for number, block in enumerate(flow.blocks) if look in block]


@pytest.mark.parametrize("name", ENDLESS)
def test_code_for_a_gpu_looks_in_every_loop_without_end_and_in_recursion(name):
    look = CALL if name == "recursive" else LOOK
    made = gpu_code(endless_module(ENDLESS[name]), "f", ())["optimised"]
    flows = [Flow(text) for text in functions(made) if look in text]
    assert flows
    if name != "recursive":  # nothing returns, so that what goes around is this loop
        assert any(comes_back(number, flow.ways, lambda _: True) for flow in flows for number in looks(flow, look))
    assert look not in gpu_code(endless_module(ENDLESS[name]), "f", (), meter="off")["optimised"]


def test_looks_in_loops_are_neither_calls_nor_volatile():
    """Loops with a volatile load are given way in by the lanes of a warp, round after round."""
    made = gpu_code(lw.load(guest("json").read()), "run", (False,), meeting=True)["optimised"]
    guests = [text for text in functions(made) if "ptx_kernel" not in text]
    looking = [text for text in guests if LOOK in text]
    assert sum(text.count(LOOK) for text in looking) > 20
    assert not any("load volatile" in text or CALL in text for text in looking)


@pytest.mark.parametrize("name", ["sha256", "blur", "pbkdf2"])
def test_the_rounds_of_short_loops_are_not_checked(name):
    module = lw.load(guest(name).read())
    found = 0
    for text in functions(gpu_code(module, "run", (False,))["optimised"]):
        flow = Flow(text)
        for loop in short_loops(flow):
            found += 1
            assert not any(LOOK in flow.blocks[number] for number in loop.body)
    assert found > 5


def test_what_a_look_reads_is_stored_before_where_nothing_else_reads_it():
    # Without memory the state of a lane is a variable of the kernel, and markers do not say what checks will read.
    made = gpu_code(endless_module(ENDLESS["empty"]), "f", ())["optimised"]
    assert re.search(r"store i64 %stop\b", made)
    assert re.search(r"store ptr %report\b", made)
