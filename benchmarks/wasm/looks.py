"""What it costs that lanes look for requests to stop: by calls, written out, and not at all.

    python3 benchmarks/wasm/looks.py [--device cuda] [--lanes 262144] [--guests json,lz] [--places flat/32/all,...]

Each guest in the best of a few placements, found for each way by itself.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import lanewise as lw
from lanewise.bench.wasm_guests import guest
from lanewise.bench.wasm_seeded import SEEDED, with_seeded_run

GUESTS = "json,lz,phash,regex,dispatch,heapsort,mix,editdist,sha256"
PLACES = "flat/32/all,flat/8/all,flat/2/all,flat/1/4224,interleaved/32/33792,interleaved/32/fit/u"
WAYS: dict[str, dict[str, Any]] = {"calls": {}, "written": {"looks": "written"}, "none": {"meter": "off"}}
_SHARE = 3_000


def main() -> None:
    """Measure, and show a line for each guest and way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--lanes", type=int, default=262_144)
    parser.add_argument("--guests", default=GUESTS)
    parser.add_argument("--places", default=PLACES)
    chosen = parser.parse_args()
    if lw.device(chosen.device).name == "cpu":
        parser.error("lanes of a CPU do not look, they are interrupted: this is for GPUs")
    seeds = np.arange(chosen.lanes, dtype=np.int32)
    for name in chosen.guests.split(","):
        found = guest(name)
        rounds = max(1, found.rounds // _SHARE)
        module, wanted = lw.load(with_seeded_run(found.read())), None
        for way, choices in WAYS.items():
            taken = module.func(SEEDED, device=chosen.device, **choices).tune(
                rounds, seeds, placements=chosen.places.split(",")
            )
            best = min(taken, key=lambda place: taken[place])
            given = module.func(SEEDED, device=chosen.device, placement=best, **choices)(rounds, seeds)
            wanted = given if wanted is None else wanted
            if given.tobytes() != wanted.tobytes():
                raise SystemExit(f"{name}: lanes do not return the same with looks: {way}")
            print(f"{name:<10}{way:<9}{taken[best] * 1e3:9.2f} ms in {best:<24}", flush=True)


if __name__ == "__main__":
    main()
