"""Runs the guests under wasmtime and as native code, checks what they return and shows how long they take on one core.

    python3 benchmarks/wasm/compare.py [NAME...]         # all that are built, or those named
    python3 benchmarks/wasm/compare.py --rows [NAME...]  # what belongs into the table of programs.py, by wasmtime

Needs the `wasmtime` package. The native column is the same source, built with optimisation by clang-14 or rustc (CLANG
and RUSTC name others); it is left out where there is no such compiler. The best of five runs counts. A wrong checksum
fails.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from programs import CASES, PROGRAMS, SOURCES, Program

RUNS = 5
TARGET_S = 0.3

Runner = Callable[[int, int], int | float]
"""Takes rounds and seed, and returns the checksum."""


def under_wasmtime(program: Program) -> Runner:
    """An instance under wasmtime: one store and one instance for all runs."""
    import wasmtime

    engine = wasmtime.Engine()
    store = wasmtime.Store(engine)
    exports = wasmtime.Instance(store, wasmtime.Module.from_file(engine, str(program.path)), []).exports(store)

    def run(rounds: int, seed: int) -> int | float:
        exports["seed"](store, seed)
        return exports["run"](store, rounds)

    return run


def native(program: Program, folder: Path) -> Runner | None:
    """The same source as a shared library; None where it cannot be built: without a compiler, or if it grows memory."""
    source, library = SOURCES / program.source, folder / f"{program.name}.so"
    tool = os.environ.get("RUSTC", "rustc") if source.suffix == ".rs" else os.environ.get("CLANG", "clang-14")
    if shutil.which(tool) is None or "__builtin_wasm_" in source.read_text():
        return None
    if source.suffix == ".rs":
        command = [tool, "--edition", "2021", "--crate-type", "cdylib", "-C", "opt-level=3", "-C", "panic=abort"]
    else:
        if source.suffix == ".py":
            text = subprocess.run([sys.executable, source], check=True, capture_output=True, text=True).stdout
            source = folder / f"{program.name}.c"
            source.write_text(text)
        command = [tool, "-std=c11", "-O3", "-fno-math-errno", "-ffp-contract=off", "-fPIC", "-shared", f"-I{SOURCES}"]
    subprocess.run([*command, "-o", library, source], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.run.argtypes = loaded.seed.argtypes = [ctypes.c_int32]
    loaded.run.restype = ctypes.c_double if program.result == "f64" else ctypes.c_int64
    loaded.seed.restype = None

    def run(rounds: int, seed: int) -> int | float:
        loaded.seed(seed)
        return loaded.run(rounds)

    return run


def seconds(run: Runner, rounds: int) -> float:
    started = time.perf_counter()
    run(rounds, 1)
    return time.perf_counter() - started


def mistakes(run: Runner, program: Program) -> list[str]:
    """What the program should have returned, case by case; nothing if all is well."""
    found = []
    for (rounds, seed), expected in program.checksums.items():
        returned = run(rounds, seed)
        if returned != expected:
            found.append(f"run({rounds}) with seed {seed} returned {returned}, not {expected}")
    return found


def compare(programs: list[Program]) -> int:
    wrong = 0
    print(f"{'program':10}{'rounds':>10}{'wasmtime':>12}{'native':>12}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            runners = {"wasmtime": under_wasmtime(program), "native": native(program, Path(folder))}
            best = {}
            for name, run in runners.items():
                if run is None:
                    continue
                for mistake in mistakes(run, program):
                    wrong += 1
                    print(f"{program.name}, {name}: {mistake}", file=sys.stderr)
                best[name] = min(seconds(run, program.rounds) for _ in range(RUNS))
            line = f"{program.name:10}{program.rounds:>10,}{best['wasmtime'] * 1e3:>9.1f} ms"
            if "native" in best:
                line += f"{best['native'] * 1e3:>9.1f} ms{best['wasmtime'] / best['native']:>7.2f}x"
            print(line)
    return 1 if wrong else 0


def show_rows(programs: list[Program]) -> None:
    """Prints, for the table of programs.py, rounds that take about 0.3 s and the checksums of all cases."""
    for program in programs:
        run = under_wasmtime(program)
        rounds = 1
        while (taken := seconds(run, rounds)) < TARGET_S / 3:
            rounds *= 2
        scaled = f"{rounds * TARGET_S / taken:.1e}"
        checksums = ", ".join(str(run(*case)) for case in CASES)
        print(f"{program.name}: {int(float(scaled)):_}, {checksums}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the guests under wasmtime and as native code.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a guest; all that are built if none is named")
    parser.add_argument("--rows", action="store_true", help="print rounds and checksums for programs.py")
    given = parser.parse_args()
    if unknown := sorted(set(given.names) - set(PROGRAMS)):
        parser.error(f"no guest is called {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    programs = [PROGRAMS[name] for name in given.names] or [p for p in PROGRAMS.values() if p.path.exists()]
    if missing := [program.name for program in programs if not program.path.exists()]:
        parser.error(f"not built: {', '.join(missing)}; see benchmarks/wasm/README.md")
    if given.rows:
        show_rows(programs)
        return 0
    return compare(programs)


if __name__ == "__main__":
    sys.exit(main())
