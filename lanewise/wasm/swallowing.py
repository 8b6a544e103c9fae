"""Which functions of a small program become part of those that call them, so that all of it is one function.

On a GPU a function that is called pays for it at every access to memory, and what its callers know, such as where the
guest's stack is, is lost to it. But lanes meet where it returns, so rings of calls stay functions of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from lanewise.compiler.graphs import components
from lanewise.wasm.lowering import FunctionLowering
from lanewise.wasm.together import RingLowering

_MOST_LINES = 40_000
"""Lines of IR that all functions together may come to when they are written out wherever they are called."""


def swallowed(lowered: Mapping[int, FunctionLowering]) -> set[int]:
    """Functions that are written out wherever they are called: none, if that would be too much, or if they may be
    called by reference, too."""
    if any(fn.calls_unknown for fn in lowered.values()):
        return set()
    sizes: dict[int, int] = {}
    found: set[int] = set()
    for part in components(lowered, lambda index: sorted(lowered[index].calls & lowered.keys())):
        for index in part:
            fn = lowered[index]
            callees = fn.calls & found
            sizes[index] = len(fn.lines) + sum(_sites(fn, callee) * sizes[callee] for callee in callees)
            recurses = len(part) > 1 or index in fn.calls or isinstance(fn, RingLowering)
            found |= set() if recurses else {index}
    return found if sum(sizes.values()) <= _MOST_LINES else set()


def _sites(fn: FunctionLowering, callee: int) -> int:
    """How often a function calls another."""
    return sum(f"{fn.context.symbol(callee)}(" in line for line in fn.lines)
