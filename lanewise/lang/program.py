"""A whole program: a kernel with all it calls, lowered for one target into the text of one LLVM module."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lanewise.lang import calls, expressions, loops, operators, statements
from lanewise.lang.abi import Abi
from lanewise.lang.checks import check_function
from lanewise.lang.diagnostics import Position
from lanewise.lang.functions import DeviceFunction, Kernel
from lanewise.lang.intrinsics import BUILTINS, GRID_RANGE, ON_GPU, Intrinsic
from lanewise.lang.ir import Block, Operand, Place, Value
from lanewise.lang.lowering import INHERITED, Facts, FunctionLowering
from lanewise.lang.types import ArrayType, Scalar, scalar_of_dtype

_FEW_COPIES = 2
"""So often a function may be there as a part of its callers on a GPU, whatever it says of itself."""


@dataclass(frozen=True)
class Site:
    """A place where a thread can stop itself, with what to tell the user."""

    message: str
    filename: str
    line: int


@dataclass
class Lowered:
    """One function as text, with what is known about it."""

    function: DeviceFunction
    symbol: str
    block: Block
    facts: Facts
    recursive: bool = False
    part_of_callers: bool = False


@dataclass(frozen=True)
class Module:
    """The result of lowering: LLVM IR text and what the launch must know about it."""

    name: str
    entry: str
    ir: str
    sites: tuple[Site, ...]
    facts: Facts
    source: str


@dataclass
class Program:
    """Lowers functions on request until none is left; see `lower_kernel` and `lower_library`."""

    abi: Abi
    sites: list[Site] = field(default_factory=list)
    globals: list[str] = field(default_factory=list)
    shared_bytes: int = 0

    expression_rules = expressions.RULES | operators.RULES | calls.RULES
    statement_rules = statements.RULES | loops.RULES
    on_gpu_marker = ON_GPU
    grid_range_marker = GRID_RANGE

    def __post_init__(self) -> None:
        self._symbols: dict[DeviceFunction, str] = {}
        self._queue: list[DeviceFunction] = []
        self._lowered: dict[DeviceFunction, Lowered] = {}
        self._tables: dict[int, tuple[np.ndarray[Any, Any], Place]] = {}
        self._externals: dict[str, str] = {}

    # --- what lowering asks of the program ---------------------------------------------------------------------------

    def request(self, callee: DeviceFunction, caller: FunctionLowering) -> tuple[str, tuple[str, ...]]:
        """The symbol of a function and the hidden arguments that come first; it is lowered later if it was not."""
        if isinstance(callee, External):
            parameters = ", ".join(kind.llvm for kind in callee.parameters.values())
            self._externals[callee.name] = f"declare {callee.result.llvm} @{callee.name}({parameters})"
            return callee.name, ()
        caller.facts.callees.append(callee)
        return self.symbol(callee), self.abi.hidden_arguments

    def symbol(self, function: DeviceFunction) -> str:
        """A name that is unique in the module and legal in PTX."""
        if function not in self._symbols:
            plain = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in function.name)
            self._symbols[function] = f"fn{len(self._symbols)}_{plain}"
            self._queue.append(function)
        return self._symbols[function]

    def library_call(self, fn: FunctionLowering, name: str, values: list[Value]) -> Operand:
        """Call a function of the math library, for operators that have no instruction."""
        from lanewise.lang import math as library  # the library is itself device code, built on this module

        kind = values[0].type
        assert isinstance(kind, Scalar)
        return calls.call(fn, getattr(library, name).instance(kind), values)

    def intrinsic_of(self, callee: Any) -> Callable[[FunctionLowering, ast.Call], Operand] | None:
        """How to lower a call of a built-in function, or None if it is none."""
        if isinstance(callee, Intrinsic):
            return callee.lower
        try:
            builtin = BUILTINS.get(callee)
        except TypeError:
            return None
        return builtin.lower if builtin else None

    def scalar_of(self, dtype: np.dtype[Any]) -> Scalar | None:
        """The type of a NumPy scalar constant."""
        return scalar_of_dtype(dtype)

    def is_kernel(self, function: DeviceFunction) -> bool:
        """Whether a function is launched rather than called."""
        return isinstance(function, Kernel)

    def add_site(self, message: str, position: Position) -> int:
        """Register a place where threads can trap; gives its number."""
        self.sites.append(Site(message, position.filename, position.line))
        return len(self.sites) - 1

    def constant_array(self, fn: FunctionLowering, table: np.ndarray[Any, Any], node: ast.AST) -> Place:
        """A NumPy array at module level as a read-only table in the module."""
        known = self._tables.get(id(table))
        if known is not None:
            return known[1]
        kind = scalar_of_dtype(table.dtype)
        if kind is None or table.ndim != 1 or table.size == 0:
            raise fn.error("a table is a one-dimensional NumPy array of numbers", node)
        data = "".join(f"\\{byte:02X}" for byte in np.ascontiguousarray(table).tobytes())
        name = f"@table{len(self._tables)}"
        raw = f"[{table.nbytes} x i8]"
        self.globals.append(f'{name} = internal {self.abi.constant_space}constant {raw} c"{data}", align 16')
        place = Place(ArrayType(kind, table.size), self.abi.generic_constant(name), readonly=True)
        self._tables[id(table)] = (table, place)
        return place

    def shared_offset(self, size: int, align: int) -> int:
        """Reserve group-shared memory; gives the offset in the group's block."""
        offset = (self.shared_bytes + align - 1) // align * align
        self.shared_bytes = offset + size
        return offset

    def nearest_name(self, fn: FunctionLowering, name: str) -> str:
        """A known name that looks like a mistyped one."""
        known = [*fn.names, *fn.function.names, *fn.function.function.__globals__]
        return next(iter(difflib.get_close_matches(name, known, 1)), "")

    # --- lowering ----------------------------------------------------------------------------------------------------

    def lower(self, roots: Sequence[DeviceFunction]) -> dict[DeviceFunction, Lowered]:
        """Lower these functions and all they call, then spread facts from callees to callers."""
        for root in roots:
            self.symbol(root)
        while self._queue:
            function = self._queue.pop(0)
            lowering = FunctionLowering(self, function)
            try:
                statements.lower_body(lowering)
            except RecursionError:
                raise lowering.error(
                    f"{function.name} is nested too deep",
                    function.source.node,
                    "name parts of it on lines of their own",
                ) from None
            self._lowered[function] = Lowered(function, self._symbols[function], lowering.block, lowering.facts)
        _spread_facts(self._lowered)
        for lowered in self._lowered.values():
            check_function(
                lowered.function, lambda callee: callee in self._lowered and self._lowered[callee].facts.barriers
            )
        return self._lowered

    def text(self, lowered: Lowered, linkage: str = "internal") -> str:
        """The LLVM definition of one function."""
        function, facts = lowered.function, lowered.facts
        parameters = [*self.abi.hidden_parameters]
        parameters += [f"{kind.llvm} %arg{index}" for index, kind in enumerate(function.parameters.values())]
        attributes = "nounwind" + (" convergent" if facts.converges else "")
        if isinstance(function, Kernel) or lowered.part_of_callers:
            attributes += " alwaysinline"
        elif not function.inline:
            attributes += " noinline"
        prologue = self._stack_check(lowered) if lowered.recursive else ""
        body = lowered.block.text().replace("  br label %body\n", prologue + "  br label %body\n", 1)
        return (
            f"define {linkage} {function.result.llvm} @{lowered.symbol}({', '.join(parameters)}) {attributes} {{\n"
            f"{body}\n}}\n"
        )

    def _stack_check(self, lowered: Lowered) -> str:
        checker = FunctionLowering(self, lowered.function)
        checker.block = Block()
        checker.block._next = 1_000_000  # names apart from those of the body
        low = self.abi.stack_is_low(checker)
        if not low:
            return ""
        checker.trap_if(low, "recursion too deep for the stack of this thread", lowered.function.source.node)
        lowered.facts.traps = True
        return "\n".join([*checker.block.slots, *checker.block.lines]) + "\n"

    def module(self, definitions: list[str]) -> str:
        """All text of the module."""
        body = "\n".join(definitions)
        declared = [text for name, text in self._externals.items() if f"@{name}(" in body]
        return "\n".join(
            [self.abi.preamble(), *self.globals, *declared, body, '!0 = !{!"branch_weights", i32 1, i32 1000000}']
        )


