"""Rows of the benchmark `run`: what a program costs as a process, on 10,240 lanes, and on a million."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import lanewise as lw
from lanewise.bench.programs_guests import GREETING, HELLO, program
from lanewise.bench.programs_process import finish, gpu_run
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.devices import Device

LANES = 10_240
MILLION, FEW = 1_000_000, 20_000
START_TARGETS = (1.5, 0.35)
"""CPU: seconds of the whole process with an empty cache, and from the cache."""


def start_rows(device: Device, quick: bool) -> Iterator[Result]:
    """`gpu-run hello.wasm`: first with an empty cache, then with what that left."""
    command = gpu_run(device, str(program(HELLO)))
    cold: list[float] = []
    cached: list[float] = []
    finish(command)  # reads Python's own files from disk
    gpu = device.name.startswith("cuda")
    for _ in range(1 if quick else 2 if gpu else 5):  # to assemble the kernel for a GPU takes many seconds
        # What was optimised after a run may still be on its way into the cache.
        with tempfile.TemporaryDirectory(prefix="lanewise-bench-", ignore_cleanup_errors=True) as cache:
            for taken in (cold, cached, cached, cached)[: 3 if quick else 4]:
                ended = finish(command, cache=cache)
                if ended.stdout != GREETING:
                    raise WrongResultError(f"benchmark run: {HELLO} wrote {ended.stdout[:100]!r}")
                taken.append(ended.seconds)
    for where, taken, below in zip(("empty cache", "from the cache"), (cold, cached), START_TARGETS, strict=True):
        yield figure(
            "run", device.name, f"gpu-run {HELLO}, {where}", statistics.median(taken), "s",
            below=None if gpu else below, detail=f"best of {len(taken)}: {min(taken):.3f} s",
        )  # fmt: skip


def lines_row(device: Device, quick: bool) -> Result:
    """Lanes that print a line each: the run without making it ready."""
    path = program(HELLO)
    optimise(path, device)
    taken = []
    for turn in range(3 if quick else 8):
        with lw.stream(path, lanes=LANES, device=device) as lanes:
            start = time.perf_counter()
            outcomes = list(lanes)
            seconds = time.perf_counter() - start
        wrong = [one.lane for one in outcomes if one.exit_code != 0 or one.stdout != GREETING or one.stderr]
        if len(outcomes) != LANES or wrong:
            raise WrongResultError(f"benchmark run: {len(outcomes)} of {LANES} lanes ended; wrong: {wrong[:10]}")
        if turn > 0:
            taken.append(seconds)
    return figure(
        "run", device.name, f"{LANES:,} lanes, a line each", statistics.median(taken), "s",
        below=0.2 if device.name.startswith("cuda") else 1.0, detail=f"best of {len(taken)}: {min(taken):.3f} s",
    )  # fmt: skip


def million_rows(device: Device, quick: bool) -> Iterator[Result]:
    """Lanes by the million, as a process whose output goes to a file."""
    count = FEW if quick else MILLION
    path = program(HELLO)
    optimise(path, device)
    ended = finish(gpu_run(device, "--lanes", str(count), str(path)))
    if ended.stdout != GREETING * count:
        lines = ended.stdout.count(GREETING)
        raise WrongResultError(
            f"benchmark run: {lines:,} right lines in {len(ended.stdout):,} bytes of {count:,} lanes"
        )
    gpu = device.name.startswith("cuda")
    detail = f"{count / ended.seconds:,.0f} lanes/s with the start of the process"
    what = f"gpu-run --lanes {count:,} {HELLO}"
    yield figure("run", device.name, what, ended.seconds, "s", below=None if gpu else 60, detail=detail)
    peak = ended.peak_bytes / 2**30
    yield figure("run", device.name, f"{what}, memory", peak, "GiB", below=None if gpu else 4)


def optimise(path: Path, device: Device) -> None:
    """Have the optimised build of a program in the cache: what long runs and all later ones have."""
    lw.run(path, device=device)
    for thread in threading.enumerate():
        if thread.name == "lanewise-optimise":
            thread.join()
