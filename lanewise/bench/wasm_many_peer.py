"""What the benchmark `wasm` runs in a process of its own: a guest on all cores under wasmtime, or as native code.

python -m lanewise.bench.wasm_many_peer wasmtime|native FILE WORKERS ROUNDS LANES CHECKED_ROUNDS CHECKED_LANES i64|f64

Each worker is a process with one instance; lanes are seeds, dealt out in turns. The clock runs while all of them work.
What is to be compared is computed before, with rounds of its own: calls from Python must not count for much.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

Runner = Callable[[int, int], int | float]
"""Takes rounds and seed, and returns the checksum."""


def main() -> None:
    """Print the seconds and what the checked lanes returned."""
    kind, path, result = sys.argv[1], sys.argv[2], sys.argv[-1]
    count, rounds, lanes, checked_rounds, checked_lanes = map(int, sys.argv[3:-1])
    make = _wasmtime(path) if kind == "wasmtime" else _native(path, result)
    checked = make()
    results = [checked(checked_rounds, seed) for seed in range(checked_lanes)]
    go_reads, go_writes = os.pipe()
    ready_reads, ready_writes = os.pipe()
    children = []
    for worker in range(count):
        child = os.fork()
        if child == 0:
            os.close(go_writes)
            run = make()
            run(1, 0)
            os.write(ready_writes, b"r")
            os.read(go_reads, 1)  # comes back when the parent closes its end
            for seed in range(worker, lanes, count):
                run(rounds, seed)
            os._exit(0)
        children.append(child)
    ready = b""
    while len(ready) < count:
        ready += os.read(ready_reads, count)
    start = time.perf_counter()
    os.close(go_writes)
    failed = any(os.waitpid(child, 0)[1] for child in children)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "results": results}))
    sys.exit(failed)


def _wasmtime(path: str) -> Callable[[], Runner]:
    wasmtime: Any = importlib.import_module("wasmtime")
    engine = wasmtime.Engine()
    module = wasmtime.Module.from_file(engine, path)

    def make() -> Runner:
        store = wasmtime.Store(engine)
        exports = wasmtime.Instance(store, module, []).exports(store)
        seed, run = exports["seed"], exports["run"]

        def both(rounds: int, number: int) -> int | float:
            seed(store, number)
            found: int | float = run(store, rounds)
            return found

        return both

    return make


def _native(path: str, result: str) -> Callable[[], Runner]:
    loaded = ctypes.CDLL(path)
    loaded.seed.restype = None
    loaded.run.restype = ctypes.c_double if result == "f64" else ctypes.c_int64

    def both(rounds: int, number: int) -> int | float:
        loaded.seed(number)
        found: int | float = loaded.run(rounds)
        return found

    return lambda: both


if __name__ == "__main__":
    main()
