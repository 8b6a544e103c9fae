"""The programs of the benchmark `run`: those of a checkout's tests, and one that never ends."""

from __future__ import annotations

from pathlib import Path

from lanewise.errors import LanewiseError

HELLO, JSON = "hello.wasm", "json.wasm"
GREETING = b"Hello, world!\n"
"""What `hello.wasm` writes."""
BEGUN = b"begun\n"
"""What the program that never ends writes before that."""
ENDLESS = "endless.wasm"
_FOLDER = Path("tests", "wasi", "programs")
_MODULE = b"wasi_snapshot_preview1"
_MOST = len(ENDLESS) + 1 + len("99") + 1
"""Bytes of arguments, the name included, up to which the endless program ends after all."""


def program(name: str) -> Path:
    """Where a program of the tests lies."""
    looked = list(dict.fromkeys([Path(__file__).resolve().parents[2], Path.cwd()]))
    for root in looked:
        if (root / _FOLDER / name).is_file():
            return root / _FOLDER / name
    raise LanewiseError(
        f"there is no {_FOLDER / name} in {' or '.join(map(str, looked))}. Programs are not installed with Lanewise: "
        "run this in a checkout of its repository"
    )


def write_endless(folder: Path) -> Path:
    """A program that writes a line and then computes for ever, unless its argument has two characters or fewer."""
    path = folder / ENDLESS
    path.write_bytes(_endless())
    return path


def _endless() -> bytes:
    write = b"\x41\x01\x41\x00\x41\x01\x41\x08\x10\x00\x1a"  # fd_write(1, 0, 1, 8), drop
    sizes = b"\x41\x08\x41\x0c\x10\x01\x1a"  # args_sizes_get(8, 12), drop
    leave = b"\x41\x0c\x28\x02\x00\x41" + bytes([_MOST]) + b"\x4d\x04\x40\x0f\x0b"  # if load(12) <= _MOST: return
    loop = b"\x03\x40\x0c\x00\x0b"
    body = b"\x00" + write + sizes + leave + loop + b"\x0b"
    part = b"\x10\0\0\0" + bytes([len(BEGUN)]) + b"\0\0\0" + bytes(8) + BEGUN  # where the bytes are, how many, they
    return b"\0asm\1\0\0\0" + b"".join((
        _section(1, b"\x03\x60\x04\x7f\x7f\x7f\x7f\x01\x7f\x60\x02\x7f\x7f\x01\x7f\x60\x00\x00"),
        _section(2, b"\x02" + _imported(b"fd_write", 0) + _imported(b"args_sizes_get", 1)),
        _section(3, b"\x01\x02"),
        _section(5, b"\x01\x00\x01"),  # one page of memory
        _section(7, b"\x02" + _named(b"memory") + b"\x02\x00" + _named(b"_start") + b"\x00\x02"),
        _section(10, b"\x01" + bytes([len(body)]) + body),
        _section(11, b"\x01\x00\x41\x00\x0b" + bytes([len(part)]) + part),
    ))  # fmt: skip


def _named(name: bytes) -> bytes:
    return bytes([len(name)]) + name


def _imported(name: bytes, kind: int) -> bytes:
    return _named(_MODULE) + _named(name) + bytes([0, kind])


def _section(number: int, content: bytes) -> bytes:
    assert len(content) < 128, "sizes of one byte are all that this writes"
    return bytes([number, len(content)]) + content
