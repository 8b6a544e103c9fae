"""How fast guests are in each placement on a GPU, against all cores of the CPU beside it.

    python3 benchmarks/wasm/placements.py [--device cuda] [--lanes 65536] [--guests json,lz] [--places flat/1/4224,...]

Every lane has a seed of its own, and all placements must give what the CPU gives. Each is run twice; the second counts.
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
    "interleaved/32/all,interleaved/8/all,interleaved/2/all,flat/32/all,flat/8/all,flat/2/all,flat/1/4224,"
    "interleaved/32/33792,flat/32/33792,flat/8/16896"
)
_SHARE = 3_000
"""The rounds of a lane are this part of a guest's usual ones: about a tenth of a millisecond on one core."""


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
    parser.add_argument("--lanes", type=int, default=65_536)
    parser.add_argument("--guests", default=GUESTS)
    parser.add_argument("--places", default=PLACES)
    chosen = parser.parse_args()
    status = 0
    seeds = np.arange(chosen.lanes, dtype=np.int32)
    for name in chosen.guests.split(","):
        found = guest(name)
        rounds = max(1, found.rounds // _SHARE)
        module = lw.load(with_seeded_run(found.read()))
        cores, wanted = seconds_of(module.func(SEEDED, device="cpu"), rounds, seeds)
        print(f"{name:10} {'all cores':22} {rounds * chosen.lanes / cores:14,.0f} rounds/s", flush=True)
        for place in chosen.places.split(","):
            seconds, given = seconds_of(module.func(SEEDED, device=chosen.device, placement=place), rounds, seeds)
            if not np.array_equal(given, wanted):
                print(f"{name}: the results in {place} are wrong")
                status = 1
            rate = rounds * chosen.lanes / seconds
            print(f"{name:10} {place:22} {rate:14,.0f} rounds/s {cores / seconds:8.2f}x", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
