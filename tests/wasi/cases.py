"""The cases: which program, with what, and how it must end. What it writes and leaves must be as under wasmtime."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True)
class Case:
    """One run of a program."""

    program: str
    args: tuple[str, ...] = ()
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes | Link | None] = field(default_factory=dict)
    """What is in the folder at first; None is a folder."""
    guest: str = "."
    """What the program calls the folder."""
    ends: int | str = 0
    """The exit code, or the words of the trap."""
    theirs: int | str | None = None
    """How it ends under wasmtime, where Lanewise does otherwise on purpose."""
    vague: bytes = rb"(?!)"
    """A regular expression for what differs from run to run: only that it is there is compared."""
    writes: bool = False
    """Whether the program changes files, so that only one lane can have the folder."""
    threads: int | None = None
    """How many threads the program can start, if it does."""


def sample_json(seed: int, size: int) -> bytes:
    """A document of at least that many bytes, and not many more: records as an interface on the web would send them."""
    rng = random.Random(seed)
    words = ["alpha", "béta", 'gamma "quoted"', "delta\n", "\u20ac 5", "\U0001f600", "back\\slash", "tab\there", ""]
    indent, ascii_only = rng.choice([None, 1]), rng.random() < 0.5
    records: list[object] = []
    while True:
        text = json.dumps({"seed": seed, "records": records}, indent=indent, ensure_ascii=ascii_only).encode()
        if len(text) >= size:
            return text
        records.append(
            {
                "id": rng.randrange(10**9),
                "name": rng.choice(words),
                "price": round(rng.uniform(-1000, 1000), 3),
                "ratio": rng.random() * 10.0 ** rng.randrange(-9, 9),
                "tags": rng.sample(words, rng.randrange(5)),
                "open": rng.choice([True, False, None]),
                "place": {"x": rng.randrange(-90, 90), "y": rng.randrange(180), "path": [[], {}, [rng.randrange(9)]]},
            }
        )


TEXT = (
    b"It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness,\n"
    b"it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of\n"
    b"Darkness, it was the spring of hope, it was the winter of despair. Caf\xc3\xa9, na\xc3\xafve: 42 times 42.\n"
)
INVENTORY = b"bolts 1200 0.05\nnuts 0x1f 1.25\r\nsaws 010 17.5\n  hammers\n3\n 22.75 "
ODD_LINES = "first\nsecond ß line\n\n\ttabs\tand spaces  \nлиния\n😀 end without a newline".encode()
ODD_FILES: dict[str, bytes | Link | None] = {
    "file": b"text",
    "folder/below": b"",
    "out": Link("../outside"),
    "loop": Link("loop"),
    "inside": Link("folder/../file"),
}
CALLS_FILES: dict[str, bytes | Link | None] = {
    "file": b"0123456789",
    "folder": None,
    **{f"names/{'n' * (1 + 7 * number % 30)}{number:02}": b"" for number in range(25)},
}
BAD_JSON = {
    "open.json": b'{"a": [1, 2',
    "word.json": b"[true, flase]",
    "number.json": b"[01]",
    "text.json": b'["a\nb"]',
    "escape.json": b'["\\x41"]',
    "half.json": b'["\\ud800"]',
    "more.json": b"{} {}",
    "deep.json": b"[" * 200,
    "empty.json": b"",
    "bytes.json": b'"\xff"',
    "good.json": b' {"a": 1.5e3, "b": [-0, 1E-2, "\\u20AC\\ud83d\\ude00"], "a": null} ',
}

CASES = (
    Case("hello"),
    Case("arguments"),
    Case(
        "arguments",
        ("one", "", "with spaces", "--flag=value", "ünïcödé", "-"),
        env={"GREETING": "good day", "EMPTY": "", "PATH": "/bin:/usr/bin", "UNI": "\u2603"},
    ),
    Case("arguments", tuple(f"{number}-" + "x" * number for number in range(0, 300, 3)), env={"LONG": "y" * 5000}),
    Case("lines"),
    Case("lines", stdin=ODD_LINES),
    Case("lines", stdin=b"".join(b"line %d of a longer input\n" % number for number in range(3000))),
    Case("lines", stdin=b"not UTF-8: \xff\n", ends=1),
    Case("words", ends=2),
    Case("words", ("absent.txt",), ends=1),
    Case("words", ("text.txt", "8"), files={"text.txt": TEXT}),
    Case("words", ("/data/sub/text.txt",), files={"sub/text.txt": TEXT * 40}, guest="/data"),
    Case("tree", (".",), writes=True),
    Case("tree", ("/data/new",), files={"old": b"stays"}, guest="/data", writes=True),
    Case("formats"),
    Case("recursion", ("100",)),
    Case("recursion", ("2500",)),
    Case("recursion", ("forever",), ends="call stack exhausted"),
    Case("shapes"),
    Case("panics", ("none",)),
    *(
        Case("panics", (way,), ends="unreachable")
        for way in ("message", "index", "unwrap", "expect", "divide", "borrow", "hook", "abort")
    ),
    *(Case("exits", (str(code),), ends=code) for code in (0, 1, 42, 125)),
    *(Case("exits", (str(code),), ends=code, theirs="exit code of 126 or more") for code in (126, 255)),
    Case("sleeps", vague=rb"slept \d+ us"),
    Case("cells"),
    Case("executor"),
    Case(
        "json", ("a.json", "b.json", "c.json"), files={f"{n}.json": sample_json(i, 4096) for i, n in enumerate("abc")}
    ),
    Case("json", tuple(BAD_JSON), files=BAD_JSON, ends=1),
    Case("json", ("-", "absent.json"), stdin=sample_json(9, 2000), ends=1),
    Case("random", vague=rb"(?m)^[0-9a-f]{16}$"),
    Case("flood"),
    Case("flood", ("lines",)),
    Case("flood", ("error",)),
    Case("streams"),
    Case("scan", stdin=INVENTORY),
    Case("scan", stdin=b"bolts 12 much", ends=3),
    Case("scan", ends=3),
    Case("sorting"),
    Case("strings"),
    Case("files", writes=True),
    Case("heap"),
    Case("heap", ("20000",)),
    Case("clocks", vague=rb"slept \d+ us"),
    Case("failures", files=ODD_FILES, writes=True),
    Case("environment", env={"HOME": "/root", "EMPTY": "", "OTHER": "x"}),
    Case("environment", ("7", "return"), env={"A": "1"}, ends=7),
    Case("environment", ("8", "exit"), ends=8),
    Case("environment", ("9", "_Exit"), ends=9),
    Case("environment", ("0", "abort"), ends="unreachable"),
    Case("mathematics"),
    Case("polling", stdin=TEXT, files={"file": b"x"}),
    Case("calls", files=CALLS_FILES, writes=True),
    Case("calls", ("odd",), files=CALLS_FILES, writes=True),
    Case("calls", ("raise",)),
    *(Case("calls", (way,), ends="out of bounds pointer") for way in ("address", "result")),
    *(
        Case("calls", (way,), files=CALLS_FILES, ends="invalid argument of a system call")
        for way in ("whence", "advice", "clock")
    ),
    Case("threads_count", threads=4),
    Case("threads_limit", threads=6),
    Case("threads_mutex", threads=4),
)
