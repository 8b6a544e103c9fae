"""The peer of the benchmark `run`: wasmtime, which runs a program once per file, as one host or started anew each time.

Wasmtime's command line is not in its Python package, but the library is: a small host in C is linked with it.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_SOURCE = Path(__file__).with_name("programs_host.c")


@dataclass(frozen=True)
class Host:
    """A command that takes WORKERS MODULE FOLDER NAME..., and what it is."""

    name: str
    command: list[str]


def find_host(folder: Path) -> Host | None:
    """A host, built in a folder; without a C compiler it is one in Python, and without wasmtime there is none."""
    found = importlib.util.find_spec("wasmtime")
    if found is None or found.origin is None:
        return None
    built = _build(Path(found.origin).parent, folder)
    if built is not None:
        return Host("wasmtime, host in C", [str(built)])
    return Host("wasmtime, host in Python", [sys.executable, "-m", "lanewise.bench.programs_host"])


def _build(package: Path, folder: Path) -> Path | None:
    compiler = shutil.which("cc")
    library = next(package.glob("*/_libwasmtime.so"), None)
    if compiler is None or library is None:
        return None
    built = folder / "programs_host"
    command = [compiler, "-O2", str(_SOURCE), str(library), f"-Wl,-rpath,{library.parent}", "-o", str(built)]
    done = subprocess.run(command, capture_output=True, check=False)
    return None if done.returncode else built
