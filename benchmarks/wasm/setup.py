"""What it costs to give lanes their memory: 64 KiB each, cleared before every lane.

    python3 benchmarks/wasm/setup.py [--device cuda] [--lanes 100000]

The floor is the time to write that memory once, as the device's own fill does it. Lanes that are all there at once get
memory that is zero already; where fewer are, each clears what the one before it left.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

import lanewise as lw
from lanewise.bench.timing import bests

PAGE = 65_536
# A lane reads a word, which must be 0 though every lane before it wrote 7 there, and does so itself: (memory 1)
# (func (export "f") (param $at i32) (result i32) (i32.load (local.get $at)) (i32.store (local.get $at) (i32.const 7)))
MODULE = bytes.fromhex(
    "0061736d0100000001060160017f017f030201000503010001070501016600000a10010e002000280200200041073602000b"
)


def fill_seconds(device: lw.Device, nbytes: int) -> float:
    """How long the device takes to fill so much memory."""
    room = device.zeros(nbytes, np.uint8)

    def fill() -> None:
        device.fill(room.buffer, 0, nbytes)
        device.synchronize()

    return bests({"fill": fill})["fill"]


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--lanes", type=int, default=100_000)
    chosen = parser.parse_args()
    device = lw.device(chosen.device)
    nbytes = chosen.lanes * PAGE
    floor = fill_seconds(device, nbytes)
    print(f"fill of {nbytes / 1e9:.2f} GB: {floor * 1e3:.2f} ms, {nbytes / floor / 1e9:,.0f} GB/s")
    at = np.zeros(chosen.lanes, np.int32)
    for place in ("interleaved/32/all", "interleaved/32/33792", "flat/32/33792"):
        function = lw.load(MODULE).func("f", device=device, placement=place)
        if function(at).any():
            raise SystemExit(f"{place}: a lane saw what another wrote")
        seconds = bests({"run": partial(function, at)})["run"]
        print(f"{chosen.lanes:,} lanes, {place}: {seconds * 1e3:.2f} ms, {seconds / floor:.2f}x the fill")


if __name__ == "__main__":
    main()
