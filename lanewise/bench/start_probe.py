"""What the benchmark `start` runs in a fresh process: make two small kernels ready and print how long each took."""

from __future__ import annotations

import json
import sys
import time

import lanewise as lw
from lanewise.bench.map_kernels import scale, scale_grid
from lanewise.compiler import _llvm


def main() -> None:
    """Load LLVM and open the device named on the command line, then take the times of what comes after."""
    _llvm.binding()
    device = lw.device(sys.argv[1])
    start = time.perf_counter()
    device.prepare(scale)
    first = time.perf_counter()
    device.prepare(scale_grid)
    behind = time.perf_counter()
    print(json.dumps({"first": first - start, "next": behind - first}))


if __name__ == "__main__":
    main()
