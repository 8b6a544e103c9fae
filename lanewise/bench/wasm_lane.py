"""Benchmark `wasm-lane`: guest programs on one lane, against the same modules under wasmtime on one core."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import lanewise as lw
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.bench.timing import Run, bests
from lanewise.bench.wasm_guests import Guest, guest
from lanewise.devices import Device

SEVEN = ("mix", "sha256", "lz", "json", "heapsort", "nbody", "blur")
"""The programs that the targets are about."""
EXTRA = ("fib", "dispatch", "grow", "ledger")
_OPTIMISED = 3
_SHARE, _GPU_SHARE = 10, 400
"""The rounds of a run are this part of a guest's usual ones. Many short runs, of some 30 ms, find the undisturbed time
better than few long ones."""
_TURNS, _FEW_TURNS = 40, 3

Program = Callable[[int, int], int | float]
"""Takes rounds and seed, and returns the checksum."""


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device. One GPU thread is far slower than a core: there the figures have no target."""
    gpu = device.name.startswith("cuda")
    peer = _wasmtime()
    ratios = []
    for name in SEVEN if gpu else SEVEN + EXTRA:
        found = guest(name)
        rounds = max(1, found.rounds // (_GPU_SHARE if gpu else _SHARE))
        ours = _under_lanewise(found, device)
        theirs = None if peer is None else _under_wasmtime(found, peer)
        _check(found, rounds, ours, theirs)
        runs: dict[str, Run] = {"lanewise": partial(ours, rounds, 1)}
        if theirs is not None:
            runs["wasmtime"] = partial(theirs, rounds, 1)
        taken = bests(runs, rounds=_FEW_TURNS if quick or gpu else _TURNS)
        row = figure(
            "wasm-lane", device.name, name, rounds / taken["lanewise"], "rounds/s",
            peer="wasmtime", peer_value=rounds / taken["wasmtime"] if theirs is not None else None,
            at_least=0.8 if name in SEVEN and not gpu else None,
        )  # fmt: skip
        if row.ratio is not None and name in SEVEN:
            ratios.append(row.ratio)
        yield row
    if ratios:
        mean = math.prod(ratios) ** (1 / len(ratios))
        yield figure(
            "wasm-lane", device.name, f"geometric mean of {len(ratios)}", mean, "x wasmtime",
            peer="wasmtime", peer_value=1.0, at_least=None if gpu else 1.1, detail=", ".join(SEVEN),
        )  # fmt: skip


def _wasmtime() -> Any:
    """The module wasmtime, or None where it is not installed."""
    try:
        return importlib.import_module("wasmtime")
    except ImportError:
        return None


def _under_lanewise(program: Guest, device: Device) -> Program:
    """An instance in its final build, with nothing still being compiled beside it."""
    choices: dict[str, Any] = {} if device.name.startswith("cuda") else {"level": _OPTIMISED}
    exports = lw.load(program.read()).instantiate(device=device, **choices).exports
    return partial(_seed_and_run, exports["seed"], exports["run"])


def _under_wasmtime(program: Guest, wasmtime: Any) -> Program:
    engine = wasmtime.Engine()
    store = wasmtime.Store(engine)
    exports = wasmtime.Instance(store, wasmtime.Module(engine, program.read()), []).exports(store)
    return partial(_seed_and_run, partial(exports["seed"], store), partial(exports["run"], store))


def _seed_and_run(seed: Callable[[int], None], run: Callable[[int], int | float], rounds: int, number: int) -> Any:
    seed(number)
    return run(rounds)


def _check(program: Guest, rounds: int, ours: Program, theirs: Program | None) -> None:
    """Both must return what the table says, and the same for what is measured."""
    wanted = dict(program.checksums)
    if theirs is not None:
        for case, checksum in wanted.items():
            if theirs(*case) != checksum:
                raise WrongResultError(f"benchmark wasm-lane: {program.name} under wasmtime is not what it was: {case}")
        wanted[rounds, 1] = theirs(rounds, 1)
    for case, checksum in wanted.items():
        given = ours(*case)
        if given != checksum:
            count, seed = case
            raise WrongResultError(
                f"benchmark wasm-lane: {program.name}, {count:,} rounds with seed {seed}, gave {given}, not {checksum}"
            )
