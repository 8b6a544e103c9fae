"""Programs written by hand in CUDA C++ return what the guests do: on a CPU thread by thread, on a GPU where one is."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import lanewise as lw
from lanewise.bench import WrongResultError, wasm_by_hand, wasm_many
from lanewise.bench.wasm_by_hand import ByHand, compile_cuda
from lanewise.bench.wasm_guests import cuda_source, guest
from lanewise.bench.wasm_seeded import SEEDED, with_seeded_run
from lanewise.compiler import find_toolkit_program
from lanewise.devices.cubin import largest_frame
from lanewise.errors import CompileError

RESULTS = {"sha256": np.dtype(np.int64), "nbody": np.dtype(np.float64)}
SEEDS = np.array([0, 1, 7, -5, 255, 262_143, 2**31 - 1, -(2**31)], np.int32)
ROUNDS = (0, 1, 10, 35)
"""More than 32, after which the message of sha256 is overwritten from its beginning."""

CPU_THREADS = """\
// What CUDA C++ has and C++ has not, for one thread at a time.
#include <math.h>
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(most)
struct Index { unsigned x; };
static Index blockIdx, blockDim, threadIdx;
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (by & 31));
}
extern "C" void become(unsigned block, unsigned threads, unsigned thread) {
  blockIdx.x = block, blockDim.x = threads, threadIdx.x = thread;
}
"""


def lanes(name, device="cpu"):
    """The guest as the benchmark runs it."""
    return lw.load(with_seeded_run(guest(name).read())).func(SEEDED, device=device)


def same_bits(found, wanted):
    return np.array_equal(found.view(np.int64), wanted.view(np.int64))


def on_cpu_threads(name, folder):
    """The kernel as a function of rounds and seeds that runs one thread after the other, compiled for the host."""
    compiler = shutil.which("clang++-14") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler is installed (Debian: g++)")
    source, library = cuda_source(name), folder / f"{name}.so"
    (folder / "cpu_threads.h").write_text(CPU_THREADS)
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Wno-unknown-pragmas", "-fPIC", "-shared"]
    places = [f"-I{source.parent}", "-include", str(folder / "cpu_threads.h"), "-o", str(library)]
    subprocess.run([compiler, *flags, *places, "-x", "c++", str(source)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint32]

    def run(rounds, seeds, group=3):
        results = np.full(seeds.size + 1, -1, RESULTS[name])  # one more, which nobody may touch
        for thread in range(-(-seeds.size // group) * group):
            loaded.become(thread // group, group, thread % group)
            loaded.run(seeds.ctypes.data, results.ctypes.data, rounds, seeds.size)
        assert results[-1] == -1
        return results[:-1]

    return run


@pytest.mark.parametrize("name", RESULTS)
def test_threads_return_what_lanes_do(name, tmp_path):
    by_hand, function = on_cpu_threads(name, tmp_path), lanes(name)
    for rounds in ROUNDS:
        assert same_bits(by_hand(rounds, SEEDS), function(rounds, SEEDS))
    for (rounds, seed), checksum in guest(name).checksums.items():
        assert by_hand(rounds, np.array([seed], np.int32))[0] == checksum


@pytest.mark.parametrize(("name", "stack"), [("sha256", 1024), ("nbody", 0)])
def test_nvcc_keeps_all_but_the_message_in_registers(name, stack):
    if find_toolkit_program("nvcc") is None:
        pytest.skip("nvcc is not installed")
    assert largest_frame(compile_cuda(cuda_source(name), "sm_90")) == stack


@pytest.mark.parametrize("name", RESULTS)
def test_cuda_threads_return_what_lanes_do(name):
    try:
        device = lw.device("cuda")
    except lw.NoDeviceError as absent:
        pytest.skip(str(absent))
    if find_toolkit_program("nvcc") is None:
        pytest.skip("nvcc is not installed")
    by_hand, function = ByHand(device, cuda_source(name), RESULTS[name]), lanes(name, device)
    seeds = np.arange(-100, 1000, dtype=np.int32)  # no whole number of groups
    for rounds in ROUNDS:
        assert same_bits(by_hand(rounds, seeds), function(rounds, seeds))


def test_only_some_programs_were_written_by_hand():
    assert {name for name in wasm_many.PROGRAMS if cuda_source(name)} == set(RESULTS)


def test_without_nvcc_there_is_no_peer(monkeypatch):
    monkeypatch.setattr(wasm_by_hand, "find_toolkit_program", lambda name: None)
    with pytest.raises(CompileError, match=r"nvcc, which compiles nbody\.cu, is neither on PATH nor in CUDA_HOME"):
        compile_cuda(cuda_source("nbody"), "sm_90")


def test_what_nvcc_says_is_passed_on(monkeypatch, tmp_path):
    refusing = tmp_path / "nvcc"
    refusing.write_text("#!/bin/sh\necho nvcc fatal: Unsupported gpu architecture >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setattr(wasm_by_hand, "find_toolkit_program", lambda name: str(refusing))
    with pytest.raises(CompileError, match=r"did not compile nbody\.cu for sm_90: nvcc fatal: Unsupported gpu"):
        compile_cuda(cuda_source("nbody"), "sm_90")


@pytest.fixture
def small(monkeypatch):
    """The benchmark on a CPU, with a program and a few lanes; no peers but what a test puts there."""
    monkeypatch.setattr(wasm_many, "PROGRAMS", ("nbody",))
    monkeypatch.setattr(wasm_many, "QUICK_LANES", 6)
    monkeypatch.setattr(wasm_many, "_TURNS", 1)
    monkeypatch.setattr(wasm_many.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(wasm_many.shutil, "which", lambda name: None)
    return lw.device("cpu")


def test_a_cpu_has_no_such_peer(small):
    assert [row.peer.split(",")[0] for row in wasm_many.run(small, quick=True)] == ["wasmtime", "wasmtime", "native"]


def test_lanes_are_compared_with_what_was_written_by_hand(small, monkeypatch):
    monkeypatch.setattr(wasm_many, "_by_hand", lambda device, name, result: (lanes(name), ""))
    usual, row = list(wasm_many.run(small, quick=True))[3:]
    assert (usual.what, usual.peer, usual.target, usual.detail) == ("nbody", "hand-written CUDA", None, "")
    assert (row.what, row.peer, row.target) == ("nbody, steps counted", "hand-written CUDA", ">= 0.588x")
    assert row.ratio == row.value / row.peer_value
    assert row.met == (row.ratio >= 0.588)


def test_a_row_says_why_nothing_was_compared(small, monkeypatch):
    monkeypatch.setattr(wasm_many, "_by_hand", lambda device, name, result: (None, "nvcc is not there"))
    row = list(wasm_many.run(small, quick=True))[4]
    assert (row.peer, row.peer_value, row.met, row.detail) == ("hand-written CUDA", None, None, "nvcc is not there")


def test_lanes_that_return_something_else_have_no_figure(small, monkeypatch):
    def wrong(rounds, seeds):
        found = lanes("nbody")(rounds, seeds)
        found[4] = np.nextafter(found[4], 0)
        return found

    monkeypatch.setattr(wasm_many, "_by_hand", lambda device, name, result: (wrong, ""))
    with pytest.raises(WrongResultError, match=r"nbody, lane 4: -\S+, not -\S+ as hand-written CUDA has it"):
        list(wasm_many.run(small, quick=True))
