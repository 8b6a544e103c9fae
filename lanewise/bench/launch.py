"""Benchmark `launch`: what a launch costs the one who calls it, and how soon a small one is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lanewise.bench.gpu import cupy
from lanewise.bench.map_kernels import scale
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.bench.timing import medians, repeated
from lanewise.devices import Device

_N = 256
_QUEUED = 500
"""Calls in a row, fewer than what a CUDA stream queues before it makes the caller wait."""
_ROUNDS = 21

_CUDA_SOURCE = """
extern "C" __global__ void scale(const float* x, unsigned n, float* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i] + 1.0f;
}
"""


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device."""
    host = np.arange(_N, dtype=np.float32)
    x, y = device.array(host), device.zeros(_N, np.float32)
    waited = medians({"wait": repeated(lambda: scale[_N](x, _N, y).wait(), device.synchronize, 100)})["wait"] / 100
    if not np.array_equal(y.get(), host * 2 + 1):
        raise WrongResultError(f"benchmark launch ({device.name}) gave other numbers than NumPy")
    if device.name.startswith("cuda"):
        yield _call_overhead(device, lambda: scale[_N](x, _N, y), cupy())
    yield figure("launch", device.name, "launch and wait", waited * 1e6, "us")


def _call_overhead(device: Device, call: Callable[[], object], peer: Any) -> Result:
    """The call alone: the device is waited for between rounds, outside the time taken."""
    theirs: list[float] = []
    if peer is not None:
        raw = peer.RawKernel(_CUDA_SOURCE, "scale")
        args = (peer.arange(_N, dtype=peer.float32), np.uint32(_N), peer.zeros(_N, peer.float32))
    ours: list[float] = []
    for _ in range(_ROUNDS):
        ours.append(_time_calls(call, device.synchronize))
        if peer is not None:
            theirs.append(_time_calls(lambda: raw((1,), (_N,), args), peer.cuda.Device().synchronize))
    return figure(
        "launch", device.name, "the call", float(np.median(ours)) * 1e6, "us",
        peer="cupy", peer_value=float(np.median(theirs)) * 1e6 if theirs else None, at_most=2.0,
        detail="kernel[n](x, n, y) against RawKernel(grid, block, args)",
    )  # fmt: skip


def _time_calls(call: Callable[[], object], finish: Callable[[], object]) -> float:
    call()
    finish()
    start = time.perf_counter()
    for _ in range(_QUEUED):
        call()
    taken = time.perf_counter() - start
    finish()
    return taken / _QUEUED
