"""Every way to compile a program gives the same results."""

import importlib.util
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

from lanewise.wasm import Module, Store

TABLE = Path(__file__).parents[2] / "benchmarks" / "wasm" / "programs.py"


def guest_programs():
    """The table of guests, which lies with the benchmarks."""
    spec = importlib.util.spec_from_file_location("guest_programs", TABLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module.PROGRAMS


PROGRAMS = guest_programs()

SMALL = (
    "blur", "dispatch", "editdist", "fib", "grow", "heapsort", "json", "lz", "mandelbrot", "mix", "nbody", "pbkdf2",
    "phash", "pricing", "regex", "scrypt", "sha256",
)  # fmt: skip
CPU_BUILDS = [
    {"checks": "guard"},
    {"checks": "explicit"},
    {"checks": "explicit", "meter": "count"},
    {"checks": "explicit", "meter": "stop"},
    *(
        {"checks": "explicit", "layout": layout, "alignment": alignment}
        for layout, alignment in itertools.product(("flat", "interleaved", "words"), ("careful", "branch", "exit"))
    ),
]
GPU_BUILDS = [
    {"layout": layout, "alignment": alignment, "meter": meter}
    for layout, alignment, meter in (
        ("interleaved", "exit", "stop"),
        ("flat", "exit", "stop"),
        ("interleaved", "careful", "count"),
        ("flat", "careful", "off"),
        ("interleaved", "branch", "stop"),
        ("flat", "branch", "stop"),
        ("words", "exit", "stop"),
        ("words", "careful", "count"),
        ("words", "branch", "off"),
    )
]


@pytest.mark.parametrize("name", SMALL)
def test_programs_give_their_checksums_in_every_build(name, device):
    program = PROGRAMS[name]
    module = Module.load(program.path)
    wanted = [program.checksums[rounds, 1] for rounds in (0, 1, 3)]
    for choices in CPU_BUILDS if device.name == "cpu" else GPU_BUILDS:
        found = module.func("run", device=device, level=1, **choices)(np.array([0, 1, 3]))
        assert found.tolist() == wanted, choices


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("level", [0, 1, 3])
def test_instances_give_their_checksums_at_every_level(name, level, device):
    program = PROGRAMS[name]
    instance = Store(device, level=level).instantiate(Module.load(program.path))
    for (rounds, seed), wanted in program.checksums.items():
        instance.exports["seed"](seed)
        assert instance.exports["run"](rounds) == wanted
