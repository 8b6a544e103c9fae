"""Benchmark `wasm-slice`: what each part of how guests are compiled costs, by builds that differ in that part alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

import lanewise as lw
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.bench.timing import Run, medians
from lanewise.bench.wasm_guests import Guest, guest
from lanewise.bench.wasm_seeded import SEEDED, with_seeded_run
from lanewise.devices import Device

PROGRAMS = ("sha256", "mix", "json", "nbody", "blur")
LANES = {"cuda": 16_384, "cpu": 256}
QUICK_LANES = 64
_SHARES = {"cuda": 3_000, "cpu": 300}
"""The rounds of a lane are this part of a guest's usual ones: about a millisecond on one core, less for many lanes."""

USUAL = "usual build"
Variants = Mapping[str, Mapping[str, Any]]
CPU_VARIANTS: Variants = {
    USUAL: {},
    "steps counted": {"meter": "count"},
    "steps in sums": {"meter": "tally"},
    "bounds compared": {"checks": "explicit"},
    "careful alignment": {"alignment": "careful"},
    "size at run time": {"fixed_memory": False},
}
"""Guard pages and signals do on a CPU what code must do elsewhere: here parts are added."""
GPU_VARIANTS: Variants = {
    USUAL: {},
    "no meter": {"meter": "off"},
    "steps counted": {"meter": "count"},
    "steps in sums": {"meter": "tally"},
    "careful alignment": {"alignment": "careful"},
    "branch for alignment": {"alignment": "branch"},
    "size at run time": {"fixed_memory": False},
    "flat memory": {"layout": "flat"},
}
"""Bounds are always compared on a GPU, with the alignment in the same comparison: there is no build without."""


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device."""
    kind = device.name.partition(":")[0]
    variants = GPU_VARIANTS if kind == "cuda" else CPU_VARIANTS
    for name in PROGRAMS:
        found = guest(name)
        rounds = max(1, found.rounds // (_SHARES[kind] * (10 if quick else 1)))
        yield from _program(device, found, variants, rounds, QUICK_LANES if quick else LANES[kind], 1 if quick else 3)


def _program(
    device: Device, program: Guest, variants: Variants, rounds: int, lanes: int, times: int
) -> Iterator[Result]:
    module = lw.load(with_seeded_run(program.read()))
    functions = {variant: module.func(SEEDED, device=device, **choices) for variant, choices in variants.items()}
    seeds = np.arange(lanes, dtype=np.int32)
    reference = module.func(SEEDED, device="cpu")(rounds, seeds)
    for variant, function in functions.items():
        where = f"{program.name}, {variant}, on {device.name}"
        cases = np.array(list(program.checksums), np.int32)
        _check(function(cases[:, 0], cases[:, 1]), np.array(list(program.checksums.values())), where)
        _check(function(rounds, seeds), reference, where)
    runs: dict[str, Run] = {variant: partial(function, rounds, seeds) for variant, function in functions.items()}
    runs["no rounds"] = partial(functions[USUAL], 0, seeds)
    taken = medians(runs, rounds=times)
    usual = taken.pop(USUAL)
    detail = f"{lanes:,} lanes, each with a seed of its own"
    yield figure("wasm-slice", device.name, f"{program.name}, {USUAL}", usual * 1e3, "ms", detail=detail)
    for variant, seconds in taken.items():
        yield figure(
            "wasm-slice", device.name, f"{program.name}, {variant}", seconds * 1e3, "ms",
            peer=USUAL, peer_value=usual * 1e3,
            detail="what making the instances and their data takes" if variant == "no rounds" else "",
        )  # fmt: skip


def _check(given: Any, wanted: Any, where: str) -> None:
    if not np.array_equal(given, wanted):
        lane = int(np.flatnonzero(given != wanted)[0])
        raise WrongResultError(f"benchmark wasm-slice ({where}): lane {lane} gave {given[lane]}, not {wanted[lane]}")
