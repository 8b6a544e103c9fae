"""Runs the scripts of the official WebAssembly test suites on Lanewise: a library for tests, and a command.

`wast2json` of wabt turns a script into commands (JSON) and modules. `python tests/wasm/spec.py --help` says how to run
them; the suites are read from where they lie and never become part of the project.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workers import Died, serve, spread

from lanewise.errors import InvalidError, LinkError, MalformedError, UnsupportedError, WasmTrap

HERE = Path(__file__).parent
SUITES = HERE.parents[2] / "shared" / "suites"
SPECTEST = HERE / "spectest.wasm"


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


@dataclass(frozen=True)
class Engine:
    """What runs a script. The hooks let an engine be tested that says less than Lanewise does."""

    load: Callable[[bytes], Any]
    new_store: Callable[[], Any]
    malformed: type[MalformedError] = MalformedError
    """What `load` raises for a module that cannot be read; `InvalidError` is for one that can."""
    same_kind: Callable[[str, str], bool] = lambda kind, text: kind.startswith(text) or text.startswith(kind)


def lanewise_engine(device: str, features: frozenset[str] | None = None, **options: Any) -> Engine:
    """Lanewise on a device, with these features beyond WebAssembly 2.0; None is all that it has."""
    from lanewise import wasm
    from lanewise.wasm.model import WEBASSEMBLY_2

    allowed = None if features is None else WEBASSEMBLY_2 | features
    return Engine(
        load=lambda data: wasm.Module.load(data, features=allowed),
        new_store=lambda: wasm.Store(device, **options),
    )


def wasmtime_engine(features: frozenset[str] | None = None, canonical_nans: bool = False) -> Engine:
    """wasmtime, which has one name for malformed and invalid, and one for calls and accesses past a table's end."""
    import wasmtime_engine

    def same_kind(kind: str, text: str) -> bool:
        text = "out of bounds table access" if text == "undefined element" else text
        return text.startswith(kind)

    return Engine(
        load=lambda data: wasmtime_engine.Module.load(data, features, canonical_nans),
        new_store=lambda: wasmtime_engine.Store(features, canonical_nans),
        malformed=InvalidError,
        same_kind=same_kind,
    )


@dataclass(frozen=True)
class Failure:
    """A command that did not do what the script says."""

    script: str
    line: int
    command: str
    reason: str

    @property
    def place(self) -> str:
        """The key by which known failures are listed."""
        return f"{self.script}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.command}: {self.reason}"


@dataclass
class Report:
    """What became of the commands of a script."""

    script: str
    passed: Counter[str] = field(default_factory=Counter)
    """How many of each type of command."""
    skipped: Counter[str] = field(default_factory=Counter)
    """How many for each reason."""
    failures: list[Failure] = field(default_factory=list)


class CommandError(Exception):
    """The current command fails, for the reason given."""


