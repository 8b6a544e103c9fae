"""Whether new instances of a module can fail: by their start function, or by segments that are out of bounds."""

from __future__ import annotations

import operator
from collections.abc import Callable

from lanewise.wasm.model import PAGE, Expression, Module


def may_fail_to_begin(module: Module) -> bool:
    """Whether a new instance can trap before any of its functions is called, or never come to that.

    Constructors of libraries (`_initialize`) are taken not to: most libraries have them, and functions that need no
    instance are ten times as fast without one.
    """
    if module.start is not None:
        return True
    for data in module.data_segments:
        if data.mode == "active":
            size = module.memories[data.memory].limits.minimum * PAGE
            if not _fits(module, data.offset, data.end - data.start, size):
                return True
    return any(
        not _fits(module, element.offset, len(element.items), module.tables[element.table].limits.minimum)
        for element in module.elements
        if element.mode == "active"
    )


def _fits(module: Module, offset: Expression, length: int, size: int) -> bool:
    """Whether an active segment is known to be within the bounds of what it is for."""
    first = _constant(module, offset)
    return first is not None and (first & 0xFFFFFFFF) + length <= size


def _constant(module: Module, steps: Expression) -> int | None:
    """The value of a constant expression of type i32, perhaps with too many bits; None if others decide it."""
    stack: list[int] = []
    for _, op, immediates in steps:
        if op.rule == "const":
            stack.append(immediates[0])
        elif op.name in _ARITHMETIC:
            second, first = stack.pop(), stack.pop()
            stack.append(_ARITHMETIC[op.name](first, second))
        elif op.rule == "global.get" and immediates[0] >= module.imported_globals:
            value = _constant(module, module.defined_globals[immediates[0] - module.imported_globals].init)
            if value is None:
                return None
            stack.append(value)
        else:
            return None
    return stack[0]


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "i32.add": operator.add,
    "i32.sub": operator.sub,
    "i32.mul": operator.mul,
}
