"""The lines of a file, one per lane: only where each begins is held, so that a large file costs little memory."""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lanewise.errors import LanewiseError

_CHUNK = 4 << 20
_NEWLINE = 10


class Lines:
    """Lines of a file that can be read from anywhere; `lines[3]` is one with its newline, as the file has it."""

    def __init__(self, file: int, begin: int = 0) -> None:
        """Take over a file descriptor that can seek, from the byte `begin` on."""
        self._file = file
        self._starts = _starts(file, begin)

    @staticmethod
    def of(path: str) -> Lines:
        """The lines of a file; `-` is the standard input. Pipes are read to their end first."""
        name = shown(path)
        try:
            file = os.dup(0) if path == "-" else os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            if stat.S_ISREG(os.fstat(file).st_mode):
                # A shell may have read the first lines of its standard input before us.
                return Lines(file, os.lseek(file, 0, os.SEEK_CUR))
            return Lines(_spooled(file))
        except FileNotFoundError:
            raise LanewiseError(f"there is no file {name} to take lines from") from None
        except OSError as error:
            raise LanewiseError(f"{name} cannot be read: {error.strerror}") from None

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, index: int) -> bytes:
        begin, end = int(self._starts[index]), int(self._starts[index + 1])
        line = os.pread(self._file, end - begin, begin)
        while len(line) < end - begin:  # one call reads at most 2 GiB, and fewer where a signal comes in between
            more = os.pread(self._file, end - begin - len(line), begin + len(line))
            if not more:
                raise LanewiseError(f"line {index + 1} is not in the inputs file any more; it was cut during the run")
            line += more
        return line

    def with_zero_byte(self) -> int | None:
        """The first line that has a byte 0, which no argument can hold."""
        at = int(self._starts[0])
        while chunk := os.pread(self._file, _CHUNK, at):
            if (found := chunk.find(0)) >= 0:
                return int(np.searchsorted(self._starts, at + found, side="right")) - 1
            at += len(chunk)
        return None

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)


def without_newline(line: bytes) -> bytes:
    """A line as an argument: without its newline, also one of Windows."""
    return line.removesuffix(b"\n").removesuffix(b"\r") if line.endswith(b"\n") else line


def shown(path: str) -> str:
    """A path in a sentence; `-` is not one."""
    return "the standard input" if path == "-" else repr(path)


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file that every lane reads; `-` is the standard input."""
    name = shown(os.fspath(path))
    try:
        if path == "-":
            return b"".join(_pieces(0))
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise LanewiseError(f"there is no file {name} to read from") from None
    except OSError as error:
        raise LanewiseError(f"{name} cannot be read: {error.strerror}") from None


def _spooled(file: int) -> int:
    """What a pipe has to say, in a file without a name."""
    import tempfile  # not needed for files, which are the usual case

    try:
        with tempfile.TemporaryFile() as kept:
            for piece in _pieces(file):
                kept.write(piece)
            kept.flush()
            return os.dup(kept.fileno())
    finally:
        os.close(file)


def _pieces(file: int) -> Iterator[bytes]:
    """What a pipe or a terminal has to say, up to the first end: a terminal goes on after Ctrl-D if it is asked."""
    while True:
        try:
            piece = os.read(file, _CHUNK)
        except BlockingIOError:  # whoever shares it may have had it not wait
            select.select([file], [], [])
            continue
        if not piece:
            return
        yield piece


def _starts(file: int, begin: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Where each line begins, and where the last one ends; it may lack its newline."""
    parts = [np.array([begin], np.int64)]
    at, last = begin, _NEWLINE
    while chunk := os.pread(file, _CHUNK, at):
        parts.append(np.flatnonzero(np.frombuffer(chunk, np.uint8) == _NEWLINE) + (at + 1))
        at, last = at + len(chunk), chunk[-1]
    if last != _NEWLINE:
        parts.append(np.array([at], np.int64))
    return np.concatenate(parts)