class Run:
    """One run of one script: the instances that it has made so far, and the calls that wait to be made together."""

    def __init__(self, script: Script, engine: Engine) -> None:
        self.report = Report(script.name)
        self.folder = script.path.parent
        self.engine = engine
        self.store = engine.new_store()
        self.commands: list[dict[str, Any]] = json.loads(script.path.read_bytes())["commands"]
        self.instances: dict[str | None, Any] = {}
        """By the name in the script; None is the latest. An instance that could not be made is a `CommandError`."""
        self.registered: dict[str, Any] = {}
        self.waiting: list[tuple[dict[str, Any], Any, list[Any]]] = []
        self.waiting_on: Any = None

    def __call__(self) -> Report:
        """Run every command in order."""
        for command in self.commands:
            if command["type"] in ("assert_return", "assert_trap", "action") and command["action"]["type"] == "invoke":
                self.settle(command, self.enqueue)
            else:
                self.flush()
                self.settle(command, getattr(self, command["type"]))
        self.flush()
        return self.report

    def settle(self, command: dict[str, Any], act: Callable[[dict[str, Any]], str | None]) -> None:
        """Do something for a command and note how it ended; `act` returns what to count, None if it is too early."""
        try:
            done = act(command)
        except CommandError as failed:
            self.fail(command, str(failed))
        except Exception as error:  # an engine in the making raises anything; the other commands go on
            self.fail(command, f"raised {describe(error)}")
        else:
            if done == "passed":
                self.report.passed[command["type"]] += 1
            elif done is not None:
                self.report.skipped[done] += 1

    def fail(self, command: dict[str, Any], reason: str) -> None:
        self.report.failures.append(Failure(self.report.script, command["line"], command["type"], reason))

    # Modules

    def binary(self, command: dict[str, Any]) -> bytes:
        return (self.folder / command["filename"]).read_bytes()

    def instantiate(self, data: bytes) -> Any:
        module = self.engine.load(data)
        if b"spectest" in data and "spectest" not in self.registered:
            self.registered["spectest"] = self.store.instantiate(self.engine.load(SPECTEST.read_bytes()), imports={})
        return self.store.instantiate(module, imports=self.registered)

    def module(self, command: dict[str, Any]) -> str:
        names = {None, command.get("name")}
        self.instances.update(dict.fromkeys(names, CommandError(f"the module of line {command['line']} is not there")))
        self.instances.update(dict.fromkeys(names, self.instantiate(self.binary(command))))
        return "passed"

    def instance(self, name: str | None) -> Any:
        found = self.instances.get(name, CommandError(f"no module is named {name}"))
        if isinstance(found, CommandError):
            raise found
        return found

    def register(self, command: dict[str, Any]) -> str:
        self.registered.pop(command["as"], None)
        self.registered[command["as"]] = self.instance(command.get("name"))
        return "passed"

    def assert_malformed(self, command: dict[str, Any]) -> str:
        if command["module_type"] == "text":
            return "the text format is wabt's to read"
        error = self.refused(command, lambda: self.engine.load(self.binary(command)), MalformedError)
        distinct = self.engine.malformed is MalformedError
        if isinstance(error, UnsupportedError) or (distinct and isinstance(error, InvalidError)):
            raise CommandError(f"malformed, but refused with {describe(error)}")
        return "passed"

    def assert_invalid(self, command: dict[str, Any]) -> str:
        error = self.refused(command, lambda: self.engine.load(self.binary(command)), MalformedError)
        if not isinstance(error, InvalidError):
            raise CommandError(f"invalid, but refused with {describe(error)}")
        return "passed"

    def assert_unlinkable(self, command: dict[str, Any]) -> str:
        error = self.refused(command, lambda: self.instantiate(self.binary(command)), LinkError)
        if command["text"] not in str(error):
            raise CommandError(f"expected {command['text']!r}, got {describe(error)}")
        return "passed"

    def assert_uninstantiable(self, command: dict[str, Any]) -> str:
        return self.check_trap(command, self.refused(command, lambda: self.instantiate(self.binary(command)), WasmTrap))

    def refused(self, command: dict[str, Any], act: Callable[[], Any], kind: type[Exception]) -> Exception:
        try:
            act()
        except kind as error:
            return error
        raise CommandError(f"went well; expected {command['text']!r}")

    # Actions

    def enqueue(self, command: dict[str, Any]) -> None:
        """Keep a call for later, so that many calls on one instance are made at once."""
        action = command["action"]
        instance = self.instance(action.get("module"))
        function = instance.exports[action["field"]]
        if instance is not self.waiting_on:
            self.flush()
        self.waiting_on = instance
        self.waiting.append((command, function, [argument(value) for value in action["args"]]))

    def flush(self) -> None:
        """Make the calls that wait, in order, and check what each gave."""
        waiting, self.waiting = self.waiting, []
        outcomes = call_in_order(self.store, [(function, args) for _, function, args in waiting])
        for (command, _, _), outcome in zip(waiting, outcomes, strict=True):
            self.settle(command, lambda command, outcome=outcome: self.check(command, outcome))

    def check(self, command: dict[str, Any], outcome: Any) -> str:
        if command["type"] in ("assert_trap", "assert_exhaustion"):
            return self.check_trap(command, outcome)
        if isinstance(outcome, Exception):
            raise CommandError(f"raised {describe(outcome)}")
        if command["type"] == "assert_return":
            check_results(command["expected"], outcome)
        return "passed"

    def check_trap(self, command: dict[str, Any], outcome: Any) -> str:
        if not isinstance(outcome, WasmTrap):
            raise CommandError(f"expected the trap {command['text']!r}, got {describe(outcome)}")
        if not self.engine.same_kind(outcome.kind, command["text"]):
            raise CommandError(f"expected the trap {command['text']!r}, got the trap {outcome.kind!r}")
        return "passed"

    def assert_exhaustion(self, command: dict[str, Any]) -> None:
        self.enqueue(command)
        self.flush()

    def assert_return(self, command: dict[str, Any]) -> str:
        """Of a global; calls are made by `flush`."""
        assert command["action"]["type"] == "get"
        exports = self.instance(command["action"].get("module")).exports
        check_results(command["expected"], [exports[command["action"]["field"]].bits])
        return "passed"


def call_in_order(store: Any, calls: Sequence[tuple[Any, list[Any]]]) -> Sequence[Any]:
    """The results of each call or what it raised; at once where the store can do that."""
    if calls and hasattr(store, "call_many"):
        try:
            return store.call_many(calls)
        except Exception as error:  # the calls' own traps are in the list: this is a fault of the engine
            return [error] * len(calls)
    return [call_one(function, args) for function, args in calls]


def call_one(function: Any, args: list[Any]) -> Any:
    """The results of a call or what it raised."""
    try:
        return function.call_bits(args)
    except Exception as error:
        return error


