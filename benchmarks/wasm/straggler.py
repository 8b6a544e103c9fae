"""What one lane that runs 100 times as long as the rest costs the others.

    python3 benchmarks/wasm/straggler.py [--device cuda] [--lanes 262144] [--samples 20000] [--placement PLACE]

Runs examples/programs/pi.wasm twice, without such a lane and with it, and compares how many of the other lanes ended in
a second until the last of them had.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import lanewise as lw

PI = Path(__file__).parents[2] / "examples" / "programs" / "pi.wasm"
LONGER = 100
_TURNS = 3
"""Runs of both kinds, in turn: they vary by a fifth."""


def others_per_second(device: str, lanes: int, samples: int, placement: str | None, slow: int | None) -> float:
    """How many lanes other than the slow one ended in a second."""
    started = time.perf_counter()
    last = 0.0

    def arguments(lane: int) -> list[str]:
        return [str(lane), str(samples * (LONGER if lane == slow else 1))]

    with lw.stream(PI, lanes=lanes, args=arguments, device=device, placement=placement) as ending:
        for outcome in ending:
            if not outcome.ok:
                raise SystemExit(f"lane {outcome.lane}: {outcome.trap or outcome.exit_code}")
            if outcome.lane != slow:
                last = time.perf_counter() - started
    whole = time.perf_counter() - started
    print(f"  {lanes:,} lanes in {whole:.2f} s, all but the slow one in {last:.2f} s", flush=True)
    return lanes / last


def main() -> None:
    """Measure, and say what the slow lane costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--lanes", type=int, default=262_144)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--placement", help="by default what Lanewise finds")
    chosen = parser.parse_args()
    given = (chosen.device, chosen.lanes, chosen.samples, chosen.placement)
    others_per_second(chosen.device, 64, 10, chosen.placement, None)  # compiled once
    found = [[others_per_second(*given, slow) for slow in (None, 0)] for _ in range(_TURNS)]
    without, beside = (max(rates) for rates in zip(*found, strict=True))
    print(f"without a slow lane {without:,.0f} lanes/s, beside one {beside:,.0f}: {beside / without:.2f}x")


if __name__ == "__main__":
    main()
