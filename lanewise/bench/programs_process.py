"""Processes that the benchmark `run` starts: `gpu-run` as people start it, timed from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanewise.bench.result import WrongResultError
from lanewise.devices import Device

_MAIN = "from lanewise.cli.gpu_run import main; main()"


@dataclass(frozen=True)
class Ended:
    """How a process went."""

    seconds: float
    """From its start to its end."""
    peak_bytes: int
    """The most memory that it had at once."""
    stdout: bytes


def gpu_run(device: Device, *arguments: str) -> list[str]:
    """The command line that `gpu-run` on a device is, also where it is not installed."""
    return [sys.executable, "-c", _MAIN, "--device", device.name, *arguments]


def surroundings(cache: str | None = None) -> dict[str, str]:
    """The environment of a process: this Lanewise, and its own cache of compiled code if a folder is given."""
    here = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    caches = {} if cache is None else {"LANEWISE_CACHE_DIR": cache, "CUDA_CACHE_PATH": os.path.join(cache, "driver")}
    return {**os.environ, "PYTHONPATH": paths, **caches}


def finish(
    command: Sequence[str], *, folder: Path | None = None, cache: str | None = None, stdin: bytes = b""
) -> Ended:
    """Run a command to its end, its output in a file; one that fails has no figures."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        given.write(stdin)
        given.seek(0)
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=surroundings(cache), stdin=given, stdout=out, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if process.returncode:
            said = errors.read().decode(errors="replace").strip().splitlines() or ["nothing was said"]
            shown = " ".join(command[:8])
            raise WrongResultError(f"benchmark run: {shown} ended with {process.returncode}: {said[-1]}")
        return Ended(seconds, used.ru_maxrss * 1024, out.read())
