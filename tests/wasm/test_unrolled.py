"""Small programs with their loops unrolled: one function on a GPU, within bounds, and nobody else's loops with them."""

import re

import numpy as np
import pytest
import wasmtime
from test_builds import PROGRAMS

import lanewise as lw
from lanewise.compiler import Target
from lanewise.wasm import compile
from lanewise.wasm.build import gpu_build
from lanewise.wasm.lane_code import lane_code, lane_codes_ahead
from lanewise.wasm.lane_setup import lane_choices


@pytest.fixture
def device(lane_device):
    return lane_device


GPU = Target.nvptx(90)
TABLE_ON_THE_STACK = wasmtime.wat2wasm("""(module (memory 1 1) (global $stack (mut i32) (i32.const 4096))
  (func $fill (param $table i32) (param $seed i32) (local $i i32)
    (loop $each
      (i32.store (i32.add (local.get $table) (i32.shl (local.get $i) (i32.const 2)))
        (local.tee $seed (i32.mul (i32.xor (local.get $seed) (local.get $i)) (i32.const 1664525))))
      (br_if $each (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 48)))))
  (func (export "f") (param $seed i32) (param $rounds i32) (result i32)
    (local $table i32) (local $i i32) (local $sum i32)
    (global.set $stack (local.tee $table (i32.sub (global.get $stack) (i32.const 256))))
    (loop $again
      (call $fill (local.get $table) (i32.add (local.get $seed) (local.get $sum)))
      (local.set $i (i32.const 0))
      (loop $each
        (local.set $sum (i32.add (i32.rotl (local.get $sum) (i32.const 5))
          (i32.load (i32.add (local.get $table) (i32.shl (i32.sub (i32.const 47) (local.get $i)) (i32.const 2))))))
        (br_if $each (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 48))))
      (br_if $again (i32.gt_s (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1))) (i32.const 0))))
    (global.set $stack (i32.add (local.get $table) (i32.const 256)))
    (local.get $sum)))""")
"""A table where C puts it, filled by a function and read by another, in loops of 48 rounds."""
DEEP = wasmtime.wat2wasm(
    '(module (memory 1 1) (func (export "f") (param i32) (result i32) (local $a i32) (local $b i32) (local $c i32)'
    + "".join(f"(local.set ${name} (i32.const 0)) (loop ${name}" for name in "abc")
    + "(i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.mul (local.get $a) (local.get $c))))"
    + "".join(
        f"(br_if ${name} (i32.lt_u (local.tee ${name} (i32.add (local.get ${name}) (i32.const 1))) (i32.const 40))))"
        for name in "cba"
    )
    + "(i32.load (i32.const 8))))"
)


STEP = "(i32.store (local.get $n) (i32.add (i32.rotl (i32.load (local.get $n)) (i32.const 7)) (local.get $i)))"


def ptx_of(data, **choices):
    """The code of the function f."""
    model = lw.load(data).model
    index = next(export.index for export in model.exports if export.name in ("f", "run"))
    usual = {"alignment": "exit", "lanes": True, "layout": "interleaved"}
    build = gpu_build(**usual | lane_choices(model) | choices)
    scalars = tuple(False for _ in model.functions[index].params)
    (code,) = lane_code(model, index, build, scalars, GPU, None).codes
    return code.decode()


def functions(ptx):
    """The names of a guest's own functions in PTX, the start of an instance left out."""
    return set(re.findall(r"^\.(?:visible |hidden )*func [^@]*?\b(g_f\d+)\b", ptx, re.MULTILINE))


@pytest.mark.parametrize("layout", ["flat", "interleaved", "words"])
def test_a_table_on_the_stack_stays_in_registers(layout):
    plain, unrolled = (ptx_of(TABLE_ON_THE_STACK, layout=layout, unrolled=choice) for choice in (False, True))
    reads = re.compile(r"ld\.global\.b32")
    assert reads.search(plain)
    body = unrolled[unrolled.index(".entry g_lanes") :]
    assert len(reads.findall(body)) < 8  # what is left begins an instance
    assert unrolled.count("shf.l.wrap") >= 40  # a rotation for each round


def test_what_calls_nobody_by_reference_is_one_function():
    assert functions(ptx_of(TABLE_ON_THE_STACK, unrolled=False))
    assert not functions(ptx_of(TABLE_ON_THE_STACK, unrolled=True))


def test_what_would_become_too_large_is_unrolled_less():
    assert len(ptx_of(DEEP, unrolled=True)) < 1_000_000


def test_others_are_compiled_as_before(tmp_path, monkeypatch):
    before = ptx_of(DEEP)
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path / "new"))
    ptx_of(TABLE_ON_THE_STACK, unrolled=True)
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path / "other"))
    assert ptx_of(DEEP) == before


def test_several_builds_are_made_at_once_and_found(tmp_path, monkeypatch):
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path))
    model = lw.load(DEEP).model
    usual = {"alignment": "exit", "lanes": True} | lane_choices(model)
    builds = [gpu_build(**usual, layout=layout) for layout in ("flat", "interleaved", "words")]
    lane_codes_ahead(model, 0, builds, (False,), GPU, None)
    monkeypatch.setattr(compile, "compile_guest", None)
    assert len({lane_code(model, 0, build, (False,), GPU, None).codes[0] for build in builds}) == 3


def test_what_is_too_large_however_little_is_unrolled_has_its_loops_as_usual():
    function = "".join(
        f"(local.set $i (i32.const 0)) (loop $l{at} {STEP * 4}"
        f"(br_if $l{at} (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 40))))"
        for at in range(100)
    )
    many = wasmtime.wat2wasm(
        f'(module (memory 1 1) (func (export "f") (param $n i32) (result i32) (local $i i32) {function}'
        "(i32.load (local.get $n))))"
    )
    assert len(ptx_of(many, unrolled=True)) < 2 * len(ptx_of(many))


@pytest.mark.parametrize("name", ["json", "mix", "fib", "nbody", "sha256"])
def test_programs_give_the_same_in_every_layout(name, device):
    program = PROGRAMS[name]
    module = lw.load(program.path)
    wanted = [program.checksums[rounds, 1] for rounds in (0, 1, 3)]
    for layout in ("interleaved", "words", "flat"):
        found = module.func("run", device=device, placement=f"{layout}/32/all/u")(np.array([0, 1, 3]))
        assert found.tolist() == wanted, layout
