"""What benchmarks on a GPU share: the copy bandwidth to measure against, and CuPy where it is installed."""

from __future__ import annotations

import importlib
from typing import Any

from lanewise.bench.timing import Run, repeated
from lanewise.devices import Device, DeviceArray

LAUNCHES = 20
"""Launches that are timed together, so that one wait at the end does not count."""


def cupy() -> Any:
    """The module cupy, or None where it is not installed or does not work; it has no types, hence Any."""
    try:
        module = importlib.import_module("cupy")
        module.arange(2).sum().get()  # compiles a kernel, which a half installed CuPy cannot
        return module
    except Exception:  # whatever a broken installation raises, the benchmark goes on without this peer
        return None


def copying(device: Device, target: DeviceArray, source: DeviceArray) -> Run:
    """LAUNCHES device-to-device copies of a whole array; each reads and writes its bytes once."""
    return repeated(lambda: device.copy(target.buffer, source.buffer, source.nbytes), device.synchronize, LAUNCHES)
