"""Everything that a machine with a GPU has to say, in one command: benchmarks on both devices, then all tests.

    python3 benchmarks/gpu_session.py DIRECTORY

Runs from a checkout; Lanewise need not be installed, its dependencies must be. Writes a log per step, the figures as
JSON and the test results as JUnit XML to DIRECTORY, and prints a short table last. Exits with 1 if any step failed.
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
    pytest = ["-m", "pytest", "-rs", "--color=no", str(ROOT / "tests")]
    if importlib.util.find_spec("xdist"):
        spread = ["-n", str(min(8, os.cpu_count() or 1))]
    else:
        spread = []
    return [
        Step("info", [*lanewise, "info"]),
        Step("bench-cuda", [*lanewise, "bench", "--device", "cuda", "--json", str(directory / "bench-cuda.json")]),
        Step("bench-cpu", [*lanewise, "bench", "--device", "cpu", "--json", str(directory / "bench-cpu.json")]),
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


def figures(directory: Path) -> list[str]:
    """One line per benchmark figure that has a target."""
    lines = []
    for name in ("bench-cuda", "bench-cpu"):
        file = directory / f"{name}.json"
        report: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {"results": [], "failures": []}
        for row in report["results"]:
            if row["target"] is not None:
                verdict = {True: "met", False: "MISSED", None: "not compared"}[row["met"]]
                ratio = f"{row['ratio']:.2f}x {row['peer']}" if row["ratio"] is not None else ""
                value = f"{row['value']:.4g} {row['unit']}"
                lines.append(
                    f"{row['device']:<8}{row['name']:<9}{row['what']:<32}{value:>14}  {ratio:<28}"
                    f"{row['target']:>9}  {verdict}"
                )
        lines += [f"FAILED  {failure}" for failure in report["failures"]]
    return lines


def main() -> None:
    """Run all steps and sum them up."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: gpu_session.py DIRECTORY (where logs and figures go)")
    directory = Path(sys.argv[1]).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for step in steps(directory):
        print(f"{step.name} ...", flush=True)
        outcomes.append(run(step, directory))
    print("\n" + (directory / "info.log").read_text(errors="replace"))
    print("\n".join(figures(directory)) + "\n")
    for outcome in outcomes:
        ended = "out of time" if outcome.status is None else "ok" if outcome.status == 0 else f"exit {outcome.status}"
        said = outcome.last_line if outcome.step.name.startswith("tests") or outcome.status != 0 else ""
        print(f"{outcome.step.name:<12}{ended:<12}{outcome.seconds:7.1f} s  {said}")
    sys.exit(0 if all(outcome.status == 0 for outcome in outcomes) else 1)


if __name__ == "__main__":
    main()
