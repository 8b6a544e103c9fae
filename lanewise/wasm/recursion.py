"""Which functions of a module call each other in rings, so that a GPU runs each ring as one loop: see `together`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from lanewise.compiler.graphs import components
from lanewise.wasm.instructions import instructions, locals_of
from lanewise.wasm.model import Function, Module

_LARGEST = 16 * 1024
"""Bytes of code that a ring may have, once for each function that it is entered by: assemblers take long for more."""


@dataclass
class _Uses:
    calls: set[int] = field(default_factory=set)
    refers: set[int] = field(default_factory=set)
    """Functions whose references are taken: anybody may call these."""
    ends_in_call: bool = False
    """Whether it has tail calls, which take the place of the function that they are in."""


def rings(module: Module) -> dict[int, tuple[int, ...]]:
    """The rings of calls, by each function that they are entered by from elsewhere, which comes first in its ring."""
    uses = {
        module.imported_functions + at: _uses(module, body)
        for at, body in enumerate(module.bodies)
        if not body.provided
    }
    parts = components(uses, lambda index: [callee for callee in sorted(uses[index].calls) if callee in uses])
    found = [part for part in parts if len(part) > 1 or part & uses[next(iter(part))].calls]
    found = [part for part in found if not any(uses[index].ends_in_call for index in part)]
    if not found:
        return {}
    known = _entered_by_others(module, uses.values())
    entered: dict[int, tuple[int, ...]] = {}
    for part in found:
        outside = set().union(*(use.calls for index, use in uses.items() if index not in part))
        ways_in = sorted(part & (known | outside))
        size = sum(_body(module, index).end - _body(module, index).start for index in part)
        if size * len(ways_in) <= _LARGEST:
            entered |= {index: (index, *sorted(part - {index})) for index in ways_in}
    return entered


def _body(module: Module, index: int) -> Function:
    return module.bodies[index - module.imported_functions]


def _entered_by_others(module: Module, uses: Iterable[_Uses]) -> set[int]:
    """Functions that whoever has the module may call, or whoever has a reference."""
    found = {export.index for export in module.exports if export.kind == "function"}
    found |= {module.start} if module.start is not None else set()
    expressions = [item for element in module.elements for item in element.items]
    expressions += [defined.init for defined in module.defined_globals]
    found |= {step.immediates[0] for steps in expressions for step in steps if step.op.rule == "ref.func"}
    return found.union(*(use.refers for use in uses))


def _uses(module: Module, body: Function) -> _Uses:
    found = _Uses()
    _, first = locals_of(module, body)
    for _, op, immediates in instructions(module, first, body.end):
        if op.rule == "call":
            found.calls.add(immediates[0])
        elif op.rule == "ref.func":
            found.refers.add(immediates[0])
        elif op.rule in ("return_call", "return_call_indirect"):
            found.ends_in_call = True
    return found
