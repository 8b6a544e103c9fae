"""Benchmark `wasm`: guest programs on all lanes of a device, against wasmtime and native code on all cores.

On a CUDA GPU some are also compared with what a programmer would write by hand for it.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import lanewise as lw
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.bench.timing import Run, bests
from lanewise.bench.wasm_by_hand import ByHand
from lanewise.bench.wasm_guests import Guest, cuda_source, guest, native_source
from lanewise.bench.wasm_seeded import SEEDED, with_seeded_run
from lanewise.bench.wasm_start import seconds_to_compile
from lanewise.devices import Device
from lanewise.devices import device as find_device
from lanewise.devices.cuda import CudaDevice
from lanewise.errors import CompileError, DeviceError

PROGRAMS = (
    "sha256", "pbkdf2", "scrypt", "mix", "lz", "json", "regex", "heapsort", "nbody", "mandelbrot", "blur", "phash",
    "editdist", "pricing", "dispatch",
)  # fmt: skip
GPU_TARGETS = {"sha256": 75, "mix": 35, "json": 25, "nbody": 25, "heapsort": 9, "lz": 2, "scrypt": 15}
_GPU_MEAN = 15
BY_HAND_TARGET = 0.588
"""Lanes may take 1.7 times as long as CUDA C++ written by hand for the same work."""
LANES, QUICK_LANES = {"cuda": 262_144, "cpu": 1_024}, 64
_PEER_LANES, _PEER_SHARE = 1_024, 300
"""Peers are called from Python, lane by lane: a millisecond a call, so that the call itself does not count for much."""
_CHECKED_LANES = 256
_COUNTED_LANES = 8_192
_SHARES = {"cuda": 3_000, "cpu": 300}
"""The rounds of a lane are this part of a guest's usual ones: a millisecond on one core, less where lanes are many."""
_TURNS = 3
_BY_HAND = "hand-written CUDA"
_FUEL = 2**62
"""Steps that no lane takes: each is counted all the same."""
_COUNTED = ", steps counted"


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device. Every lane has a seed of its own, and all must return the same everywhere."""
    kind = device.name.partition(":")[0]
    lanes = QUICK_LANES if quick else LANES[kind]
    ratios: dict[str, list[float]] = {"": [], _COUNTED: []}
    for name in PROGRAMS:
        found = guest(name)
        rounds = max(1, found.rounds // (_SHARES[kind] * (10 if quick else 1)))
        for row in _program(device, found, rounds, lanes, quick):
            if row.ratio is not None and row.peer is not None and row.peer.startswith("wasmtime"):
                ratios[row.what.removeprefix(name)].append(row.ratio)
            yield row
    for how, some in ratios.items():
        if some:
            mean = math.prod(some) ** (1 / len(some))
            yield figure(
                "wasm", device.name, f"geometric mean of {len(some)}{how}", mean, "x wasmtime",
                peer="wasmtime", peer_value=1.0, at_least=_GPU_MEAN if kind == "cuda" and how else None,
                detail=f"the least is {min(some):.2f}x",
            )  # fmt: skip


def _program(device: Device, program: Guest, rounds: int, lanes: int, quick: bool) -> Iterator[Result]:
    """Rows of one program: as functions are by default, and with every step counted, which is what targets are for."""
    seeds = np.arange(lanes, dtype=np.int32)
    module = lw.load(with_seeded_run(program.read()))
    function = module.func(SEEDED, device=device)
    tried = function.tune(rounds, seeds)
    given = function(rounds, seeds)
    placement = function.placement  # of all these lanes; fewer may live elsewhere
    counted = module.func(SEEDED, device=device, fuel=_FUEL, placement=placement or None)
    _compare(program, "counting steps", given, counted(rounds, seeds))
    runs: dict[str, Run] = {
        "": partial(function, rounds, seeds),
        _COUNTED: partial(counted, rounds, seeds),
        "set-up": partial(function, 0, seeds),
        "alone": partial(function, rounds, seeds[:1]),
    }
    by_hand, why_not = _by_hand(device, program.name, given.dtype)
    if by_hand is not None:
        _compare(program, _BY_HAND, given, by_hand(rounds, seeds))
        runs["by hand"] = partial(by_hand, rounds, seeds)
    taken = bests(runs, rounds=_TURNS)
    facts: dict[str, float | str] = {
        "rounds a lane": rounds, "set-up, ms": taken["set-up"] * 1e3, "one lane, ms": taken["alone"] * 1e3
    }  # fmt: skip
    if not quick:
        facts["compiling, s"] = seconds_to_compile(device, program)
    if placement:
        active = _active_lanes(device, program, rounds, seeds)
        facts |= {"placement": placement, "placements tried": len(tried), "lanes of a warp active": active}
    cores = find_device("cpu").properties.cores
    target = GPU_TARGETS.get(program.name, 1) if device.name.startswith("cuda") else None
    some = min(lanes, _CHECKED_LANES)
    for peer, rate, results in _peers(program, cores, rounds, some, quick=quick):
        if results is not None:
            _compare(program, peer, given[:some], results.astype(given.dtype))
        for how in ("", _COUNTED) if peer == "wasmtime" else ("",):
            yield figure(
                "wasm", device.name, program.name + how, rounds * lanes / taken[how], "rounds/s",
                peer=f"{peer}, {cores} cores", peer_value=rate, at_least=target if how else None,
                facts=facts if peer == "wasmtime" and not how else None,
            )  # fmt: skip
    if by_hand is None and not why_not:
        return
    for how in ("", _COUNTED):
        yield figure(
            "wasm", device.name, program.name + how, rounds * lanes / taken[how], "rounds/s", peer=_BY_HAND,
            peer_value=None if by_hand is None else rounds * lanes / taken["by hand"],
            at_least=BY_HAND_TARGET if how else None, detail=why_not,
        )  # fmt: skip


def _active_lanes(device: Device, program: Guest, rounds: int, seeds: Any) -> float:
    """How many lanes of a warp are active in loops: some of the lanes tell, in a build that counts."""
    counting = lw.load(with_seeded_run(program.read())).func(SEEDED, device=device, stats=True)
    counting(rounds, seeds[:_COUNTED_LANES])
    return counting.divergence.active


def _compare(program: Guest, peer: str, given: Any, wanted: Any) -> None:
    """All lanes must have returned what the peer did, to the bit."""
    wrong = np.flatnonzero(given.view(np.int64) != wanted.view(np.int64))
    if len(wrong):
        at = int(wrong[0])
        raise WrongResultError(
            f"benchmark wasm: {program.name}, lane {at}: {given[at]}, not {wanted[at]} as {peer} has it"
        )


def _by_hand(device: Device, name: str, result: np.dtype[Any]) -> tuple[ByHand | None, str]:
    """The program as it was written for CUDA, or why it cannot be had on this GPU; neither where there is none."""
    if not isinstance(device, CudaDevice) or (source := cuda_source(name)) is None:
        return None, ""
    try:
        return ByHand(device, source, result), ""
    except (CompileError, DeviceError) as error:  # nvcc is absent, or too old for the GPU, or too new for the driver
        return None, str(error)


def _peers(
    program: Guest, cores: int, rounds: int, lanes: int, *, quick: bool
) -> Iterator[tuple[str, float | None, Any]]:
    """Each peer with its rounds per second and results; None where it is not to be had."""
    result = "f64" if isinstance(program.checksums[1, 1], float) else "i64"
    timed = [max(1, program.rounds // _PEER_SHARE), QUICK_LANES if quick else _PEER_LANES]
    words = [*map(str, (cores, *timed, rounds, lanes)), result]
    if importlib.util.find_spec("wasmtime") is None:
        yield "wasmtime", None, None
    else:
        yield "wasmtime", *_measure(["wasmtime", str(program.path), *words], math.prod(timed))
    source, compiler = native_source(program.name), shutil.which("clang-14") or shutil.which("cc")
    if source is None or compiler is None:
        yield "native", None, None
        return
    with tempfile.TemporaryDirectory(prefix="lanewise-bench-") as folder:
        library = Path(folder, f"{program.name}.so")
        flags = ["-std=c11", "-O3", "-fno-math-errno", "-ffp-contract=off", "-fPIC", "-shared", f"-I{source.parent}"]
        subprocess.run([compiler, *flags, "-o", library, source], check=True, capture_output=True)
        yield f"native ({Path(compiler).name})", *_measure(["native", str(library), *words], math.prod(timed))


def _measure(words: Sequence[str], rounds: int) -> tuple[float, Any]:
    """Rounds per second in the best of a few runs of the peer, each a process, and what lanes returned."""
    command = [sys.executable, "-m", "lanewise.bench.wasm_many_peer", *words]
    root = str(Path(lw.__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    found = []
    for _ in range(_TURNS):
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}
        )
        found.append(json.loads(done.stdout))
    return rounds / min(one["seconds"] for one in found), np.array(found[0]["results"])
