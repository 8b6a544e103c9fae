"""Benchmark `wasm-map`: ten instructions of WebAssembly per element, against Numba or the GPU's copy bandwidth."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import lanewise as lw
from lanewise.bench.cores import one_core
from lanewise.bench.gpu import LAUNCHES, copying
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.bench.timing import medians, repeated
from lanewise.bench.wasm_surface import Floats, surface, surface_module
from lanewise.devices import Device
from lanewise.wasm import Module

_MANY, _FEW = 10_000_000, 1_000_000
_LARGER = 10
"""How many times as many elements the second figure on a GPU is for: there the call itself no longer counts."""
_BYTES = 24  # two elements read and one written
_CHECKED = 2**20


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device."""
    n = _FEW if quick else _MANY
    return _on_gpu(device, n) if device.name.startswith("cuda") else _on_cpu(device, n)


def _inputs(n: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(1)
    return random.random(n), random.random(n)


def _on_cpu(device: Device, n: int) -> Iterator[Result]:
    x, y = _inputs(n)
    module = lw.load(surface_module())
    with one_core() as single:
        yield _against_numba(module, single, "one core", ("cpu",), x, y)
    cores = device.properties.cores
    if cores > 1:
        yield _against_numba(module, device, f"{cores} cores", ("cpu", "parallel"), x, y)


def _against_numba(module: Module, device: Device, where: str, targets: Sequence[str], x: Floats, y: Floats) -> Result:
    """Both take NumPy arrays and make a new one for the result; the best of Numba's targets counts."""
    functions = {"lanewise": module.func("surface", device=device)}
    functions |= {target: made for target in targets if (made := _numba_function(target)) is not None}
    for name, function in functions.items():
        _check(x, y, function(x, y), f"{name}, {where}")
    taken = medians({name: partial(function, x, y) for name, function in functions.items()})
    ours = taken.pop("lanewise")
    rates = {target: x.size / seconds / 1e6 for target, seconds in taken.items()}
    shown = ", ".join(f"{target} {rate:.0f}" for target, rate in rates.items())
    return figure(
        "wasm-map", "cpu", f"{x.size:,} elements, {where}", x.size / ours / 1e6, "million/s",
        peer="numba", peer_value=max(rates.values(), default=None), at_least=0.5,
        detail=f"numba's best of {shown} million/s" if rates else "",
    )  # fmt: skip


def _numba_function(target: str) -> Any:
    """The same function by Numba's vectorize, or None where Numba is not installed or does not work."""
    try:
        numba = importlib.import_module("numba")
        with warnings.catch_warnings():  # it warns of threading libraries that it would rather have
            warnings.simplefilter("ignore")
            return numba.vectorize(["float64(float64, float64)"], target=target)(surface)
    except Exception:  # whatever a broken installation raises, the benchmark goes on without this peer
        return None


def _on_gpu(device: Device, n: int) -> Iterator[Result]:
    """With arrays on the device: nothing is copied to or from the host."""
    function = lw.load(surface_module()).func("surface", device=device)
    hosts = _inputs(n * _LARGER)
    for count, at_least in ((n, 0.5), (n * _LARGER, None)):
        host_x, host_y = (host[:count] for host in hosts)
        x, y = device.array(host_x), device.array(host_y)
        _check(host_x, host_y, function(x, y).get(), device.name)
        source = device.zeros(count * 3 // 2, np.float64)  # a copy of it moves as many bytes as the function does
        call = partial(function, x, y)
        taken = medians({
            "copy": copying(device, device.empty(source.size, np.float64), source),
            "function": repeated(call, device.synchronize, LAUNCHES),
            "one": repeated(call, device.synchronize, 1),
        })  # fmt: skip
        yield figure(
            "wasm-map", device.name, f"{count:,} elements", _rate(count, taken["function"]), "GB/s",
            peer="device copy", peer_value=_rate(count, taken["copy"]), at_least=at_least,
            detail=f"device arrays in and out; one call with its wait {taken['one'] * 1e3:.3f} ms",
        )  # fmt: skip


def _rate(count: int, seconds: float) -> float:
    return count * LAUNCHES * _BYTES / seconds / 1e9


def _check(x: Floats, y: Floats, given: Floats, where: str) -> None:
    for a in range(0, x.size, _CHECKED):
        part = slice(a, a + _CHECKED)
        if not np.array_equal(given[part], surface(x[part], y[part])):  # type: ignore[arg-type]
            raise WrongResultError(f"benchmark wasm-map ({where}) gave other numbers than NumPy")
