"""Runs the scripts of the official WebAssembly test suites on Lanewise: a library for tests, and a command.

`wast2json` of wabt turns a script into commands (JSON) and modules. `python tests/wasm/spec.py --help` says how to run
them; the suites are read from where they lie and never become part of the project.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engines import Engine, lanewise_engine
from script import Failure, Report, Run
from workers import Died, serve, spread

SUITES = Path(__file__).parents[3] / "shared" / "suites"


@dataclass(frozen=True)
class Suite:
    """A folder of scripts: what wabt must be told of it, and which features its modules may use beyond 2.0."""

    name: str
    flags: tuple[str, ...] = ()
    features: frozenset[str] = frozenset()


KNOWN_SUITES = {
    suite.name: suite
    for suite in (
        Suite("wasm-2.0"),
        Suite("wasm-threads", ("--enable-threads",), frozenset({"threads"})),
        Suite("wasm-tail-call", ("--enable-tail-call",), frozenset({"tail-calls"})),
    )
}


@dataclass(frozen=True)
class Script:
    """One script of a suite, as the suite has it (`.wast`) or converted (`.json`)."""

    suite: Suite
    path: Path

    @property
    def name(self) -> str:
        """How failures and tables call it."""
        return self.path.stem + ".wast"

    @property
    def cost(self) -> int:
        """A guess at how long it takes: modules are compiled, which is slow; assertions are calls, which are quick."""
        text = self.path.read_bytes()
        modules, calls = (
            (b'"type": "module"', b"assert_return") if self.path.suffix == ".json" else (b"(module", b"(assert_")
        )
        return 200 * text.count(modules) + text.count(calls)


def scripts(folder: Path = SUITES, suffix: str = ".wast") -> list[Script]:
    """All scripts of the suites in a folder; none where the folder is absent."""
    return [
        Script(suite, path)
        for suite in KNOWN_SUITES.values()
        for path in sorted((folder / suite.name).glob(f"*{suffix}"))
    ]


def convert(script: Script, folder: Path) -> Script:
    """Have wabt write the commands and the modules of a script into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{script.path.stem}.json"
    call = ["wast2json", *script.suite.flags, str(script.path), "-o", str(target)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"wast2json cannot convert {script.path}:\n{done.stderr}")
    return Script(script.suite, target)


# The command


def run_script(script: Script, engine: Engine) -> Report:
    """Run a script, converting it first if it is as the suite has it."""
    if script.path.suffix == ".json":
        return Run(script.path, engine)()
    with tempfile.TemporaryDirectory(prefix="lanewise-spec-") as folder:
        return Run(convert(script, Path(folder)).path, engine)()


def run_all(chosen: Sequence[Script], settings: Sequence[str], jobs: int, patience: float) -> Iterator[Report]:
    """Run scripts in processes of their own, those that take long first; `settings` are arguments of this command."""
    by_path = {str(script.path): script for script in sorted(chosen, key=lambda script: -script.cost)}
    command = [sys.executable, __file__, *settings, "--worker"]
    for path, answer in spread(command, list(by_path), jobs, patience):
        name = by_path[path].name
        if isinstance(answer, Died):
            yield Report(name, failures=[Failure(name, 0, "script", f"the process {answer.reason}")])
        else:
            failures = [Failure(**failure) for failure in answer["failures"]]
            yield Report(name, Counter(answer["passed"]), Counter(answer["skipped"]), failures)


def answer(path: str, device: str, options: dict[str, Any]) -> dict[str, Any]:
    """In a worker: run the script with this path."""
    script = Script(KNOWN_SUITES[Path(path).parent.name], Path(path))
    report = run_script(script, lanewise_engine(device, script.suite.features, **options))
    return vars(report) | {"failures": [vars(failure) for failure in report.failures]}


def print_report(report: Report) -> None:
    """A line for a script, and one for each failure."""
    skipped = report.skipped.total()
    print(f"{report.script:44} {report.passed.total():7,} {len(report.failures):7,} {skipped:7,}", flush=True)
    for failure in report.failures:
        print(f"    {failure}")


def print_totals(reports: Sequence[Report]) -> None:
    """What became of all commands."""
    passed, skipped = (sum((getattr(report, what) for report in reports), Counter()) for what in ("passed", "skipped"))
    failed = Counter(failure.command for report in reports for failure in report.failures)
    for title, counts in (("passed", passed), ("failed", failed), ("skipped", skipped)):
        details = ", ".join(f"{count:,} {what}" for what, count in counts.most_common())
        print(f"{title} {counts.total():,}" + (f": {details}" if details else ""))


def choose(names: Sequence[str], available: Sequence[Script]) -> list[Script]:
    """The scripts that were asked for by name or by path; all of them if none was."""
    wanted = {Path(name).stem for name in names}
    missing = wanted - {script.path.stem for script in available}
    if missing:
        sys.exit(f"no such script: {', '.join(sorted(missing))}")
    return [script for script in available if not wanted or script.path.stem in wanted]


def parse_option(text: str) -> tuple[str, Any]:
    """An option of the store: a number, or a word."""
    name, _, value = text.partition("=")
    return name, int(value) if value.isdigit() else value


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the WebAssembly test suites on Lanewise.")
    parser.add_argument("files", nargs="*", help="scripts by name (i32, simd_lane.wast); all of them if none is named")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the store")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes share the work")
    parser.add_argument("--json", type=Path, metavar="DIR", help="run what --convert wrote there; needs no wabt")
    parser.add_argument("--convert", type=Path, metavar="DIR", help="only convert the scripts, into this folder")
    parser.add_argument("--patience", type=float, default=300, help="seconds after which a script counts as hanging")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        serve(lambda path: answer(path, options.device, dict(map(parse_option, options.option))))
        return
    available = scripts(options.json, ".json") if options.json else scripts()
    if not available:
        sys.exit(f"no scripts in {options.json or SUITES}")
    if not options.json and shutil.which("wast2json") is None:
        sys.exit("wast2json is not installed (Debian: wabt); convert elsewhere with --convert and run with --json")
    chosen = choose(options.files, available)
    if options.convert:
        for script in chosen:
            convert(script, options.convert / script.suite.name)
        return
    print(f"{'script':44} {'passed':>7} {'failed':>7} {'skipped':>7}")
    reports = []
    settings = ["--device", options.device, *(f"--option={option}" for option in options.option)]
    for report in run_all(chosen, settings, options.jobs, options.patience):
        print_report(report)
        reports.append(report)
    print_totals(reports)
    sys.exit(any(report.failures for report in reports))


if __name__ == "__main__":
    main()
