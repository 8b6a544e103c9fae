"""Helpers of the compiler's tests: a Python process of its own, and the processes that one has started."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lanewise.compiler

ROOT = Path(lanewise.compiler.__file__).parents[2]

StartPython = Callable[[str], subprocess.Popen[str]]


@pytest.fixture
def start_python(tmp_path: Path) -> Iterator[StartPython]:
    """Start a script as a user would, from a file of its own; whatever still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(script: str) -> subprocess.Popen[str]:
        file = tmp_path / f"script{len(started)}.py"
        file.write_text(script)
        process = subprocess.Popen(
            [sys.executable, str(file)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with process:
            process.kill()


@pytest.fixture
def children() -> Callable[[int], set[int]]:
    """List the processes that a process has started and that are not gone; zombies count."""

    def list_children(parent: int) -> set[int]:
        with subprocess.Popen(["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE, text=True) as ps:
            rows = [tuple(map(int, line.split())) for line in ps.communicate()[0].splitlines()]
        return {pid for pid, its_parent in rows if its_parent == parent and pid != ps.pid}

    return list_children
