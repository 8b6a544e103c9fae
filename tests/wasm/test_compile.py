"""Compiling guests: in pieces, quickly first, and only once."""

import numpy as np
import pytest
import wasmtime

from lanewise.compiler import OPTIMISED, QUICK
from lanewise.wasm import Module, Store, compile, cpu_backend
from lanewise.wasm.program import ModuleProgram

TEXT = """(module
  (memory 1) (global $calls (mut i32) (i32.const 0))
  (func $square (param i32) (result i32) (i32.mul (local.get 0) (local.get 0)))
  (func $count (global.set $calls (i32.add (global.get $calls) (i32.const 1))))
  (func (export "run") (param i32) (result i32)
    (call $count) (i32.add (call $square (local.get 0)) (global.get $calls))))
"""


@pytest.fixture
def module():
    return Module.load(bytes(wasmtime.wat2wasm(TEXT)))


def test_a_module_compiled_in_pieces_is_one_program(module, monkeypatch, device):
    for place in ("lanewise.wasm.cpu_backend", "lanewise.wasm.lane_code", "lanewise.wasm.cuda_backend"):
        monkeypatch.setattr(f"{place}.part_count", lambda module, target: 3)
    instance = Store(device).instantiate(module)
    assert [instance.exports["run"](3), instance.exports["run"](4)] == [10, 18]
    assert module.func("run", device=device)(np.arange(4)).tolist() == [1, 2, 5, 10]


def test_a_large_module_runs_at_once_and_then_in_the_optimised_build(module, monkeypatch):
    module = Module.load(module.model.data + b"\x00\x06\x05quick")  # one that no other test has compiled
    monkeypatch.setattr(cpu_backend, "QUICK_FROM", 0)
    levels = []
    jobs = compile._jobs

    def noted(target, level, parts):
        levels.append(level)
        return jobs(target, level, parts)

    monkeypatch.setattr(compile, "_jobs", noted)
    store = Store("cpu")
    instance = store.instantiate(module)
    assert instance.exports["run"](3) == 10
    (loaded,) = {id(one): one for one in store._loaded}.values()
    better = loaded.better
    assert better is not None
    better.wait()
    before = loaded.table
    assert instance.exports["run"](3) == 11  # the instance's state stays what it was
    assert loaded.table != before
    assert loaded.better is None
    assert levels == [QUICK, OPTIMISED]


def test_a_module_that_was_compiled_is_not_lowered_again(module, monkeypatch, device):
    Store(device).instantiate(module)
    module.func("run", device=device)(1)
    again = Module.load(module.model.data)
    monkeypatch.setattr(ModuleProgram, "parts", lambda self, count=1: pytest.fail("it was lowered"))
    instance = Store(device).instantiate(again)
    assert instance.exports["run"](3) == 10
    assert again.func("run", device=device)(3) == 10


def test_a_large_module_that_was_found_valid_is_not_validated_again(module, monkeypatch):
    monkeypatch.setattr(compile, "QUICK_FROM", 0)
    Module.load(module.model.data)
    monkeypatch.setattr("lanewise.wasm.validate.validate", lambda module: pytest.fail("it was validated"))
    Module.load(module.model.data)


def test_pieces_of_code_come_out_of_a_bundle_as_they_went_in():
    pieces = [b"", b"one", bytes(range(256)) * 3]
    assert compile.unbundle(compile.bundle(pieces)) == pieces
