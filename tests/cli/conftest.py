"""Helpers of the command line's tests: the command as a user runs it, in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import lanewise

ROOT = Path(lanewise.__file__).parents[1]

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def command() -> Command:
    """Run `lanewise` with these arguments and settings; whatever happens, it never shows a traceback."""

    def run(*arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [sys.executable, "-m", "lanewise", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT), **settings},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr
        return done

    return run
