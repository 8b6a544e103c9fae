"""What is being compiled while somebody waits for it: whoever waits can be told, and why nothing else happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_now: list[str] = []


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Have it known that this is compiled now, and that somebody waits."""
    _now.append(what)
    try:
        yield
    finally:
        _now.remove(what)


def what_is_compiled() -> str | None:
    """What somebody waits for now, or None if it is nothing."""
    return next(iter(_now), None)
