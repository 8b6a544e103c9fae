"""The benchmarks of WebAssembly on tiny sizes: what they measure, what they compare with, what they say is missing."""

import os
import re
import shutil

import numpy as np
import pytest

import lanewise as lw
from lanewise.bench import WrongResultError, wasm_guests, wasm_lane, wasm_many, wasm_map, wasm_slice, wasm_start
from lanewise.bench.wasm_guests import Guest, guest
from lanewise.bench.wasm_seeded import SEEDED, with_seeded_run
from lanewise.bench.wasm_surface import surface, surface_module
from lanewise.wasm.build import check_choices, gpu_build


@pytest.fixture(scope="module")
def cpu():
    return lw.device("cpu")


def test_a_lane_is_compared_with_wasmtime(cpu, monkeypatch):
    pytest.importorskip("wasmtime")
    monkeypatch.setattr(wasm_lane, "SEVEN", ("fib", "nbody"))
    monkeypatch.setattr(wasm_lane, "EXTRA", ("grow",))
    rows = list(wasm_lane.run(cpu, quick=True))
    assert [row.what for row in rows] == ["fib", "nbody", "grow", "geometric mean of 2"]
    assert [row.target for row in rows] == [">= 0.8x", ">= 0.8x", None, ">= 1.1x"]
    assert all(row.value > 0 and row.ratio > 0 for row in rows)
    assert rows[-1].ratio == pytest.approx((rows[0].ratio * rows[1].ratio) ** 0.5)


def test_a_lane_alone_has_no_ratio(cpu, monkeypatch):
    monkeypatch.setattr(wasm_lane, "SEVEN", ("fib",))
    monkeypatch.setattr(wasm_lane, "EXTRA", ())
    monkeypatch.setattr(wasm_lane, "_wasmtime", lambda: None)
    (row,) = wasm_lane.run(cpu, quick=True)
    assert (row.what, row.unit, row.peer, row.peer_value, row.ratio) == ("fib", "rounds/s", "wasmtime", None, None)


def test_a_lane_with_another_checksum_has_no_figure(cpu, monkeypatch):
    known = guest("fib")
    wrong = Guest(known.name, known.path, known.rounds, {**known.checksums, (3, 7): 5})
    monkeypatch.setattr(wasm_lane, "guest", lambda name: wrong)
    monkeypatch.setattr(wasm_lane, "_wasmtime", lambda: None)
    with pytest.raises(WrongResultError, match=r"fib, 3 rounds with seed 7, gave -6657299213371445427, not 5"):
        next(wasm_lane.run(cpu, quick=True))


@pytest.fixture
def few_lanes(monkeypatch):
    monkeypatch.setattr(wasm_many, "PROGRAMS", ("fib", "nbody"))
    monkeypatch.setattr(wasm_many, "QUICK_LANES", 6)
    monkeypatch.setattr(wasm_many, "_TURNS", 1)


def test_all_lanes_are_compared_with_wasmtime_and_native_code(cpu, few_lanes):
    pytest.importorskip("wasmtime")
    rows = list(wasm_many.run(cpu, quick=True))
    compiler = shutil.which("clang-14") or shutil.which("cc")
    native = f"native ({os.path.basename(compiler)}), " if compiler else "native, "
    cores = f"{cpu.properties.cores} cores"
    peers = [f"wasmtime, {cores}", f"{native}{cores}"]
    counted = ", steps counted"
    ways = [("", peers[0]), (counted, peers[0]), ("", peers[1])]
    assert [(row.what, row.peer) for row in rows[:-2]] == [
        (n + how, peer) for n in ("fib", "nbody") for how, peer in ways
    ]
    assert all(row.value > 0 and row.ratio > 0 for row in rows if row.peer.startswith("wasmtime") or compiler)
    assert [list(row.facts) for row in rows[:3]] == [["rounds a lane", "set-up, ms", "one lane, ms"], [], []]
    assert all(value > 0 for value in rows[0].facts.values())
    assert [row.what for row in rows[-2:]] == ["geometric mean of 2", "geometric mean of 2" + counted]
    assert rows[-2].value == pytest.approx((rows[0].ratio * rows[3].ratio) ** 0.5)
    assert rows[-1].value == pytest.approx((rows[1].ratio * rows[4].ratio) ** 0.5)


def test_how_long_compiling_takes_is_found_with_an_empty_cache(cpu, few_lanes, monkeypatch):
    monkeypatch.setattr(wasm_many, "PROGRAMS", ("fib",))
    monkeypatch.setattr(wasm_many, "LANES", {"cpu": 6})
    monkeypatch.setattr(wasm_many, "_SHARES", {"cpu": 100_000})
    monkeypatch.setattr(wasm_many, "_peers", lambda *given, **how: iter([("wasmtime", None, None)]))
    rows = list(wasm_many.run(cpu, quick=False))
    assert rows[0].facts["compiling, s"] > 0


