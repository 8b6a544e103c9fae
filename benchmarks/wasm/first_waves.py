"""What a program gains that nobody tuned: its placement is found by trials among its own calls, compiling included.

    python3 benchmarks/wasm/first_waves.py [--device cuda] [--lanes 262144] [--seconds 20] [--guests json,lz]

Each guest runs in a process of its own, with an empty cache and every step counted, call after call. Shown are the rate
over all of that time and that of the last calls, as multiples of the rate in the placement that `func.tune` finds then.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import lanewise as lw
from lanewise.bench.wasm_guests import guest
from lanewise.bench.wasm_seeded import SEEDED, with_seeded_run

GUESTS = "sha256,mix,json,nbody,heapsort,lz"
_SHARE = 3_000
_FUEL = 2**62
_LAST = 5


def measure(name: str, device: str, lanes: int, seconds: float) -> None:
    """Run one guest here, and print its line."""
    found = guest(name)
    rounds, seeds = max(1, found.rounds // _SHARE), np.arange(lanes, dtype=np.int32)
    function = lw.load(with_seeded_run(found.read())).func(SEEDED, device=device, fuel=_FUEL)
    taken: list[float] = []
    began = time.perf_counter()
    while time.perf_counter() - began < seconds or len(taken) < _LAST:
        start = time.perf_counter()
        function(rounds, seeds)
        taken.append(time.perf_counter() - start)
    whole, placement = sum(taken), function.placement
    tried = function.tune(rounds, seeds)
    best = min(tried, key=lambda place: tried[place])
    over_all, in_the_end = len(taken) * tried[best] / whole, tried[best] / min(taken[-_LAST:])
    print(f"{name:<11}{len(taken):>6,} calls in {whole:5.1f} s: {over_all:.2f}x of {best} over all, ", end="")
    print(f"{in_the_end:.2f}x in the end, in {placement}", flush=True)


def main() -> None:
    """Measure each guest in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--lanes", type=int, default=262_144)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--guests", default=GUESTS)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    for name in chosen.guests.split(","):
        if chosen.here:
            measure(name, chosen.device, chosen.lanes, chosen.seconds)
            continue
        with tempfile.TemporaryDirectory(prefix="lanewise-bench-") as cache:
            given = ["--device", chosen.device, "--lanes", str(chosen.lanes), "--seconds", str(chosen.seconds)]
            command = [sys.executable, __file__, "--here", "--guests", name, *given]
            subprocess.run(command, check=True, env=os.environ | {"LANEWISE_CACHE_DIR": cache})


if __name__ == "__main__":
    main()
