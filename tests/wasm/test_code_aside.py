"""Code for trials is made while calls go on, by a process of its own, and nobody waits for it."""

import fcntl
import math
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest
import wasmtime
from gpu_on_host import THREADS, lanes_on_host

import lanewise as lw
from lanewise.compiler import OPTIMISED, Cache, Target, default_cache, find_ptxas
from lanewise.wasm import code_aside, cuda_lanes, tuning
from lanewise.wasm.build import gpu_build
from lanewise.wasm.code_aside import make_aside
from lanewise.wasm.compile import is_cached
from lanewise.wasm.lane_code import lane_code
from lanewise.wasm.lane_setup import lane_choices
from lanewise.wasm.tuning import Tuner

SM = 90
MODULE = wasmtime.wat2wasm("""(module (memory 1)
  (func (export "f") (param $n i32) (result i32)
    (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (local.get $n)))
    (i32.load (i32.const 8))))""")


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path / "cache"))


def builds(module):
    build = gpu_build(lanes=True, alignment="exit", meter="stop", layout="interleaved", **lane_choices(module))
    return [replace(build, layout=layout) for layout in ("interleaved", "flat")]


def made(**more):
    module = lw.load(MODULE).model
    making = make_aside(module, 0, builds(module), (False,), Target.nvptx(SM), None, SM, **more)
    making.wait()
    assert making.over
    return module, making.there


def test_the_code_is_in_the_cache_afterwards():
    module, result = made()
    assert result == 2
    for build in builds(module):
        assert is_cached(module, f"lanes 0 (False,) {build.key}", Target.nvptx(SM), OPTIMISED)


@pytest.mark.skipif(find_ptxas() is None, reason="ptxas of the CUDA toolkit is not installed")
def test_machine_code_is_there_as_well():
    module, _ = made()
    for build in builds(module):
        (ptx,) = lane_code(module, 0, build, (False,), Target.nvptx(SM), None).codes
        assert default_cache().get(Cache.key_of("piece", f"{SM} 0", ptx)) is not None


def test_nothing_is_made_beside_what_another_process_makes():
    lock = default_cache().lock("optimise")
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        module, result = made()
    finally:
        os.close(lock)
    assert result == 0
    assert not is_cached(module, f"lanes 0 (False,) {builds(module)[0].key}", Target.nvptx(SM), OPTIMISED)


def test_without_a_cache_nothing_is_made(monkeypatch):
    monkeypatch.setenv("LANEWISE_CACHE_SIZE", "0")
    assert made()[1] == 0


def test_a_cache_that_was_removed_does_not_come_back(monkeypatch):
    start = code_aside.start_outliving

    def without_cache(*given):
        shutil.rmtree(default_cache().directory)
        return start(*given)

    monkeypatch.setattr(code_aside, "start_outliving", without_cache)
    made()
    assert not default_cache().directory.exists()


class Made:
    """What is made at once, and by nobody."""

    over, there = True, 99


def test_a_function_that_is_called_often_is_tried_in_code_that_was_made_meanwhile(monkeypatch):
    """Which nobody would wait for: it takes longer than all calls."""
    asked = []

    def aside(module, index, builds, *more):
        asked.append(builds)
        return Made

    monkeypatch.setattr(cuda_lanes, "layout_seconds", lambda size: 1e9)
    monkeypatch.setattr(tuning, "_STEADY", math.inf)  # however busy this machine is
    monkeypatch.setattr(Tuner, "to_make", lambda tuner: tuner.known.untried(tuner._reach)[:3])
    numbers = np.arange(THREADS, dtype=np.int32)
    with lanes_on_host() as device:
        function = lw.load(MODULE).func("f", device=device)
        function._runner._tuner.known.purse = 1e6

        def tried():
            for _ in range(12):
                assert (function(numbers) == numbers).all()
            return set(function._runner._tuner.known.ratios)

        other = {place for place in tried() if (place.layout, place.unrolled) != ("interleaved", False)}
        assert other == set()
        assert asked == []
        device.sm = SM
        monkeypatch.setattr(code_aside, "find_ptxas", lambda: "ptxas")
        monkeypatch.setattr(code_aside, "make_aside", aside)
        tried()
        first = {(build.layout, build.unrolled) for build in asked[0]}
        assert first == {("interleaved", True), ("words", True), ("words", False)}
        assert {(place.layout, place.unrolled) for place in tried()} >= first
