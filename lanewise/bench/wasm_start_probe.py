"""What the benchmark `wasm-start` runs in a fresh process: load, compile and call a module, and print the times."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import lanewise as lw
from lanewise.bench.map_kernels import scale
from lanewise.wasm import Module

LANES = 32


def main() -> None:
    """Take the device, the module and `instance` or `func` from the command line.

    The device is opened and has run a kernel before the clock starts: what that costs is the benchmark `start`'s.
    """
    device = lw.device(sys.argv[1])
    numbers = device.zeros(1, np.float32)
    scale[1](numbers, 1, numbers).wait()
    start = time.perf_counter()
    module = lw.load(sys.argv[2])
    loaded = time.perf_counter()
    call = _instance_call(module, device) if sys.argv[3] == "instance" else _func_call(module, device)
    made = time.perf_counter()
    results = call()
    first = time.perf_counter()
    results += call()
    again = time.perf_counter() - first
    for thread in threading.enumerate():
        if thread.name == "lanewise-optimise":
            thread.join()
    results += call()  # goes over to the optimised build
    optimised = time.perf_counter() - start
    # A function compiles with its first call, an instance before it.
    called = first - made if sys.argv[3] == "instance" else min(again, first - made)
    compiled = first - loaded - called
    report = {"load": loaded - start, "compile": compiled, "call": called, "optimised": optimised, "results": results}
    print(json.dumps(report))


def _instance_call(module: Module, device: lw.Device) -> Callable[[], list[Any]]:
    run = module.instantiate(device=device).exports["run"]
    return lambda: [run(1)]


def _func_call(module: Module, device: lw.Device) -> Callable[[], list[Any]]:
    run = module.func("run", device=device)
    rounds = np.ones(LANES, np.int32)
    return lambda: run(rounds).tolist()


if __name__ == "__main__":
    main()
