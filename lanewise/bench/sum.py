"""Benchmark `sum`: the two-phase parallel sum, which memory bounds; each byte is read once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lanewise.bench.cores import in_threads, one_core
from lanewise.bench.gpu import LAUNCHES, copying, cupy
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.bench.sum_kernels import GROUP_SIZE, total, total_again
from lanewise.bench.timing import medians, repeated
from lanewise.devices import Device, DeviceArray

Floats = np.ndarray[Any, np.dtype[np.float32]]

_CACHED = 2**17
"""Elements a core that stay in its own cache."""
_PASSES = 1000


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device."""
    n = 2**24 if quick else 2**28
    # Every partial sum of these is a small whole number: the result is exact, whatever the order of additions.
    x = np.random.default_rng(2).integers(-1, 2, n, np.int8).astype(np.float32)
    return _on_gpu(device, x) if device.name.startswith("cuda") else _on_cpu(device, x)


def _on_cpu(device: Device, x: Floats) -> Iterator[Result]:
    n, cores = x.size, device.properties.cores
    expected = float(x.sum(dtype=np.float64))
    with one_core() as single:
        adder = _Adder(single, single.wrap(x))
        one = medians({"lanewise": adder.run, "numpy": x.sum})
        adder.check(expected)
    yield figure(
        "sum", "cpu", "one core", _rate(n, one["lanewise"]), "GB/s",
        peer="numpy", peer_value=_rate(n, one["numpy"]), at_least=0.5,
    )  # fmt: skip
    if cores == 1:
        return
    adder = _Adder(device, device.wrap(x))
    with in_threads(cores, n, lambda first, behind: x[first:behind].sum()) as numpy_all:
        every = medians({"lanewise": adder.run, "numpy": numpy_all})
        adder.check(expected)
    yield figure(
        "sum", "cpu", f"{cores} cores", _rate(n, every["lanewise"]), "GB/s",
        peer=f"numpy, {cores} threads", peer_value=_rate(n, every["numpy"]),
        detail=f"{one['lanewise'] / every['lanewise']:.2f}x one core; numpy {one['numpy'] / every['numpy']:.2f}x",
    )  # fmt: skip
    yield _scaling(device, x[: _CACHED * cores])


def _scaling(device: Device, x: Floats) -> Result:
    """All cores against one on data that stays in the caches, where memory is not what limits both."""
    n, cores = x.size, device.properties.cores
    with one_core() as single:
        one, every = _Adder(single, single.wrap(x[:_CACHED]), _PASSES), _Adder(device, device.wrap(x), _PASSES)
        taken = medians({"one": one.run, "all": every.run})
    every.check(float(x.sum(dtype=np.float64)) * _PASSES)
    return figure(
        "sum", "cpu", f"{cores} cores, data in cache", _rate(n * _PASSES, taken["all"]), "GB/s",
        peer="lanewise, one core", peer_value=_rate(_CACHED * _PASSES, taken["one"]), at_least=0.8 * cores,
    )  # fmt: skip


def _on_gpu(device: Device, x: Floats) -> Iterator[Result]:
    n = x.size
    data = device.array(x)
    adder = _Adder(device, data)
    runs = {
        "copy": copying(device, device.empty(n, np.float32), data),
        "lanewise": repeated(adder.start, device.synchronize, LAUNCHES),
    }
    peer = cupy()
    if peer is not None:
        theirs = peer.asarray(data)
        runs["cupy"] = repeated(theirs.sum, peer.cuda.Device().synchronize, LAUNCHES)
    taken = medians(runs)
    adder.check(float(x.sum(dtype=np.float64)))
    yield figure(
        "sum", device.name, "bytes read", _rate(n * LAUNCHES, taken["lanewise"]), "GB/s",
        peer="device copy", peer_value=2 * _rate(n * LAUNCHES, taken["copy"]), at_least=0.85,
        detail="the copy's bytes count twice, read and written",
    )  # fmt: skip
    yield figure(
        "sum", device.name, "time", taken["lanewise"] / LAUNCHES * 1e3, "ms",
        peer="cupy", peer_value=taken["cupy"] / LAUNCHES * 1e3 if "cupy" in taken else None, at_most=1.2,
    )  # fmt: skip


class _Adder:
    """The sum of one array on one device, many times over: once a run, or `passes` times in one launch."""

    def __init__(self, device: Device, data: DeviceArray, passes: int = 0) -> None:
        self._device = device
        self._data = data
        self._passes = passes
        self._out = device.zeros(1, np.float32)
        self._threads = device.threads_to_fill(GROUP_SIZE)

    def start(self) -> None:
        self._device.fill(self._out.buffer, 0, self._out.nbytes)
        n, shape = self._data.size, (self._threads, GROUP_SIZE)
        if self._passes:
            total_again[shape](self._data, n, self._out, self._passes)
        else:
            total[shape](self._data, n, self._out)

    def run(self) -> None:
        self.start()
        self._device.synchronize()

    def check(self, expected: float) -> None:
        found = float(self._out.get()[0])
        if found != expected:
            raise WrongResultError(f"benchmark sum ({self._device.name}) gave {found}, NumPy gives {expected}")


def _rate(elements: int, seconds: float) -> float:
    return elements * 4 / seconds / 1e9