class External(DeviceFunction):
    """A native function that device code of the CPU's own runtime calls; declared by a Python signature."""


def external(function: Callable[..., Any]) -> External:
    """Declare a native function by its signature; the linker supplies its address."""
    return External(function)


def _spread_facts(lowered: dict[DeviceFunction, Lowered]) -> None:
    """Callers inherit what their callees do; functions that reach themselves are recursive."""
    changed = True
    while changed:
        changed = False
        for entry in lowered.values():
            facts = entry.facts
            for callee in facts.callees:
                for fact in INHERITED:
                    if getattr(lowered[callee].facts, fact) and not getattr(facts, fact):
                        setattr(facts, fact, True)
                        changed = True
    for entry in lowered.values():
        seen: set[DeviceFunction] = set()
        pending = list(entry.facts.callees)
        while pending:
            callee = pending.pop()
            if callee not in seen:
                seen.add(callee)
                pending += lowered[callee].facts.callees
        entry.recursive = entry.function in seen


def _join_callers(lowered: dict[DeviceFunction, Lowered], kernel: Kernel) -> None:
    """Make functions that are called in few places parts of their callers.

    On a GPU only a kernel has what describes memory at hand: in a function that is called every load and store takes
    two more instructions, and the time until they are done. Not those that recursive functions call: their locals would
    be there for each level. What threads meet in stays in one place, wherever they come from.
    """
    copies: dict[DeviceFunction, int] = {kernel: 1}
    for function in _callers_first(lowered, kernel):
        entry = lowered[function]
        most = 1 if entry.facts.converges else _FEW_COPIES
        joins = not entry.recursive and copies[function] <= most
        entry.part_of_callers = joins and function is not kernel
        each = _FEW_COPIES + 1 if entry.recursive else copies[function] if joins else 1
        for callee in entry.facts.callees:
            copies[callee] = copies.get(callee, 0) + each


