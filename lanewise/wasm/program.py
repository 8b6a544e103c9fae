"""A whole module as LLVM IR: its functions, how an instance of it begins, and how it is entered from outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lanewise.compiler.graphs import components
from lanewise.wasm import (  # noqa: F401 - the rules register themselves
    lowering_calls,
    lowering_control,
    lowering_memory,
    lowering_tables,
    state,
    traps,
)
from lanewise.wasm.build import Build
from lanewise.wasm.emitter import ModuleContext, result_type, signature
from lanewise.wasm.lane_words import PIECE
from lanewise.wasm.lowering import FunctionLowering
from lanewise.wasm.model import Expression, Function, FuncType, Module
from lanewise.wasm.opcodes.row import LLVM_TYPES
from lanewise.wasm.prelude import prelude, shared_state
from lanewise.wasm.provided import declaration
from lanewise.wasm.swallowing import swallowed
from lanewise.wasm.together import RingLowering

_NOTHING = FuncType((), ())


@dataclass(frozen=True)
class Part:
    """A piece of a program that is compiled on its own."""

    name: str
    ir: str


def marked(parts: list[Part]) -> list[Part]:
    """Pieces of a program with a symbol in each that tells where in memory it is."""
    mark = "\ndefine void @{}() {{\n  ret void\n}}\n"
    return [Part(part.name, part.ir + mark.format(PIECE.format(number))) for number, part in enumerate(parts)]


class ModuleProgram:
    """One module, lowered for one build. Names of other modules in the same store differ by the prefix."""

    def __init__(self, module: Module, build: Build, prefix: str = "") -> None:
        self.context = ModuleContext(module, build, prefix)
        self.module = module
        self.build = build

    @property
    def entries(self) -> int:
        """How many entries the module's function table has, the unused first and the start of an instance included."""
        return len(self.module.bodies) + 2

    def parts(self, count: int = 1) -> list[Part]:
        """The program in so many pieces of about the same size; the last one holds what they share."""
        lowered = self._lower_all()
        # In a large module for a GPU only what is small is inlined: its maker inlined the rest where that pays, and
        # assemblers take very long for very large functions.
        inline: dict[int, bool] = {}
        if count > 1 and self.build.gpu:
            inline = {index: False for index, fn in lowered.items() if len(fn.lines) > _SMALL}
        elif self.build.unrolled:
            inline = dict.fromkeys(swallowed(lowered), True)
        groups = _split([(index, fn) for index, fn in lowered.items()], count)
        parts = []
        for number, group in enumerate(groups):
            texts = [fn.text(inline.get(index)) for index, fn in group]
            if number == len(groups) - 1:
                texts += [self._init(), *self._thunks(), *self.tails(lowered)]
                texts += [self._functions_table(alone=count == 1), self._entry()]
            own = {index for index, _ in group}
            texts += [note for _, fn in group for note in fn.metadata]
            parts.append(
                Part(f"{self.context.prefix}part{number}", self._module_text(texts, own, number == len(groups) - 1))
            )
        return parts

    def _lower_all(self) -> dict[int, FunctionLowering]:
        lowered = {}
        for at in range(len(self.module.bodies)):
            index = self.module.imported_functions + at
            lowered[index] = lower_function(self.context, index)
        finish_lowering(lowered, self.build)
        return lowered

    def _module_text(self, texts: Sequence[str], own: set[int], last: bool) -> str:
        declared = []
        for at, body in enumerate(self.module.bodies):
            index = self.module.imported_functions + at
            if index not in own:
                declared.append(self._declaration(index, body.type))
        if not last:
            declared.append(
                f"{self.context.functions_symbol} = external {self._elsewhere}constant [{self.entries} x {_ENTRY}]"
            )
        bodies = [self.module.bodies[index - self.module.imported_functions] for index in own]
        declared += sorted({declaration(body) for body in bodies if body.provided})
        return "\n".join([*declared, *texts, prelude(self.build)])

    @property
    def _elsewhere(self) -> str:
        """How what another piece defines is seen.

        On a CPU pieces may come to lie far apart, so it is reached by tables of addresses, which default visibility
        brings with it. A GPU's linker puts all in one place.
        """
        return "hidden " if self.build.gpu else ""

    def _declaration(self, index: int, kind: FuncType) -> str:
        result, _, parameters = signature(kind).partition(" (")
        return f"declare {self._elsewhere}{self.context.convention}{result} {self.context.symbol(index)}({parameters}"

    # --- how an instance begins --------------------------------------------------------------------------------------

    def synthetic(self) -> FunctionLowering:
        """A function of the engine's own, to be filled with code."""
        return FunctionLowering(self.context, -1, Function(_NOTHING, 0, 0))

    def _init(self) -> str:
        """The function that gives globals, tables and memories their first contents, then calls the start function."""
        fn, module, layout = self.synthetic(), self.module, self.context.layout
        self.set_globals(fn)
        for number, data in enumerate(module.data_segments):
            fn.store_cell(layout.data_lengths + number, "i64", str(data.end - data.start))
        for number, element in enumerate(module.elements):
            length = len(element.items) if element.mode != "declarative" else 0
            fn.store_cell(layout.element_lengths + number, "i64", str(length))
        for number, element in enumerate(module.elements):
            if element.mode == "active":
                fn.place = element.position
                into = fn.assign(f"zext i32 {_evaluate(fn, element.offset)} to i64")
                behind = fn.assign(f"add i64 {into}, {len(element.items)}")
                size = lowering_tables.table_size(fn, element.table)
                fn.trap_if(fn.assign(f"icmp ugt i64 {behind}, {size}"), traps.TABLE_OUT_OF_BOUNDS)
                lowering_tables.write_elements(fn, number, element.table, into, "0", str(len(element.items)))
                fn.store_cell(layout.element_lengths + number, "i64", "0")
        for number, data in enumerate(module.data_segments):
            if data.mode == "active":
                fn.place = data.start
                into = fn.assign(f"zext i32 {_evaluate(fn, data.offset)} to i64")
                behind = fn.assign(f"add i64 {into}, {data.end - data.start}")
                size = lowering_memory.memory_bytes(fn, data.memory)
                fn.trap_if(fn.assign(f"icmp ugt i64 {behind}, {size}"), traps.OUT_OF_BOUNDS)
                lowering_memory.write_data(fn, number, data.memory, into, "0", str(data.end - data.start))
                fn.store_cell(layout.data_lengths + number, "i64", "0")
        for index in runs_at_first(module):
            lowering_calls.call_index(fn, index)
        fn.leave([])
        return self._definition(fn, f"void @{self.context.prefix}init(ptr %st, ptr %mem)", guest=True)

    def set_globals(self, fn: FunctionLowering) -> None:
        """Give globals what they begin with."""
        for at, defined in enumerate(self.module.defined_globals):
            cell = self.context.layout.globals[self.module.imported_globals + at]
            fn.store_value(defined.type.value, cell, _evaluate(fn, defined.init))

    def _definition(self, fn: FunctionLowering, head: str, guest: bool) -> str:
        if fn.unwinds:
            fn.cold += ("unwind:", "ret void")
        body = "\n".join([*fn.slots, *fn.lines, *fn.cold])
        convention = self.context.convention if guest else ""
        return f"define hidden {convention}{head} #0 {{\n{body}\n}}\n"

    # --- how it is entered -------------------------------------------------------------------------------------------

    def _types(self) -> list[FuncType]:
        return list(dict.fromkeys([_NOTHING, *(body.type for body in self.module.bodies)]))

    def _thunk_symbol(self, kind: FuncType) -> str:
        return f"@{self.context.prefix}thunk{self._types().index(kind)}"

    def _thunks(self) -> list[str]:
        """For each type, a function that takes the arguments from memory and puts the results there: for hosts."""
        return [] if self.build.lanes else [self._thunk(kind) for kind in self._types()]

    def _thunk(self, kind: FuncType) -> str:
        fn = self.synthetic()
        memory = fn.load_cell(state.MEMORY, "ptr", constant=True)
        offset = 0
        for param in kind.params:
            fn.push(param, _read_argument(fn, param, offset))
            offset += 8 * state.cells_of(param)
        lowering_calls.call(fn, kind, lowering_calls.Callee("%code", "%st", memory), self.context.type_throws(kind))
        offset = 0
        for result, value in fn.stack:
            _write_result(fn, result, value, offset)
            offset += 8 * state.cells_of(result)
        fn.emit("ret void")
        if fn.unwinds:
            fn.cold += ("unwind:", f"call void @lw.trap(ptr %st, i32 {traps.UNCAUGHT}, i32 0)", "unreachable")
            fn.unwinds = False
        return self._definition(fn, f"void {self._thunk_symbol(kind)}(ptr %st, ptr %code, ptr %values)", guest=False)

    def tails(self, indices: Iterable[int]) -> list[str]:
        """GPU: for functions a wrapper each that takes its arguments from cells, where a tail call has left them."""
        if not (self.build.gpu and self.build.tails):
            return []
        return [self._tail(index, self.module.functions[index]) for index in indices]

    def _tail(self, index: int, kind: FuncType) -> str:
        fn = self.synthetic()
        arguments = [f"ptr {'%st'}", f"ptr {fn.load_cell(state.MEMORY, 'ptr', constant=True)}"]
        number = state.RESULTS
        for param in kind.params:
            arguments.append(f"{LLVM_TYPES[param]} {fn.load_value(param, number)}")
            number += state.cells_of(param)
        call = f"call {result_type(kind)} {self.context.symbol(index)}({', '.join(arguments)})"
        fn.emit(f"ret {result_type(kind)} {fn.assign(call)}" if kind.results else f"{call}\nret void")
        return self._definition(fn, f"{result_type(kind)} {self.context.tail_symbol(index)}(ptr %st)", guest=False)

    def _functions_table(self, alone: bool) -> str:
        rows = [f"{_ENTRY} zeroinitializer"]
        tails = self.build.gpu and self.build.tails
        for at, body in enumerate(self.module.bodies):
            index = self.module.imported_functions + at
            tail = self.context.tail_symbol(index) if tails else "null"
            thunk = "null" if self.build.lanes else self._thunk_symbol(body.type)
            rows.append(
                f"{_ENTRY} {{ i64 {lowering_calls.type_identity(body.type)}, ptr {self.context.symbol(index)}, "
                f"ptr {tail}, ptr {thunk} }}"
            )
        if not self.build.lanes:
            init = f"@{self.context.prefix}init"
            rows.append(f"{_ENTRY} {{ i64 0, ptr {init}, ptr null, ptr {self._thunk_symbol(_NOTHING)} }}")
        else:
            rows.append(f"{_ENTRY} zeroinitializer")
        name = self.context.functions_symbol
        # Where no other piece looks for it it goes, and functions with it, if nobody calls by reference.
        linkage = "internal" if self.build.unrolled and alone else "hidden"
        return f"{name} = {linkage} constant [{self.entries} x {_ENTRY}] [{', '.join(rows)}], align 16\n"

    def _entry(self) -> str:
        """GPU: the kernel that calls one function of one instance, named by its entry in the function table."""
        if not self.build.gpu or self.build.lanes:
            return ""
        find = shared_state(self.build)
        table, size = self.context.functions_symbol, self.entries * state.CODE_ENTRY
        return f"""
define ptx_kernel void @{self.context.prefix}export(ptr %out, i32 %n, ptr %traps) {{
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %out, ptr align 16 {table}, i64 {size}, i1 false)
  ret void
}}
define ptx_kernel void @{self.context.prefix}call(ptr %st, ptr %entry, ptr %values, i64 %stack, i32 %n, ptr %traps) {{
  %top = alloca i64
  %top_address = ptrtoint ptr %top to i64
  %floor = sub i64 %top_address, %stack
{find}  %floor_at = getelementptr i8, ptr %shared, i64 {state.FLOOR * self.build.stride}
  store i64 %floor, ptr %floor_at
  %run_at = getelementptr i8, ptr %entry, i64 {state.ENTRY_CODE}
  %thunk_at = getelementptr i8, ptr %entry, i64 {state.ENTRY_THUNK}
  %code = load ptr, ptr %run_at
  %thunk = load ptr, ptr %thunk_at
  call void %thunk(ptr %st, ptr %code, ptr %values)
  ret void
}}
"""


