"""What each lane gets of its own: arguments with `{lane}` and `{}` filled in, and its standard input."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path

from lanewise.batch.lines import Lines, without_newline
from lanewise.errors import ArgumentError

NO_INPUT = b""
"""Lanes of a batch read nothing unless they are given something: one standard input cannot be that of all."""


class _Hole(Enum):
    """A place in an argument that differs from lane to lane."""

    LANE = "{lane}"
    ITEM = "{}"


class Template:
    """The arguments of a program, in which `{lane}` stands for the lane's number and `{}` for its line or file.

    `{{lane}}` and `{{}}` stand for `{lane}` and `{}` themselves. No other braces mean anything, so that JSON and the
    like pass as they are; what is not filled in (`{}` where there is no item) is left alone, its double form too.
    """

    def __init__(self, name: str, arguments: Sequence[str | bytes], *, lane: bool, item: bool) -> None:
        words = [rb"lane"] * lane + [rb""] * item
        pattern = re.compile(rb"\{\{(%b)\}\}|\{(%b)\}" % ((b"|".join(words),) * 2)) if words else None
        self._arguments: list[list[bytes | _Hole]] = [[encoded_argument(name)]]
        self._arguments += [_split(encoded_argument(argument), pattern) for argument in arguments]
        holes = {piece for pieces in self._arguments for piece in pieces if isinstance(piece, _Hole)}
        self.uses_item = _Hole.ITEM in holes
        self.same = not holes
        """Whether there is nothing to fill in."""
        self._filled = self._fill({}) if self.same else []

    def fill(self, lane: int, item: bytes = b"") -> Sequence[bytes]:
        """The arguments of a lane, the program's name first."""
        if self.same:
            return self._filled
        return self._fill({_Hole.LANE: b"%d" % lane, _Hole.ITEM: item})

    def _fill(self, values: Mapping[_Hole, bytes]) -> list[bytes]:
        return [
            b"".join([values[piece] if isinstance(piece, _Hole) else piece for piece in pieces])
            for pieces in self._arguments
        ]


class SameInput:
    """The same standard input for all lanes: some bytes, or None for that of the host."""

    def __init__(self, template: Template, stdin: bytes | None) -> None:
        self._template = template
        self._stdin = stdin
        self.same_arguments = template.same

    def arguments(self, lane: int) -> Sequence[bytes]:
        """The arguments of a lane, the program's name included."""
        return self._template.fill(lane)

    def stdin(self, lane: int) -> bytes | None:
        """What a lane reads on its standard input; None for that of the host."""
        return self._stdin

    def sizes(self, lanes: range) -> Sequence[int] | None:
        """All have the same."""
        return None


class LineInputs:
    """One line per lane: on its standard input with the newline, and without it where arguments have `{}`."""

    def __init__(self, template: Template, lines: Lines) -> None:
        self._template = template
        self._lines = lines
        self.same_arguments = template.same

    def arguments(self, lane: int) -> Sequence[bytes]:
        """The arguments of a lane, the program's name included."""
        line = without_newline(self._lines[lane]) if self._template.uses_item else b""
        return self._template.fill(lane, line)

    def stdin(self, lane: int) -> bytes | None:
        """The lane's line."""
        return self._lines[lane]

    def sizes(self, lanes: range) -> Sequence[int] | None:
        """What is on standard input says it."""
        return None


class FileInputs:
    """One file per lane, its path where arguments have `{}`."""

    def __init__(self, template: Template, paths: Sequence[str], stdin: bytes | None) -> None:
        """`stdin` is what all lanes read on their standard input; None if it is each lane's file."""
        self._template = template
        self._paths = paths
        self._stdin = stdin
        self.same_arguments = template.same

    def arguments(self, lane: int) -> Sequence[bytes]:
        """The arguments of a lane, the program's name included."""
        return self._template.fill(lane, os.fsencode(self._paths[lane]))

    def stdin(self, lane: int) -> bytes | None:
        """What a lane reads on its standard input."""
        if self._stdin is not None:
            return self._stdin
        try:
            return Path(self._paths[lane]).read_bytes()
        except OSError as error:
            raise ArgumentError(f"{self._paths[lane]!r} cannot be read: {error.strerror}") from None

    def sizes(self, lanes: range) -> Sequence[int] | None:
        """How large each file is; what cannot be seen counts as empty."""
        return [_file_size(self._paths[lane]) for lane in lanes]


class GivenInputs:
    """What Python code gives: functions of the lane."""

    def __init__(
        self, arguments: Callable[[int], Sequence[bytes]], stdin: Callable[[int], bytes], *, same_arguments: bool
    ) -> None:
        self._arguments = arguments
        self._stdin = stdin
        self.same_arguments = same_arguments

    def arguments(self, lane: int) -> Sequence[bytes]:
        """The arguments of a lane, the program's name included."""
        return self._arguments(lane)

    def stdin(self, lane: int) -> bytes | None:
        """What a lane reads on its standard input."""
        return self._stdin(lane)

    def sizes(self, lanes: range) -> Sequence[int] | None:
        """What is on standard input says it: whoever gives that is asked once for each lane."""
        return None


def _file_size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def encoded_argument(argument: object) -> bytes:
    """An argument as a program gets it; it ends at its first byte 0, so it cannot have one."""
    if not isinstance(argument, str | bytes | os.PathLike):
        kind = type(argument).__name__
        advice = "give either one list of arguments or a list for each lane" if kind in ("list", "tuple") else ""
        advice = advice or f"write str({argument!r})"
        raise ArgumentError(f"an argument is text, bytes or a path, not {kind}; {advice}")
    data = os.fsencode(argument)
    if 0 in data:
        raise ArgumentError(f"the argument {argument!r} has a byte 0 in it, which no argument can hold")
    return data


def _split(argument: bytes, pattern: re.Pattern[bytes] | None) -> list[bytes | _Hole]:
    """An argument as bytes that stay and holes to fill."""
    pieces: list[bytes | _Hole] = []
    at = 0
    for found in pattern.finditer(argument) if pattern else ():
        pieces.append(argument[at : found.start()])
        if found[1] is not None:  # doubled braces
            pieces.append(b"{%b}" % found[1])
        else:
            pieces.append(_Hole.LANE if found[2] else _Hole.ITEM)
        at = found.end()
    return [*pieces, argument[at:]]
