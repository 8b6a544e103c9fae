"""The options of `gpu-run`: one table, which is parsed, shown by --help and completed by shells.

This is no use of Typer, which with what it imports takes a third of the time that a small program takes in all.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lanewise.batch import amounts
from lanewise.cli.mistakes import UsageMistake
from lanewise.errors import ArgumentError
from lanewise.settings import shortened, whole_number
from lanewise.wasm.placement import SEARCH, Placement, program_placement


@dataclass(frozen=True)
class Options:
    """A command line of `gpu-run`: what was asked for, checked one by one but not yet together."""

    program: str = ""
    arguments: Sequence[str] = ()
    lanes: int | None = None
    each_line: str | None = None
    each_file: str | None = None
    stdin: str | None = None
    dir: Sequence[tuple[str, str]] = ()
    env: Sequence[tuple[str, str | None]] = ()
    device: str = "auto"
    seed: int | None = None
    memory: int | None = None
    stack: int | None = None
    fuel: int | None = None
    timeout: float | None = None
    output_limit: int | None = None
    json: bool = False
    output_dir: str | None = None
    threads: int | None = None
    group: int | None = None
    state: str | None = None
    state_out: str | None = None
    input: str | None = None
    output: str | None = None
    picture: str | None = None
    size: tuple[int, int] | None = None
    keep_going: bool = False
    fail_fast: bool = False
    placement: Placement | str | None = None
    explain: bool = False
    stats: bool = False
    quiet: bool = False
    version: bool = False
    help: bool = False
    install_completion: bool = False
    show_completion: bool = False


@dataclass(frozen=True)
class Option:
    """A row of the table. Without a `value` it is a flag; `read` turns the text of a value into what it means."""

    name: str
    value: str
    about: str
    read: Callable[[str], Any] = str
    many: bool = False
    choices: Sequence[str] = field(default=())
    """What shells offer for the value, beside files."""

    @property
    def field(self) -> str:
        """The field of `Options` that holds it."""
        return self.name.removeprefix("--").replace("-", "_")


def _whole(sensible: range) -> Callable[[str], int]:
    def read(text: str) -> int:
        digits = text.replace("_", "").replace(",", "")
        number = whole_number(digits) if digits.isascii() else None
        if number is None or number not in sensible:
            raise ArgumentError(f"{shortened(text)!r} is not a whole number from {sensible[0]} to {sensible[-1]}")
        return number

    return read


def _size(sensible: range, why: str) -> Callable[[str], int]:
    def read(text: str) -> int:
        found = amounts.size(text)
        if found not in sensible:
            raise ArgumentError(f"{shortened(text)} makes no sense; {why}")
        return found

    return read


def _group(text: str) -> int:
    if text not in map(str, amounts.GROUPS):
        raise ArgumentError(
            f"{shortened(text)!r} is not a size of groups; write a power of two up to {amounts.GROUPS[-1]}"
        )
    return int(text)


def _pixels(text: str) -> tuple[int, int]:
    sides = text.lower().partition("x")
    width, height = whole_number(sides[0]), whole_number(sides[2])
    if width is None or height is None or width not in amounts.PICTURE or height not in amounts.PICTURE:
        raise ArgumentError(
            f"{shortened(text)!r} is not a size of pictures; write WIDTHxHEIGHT, such as "
            f"256x256, with {amounts.PICTURE[-1]:,} pixels to a side at most"
        )
    return width, height


def _directory(text: str) -> tuple[str, str]:
    host, colons, guest = text.partition("::")
    if not host or (colons and not guest):
        raise ArgumentError(f"{text!r} names no directory; write HOST, or HOST::GUEST for another name in the program")
    return host, guest or host


def _variable(text: str) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    if not name:
        raise ArgumentError(f"{text!r} has no name; write NAME=VALUE, or NAME for its value here")
    return name, value if equals else None


GROUPS: dict[str, Sequence[Option]] = {
    "Lanes": (
        Option("--lanes", "N", "Run the program N times; {lane} in arguments is 0, 1, ...", _whole(amounts.LANES)),
        Option("--each-line", "FILE", "One lane per line (- for stdin), which it reads; {} in arguments is the line."),
        Option("--each-file", "GLOB", "One lane per file of a quoted glob, sorted; {} in arguments is its path."),
        Option("--stdin", "FILE", "What every lane reads on standard input; {} with --each-file is the lane's file."),
    ),
    "What the program sees": (
        Option(
            "--dir",
            "HOST[::GUEST]",
            "A directory it may use, by this name or by another. Repeatable.",
            _directory,
            many=True,
        ),
        Option(
            "--env",
            "NAME[=VALUE]",
            "A variable of its environment, or one passed on. Repeatable.",
            _variable,
            many=True,
        ),
        Option(
            "--seed", "N", "Make its random numbers the same in every run, others in each lane.", _whole(amounts.SEEDS)
        ),
    ),
    "Where and how far": (
        Option("--device", "NAME", "auto (a GPU if there is one), cpu, cuda, cuda:1.", choices=("auto", "cpu", "cuda")),
        Option(
            "--memory",
            "SIZE",
            "Memory a lane may have, such as 64K, 16M, 1G; 16M for programs of Linux by default.",
            _size(amounts.MEMORY, "memory is 64K to 4G, for programs of Linux to 1T"),
        ),
        Option(
            "--stack",
            "SIZE",
            "On a GPU, stack for the calls of a lane.",
            _size(amounts.STACK, "a stack is 256 bytes to 1G"),
        ),
        Option(
            "--fuel",
            "N",
            "Steps a lane may take before it traps; the same on every device. Instructions, of programs of Linux.",
            _whole(amounts.FUEL),
        ),
        Option("--timeout", "TIME", "End the run after this time: 5, 500ms, 2m.", amounts.seconds),
        Option(
            "--output-limit",
            "SIZE",
            "What a lane may write to stdout and stderr; 16M in batches by default.",
            _size(amounts.OUTPUT, "a limit is 1 byte or more"),
        ),
        Option(
            "--placement",
            "PLACE",
            "On a GPU, where lanes live: layout/lanes per warp/lanes at once, as in flat/8/all; or search.",
            program_placement,
        ),
        Option("--threads", "N", "Threads a lane may start (wasi-threads); 15 by default.", _whole(amounts.THREADS)),
        Option("--fail-fast", "", "End the run when a lane fails."),
        Option("--keep-going", "", "Run all lanes whatever happens to some (the default)."),
    ),
    "What comes out": (
        Option("--json", "", "A JSON object per lane: exit code, trap, seconds, stdout, stderr."),
        Option(
            "--output-dir",
            "DIR",
            "Write lanes' output to DIR/LANE.out and .err; with --each-file, FILE.out.",
        ),
        Option("--explain", "", "Say at the end where lanes lived on a GPU, and why."),
        Option("--stats", "", "On a GPU, count how many lanes of a warp are in step; slower."),
        Option("--quiet", "", "No progress bar and no summary."),
    ),
    "The GPU vocabulary (imports from the module gpu)": (
        Option("--state", "FILE.npy", "The words that all lanes share, from a NumPy file of 32-bit numbers."),
        Option("--state-out", "FILE.npy", "Where the state goes when all lanes have ended."),
        Option("--input", "FILE.npy", "Words that lanes read."),
        Option("--output", "FILE.npy", "Where the words go that lanes write: one per lane."),
        Option("--picture", "FILE.png", "Where the picture goes that lanes paint."),
        Option("--size", "WxH", "Its size, such as 256x256.", _pixels),
        Option("--group", "N", "Lanes that meet at barriers: a power of two, 256 by default.", _group),
    ),
    "Else": (
        Option("--version", "", "Show the version."),
        Option("--help", "", "Show this."),
        Option("--install-completion", "", "Have the shell complete these options."),
        Option("--show-completion", "", "Show what that would add to the shell's settings."),
    ),
}
TABLE = {option.name: option for group in GROUPS.values() for option in group}
_LAST_WORDS = {"--version", "--help", "--install-completion", "--show-completion"}
"""Options that ask for something else than a run, so that nothing behind them counts."""


def parse(words: Sequence[str]) -> Options:
    """Read a command line. Options end at the program: all behind it is the program's own."""
    found: dict[str, Any] = {}
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-", "--"):
        name, equals, value = words[at].partition("=")
        option = _option("--help" if name == "-h" else name)
        at += 1
        if not option.value:
            if equals:
                raise UsageMistake(f"{name} takes no value, and {words[at - 1]} gives it one; write {name}")
            found[option.field] = True
            if option.name in _LAST_WORDS:
                return Options(**found)
            continue
        if not equals:
            if at == len(words):
                raise UsageMistake(f"{name} needs a value; write {name} {option.value}")
            value = words[at]
            at += 1
        _store(option, value, found)
    if words[at : at + 1] == ["--"]:
        at += 1
    if at == len(words):
        raise UsageMistake("there is no program to run; write gpu-run PROGRAM, or gpu-run --help for examples")
    if found.get("keep_going") and found.get("fail_fast"):
        raise UsageMistake("--keep-going and --fail-fast contradict each other; leave one of them out")
    if found.get("stats") and found.get("placement") == SEARCH:
        raise UsageMistake("--stats slows lanes, which says nothing of placements; leave it out, or --placement search")
    return Options(**found, program=words[at], arguments=tuple(words[at + 1 :]))


def _option(name: str) -> Option:
    if name not in TABLE:
        near = difflib.get_close_matches(name, TABLE, 1)
        hint = f"did you mean {near[0]}?" if near else "gpu-run --help lists them"
        raise UsageMistake(f"there is no option {name}; {hint} (the program's own options stand behind it)")
    return TABLE[name]


def _store(option: Option, text: str, found: dict[str, Any]) -> None:
    try:
        value = option.read(text)
    except ArgumentError as error:
        raise UsageMistake(f"{option.name}: {error}") from None
    if option.many:
        found.setdefault(option.field, []).append(value)
    elif option.field in found:
        raise UsageMistake(f"{option.name} is given twice, and there can be one; leave one of them out")
    else:
        found[option.field] = value
