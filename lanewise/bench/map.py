"""Benchmark `map`: y = 2x + 1, which memory bounds; bytes read and bytes written both count."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from lanewise.bench.cores import in_threads, one_core
from lanewise.bench.gpu import LAUNCHES, copying
from lanewise.bench.map_kernels import scale, scale_again, scale_grid
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.bench.timing import Run, medians, repeated
from lanewise.devices import Device

Floats = np.ndarray[Any, np.dtype[np.float32]]

_BYTES = 8  # an element read and an element written
_CHUNKS = (2**14, 2**16, 2**18)
"""Elements that NumPy works on at a time, so that its two passes meet in a cache; the best one counts."""
_CACHED = 2**15
"""Elements a core for which both arrays stay in its own cache."""
_PASSES = 2000
_CHECKED = 2**24


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device."""
    n = 2**24 if quick else 2**28
    x: Floats = np.random.default_rng(1).random(n, np.float32)
    return _on_gpu(device, x) if device.name.startswith("cuda") else _on_cpu(device, x)


def _on_cpu(device: Device, x: Floats) -> Iterator[Result]:
    n, cores = x.size, device.properties.cores
    y, peer_y = np.zeros_like(x), np.zeros_like(x)
    ins, out = device.wrap(x), device.wrap(y)

    def numpy_part(first: int, behind: int, chunk: int = _CHUNKS[-1]) -> None:
        for a in range(first, behind, chunk):
            b = min(a + chunk, behind)
            np.multiply(x[a:b], np.float32(2), out=peer_y[a:b])
            np.add(peer_y[a:b], np.float32(1), out=peer_y[a:b])

    with one_core() as single:
        one_in, one_out = single.wrap(x), single.wrap(y)
        runs: dict[str, Run] = {
            "lanewise": lambda: scale[n](one_in, n, one_out).wait(),
            "unchunked": partial(numpy_part, 0, n, n),
        }
        for chunk in _CHUNKS:
            runs[f"chunks of {chunk:,}"] = partial(numpy_part, 0, n, chunk)
        one = medians(runs)
        _check(x, y, "cpu, one core")
    lanewise_one = one.pop("lanewise")
    best = min(one, key=lambda way: one[way])
    yield figure(
        "map", "cpu", "one core", _rate(n, lanewise_one), "GB/s",
        peer="numpy", peer_value=_rate(n, one[best]), at_least=1.0, detail=f"numpy's best of 4 ways: {best}",
    )  # fmt: skip
    if cores == 1:
        return
    with in_threads(cores, n, numpy_part) as numpy_all:
        y.fill(0)
        every = medians({"lanewise": lambda: scale[n](ins, n, out).wait(), "numpy": numpy_all})
        _check(x, y, "cpu, all cores")
        y.fill(0)
        threads = device.threads_to_fill()
        grid = medians({"lanewise": lambda: scale_grid[threads](ins, n, out).wait()})
        _check(x, y, "cpu, grid_range")
    peer, peer_value = f"numpy, {cores} threads", _rate(n, every["numpy"])
    yield figure(
        "map", "cpu", f"{cores} cores", _rate(n, every["lanewise"]), "GB/s", peer=peer, peer_value=peer_value,
        detail=f"{lanewise_one / every['lanewise']:.2f}x one core; numpy {one[best] / every['numpy']:.2f}x",
    )  # fmt: skip
    yield figure(
        "map", "cpu", f"{cores} cores, grid_range", _rate(n, grid["lanewise"]), "GB/s", peer=peer, peer_value=peer_value
    )
    yield _scaling(device, x[: _CACHED * cores])


def _scaling(device: Device, x: Floats) -> Result:
    """All cores against one on data that stays in the caches, where memory is not what limits both."""
    n, cores = x.size, device.properties.cores
    y = np.zeros_like(x)
    ins, out = device.wrap(x), device.wrap(y)
    with one_core() as single:
        one_in, one_out = single.wrap(x[:_CACHED]), single.wrap(y[:_CACHED])
        one_threads, threads = single.threads_to_fill(), device.threads_to_fill()
        taken = medians({
            "one": lambda: scale_again[one_threads](one_in, _CACHED, one_out, _PASSES).wait(),
            "all": lambda: scale_again[threads](ins, n, out, _PASSES).wait(),
        })  # fmt: skip
    _check(x, y, "cpu, in cache")
    one, every = _rate(_CACHED * _PASSES, taken["one"]), _rate(n * _PASSES, taken["all"])
    return figure(
        "map", "cpu", f"{cores} cores, data in cache", every, "GB/s",
        peer="lanewise, one core", peer_value=one, at_least=0.8 * cores,
    )  # fmt: skip


def _on_gpu(device: Device, x: Floats) -> Iterator[Result]:
    n = x.size
    ins, out = device.array(x), device.zeros(n, np.float32)
    threads = device.threads_to_fill()
    grid_out = device.zeros(n, np.float32)
    taken = medians({
        "copy": copying(device, device.empty(n, np.float32), ins),
        "scale": repeated(lambda: scale[n](ins, n, out), device.synchronize, LAUNCHES),
        "grid": repeated(lambda: scale_grid[threads](ins, n, grid_out), device.synchronize, LAUNCHES),
    })  # fmt: skip
    _check(x, out.get(), device.name)
    _check(x, grid_out.get(), f"{device.name}, grid_range")
    copied = _rate(n * LAUNCHES, taken["copy"])
    for run_name, what in (("scale", "one thread an element"), ("grid", "grid_range")):
        yield figure(
            "map", device.name, what, _rate(n * LAUNCHES, taken[run_name]), "GB/s",
            peer="device copy", peer_value=copied, at_least=0.85,
        )  # fmt: skip


def _rate(elements: int, seconds: float) -> float:
    return elements * _BYTES / seconds / 1e9


def _check(x: Floats, y: Floats, where: str) -> None:
    for a in range(0, x.size, _CHECKED):
        part = x[a : a + _CHECKED]
        if not np.array_equal(y[a : a + _CHECKED], part * np.float32(2) + np.float32(1)):
            raise WrongResultError(f"benchmark map ({where}) gave other numbers than NumPy")
