"""The guest programs that benchmarks of WebAssembly run: they lie in a checkout of Lanewise, not in the package."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lanewise.errors import LanewiseError

Case = tuple[int, int]
"""Rounds and seed."""
_TABLE = Path("benchmarks", "wasm", "programs.py")


@dataclass(frozen=True)
class Guest:
    """A module that exports `seed(i32)` and `run(i32)`; benchmarks/wasm/README.md says what each does."""

    name: str
    path: Path
    rounds: int
    """What takes about 0.3 s under wasmtime on one core."""
    checksums: Mapping[Case, int | float]
    """What `run` returns, by rounds and seed; 1 is the seed of a module that has been given none."""

    @property
    def missing(self) -> str | None:
        """What to do about a module that is not there; None if it is."""
        if self.path.is_file():
            return None
        where = self.path.parent
        return f"{self.name} is not built: sh benchmarks/wasm/build.sh {where} {self.name} makes {self.path}"

    def read(self) -> bytes:
        """The bytes of the module."""
        if self.missing:
            raise LanewiseError(self.missing)
        return self.path.read_bytes()


def guest(name: str) -> Guest:
    """One program by its name."""
    found = _programs()[name]
    return Guest(found.name, found.path, found.rounds, found.checksums)


def native_source(name: str) -> Path | None:
    """The C source of a program that can be compiled for the host; None if it is none of those."""
    found = _programs()[name]
    source = _sources() / found.source
    return source if source.suffix == ".c" and "__builtin_wasm_" not in source.read_text() else None


def cuda_source(name: str) -> Path | None:
    """The source of a program that has been written once more, by hand, for CUDA; None if it has not."""
    source = _sources() / f"{name}.cu"
    return source if source.is_file() else None


def _sources() -> Path:
    """The folder of the sources, which is that of the table."""
    _programs()
    return Path(sys.modules["lanewise_guests"].SOURCES)


@cache
def _programs() -> Mapping[str, Any]:
    """The table of programs; it is no part of the package, so it is loaded from its file."""
    looked = list(dict.fromkeys([Path(__file__).resolve().parents[2], Path.cwd()]))
    for root in looked:
        if (root / _TABLE).is_file():
            spec = importlib.util.spec_from_file_location("lanewise_guests", root / _TABLE)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module  # dataclasses look their module up
            spec.loader.exec_module(module)
            programs: Mapping[str, Any] = module.PROGRAMS
            return programs
    raise LanewiseError(
        f"the guest programs are not here: there is no {_TABLE} in {' or '.join(map(str, looked))}. They are not "
        "installed with Lanewise: run this in a checkout of its repository"
    )
