"""Where a piece of device code stands in the user's own file, and the error that shows it with a caret."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lanewise.errors import LanewiseError, LangError


@dataclass(frozen=True)
class Position:
    """A span in a source file; line and column count from 1, `end` is the column behind the last character."""

    filename: str
    line: int
    column: int
    end: int

    def __str__(self) -> str:
        return f"{short_path(self.filename)}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Source:
    """The parsed text of one Python function, able to say where each node stands in its file."""

    filename: str
    first_line: int
    text: str
    node: ast.FunctionDef

    def position(self, node: ast.AST) -> Position:
        """The span of a node; a node over several lines is cut at the end of its first."""
        lineno = getattr(node, "lineno", self.node.lineno)
        column = getattr(node, "col_offset", 0)
        end_line = getattr(node, "end_lineno", lineno)
        end = getattr(node, "end_col_offset", column + 1)
        raw = _line(self, lineno).encode()
        column = len(raw[:column].decode(errors="replace"))
        end = len(raw[:end].decode(errors="replace")) if end_line == lineno else len(_line(self, lineno).rstrip())
        return Position(self.filename, lineno, column + 1, max(end, column + 1) + 1)

    def error(self, message: str, node: ast.AST, hint: str = "") -> LangError:
        """The error to raise for a mistake at this node."""
        return render_error(message, self.position(node), _line(self, self.position(node).line), hint)


def _line(source: Source, line: int) -> str:
    lines = source.text.split("\n")
    at = line - source.first_line
    return lines[at] if 0 <= at < len(lines) else linecache.getline(source.filename, line).rstrip("\n")


def short_path(filename: str) -> str:
    """The path relative to where the user is, if that is shorter to read."""
    relative = os.path.relpath(filename) if os.path.isabs(filename) else filename
    return filename if relative.startswith("..") else relative


def render_error(message: str, position: Position, line: str, hint: str = "", kind: str = "error") -> LangError:
    """A LangError whose text shows the line with carets under the span and the hint below."""
    number = f"{position.line:>6}"
    indent = "".join("\t" if c == "\t" else " " for c in line[: position.column - 1])
    caret = indent + "^" * max(1, position.end - position.column)
    shown = f"{position}: {kind}: {message}\n{number} | {line.rstrip()}\n{' ' * len(number)} | {caret}"
    if hint:
        shown += "\n" + textwrap.indent(hint, "    ")
    return LangError(
        message,
        filename=position.filename,
        line=position.line,
        column=position.column,
        rendered=shown,
        hint=hint,
    )


def source_of(function: Callable[..., Any]) -> Source:
    """Find and parse the source of a Python function, with line numbers as in its file."""
    name = getattr(function, "__qualname__", repr(function))
    filename = inspect.getsourcefile(function) or function.__code__.co_filename
    first_line = function.__code__.co_firstlineno
    lines = linecache.getlines(filename, function.__globals__)[first_line - 1 :]
    if not lines:
        raise LanewiseError(
            f"the source of {name} cannot be read from {filename}; device code must stand in a file or a notebook cell "
            "(what is typed at a prompt is kept by IPython, and by Python from 3.13 on)"
        )
    # A nested function's source is indented; a line before it keeps every column as it is in the file.
    before = "if True:\n" if lines[0][:1].isspace() else ""
    # Where the function ends shows only in parsing: a less indented line may still be inside a bracket or string.
    for end in _possible_ends(lines):
        text = "".join(lines[:end])
        try:
            body: Any = ast.parse(before + text).body
        except SyntaxError:
            continue
        node = body[0].body[0] if before else body[0]
        if not isinstance(node, ast.FunctionDef):
            raise LanewiseError(f"{name} in {filename} is not a plain function; write it with `def`")
        ast.increment_lineno(node, first_line - 1 - len(before.splitlines()))
        return Source(filename, first_line, text, node)
    raise LanewiseError(f"{name} in {filename} cannot be read alone; write it as a `def` on lines of its own")


def _possible_ends(lines: list[str]) -> Iterator[int]:
    """The numbers of lines after which a block that starts with the first line could end, nearest first."""
    indent = len(lines[0]) - len(lines[0].lstrip())
    inside = False
    for number, line in enumerate(lines):
        code = line.strip()
        if inside and code and not code.startswith("#") and len(line) - len(line.lstrip()) <= indent:
            yield number
        inside = inside or code.startswith(("def ", "async def ", "class "))
    yield len(lines)
