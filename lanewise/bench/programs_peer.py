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


def find_hosts(folder: Path) -> list[Host]:
    """Hosts, the fastest first: one in C, built in a folder if there is a compiler, and one in Python.

    Without wasmtime there is none.
    """
    found = importlib.util.find_spec("wasmtime")
    if found is None or found.origin is None:
        return []
    built = _build(Path(found.origin).parent, folder)
    in_python = Host("wasmtime, host in Python", [sys.executable, "-m", "lanewise.bench.programs_host"])
    return [in_python] if built is None else [Host("wasmtime, host in C", [str(built)]), in_python]


def _build(package: Path, folder: Path) -> Path | None:
    compiler = shutil.which("cc")
    library = next(package.glob("*/_libwasmtime.so"), None)
    if compiler is None or library is None:
        return None
    built = folder / "programs_host"
    command = [compiler, "-O2", str(_SOURCE), str(library), f"-Wl,-rpath,{library.parent}", "-o", str(built)]
    done = subprocess.run(command, capture_output=True, check=False)
    return None if done.returncode else built