def _callers_first(lowered: dict[DeviceFunction, Lowered], kernel: Kernel) -> list[DeviceFunction]:
    """All functions, each behind all that call it, but for those that call each other."""
    found: list[DeviceFunction] = []
    seen: set[DeviceFunction] = set()
    pending: list[tuple[DeviceFunction, bool]] = [(kernel, False)]
    while pending:
        function, done = pending.pop()
        if done:
            found.append(function)
        elif function not in seen:
            seen.add(function)
            pending.append((function, True))
            pending += [(callee, False) for callee in lowered[function].facts.callees]
    return found[::-1]


def lower_kernel(kernel: Kernel, abi: Abi) -> Module:
    """Lower a kernel and all it calls for one target."""
    program = Program(abi)
    lowered = program.lower([kernel])
    if abi.on_gpu:
        _join_callers(lowered, kernel)
    definitions = [program.text(entry) for entry in lowered.values()]
    facts = lowered[kernel].facts
    facts.recursive = any(entry.recursive for entry in lowered.values())
    facts.traps = facts.traps or facts.recursive
    facts.local_bytes = sum(entry.facts.local_bytes for entry in lowered.values())
    entry_name = "lw_" + "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in kernel.name)
    definitions.append(abi.entry(entry_name, kernel, lowered[kernel].symbol, facts))
    source = "\n\n".join(entry.function.source.text for entry in lowered.values())
    return Module(
        kernel.name,
        entry_name,
        program.module(definitions),
        tuple(program.sites),
        facts,
        source,
    )


def lower_library(functions: Sequence[DeviceFunction], abi: Abi) -> str:
    """Lower functions to be called from outside by their own names; for the CPU's runtime."""
    program = Program(abi)
    for function in functions:
        program._symbols[function] = function.name
        program._queue.append(function)
    lowered = program.lower([])
    exported = set(functions)
    return program.module(
        [program.text(entry, "dso_local" if entry.function in exported else "internal") for entry in lowered.values()]
    )