def test_lanes_without_peers_have_no_ratio(cpu, few_lanes, monkeypatch):
    monkeypatch.setattr(wasm_many.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(wasm_many.shutil, "which", lambda name: None)
    rows = list(wasm_many.run(cpu, quick=True))
    assert [(row.what, row.ratio) for row in rows] == [
        (name + how, None) for name in ("fib", "nbody") for how in ("", ", steps counted", "")
    ]


def test_lanes_that_return_something_else_have_no_figure(cpu, few_lanes, monkeypatch):
    monkeypatch.setattr(wasm_many, "_measure", lambda words, rounds: (1.0, np.arange(6)))
    with pytest.raises(WrongResultError, match="benchmark wasm: fib, lane 0: "):
        list(wasm_many.run(cpu, quick=True))


@pytest.mark.parametrize("with_numba", [True, False])
def test_map_is_compared_with_numba(cpu, monkeypatch, with_numba):
    if with_numba:
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr(wasm_map, "_numba_function", lambda target: None)
    monkeypatch.setattr(wasm_map, "_FEW", 1000)
    rows = list(wasm_map.run(cpu, quick=True))
    cores = cpu.properties.cores
    wanted = ["one core", f"{cores} cores"] if cores > 1 else ["one core"]
    assert [row.what for row in rows] == [f"1,000 elements, {where}" for where in wanted]
    assert all(row.detail.startswith("numba's best of ") == with_numba for row in rows)
    assert all(row.target == ">= 0.5x" and (row.ratio is not None) == with_numba for row in rows)


def test_mapped_function_has_ten_instructions_of_arithmetic():
    module = lw.load(surface_module())
    assert str(module.exports["surface"].type) == "(f64, f64) -> (f64)"
    assert len(re.findall(r"f64\.(?:add|mul)", module.disassemble("surface"))) == 10
    assert module.func("surface", device="cpu")(0.3, -7.0) == surface(0.3, -7.0)


def test_start_is_taken_in_fresh_processes(cpu, monkeypatch):
    monkeypatch.setattr(wasm_start, "LEDGER", "fib")
    monkeypatch.setattr(wasm_start, "TARGETS", {("fib", "cpu"): (1000.0, 0.0)})
    rows = list(wasm_start.run(cpu, quick=True))
    times = ("empty cache", "from the cache", "until optimised")
    assert [row.what for row in rows] == [f"fib, {kind}, {time}" for kind in ("instance", "func") for time in times]
    assert [row.met for row in rows] == [True, False, None] * 2
    for row in rows:
        if row.target:
            assert re.match(r"load \d+\.\d+ s, compile \d+\.\d+ s, call \d+\.\d+ s", row.detail)


def test_start_says_that_big_is_not_built(cpu, monkeypatch, tmp_path):
    absent = Guest("big", tmp_path / "big.wasm", 1, {})
    monkeypatch.setattr(wasm_start, "guest", lambda name: absent if name == "big" else guest(name))
    monkeypatch.setattr(wasm_start, "_probes", lambda *_: ([PROBE], [PROBE]))
    rows = list(wasm_start.run(cpu, quick=False))
    assert {row.what.split(",")[0] for row in rows} == {"ledger"}
    assert f"big is not built: sh benchmarks/wasm/build.sh {tmp_path} big makes" in rows[0].detail


PROBE = {"load": 0.1, "compile": 0.2, "call": 0.3, "optimised": 0.4}


def test_slice_compares_builds_of_a_program(cpu, monkeypatch):
    monkeypatch.setattr(wasm_slice, "PROGRAMS", ("blur",))
    monkeypatch.setattr(wasm_slice, "QUICK_LANES", 8)
    rows = list(wasm_slice.run(cpu, quick=True))
    assert [row.what for row in rows] == [f"blur, {variant}" for variant in (*wasm_slice.CPU_VARIANTS, "no rounds")]
    assert rows[0].peer is None
    assert all(row.peer_value == rows[0].value and row.ratio > 0 for row in rows[1:])


@pytest.mark.parametrize("variant", wasm_slice.GPU_VARIANTS)
def test_builds_of_a_slice_are_choices_that_a_gpu_takes(variant):
    choices = wasm_slice.GPU_VARIANTS[variant]
    check_choices(choices)
    gpu_build(**choices)


@pytest.mark.parametrize("name", wasm_slice.PROGRAMS)
def test_guests_for_many_lanes_return_what_the_table_says(name):
    program = guest(name)
    seeded = lw.load(with_seeded_run(program.read())).func(SEEDED, device="cpu")
    for (rounds, seed), checksum in program.checksums.items():
        assert seeded(rounds, seed) == checksum


def test_guests_are_found_in_a_checkout_only(monkeypatch, tmp_path):
    installed = tmp_path / "lib" / "lanewise" / "bench" / "wasm_guests.py"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    checkout = wasm_guests.Path(wasm_guests.__file__).resolve().parents[2]
    monkeypatch.setattr(wasm_guests, "__file__", str(installed))
    monkeypatch.chdir(elsewhere)
    wasm_guests._programs.cache_clear()
    try:
        with pytest.raises(
            lw.LanewiseError, match=rf"no benchmarks/wasm/programs\.py in {tmp_path}/lib or {elsewhere}"
        ):
            guest("mix")
        (elsewhere / "benchmarks" / "wasm").mkdir(parents=True)
        shutil.copy(checkout / "benchmarks" / "wasm" / "programs.py", elsewhere / "benchmarks" / "wasm")
        assert guest("mix").path == elsewhere / "tests" / "wasm" / "guests" / "mix.wasm"
        with pytest.raises(lw.LanewiseError, match=r"mix is not built: sh benchmarks/wasm/build\.sh"):
            guest("mix").read()
    finally:
        wasm_guests._programs.cache_clear()