def describe(outcome: Any) -> str:
    """An outcome of a call in one line."""
    if isinstance(outcome, Exception):
        return f"{type(outcome).__name__}: {outcome}".partition("\n")[0]
    return "[" + ", ".join(hex(value) if isinstance(value, int) else str(value) for value in outcome) + "]"


# Values


def lane_bits(lane_type: str) -> int:
    """The width of a lane: i8, i16, i32, f32, i64 or f64."""
    return int(lane_type[1:])


def join_lanes(lane_type: str, lanes: Sequence[int]) -> int:
    """A vector of lanes as one number; the first lane has the lowest bits."""
    return sum(lane << index * lane_bits(lane_type) for index, lane in enumerate(lanes))


def argument(value: dict[str, Any]) -> int | None:
    """The bits of an argument; None is a null reference."""
    if value["type"] == "v128":
        return join_lanes(value["lane_type"], [int(lane) for lane in value["value"]])
    return None if value["value"] == "null" else int(value["value"])


def check_results(expected: Sequence[dict[str, Any]], results: Sequence[Any]) -> None:
    """Compare results bit for bit with what a script expects."""
    if len(results) != len(expected) or not all(map(matches, expected, results)):
        wanted = ", ".join(f"{value['type']} {show(value)}" for value in expected)
        raise CommandError(f"expected [{wanted}], got {describe(results)}")


def show(value: dict[str, Any]) -> str:
    """An expected value for a reader: hexadecimal, as results are shown."""
    lanes = value["value"] if isinstance(value["value"], list) else [value["value"]]
    return " ".join(hex(int(lane)) if lane.isdigit() else lane for lane in lanes)


def matches(expected: dict[str, Any], result: Any) -> bool:
    """Whether a result is what a script expects."""
    if expected["type"] != "v128":
        return lane_matches(expected["type"], expected["value"], result)
    bits = lane_bits(expected["lane_type"])
    lanes = [result >> start & (1 << bits) - 1 for start in range(0, 128, bits)]
    return all(
        lane_matches(expected["lane_type"], wanted, lane) for wanted, lane in zip(expected["value"], lanes, strict=True)
    )


def lane_matches(type_: str, wanted: str, result: Any) -> bool:
    """Whether a number or a reference is what a script expects."""
    if wanted == "null" or result is None:
        return wanted == "null" and result is None
    if wanted.startswith("nan:"):
        return is_nan(lane_bits(type_), result, canonical=wanted == "nan:canonical")
    return bool(result == int(wanted))


def is_nan(width: int, bits: int, canonical: bool) -> bool:
    """Whether bits are a NaN of either sign: the canonical one, or any whose highest fraction bit is set."""
    fraction = 23 if width == 32 else 52
    quiet = (1 << width - 1) - (1 << fraction - 1)
    magnitude = bits & (1 << width - 1) - 1
    return magnitude == quiet if canonical else magnitude & quiet == quiet


# The command


def run_script(script: Script, engine: Engine) -> Report:
    """Run a script, converting it first if it is as the suite has it."""
    if script.path.suffix == ".json":
        return Run(script, engine)()
    with tempfile.TemporaryDirectory(prefix="lanewise-spec-") as folder:
        return Run(convert(script, Path(folder)), engine)()


def run_all(chosen: Sequence[Script], device: str, jobs: int, patience: float) -> Iterator[Report]:
    """Run scripts in processes of their own, those that take long first."""
    by_path = {str(script.path): script for script in sorted(chosen, key=lambda script: -script.cost)}
    command = [sys.executable, __file__, "--device", device, "--worker"]
    for path, answer in spread(command, list(by_path), jobs, patience):
        name = by_path[path].name
        if isinstance(answer, Died):
            yield Report(name, failures=[Failure(name, 0, "script", f"the process {answer.reason}")])
        else:
            failures = [Failure(**failure) for failure in answer["failures"]]
            yield Report(name, Counter(answer["passed"]), Counter(answer["skipped"]), failures)


def answer(path: str, device: str) -> dict[str, Any]:
    """In a worker: run the script with this path."""
    script = Script(KNOWN_SUITES[Path(path).parent.name], Path(path))
    report = run_script(script, lanewise_engine(device, script.suite.features))
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


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the WebAssembly test suites on Lanewise.")
    parser.add_argument("files", nargs="*", help="scripts by name (i32, simd_lane.wast); all of them if none is named")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes share the work")
    parser.add_argument("--json", type=Path, metavar="DIR", help="run what --convert wrote there; needs no wabt")
    parser.add_argument("--convert", type=Path, metavar="DIR", help="only convert the scripts, into this folder")
    parser.add_argument("--patience", type=float, default=300, help="seconds after which a script counts as hanging")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        serve(lambda path: answer(path, options.device))
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
    for report in run_all(chosen, options.device, options.jobs, options.patience):
        print_report(report)
        reports.append(report)
    print_totals(reports)
    sys.exit(any(report.failures for report in reports))


if __name__ == "__main__":
    main()
