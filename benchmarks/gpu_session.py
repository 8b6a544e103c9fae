"""Everything that a machine with a GPU has to say, in one command: benchmarks on both devices, then all tests.

    python3 benchmarks/gpu_session.py DIRECTORY [STEP...]

Runs from a checkout; Lanewise need not be installed, its dependencies must be. Writes a log per step, the figures as
JSON and the test results as JUnit XML to DIRECTORY, and prints short tables last. Exits with 1 if any step failed.

Steps that are named are run alone, where time is short. What large modules cost is left out unless big.wasm is built,
and AArch64 code fails unless its programs are.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STEP_LIMIT_S = 1800
KERNELS = ["map", "sum", "launch", "barrier", "start"]
WASM = ["wasm-map", "wasm-slice", "wasm-start", "wasm-lane", "wasm"]
RUN = ["run"]
FIGURES = ("bench-cuda", "layout-cuda", "wasm-cuda", "arm64-cuda", "run-cuda", "bench-cpu", "wasm-cpu", "run-cpu")
FRAMES = [(size, groups) for size in ("1920x1080", "3840x2160") for groups in ("one", "all")]
"""Steps that are benchmarks, in the order of the tables."""


@dataclass(frozen=True)
class Step:
    """One command, with its log."""

    name: str
    arguments: list[str]


@dataclass(frozen=True)
class Outcome:
    """How a step ended, and the last line that it wrote."""

    step: Step
    status: int | None
    seconds: float
    last_line: str


def steps(directory: Path) -> list[Step]:
    """What is run, in order: the short and the GPU's own first, should the time run out."""
    lanewise = ["-m", "lanewise"]

    def bench(step: str, device: str, names: list[str]) -> Step:
        json_file = str(directory / f"{step}.json")
        return Step(step, [*lanewise, "bench", *names, "--device", device, "--json", json_file])

    pytest = ["-m", "pytest", "-rs", "--color=no", str(ROOT / "tests")]
    if importlib.util.find_spec("xdist"):
        spread = ["-n", str(min(8, os.cpu_count() or 1))]
    else:
        spread = []
    return [
        Step("info", [*lanewise, "info"]),
        bench("bench-cuda", "cuda", KERNELS),
        bench("layout-cuda", "cuda", ["layout"]),
        *(
            Step(
                f"frames-{size}-{groups}",
                [str(ROOT / "benchmarks" / "desktop.py"), "--device", "cuda", "--size", size, "--groups", groups],
            )
            for size, groups in FRAMES
        ),
        bench("wasm-cuda", "cuda", WASM),
        bench("arm64-cuda", "cuda", ["arm64"]),
        bench("run-cuda", "cuda", RUN),
        bench("bench-cpu", "cpu", KERNELS),
        bench("wasm-cpu", "cpu", WASM),
        bench("run-cpu", "cpu", RUN),
        Step("tests-cuda", [*pytest, *spread, "-k", "cuda", f"--junitxml={directory / 'tests-cuda.xml'}"]),
        Step("tests-rest", [*pytest, *spread, "-k", "not cuda", f"--junitxml={directory / 'tests-rest.xml'}"]),
    ]


def run(step: Step, directory: Path) -> Outcome:
    """Run a step with Lanewise from this checkout; all it says goes to its log."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
    log = directory / f"{step.name}.log"
    start = time.monotonic()
    with log.open("wb") as file:
        try:
            status: int | None = subprocess.run(
                [sys.executable, *step.arguments],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                timeout=STEP_LIMIT_S,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            status = None
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return Outcome(step, status, time.monotonic() - start, lines[-1].strip() if lines else "")


def read_report(directory: Path, name: str) -> dict[str, Any]:
    """The figures that a step has written; none where it did not come so far."""
    file = directory / f"{name}.json"
    report: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {"results": [], "failures": []}
    return report


def figures(directory: Path) -> list[str]:
    """One line per benchmark figure that has a target."""
    lines = []
    for name in FIGURES:
        report = read_report(directory, name)
        for row in report["results"]:
            if row["target"] is not None:
                verdict = {True: "met", False: "MISSED", None: "not compared"}[row["met"]]
                ratio = f"{row['ratio']:.2f}x {row['peer']}" if row["ratio"] is not None else ""
                amount = f"{row['value']:,.0f}" if row["value"] >= 1000 else f"{row['value']:.4g}"
                value = f"{amount} {row['unit']}"
                lines.append(
                    f"{row['device']:<8}{row['name']:<11}{row['what']:<36}{value:>20}  {ratio:<32}"
                    f"{row['target']:>9}  {verdict}"
                )
        lines += [f"FAILED  {failure}" for failure in report["failures"]]
    return lines


def slices(directory: Path, name: str) -> list[str]:
    """The benchmark wasm-slice as a table in Markdown, program by variant: milliseconds, then ratios to them."""
    programs: list[str] = []
    cells: dict[str, dict[str, str]] = {}
    device = ""
    for row in read_report(directory, name)["results"]:
        if row["name"] == "wasm-slice":
            program, variant = row["what"].split(", ", 1)
            programs += [program] if program not in programs else []
            shown = f"{row['value']:.1f} ms" if row["ratio"] is None else f"{row['ratio']:.2f}x"
            cells.setdefault(variant, {})[program] = shown
            device = row["device"]
    if not programs:
        return []
    head = [f"| {device} | {' | '.join(programs)} |", "|---" * (len(programs) + 1) + "|"]
    return ["", *head, *(f"| {v} | {' | '.join(row.get(p, '') for p in programs)} |" for v, row in cells.items())]


def main() -> None:
    """Run all steps, or those that are named, and sum them up."""
    if len(sys.argv) < 2 or any(argument.startswith("-") for argument in sys.argv[1:]):
        sys.exit("usage: gpu_session.py DIRECTORY [STEP...] (where logs and figures go, and which steps to run)")
    directory = Path(sys.argv[1]).resolve()
    known = [step.name for step in steps(directory)]
    named = sys.argv[2:] or known
    if unknown := [name for name in named if name not in known]:
        sys.exit(f"there is no step {', '.join(unknown)}; there are {', '.join(known)}")
    directory.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for step in steps(directory):
        if step.name not in named:
            continue
        print(f"{step.name} ...", flush=True)
        outcomes.append(run(step, directory))
    for name in named:
        if name == "info" or name.startswith("frames"):
            print(f"\n{name}\n" + (directory / f"{name}.log").read_text(errors="replace"))
    tables = [line for name in FIGURES for line in slices(directory, name)]
    print("\n".join([*figures(directory), *tables, ""]))
    for outcome in outcomes:
        ended = "out of time" if outcome.status is None else "ok" if outcome.status == 0 else f"exit {outcome.status}"
        said = outcome.last_line if outcome.step.name.startswith("tests") or outcome.status != 0 else ""
        print(f"{outcome.step.name:<22}{ended:<12}{outcome.seconds:7.1f} s  {said}")
    sys.exit(0 if all(outcome.status == 0 for outcome in outcomes) else 1)


if __name__ == "__main__":
    main()
