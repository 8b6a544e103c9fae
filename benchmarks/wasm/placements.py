"""How fast guests are in each placement on a GPU, against all cores of the CPU beside it.

    python3 benchmarks/wasm/placements.py [--device cuda] [--lanes 262144] [--guests json,lz] [--places flat/1/4224,...]

Every lane has a seed of its own. The CPU runs some of the lanes, and every placement must give the same for these. Each
runs twice, and the second run counts; guests that are through too soon get ten times the rounds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import lanewise as lw
from lanewise.bench.wasm_guests import guest
from lanewise.bench.wasm_seeded import SEEDED, with_seeded_run

GUESTS = "sha256,mix,json,nbody,heapsort,lz,blur"
PLACES = (
    "interleaved/32/all,interleaved/32/67584,interleaved/32/33792,interleaved/8/all,flat/32/all,flat/8/all,flat/2/all,"
    "flat/1/4224"
)
_SHARE = 3_000
"""The rounds of a lane are this part of a guest's usual ones: about a tenth of a millisecond on one core."""
_SOON = 0.1
"""Seconds below which a run is too short to say much."""
_CPU_LANES = 4_096


def seconds_of(function: Callable[..., Any], rounds: int, seeds: np.ndarray[Any, Any]) -> tuple[float, Any]:
    """How long the second of two runs takes, and what it gives."""
    function(rounds, seeds)
    start = time.perf_counter()
    given = function(rounds, seeds)
    return time.perf_counter() - start, given


def main() -> int:
    """Measure, and show a table: the placement, its rounds per second, and how that is to the CPU's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--lanes", type=int, default=262_144)
    parser.add_argument("--guests", default=GUESTS)
    parser.add_argument("--places", default=PLACES)
    chosen = parser.parse_args()
    seeds = np.arange(chosen.lanes, dtype=np.int32)
    return max(measure(name, chosen.places.split(","), chosen.device, seeds) for name in chosen.guests.split(","))


def measure(name: str, places: list[str], device: str, seeds: np.ndarray[Any, Any]) -> int:
    """One guest in all placements; 1 if a result is wrong."""
    found = guest(name)
    rounds = max(1, found.rounds // _SHARE)
    module = lw.load(with_seeded_run(found.read()))
    functions = {place: module.func(SEEDED, device=device, placement=place) for place in places}
    if seconds_of(functions[places[0]], rounds, seeds)[0] < _SOON:
        rounds *= 10
    few = seeds[:_CPU_LANES]
    cores, wanted = seconds_of(module.func(SEEDED, device="cpu"), rounds, few)
    ours = rounds * len(few) / cores
    print(f"{name:10} {'all cores':22} {ours:14,.0f} rounds/s, {rounds} rounds a lane", flush=True)
    status = 0
    for place, function in functions.items():
        seconds, given = seconds_of(function, rounds, seeds)
        if not np.array_equal(given[: len(few)], wanted):
            print(f"{name}: the results in {place} are wrong")
            status = 1
        rate = rounds * len(seeds) / seconds
        print(f"{name:10} {place:22} {rate:14,.0f} rounds/s {rate / ours:8.2f}x {seconds:8.3f} s", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
