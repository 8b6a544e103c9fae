"""Functions of the IR that many rows call, rather than have all of their lines each: that would take long to compile.

What they do is written as meanings are, but over numbers alone.
"""

from __future__ import annotations

from collections.abc import Callable

from lanewise.arm64.values import Value
from lanewise.arm64.writer import Writer

_SHARED: dict[str, str] = {}


def share(name: str, bits: int, count: int, work: Callable[..., Value]) -> None:
    """Have a function of so many numbers of a size: `work` takes a writer and them, and gives the result."""
    w = Writer()
    given = [Value(bits, f"%given.{at}") for at in range(count)]
    made = work(w, *given)
    parameters = ", ".join(one.typed for one in given)
    lines = [*(f"  {line}" for line in w.head), *w.lines, f"  ret {made.typed}"]
    head = f"define internal i{made.bits} @arm64.{name}.i{bits}({parameters}) noinline {{"
    _SHARED[f"{name}.i{bits}"] = "\n".join([head, *lines, "}", ""])


def call(w: Writer, name: str, *given: Value) -> Value:
    """Call one that gives a number of the size that it takes."""
    bits = given[0].bits
    parameters = ", ".join(one.typed for one in given)
    return w.assign(bits, f"call i{bits} @arm64.{name}.i{bits}({parameters})")


def definitions() -> str:
    """All of them, for a module."""
    return "".join(_SHARED.values())
