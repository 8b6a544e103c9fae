"""A peer of the benchmark `wasm` on a CUDA GPU: what a guest does, written by hand in CUDA C++, a thread an element.

The sources, benchmarks/wasm/*.cu, are compiled by nvcc when the benchmark runs. A kernel takes seeds, results, rounds
and the number of elements. It has no bounds to check, no fuel to count, and nobody can stop it.
"""

from __future__ import annotations

import subprocess
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from lanewise.compiler import find_toolkit_program
from lanewise.devices.cuda import CudaDevice
from lanewise.errors import CompileError

_ENTRY, _ARGUMENTS = "run", "QQiI"
_GROUP = 128
"""Threads in a group: GROUP of benchmarks/wasm/guest.cuh, which kernels are compiled for."""
_FLAGS = ("-cubin", "-std=c++17", "-O3", "-fmad=false")
"""Products are not fused with sums, for results must be the same to the bit."""
_MOST_SAID = 400

Array = np.ndarray[Any, Any]


class ByHand:
    """A kernel written by hand, loaded on one GPU; it is called as the guest's seeded run is."""

    def __init__(self, device: CudaDevice, source: Path, result: np.dtype[Any]) -> None:
        self._device = device
        self._result = result
        code = compile_cuda(source, _generation(device))
        self._kernel = device.load_native([code], source.name, _ENTRY, _ARGUMENTS, 0)

    def __call__(self, rounds: int, seeds: Array) -> Array:
        """The results of all seeds; the same copies from and to the host as those of lanes."""
        given, results = self._device.array(seeds), self._device.empty(seeds.shape, self._result)
        values = [given.address, results.address, rounds, seeds.size]
        self._device.launch_native(self._kernel, seeds.size, _GROUP, values)
        return results.get()


def compile_cuda(source: Path, generation: str) -> bytes:
    """Machine code of a source for a generation of GPUs, such as sm_90; CompileError says why there is none."""
    compiler = find_toolkit_program("nvcc")
    if compiler is None:
        raise CompileError(f"nvcc, which compiles {source.name}, is neither on PATH nor in CUDA_HOME")
    with tempfile.TemporaryDirectory(prefix="lanewise-bench-") as folder:
        code = Path(folder, "code.cubin")
        command = [compiler, *_FLAGS, f"-arch={generation}", f"-I{source.parent}", "-o", str(code), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode:
            said = textwrap.shorten(done.stdout + done.stderr, _MOST_SAID)
            raise CompileError(f"nvcc did not compile {source.name} for {generation}: {said}")
        return code.read_bytes()


def _generation(device: CudaDevice) -> str:
    """The very one of the GPU: unlike PTX, machine code does not run on later ones."""
    return "sm_" + dict(device.properties.details)["compute capability"].replace(".", "")
