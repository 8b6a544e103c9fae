"""Benchmark `barrier`: one group of 1,024 threads with 10 barriers, from the launch to its end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lanewise.bench.barrier_kernels import BARRIERS, GROUP_SIZE, TURNS, pass_around
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.bench.timing import medians
from lanewise.devices import Device


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device."""
    out = device.zeros(GROUP_SIZE, np.uint32)
    taken = medians({"launch": lambda: pass_around[GROUP_SIZE, GROUP_SIZE](out).wait()}, rounds=51)["launch"]
    if not np.array_equal(out.get(), (np.arange(GROUP_SIZE) + TURNS) % GROUP_SIZE):
        raise WrongResultError(f"benchmark barrier ({device.name}) passed values to the wrong threads")
    what = f"{GROUP_SIZE:,} threads, {BARRIERS} barriers"
    yield figure("barrier", device.name, what, taken * 1e3, "ms", below=2.0 if device.name == "cpu" else None)
