"""What people give to programs: one for all lanes, a list with one for each, or a function of a lane's number."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from lanewise.errors import ArgumentError

Text = str | bytes
Argv = Sequence[Text]
Env = Mapping[str, str]
_Found = TypeVar("_Found")


def per_lane(
    given: Any, lanes: int, what: str, single: Callable[[Any], bool], read: Callable[[Any], _Found]
) -> list[_Found]:
    """A value for each lane; `single` says whether what was given is one for all."""
    if single(given):
        return [read(given)] * lanes
    if callable(given):
        return [read(given(number)) for number in range(lanes)]
    if not isinstance(given, Sequence) or len(given) != lanes:
        count = f" of {len(given)}" if isinstance(given, Sequence) else ""
        raise ArgumentError(f"{what} is a {type(given).__name__}{count}; give one for all lanes, or {lanes:,}")
    return [read(one) for one in given]


def is_argv(given: Any) -> bool:
    """Whether it is one list of arguments."""
    return isinstance(given, Sequence) and all(isinstance(one, str | bytes) for one in given)


def read_argv(given: Any) -> tuple[bytes, ...]:
    """Arguments as the program sees them; the first is its name."""
    if isinstance(given, str | bytes) or not is_argv(given):
        raise ArgumentError(f"argv is {given!r}; it is a list of texts, the name of the program first")
    return tuple(_text(one, "an argument") for one in given)


def is_env(given: Any) -> bool:
    """Whether it is one environment."""
    return isinstance(given, Mapping)


def read_env(given: Any) -> tuple[bytes, ...]:
    """An environment as the program sees it."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"env is {given!r}; it is a dictionary of texts")
    return tuple(_text(name, "env") + b"=" + _text(value, "env") for name, value in given.items())


def is_input(given: Any) -> bool:
    """Whether it is one standard input."""
    return isinstance(given, str | bytes)


def read_input(given: Any) -> bytes:
    """A standard input."""
    if not isinstance(given, str | bytes):
        raise ArgumentError(f"stdin is {type(given).__name__}; it is bytes or text")
    try:
        return given.encode() if isinstance(given, str) else given
    except UnicodeError:
        raise ArgumentError("stdin has characters that UTF-8 has no bytes for; give bytes") from None


def _text(given: Any, what: str) -> bytes:
    if not isinstance(given, str | bytes):
        raise ArgumentError(f"{what} is {given!r}; it is a text")
    try:
        found = os.fsencode(given)
    except UnicodeError:
        raise ArgumentError(f"{what} has characters that UTF-8 has no bytes for: {given!r}") from None
    if b"\0" in found:
        raise ArgumentError(f"{what} has a 0 byte in it: {given!r}")
    return found
