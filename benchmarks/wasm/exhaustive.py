"""How near the placement that Lanewise finds by itself comes to the best of all.

    python3 benchmarks/wasm/exhaustive.py [--device cuda] [--lanes 262144] [--guests json,lz]   # or all

For each guest, every step counted: what `func.tune` chooses from those that it tries by itself, and the best of a
search over all layouts, all lanes per warp, five numbers of lanes at once (fewer where warps are not full), and four of
registers; with loops unrolled, for whole warps. It has no smaller groups, which the tuner tries.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

import lanewise as lw
from lanewise.bench.wasm_guests import guest
from lanewise.bench.wasm_many import PROGRAMS
from lanewise.bench.wasm_seeded import SEEDED, with_seeded_run

GUESTS = "sha256,mix,nbody,heapsort,editdist,phash,regex"
_SHARE, _FUEL = 6_000, 2**62
_PARTS = (4, 8, 16, 32)
_REGISTERS = ("", "/64r", "/48r", "/32r")
_UNROLLED_REGISTERS = ("", "/168r", "/128r", "/96r", "/64r")


def grid(threads: int) -> list[str]:
    """All placements of the search."""
    found = []
    for layout in ("interleaved", "words", "flat"):
        for lanes in (32, 16, 8, 4, 2, 1):
            found.append(f"{layout}/{lanes}/all")
            found += [
                f"{layout}/{lanes}/{threads // part}" for part in _PARTS if threads // part < threads * lanes // 32
            ]
    whole = [place for place in found if "/32/" in place]
    whole += [f"{layout}/32/fit" for layout in ("interleaved", "words", "flat")]
    unrolled = [f"{place}{registers}/u" for registers in _UNROLLED_REGISTERS for place in whole]
    return [place + registers for registers in _REGISTERS for place in found] + unrolled


def main() -> None:
    """Measure, and show a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--lanes", type=int, default=262_144)
    parser.add_argument("--guests", default=GUESTS)
    chosen = parser.parse_args()
    seeds = np.arange(chosen.lanes, dtype=np.int32)
    places = grid(lw.device(chosen.device).properties.resident_threads)
    ratios = []
    for name in PROGRAMS if chosen.guests == "all" else chosen.guests.split(","):
        found = guest(name)
        rounds = max(1, found.rounds // _SHARE)
        module = lw.load(with_seeded_run(found.read()))
        function = module.func(SEEDED, device=chosen.device, fuel=_FUEL)
        tried = function.tune(rounds, seeds)
        tuned = min(tried, key=lambda place: tried[place])  # what earlier runs remember does not count
        taken = function.tune(rounds, seeds, placements=places)
        best = min(taken, key=lambda place: taken[place])
        again = function.tune(rounds, seeds, placements=[tuned, best])  # side by side, once more
        ratios.append(min(1.0, again[best] / again[tuned]))
        print(
            f"{name:10} {tuned:24} {again[tuned]:8.4f} s, best {best:24} {again[best]:8.4f} s: {ratios[-1]:.2f}",
            flush=True,
        )
    print(f"geometric mean of {len(ratios)}: {math.prod(ratios) ** (1 / len(ratios)):.3f}, of {len(places)} placements")


if __name__ == "__main__":
    main()
