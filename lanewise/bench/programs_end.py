"""Rows of the benchmark `run`: how soon a run ends that is to end, by Ctrl-C or at its time limit."""

from __future__ import annotations

import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from lanewise.bench.programs_guests import BEGUN, write_endless
from lanewise.bench.programs_process import gpu_run, surroundings
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.devices import Device

LANES = 1000
_FINISH = 96
"""Lanes that end by themselves, and must be shown: those with a number of two digits, as far as their warp has no
others, for which a GPU may keep them waiting."""
_LIMIT_S = 2.0
"""Enough for lanes to begin: a time limit counts from the start of the process."""
_PATIENCE_S = 120.0
_INTERRUPTED, _TIMED_OUT = 130, 124


def end_rows(device: Device, quick: bool) -> Iterator[Result]:
    """Ctrl-C and --timeout, on one lane and on many: the slowest of a few."""
    with tempfile.TemporaryDirectory(prefix="lanewise-bench-") as folder:
        path = str(write_endless(Path(folder)))
        one, many = [path, "forever"], ["--quiet", "--lanes", str(LANES), path, "{lane}"]
        for words, where in ((one, "one lane"), (many, f"{LANES:,} lanes")):
            least = _FINISH if words is many else 1
            for by in ("Ctrl-C", "--timeout"):
                limit = _LIMIT_S if by == "--timeout" else None
                taken = [_seconds_to_end(device, words, limit, least) for _ in range(1 if quick else 3)]
                yield figure(
                    "run", device.name, f"{by}, {where}", max(taken), "s", below=1,
                    detail=f"from {'the limit' if limit else 'the signal'} to the end of the process, the longest",
                )  # fmt: skip


def _seconds_to_end(device: Device, words: Sequence[str], limit: float | None, least: int) -> float:
    """From the moment that a run is to end."""
    timeout = [] if limit is None else ["--timeout", str(limit)]
    to_end = time.perf_counter() + (limit or 0)
    process = subprocess.Popen(
        gpu_run(device, *timeout, *words), env=surroundings(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    guard = threading.Timer(_PATIENCE_S, process.kill)
    guard.start()
    try:
        shown = process.stdout.readline()
        if limit is None:
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            to_end = time.perf_counter()
        shown += process.stdout.read()
        status = process.wait()
        seconds = time.perf_counter() - to_end
    finally:
        guard.cancel()
        process.kill()
        process.stdout.close()
    lines = len(shown) // len(BEGUN)
    if status != (_INTERRUPTED if limit is None else _TIMED_OUT) or lines < least or shown != BEGUN * lines:
        raise WrongResultError(f"benchmark run: an endless program ended with {status} and {lines} lines")
    return seconds