_SMALL = 60
"""Lines of IR up to which a function of a large module is inlined."""
_ENTRY = "{ i64, ptr, ptr, ptr }"


def _evaluate(fn: FunctionLowering, expression: Expression) -> str:
    """The value of a constant expression."""
    for found in expression:
        fn.step(found, iter(()))
    return fn.pop()


def _read_argument(fn: FunctionLowering, kind: str, offset: int) -> str:
    at = fn.assign(f"getelementptr i8, ptr %values, i64 {offset}")
    return fn.assign(f"load {LLVM_TYPES[kind]}, ptr {at}, align 8")


def _write_result(fn: FunctionLowering, kind: str, value: str, offset: int) -> None:
    at = fn.assign(f"getelementptr i8, ptr %values, i64 {offset}")
    fn.emit(f"store {LLVM_TYPES[kind]} {value}, ptr {at}, align 8")


def _split(functions: list[tuple[int, FunctionLowering]], count: int) -> list[list[tuple[int, FunctionLowering]]]:
    """Neighbours stay together, since they tend to call each other; pieces are about equal in lines."""
    total = sum(len(fn.lines) for _, fn in functions) or 1
    groups: list[list[tuple[int, FunctionLowering]]] = [[]]
    filled = 0
    for index, fn in functions:
        if filled >= total * len(groups) / count and len(groups) < count:
            groups.append([])
        groups[-1].append((index, fn))
        filled += len(fn.lines)
    return groups


