"""What lanes on every device have in common before they run: is the function runnable at all, and its element items."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lanewise.errors import LinkError
from lanewise.wasm.compile import cached_text
from lanewise.wasm.foreign import explain_import
from lanewise.wasm.instructions import instructions, locals_of
from lanewise.wasm.model import Expression, Module

if TYPE_CHECKING:
    from lanewise.wasm.lanes import LaneProgram


def check_imports(program: LaneProgram) -> None:
    """A function that needs an instance can only run if the module imports nothing."""
    if program.plain or not program.module.imports:
        return
    wanted = program.module.imports[0]
    hint = explain_import(wanted.module, wanted.name, wanted.type)
    raise LinkError(
        f"the module imports {wanted.module}.{wanted.name}, and vectorised functions have nothing to give for it; "
        f"use instantiate(imports=...) instead{'. ' + hint if hint else ''}"
    )


def element_references(
    module: Module, function: Callable[[int], int], imported_global: Callable[[int], int]
) -> list[int]:
    """The references of all element segments; `function` gives that of a function, by its index."""

    def value(item: Expression) -> int:
        ((_, op, immediates),) = item
        if op.rule == "ref.null":
            return 0
        if op.rule == "ref.func":
            return function(immediates[0])
        own = immediates[0] - module.imported_globals
        return imported_global(immediates[0]) if own < 0 else value(module.defined_globals[own].init)

    return [value(item) for segment in module.elements for item in segment.items]


def references_alone(module: Module) -> list[int]:
    """The same for a module without imports and alone: a function's reference is its index + 1."""
    return element_references(module, lambda index: index + 1, lambda index: 0)


def rules_used(module: Module) -> frozenset[str]:
    """Which rules of the opcode table the functions of a module use: what it never does need not be provided for."""
    return frozenset(cached_text("rules", module, lambda: ",".join(sorted(_rules(module)))).split(","))


def _rules(module: Module) -> set[str]:
    found: set[str] = set()
    for body in module.bodies:
        if body.provided:
            continue
        _, first = locals_of(module, body)
        for one in instructions(module, first, body.end):
            found |= {one.op.rule, _ATOMICS} if _ATOMICS in one.op.name else {one.op.rule}
    return found


_ATOMICS = ".atomic."


def uses_atomics(module: Module) -> bool:
    """Whether some function has atomic accesses, which must find their numbers in one piece."""
    return _ATOMICS in rules_used(module)


def lane_choices(module: Module) -> dict[str, bool]:
    """What of a build follows from the module itself, for a module that is alone."""
    used = rules_used(module)
    return {
        "throws": bool(module.tags),
        "tails": bool(used & {"return_call", "return_call_indirect"}),
        "fixed_memory": "memory.grow" not in used,
    }
