"""Everything that a machine with a GPU has to say, in one command: benchmarks on both devices, then all tests.

    python3 benchmarks/gpu_session.py DIRECTORY [STEP...]

Runs from a checkout; Lanewise need not be installed, its dependencies must be. Writes a log per step, the figures as
JSON and the test results as JUnit XML to DIRECTORY, and prints short tables last. Exits with 1 if any step failed.

Steps that are named are run alone, where time is short; `soak` and `pace` take ten minutes each, and with `+` between
their names steps run beside each other: `pace+soak`. What large modules cost is left out unless big.wasm is built, and
AArch64 code fails unless its programs are.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STEP_LIMIT_S = 1800
_WORKERS = 8
"""Processes that run tests beside each other: stacks and memory of each may take 17 GB of the GPU."""
KERNELS = ["map", "sum", "launch", "barrier", "start"]
WASM = ["wasm-map", "wasm-slice", "wasm-start", "wasm-lane", "wasm"]
RUN = ["run"]
FIGURES = ("bench-cuda", "layout-cuda", "wasm-cuda", "arm64-cuda", "run-cuda", "bench-cpu", "wasm-cpu", "run-cpu")
"""Steps that are benchmarks, in the order of the tables."""
FRAMES = [(size, groups) for size in ("1920x1080", "3840x2160") for groups in ("one", "all")]
SHOWN = ("info", "frames", "search", "first-waves", "straggler", "setup", "by-hand", "unicorn", "pace", "soak")
"""Steps whose logs are short, and shown."""
BESIDE = "pace+soak"
"""What runs at the same time where everything runs."""


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
        spread = ["-n", str(min(_WORKERS, os.cpu_count() or 1))]
    else:
        spread = []

    def script(step: str, path: str, *arguments: str) -> Step:
        return Step(step, [str(ROOT / path), "--device", "cuda", *arguments])

    return [
        Step("info", [*lanewise, "info"]),
        bench("bench-cuda", "cuda", KERNELS),
        bench("layout-cuda", "cuda", ["layout"]),
        *(
            script(f"frames-{size}-{groups}", "benchmarks/desktop.py", "--size", size, "--groups", groups)
            for size, groups in FRAMES
        ),
        bench("wasm-cuda", "cuda", WASM),
        bench("arm64-cuda", "cuda", ["arm64"]),
        bench("run-cuda", "cuda", RUN),
        script("setup", "benchmarks/wasm/setup.py"),
        script("straggler", "benchmarks/wasm/straggler.py", "--samples", "500000", "--lanes", "131072"),
        script("search", "benchmarks/wasm/exhaustive.py", "--lanes", "65536", "--guests", "all"),
        script("first-waves", "benchmarks/wasm/first_waves.py"),
        Step("by-hand", [str(ROOT / "benchmarks" / "arm64" / "loop_by_hand.py")]),
        bench("bench-cpu", "cpu", KERNELS),
        bench("wasm-cpu", "cpu", WASM),
        bench("run-cpu", "cpu", RUN),
        Step("tests-cuda", [*pytest, *spread, "-k", "cuda", f"--junitxml={directory / 'tests-cuda.xml'}"]),
        Step("tests-rest", [*pytest, *spread, "-k", "not cuda", f"--junitxml={directory / 'tests-rest.xml'}"]),
        script("unicorn", "tests/arm64/against_unicorn.py", "--cases", "20"),
        script("pace", "benchmarks/desktop_pace.py", "--minutes", "9.3", "--size", "1920x1080"),
        script("soak", "tests/desktop/soak.py", "--minutes", "9.3"),
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
    known = {step.name: step for step in steps(directory)}
    apart = BESIDE.split("+")
    groups = [name.split("+") for name in sys.argv[2:] or [*(name for name in known if name not in apart), BESIDE]]
    if unknown := [name for group in groups for name in group if name not in known]:
        sys.exit(f"there is no step {', '.join(unknown)}; there are {', '.join(known)}")
    directory.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for group in groups:
        print(f"{' beside '.join(group)} ...", flush=True)
        with ThreadPoolExecutor(len(group)) as beside:
            outcomes += beside.map(lambda name: run(known[name], directory), group)
    for name in (outcome.step.name for outcome in outcomes):
        if name.startswith(SHOWN):
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
