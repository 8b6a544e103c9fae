"""Benchmark `start`: how long it takes until a small kernel can run, each time in a Python process of its own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping

from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.devices import Device

_IMPORT = "import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device."""
    processes = 3 if quick else 7
    taken: dict[str, list[float]] = {"lanewise": [], "numpy": []}
    for turn in range(processes + 1):
        for module, times in taken.items():
            seconds = float(_python("-c", _IMPORT.format(module=module)))
            if turn > 0:  # the first has to read files from disk
                times.append(seconds)
    ours, numpys = statistics.median(taken["lanewise"]), statistics.median(taken["numpy"])
    yield figure(
        "start", device.name, "import lanewise", ours * 1e3, "ms", below=300,
        detail=f"of which importing numpy takes {numpys * 1e3:.0f} ms",
    )  # fmt: skip
    cold: list[dict[str, float]] = []
    warm: list[dict[str, float]] = []
    for _ in range(processes):
        with tempfile.TemporaryDirectory(prefix="lanewise-bench-") as cache:
            cold.append(_probe(device, cache))
            warm.append(_probe(device, cache))
    for where, probes, below in (("empty cache", cold, 60), ("from the cache", warm, 5)):
        for which, detail in (
            ("first", "the first of a process, with what the device itself has to load"),
            ("next", ""),
        ):
            seconds = statistics.median(probe[which] for probe in probes)
            what = f"{which} kernel, {where}"
            yield figure("start", device.name, what, seconds * 1e3, "ms", below=below, detail=detail)


def _probe(device: Device, cache: str) -> dict[str, float]:
    caches = {"LANEWISE_CACHE_DIR": cache, "CUDA_CACHE_PATH": os.path.join(cache, "driver")}
    text = _python("-m", "lanewise.bench.start_probe", device.name, environment=caches)
    return {name: float(seconds) for name, seconds in json.loads(text).items()}


def _python(*arguments: str, environment: Mapping[str, str] | None = None) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing was said"]
        raise WrongResultError(f"benchmark start: {' '.join(command)} failed: {said[-1]}")
    return done.stdout
