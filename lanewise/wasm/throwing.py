"""Which functions of a module can throw: only calls of those are followed by a look for an exception."""

from __future__ import annotations

from dataclasses import dataclass, field

from lanewise.wasm.instructions import instructions, locals_of
from lanewise.wasm.model import Function, FuncType, Module

_OPENS = ("block", "loop", "if", "try_table")


@dataclass
class _Escapes:
    """How an exception may leave a function, past what the function itself catches."""

    throws: bool = False
    calls: set[int] = field(default_factory=set)
    types: set[FuncType] = field(default_factory=set)
    """Of what it calls by references."""


def throwing_functions(module: Module, linked: bool) -> frozenset[int]:
    """The numbers of functions that an exception may leave.

    Of a module that is `linked` with others, imported functions and those that are called by references may be
    anybody's and throw; those of a module alone are its own, or the kernel's, which does not.
    """
    own = range(module.imported_functions, len(module.functions))
    escapes = {
        number: _escapes(module, body) for number, body in zip(own, module.bodies, strict=True) if not body.provided
    }
    found = set(range(module.imported_functions)) if linked else set()
    found |= {number for number, ways in escapes.items() if ways.throws or (linked and ways.types)}
    while True:
        types = {module.functions[number] for number in found}
        more = {
            number
            for number, ways in escapes.items()
            if number not in found and (ways.calls & found or ways.types & types)
        }
        if not more:
            return frozenset(found)
        found |= more


def _escapes(module: Module, body: Function) -> _Escapes:
    found = _Escapes()
    _, first = locals_of(module, body)
    catching = [False]
    """For the function and each open block, whether it is in a try_table that catches all there is."""
    for _, op, immediates in instructions(module, first, body.end):
        rule = op.rule
        if rule in _OPENS:
            catches = immediates[1] if rule == "try_table" else ()
            catching.append(catching[-1] or any(tag is None for _, tag, _ in catches))
        elif rule == "end":
            catching.pop()
        elif rule.startswith("return_call"):  # a tail call has left all blocks when it is made
            _note_call(module, found, rule, immediates)
        elif catching[-1]:
            continue
        elif rule in ("throw", "throw_ref"):
            found.throws = True
        elif rule.startswith("call"):
            _note_call(module, found, rule, immediates)
    return found


def _note_call(module: Module, found: _Escapes, rule: str, immediates: tuple[int, ...]) -> None:
    if rule.endswith("indirect"):
        found.types.add(module.types[immediates[0]])
    else:
        found.calls.add(immediates[0])