def runs_at_first(module: Module) -> list[int]:
    """The functions that run when an instance is made."""
    found = [] if module.start is None else [module.start]
    # A library of C or C++ ("reactor") has its constructors run by whoever loads it, under this name.
    return found + [
        export.index
        for export in module.exports
        if export.kind == "function" and export.name == "_initialize" and module.functions[export.index] == _NOTHING
    ]


def lower_function(context: ModuleContext, index: int) -> FunctionLowering:
    """Lower a function; one that a ring of calls is entered by along with the ring, where lanes are to meet in it."""
    if (ring := context.rings.get(index)) is not None:
        together = RingLowering(context, ring)
        together.lower()
        if together.fits:
            return together
    fn = FunctionLowering(context, index, context.module.bodies[index - context.module.imported_functions])
    fn.lower()
    return fn


def finish_lowering(lowered: dict[int, FunctionLowering], build: Build) -> None:
    """Add what depends on all functions of a program: checks of the stack, and counts of calls."""
    if build.meter in ("stop", "tally"):
        recursive = recursive_functions(lowered)
        for index, fn in lowered.items():
            if fn.loops or index in recursive:
                fn.count_calls()
    if build.gpu:
        for index in stack_checks(lowered):
            lowered[index].guard_stack()


def stack_checks(lowered: dict[int, FunctionLowering]) -> set[int]:
    """GPU: the functions that look whether the stack is low: in a program that may recurse, all that call others."""
    if not recursive_functions(lowered):
        return set()
    return {index for index, fn in lowered.items() if fn.calls or fn.calls_unknown}


def recursive_functions(lowered: dict[int, FunctionLowering]) -> set[int]:
    """Functions whose calls may come back to themselves; calls through references may go anywhere."""
    found = {index for index, fn in lowered.items() if fn.calls_unknown}
    for part in components(lowered, lambda index: sorted(lowered[index].calls)):
        if len(part) > 1 or part & lowered[next(iter(part))].calls:
            found |= part
    return found
