"""Benchmark `wasm-start`: how long it takes until a module's first result is there, each time in a fresh process."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.bench.wasm_guests import Guest, guest
from lanewise.devices import Device

LEDGER, BIG = "ledger", "big"
TARGETS = {
    (LEDGER, "cpu"): (1.0, 0.1),
    (BIG, "cpu"): (20.0, 1.0),
    (LEDGER, "cuda"): (8.0, 0.3),
    (BIG, "cuda"): (60.0, 2.0),
}
"""Seconds to the first result: with an empty cache, and from the cache."""
KINDS = ("instance", "func")


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device."""
    absent = guest(BIG).missing
    names = [LEDGER] if quick or absent else [LEDGER, BIG]
    for name in names:
        program = guest(name)
        repeats = 1 if quick or name == BIG else 3
        for kind in KINDS:
            cold, cached = _probes(device, program, kind, repeats)
            yield from _rows(device, program, kind, cold, cached, absent or "")


def seconds_to_compile(device: Device, program: Guest) -> float:
    """How long it takes to make the code of a function over arrays, with an empty cache."""
    with tempfile.TemporaryDirectory(prefix="lanewise-bench-") as cache:
        return float(_probe(device, program, "func", cache)["compile"])


def _probes(device: Device, program: Guest, kind: str, repeats: int) -> tuple[list[Any], list[Any]]:
    """What each process found: pairs of one with an empty cache and one with what the first left there."""
    cold, cached = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="lanewise-bench-") as cache:
            cold.append(_probe(device, program, kind, cache))
            cached.append(_probe(device, program, kind, cache))
    return cold, cached


def _rows(
    device: Device, program: Guest, kind: str, cold: Sequence[Any], cached: Sequence[Any], absent: str
) -> Iterator[Result]:
    targets = TARGETS[program.name, device.name.partition(":")[0]]
    for where, probes, below in (("empty cache", cold, targets[0]), ("from the cache", cached, targets[1])):
        parts = {part: statistics.median(probe[part] for probe in probes) for part in ("load", "compile", "call")}
        shown = ", ".join(f"{part} {seconds:.3f} s" for part, seconds in parts.items())
        total = statistics.median(sum(probe[part] for part in parts) for probe in probes)
        what = f"{program.name}, {kind}, {where}"
        detail = f"{shown}; {absent}" if absent else shown
        yield figure("wasm-start", device.name, what, total, "s", below=below, detail=detail)
    if not device.name.startswith("cuda"):
        what = f"{program.name}, {kind}, until optimised"
        seconds = statistics.median(probe["optimised"] for probe in cold)
        yield figure("wasm-start", device.name, what, seconds, "s", detail="empty cache; calls work all the while")


def _probe(device: Device, program: Guest, kind: str, cache: str) -> dict[str, Any]:
    program.read()
    caches = {"LANEWISE_CACHE_DIR": cache, "CUDA_CACHE_PATH": os.path.join(cache, "driver")}
    command = [sys.executable, "-m", "lanewise.bench.wasm_start_probe", device.name, str(program.path), kind]
    done = subprocess.run(command, env={**os.environ, **caches}, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing was said"]
        raise WrongResultError(f"benchmark wasm-start: {' '.join(command)} failed: {said[-1]}")
    found: dict[str, Any] = json.loads(done.stdout)
    wanted = program.checksums[1, 1]
    if set(found["results"]) != {wanted}:
        raise WrongResultError(f"benchmark wasm-start: {program.name} ({kind}) gave {found['results']}, not {wanted}")
    return found
