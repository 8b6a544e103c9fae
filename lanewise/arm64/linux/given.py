"""What people give to programs: one for all lanes, a list with one for each, or a function of a lane's number."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from lanewise.errors import ArgumentError, shown

Text = str | bytes
Argv = Sequence[Text]
Env = Mapping[str, str]
_Found = TypeVar("_Found")


def _per_lane(
    given: Any, lanes: int, what: str, single: Callable[[Any], bool], read: Callable[[Any], _Found], kind: str
) -> list[_Found]:
    """A value for each lane; `single` says whether what was given is one for all, and `kind` in words what that is."""
    if single(given):
        return [read(given)] * lanes
    if callable(given):
        return [read(given(number)) for number in range(lanes)]
    if not isinstance(given, Sequence) or len(given) != lanes:
        count = f" of {len(given)}" if isinstance(given, Sequence) else ""
        raise ArgumentError(
            f"{what} is a {type(given).__name__}{count}; give {kind} for all lanes, or a list of {lanes:,} such"
        )
    return [read(one) for one in given]


def arguments(argv: Any, lanes: int, name: str) -> list[tuple[bytes, ...]]:
    """Those of each lane; by default the program's name alone."""
    return _per_lane([name] if argv is None else argv, lanes, "argv", _is_argv, _read_argv, "a list of texts")


def environments(env: Any, lanes: int) -> list[tuple[bytes, ...]]:
    """Those of each lane; by default they are empty."""
    return _per_lane({} if env is None else env, lanes, "env", _is_env, _read_env, "a dictionary of texts")


def inputs(stdin: Any, lanes: int) -> list[bytes]:
    """What each lane reads."""
    return _per_lane(stdin, lanes, "stdin", _is_input, _read_input, "bytes or text")


def _is_argv(given: Any) -> bool:
    """Whether it is one list of arguments, even if some in it are no texts."""
    return isinstance(given, Sequence) and (not given or any(isinstance(one, str | bytes) for one in given))


def _read_argv(given: Any) -> tuple[bytes, ...]:
    """Arguments as the program sees them; the first is its name."""
    if isinstance(given, str | bytes) or not _is_argv(given):
        raise ArgumentError(f"argv is {shown(given)}; it is a list of texts, the name of the program first")
    return tuple(_text(one, "an argument") for one in given)


def _is_env(given: Any) -> bool:
    """Whether it is one environment."""
    return isinstance(given, Mapping)


def _read_env(given: Any) -> tuple[bytes, ...]:
    """An environment as the program sees it."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"env is {shown(given)}; it is a dictionary of texts")
    return tuple(_text(name, "env") + b"=" + _text(value, "env") for name, value in given.items())


def _is_input(given: Any) -> bool:
    """Whether it is one standard input."""
    return isinstance(given, str | bytes)


def _read_input(given: Any) -> bytes:
    """A standard input."""
    if not isinstance(given, str | bytes):
        raise ArgumentError(f"stdin is {type(given).__name__}; it is bytes or text")
    try:
        return given.encode() if isinstance(given, str) else given
    except UnicodeError:
        raise ArgumentError("stdin has characters that UTF-8 has no bytes for; give bytes") from None


def _text(given: Any, what: str) -> bytes:
    if not isinstance(given, str | bytes):
        raise ArgumentError(f"{what} is {shown(given)}; it is a text")
    try:
        found = os.fsencode(given)
    except UnicodeError:
        raise ArgumentError(f"{what} has characters that UTF-8 has no bytes for: {given!r}") from None
    if b"\0" in found:
        raise ArgumentError(f"{what} has a 0 byte in it: {given!r}")
    return found
