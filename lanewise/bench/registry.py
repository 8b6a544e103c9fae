"""The benchmarks there are, by name; each lives in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lanewise.bench.barrier import run as run_barrier
from lanewise.bench.launch import run as run_launch
from lanewise.bench.layout import run as run_layout
from lanewise.bench.map import run as run_map
from lanewise.bench.programs import run as run_programs
from lanewise.bench.result import Result
from lanewise.bench.start import run as run_start
from lanewise.bench.sum import run as run_sum
from lanewise.bench.wasm_lane import run as run_wasm_lane
from lanewise.bench.wasm_many import run as run_wasm_many
from lanewise.bench.wasm_map import run as run_wasm_map
from lanewise.bench.wasm_slice import run as run_wasm_slice
from lanewise.bench.wasm_start import run as run_wasm_start
from lanewise.devices import Device


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: what it measures, and how to run it on a device, in full or quickly on less data."""

    name: str
    about: str
    run: Callable[[Device, bool], Iterator[Result]]


benchmarks: dict[str, Benchmark] = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark("map", "y = 2x + 1 over 1 GiB of f32: against NumPy, or the GPU's copy bandwidth", run_map),
        Benchmark("sum", "two-phase sum of 1 GiB of f32: against NumPy, or CuPy and the copy bandwidth", run_sum),
        Benchmark("launch", "what kernel[n](...) costs the caller: against a CuPy RawKernel", run_launch),
        Benchmark("barrier", "a group of 1,024 threads with 10 barriers", run_barrier),
        Benchmark("start", "importing Lanewise, compiling a small kernel, loading it from the cache", run_start),
        Benchmark("wasm", "guest programs on all lanes: against wasmtime and native code on all cores", run_wasm_many),
        Benchmark("wasm-lane", "guest programs on one lane: against wasmtime", run_wasm_lane),
        Benchmark("wasm-map", "a function of ten instructions over arrays: against Numba, or a copy", run_wasm_map),
        Benchmark("wasm-start", "a module's first result: compiled, and from the cache", run_wasm_start),
        Benchmark("wasm-slice", "guest programs on many lanes: what each part of their build costs", run_wasm_slice),
        Benchmark("layout", "flexbox: 256 nodes from scratch, and after one changed; against Taffy", run_layout),
        Benchmark("run", "gpu-run: its start, many lanes, many files, its end; against wasmtime", run_programs),
    )
}
