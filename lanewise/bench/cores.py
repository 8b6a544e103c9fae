"""The CPU with one core and with all of them, for Lanewise and for NumPy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from lanewise.devices import Device
from lanewise.devices.cpu import CpuDevice

Part = Callable[[int, int], object]
"""Work on the elements from one index up to another."""


@contextmanager
def one_core() -> Iterator[Device]:
    """A CPU device of its own that uses one core."""
    before = os.environ.get("LANEWISE_CPU_THREADS")
    os.environ["LANEWISE_CPU_THREADS"] = "1"
    try:
        device = CpuDevice()
    finally:
        if before is None:
            del os.environ["LANEWISE_CPU_THREADS"]
        else:
            os.environ["LANEWISE_CPU_THREADS"] = before
    try:
        yield device
    finally:
        device.close()


@contextmanager
def in_threads(cores: int, n: int, part: Part) -> Iterator[Callable[[], None]]:
    """NumPy on all cores, which takes a thread pool and one part a thread; NumPy lets go of the GIL in between."""
    bounds = [n * k // cores for k in range(cores + 1)]
    with ThreadPoolExecutor(cores) as pool:

        def run() -> None:
            list(pool.map(part, bounds[:-1], bounds[1:]))

        yield run
