"""Runs one script of the WebAssembly suites, as `wast2json` writes it: a list of commands, and modules beside it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engines import Engine, call_in_order, describe

from lanewise.errors import InvalidError, LinkError, MalformedError, UnsupportedError, WasmTrap

SPECTEST = Path(__file__).parent / "spectest.wasm"


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

    def __init__(self, path: Path, engine: Engine) -> None:
        self.report = Report(f"{path.stem}.wast")
        self.folder = path.parent
        self.engine = engine
        self.store = engine.new_store()
        self.commands: list[dict[str, Any]] = json.loads(path.read_bytes())["commands"]
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
