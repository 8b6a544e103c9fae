"""A function body to LLVM IR text, in one pass over its instructions.

Values live on a compile-time stack of names; locals, and what blocks take and give, live in slots that LLVM turns into
registers. Code that cannot be reached is skipped. The body has been validated, so nothing is checked here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lanewise.wasm import state, traps
from lanewise.wasm.build import Build
from lanewise.wasm.instructions import instructions, locals_of
from lanewise.wasm.model import FuncType, Function, Instruction, Module
from lanewise.wasm.opcodes import OPS
from lanewise.wasm.opcodes.row import LLVM_TYPES, Op, Step

Value: TypeAlias = tuple[str, str]
"""A value on the stack: its WebAssembly type and its LLVM name or constant."""

_IDENTITIES = frozenset(
    f"0x{bits:016X}" for bits in (0, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000)
)
"""Plus and minus 0 and 1: LLVM drops operations with them, and so the quieting of a NaN."""


QUIET_BITS = {"f32": 0x7FC00000, "f64": 0x7FF8000000000000}
"""The canonical NaNs."""


@dataclass
class Frame:
    """A block that the code is in: where its label leads, and the slots that carry what it takes or gives."""

    label: str
    kind: str
    type: FuncType
    height: int
    """How many values lay on the stack below the block's own."""
    targets: list[str] = field(default_factory=list)
    """Slots that a branch to the label fills."""
    results: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    """Slots of the block's parameters, where they are needed again: by a loop's next round, by an `else`."""
    end: str = ""
    otherwise: str = ""
    """The label of the `else` part, while there has been none."""
    landing: str = ""
    """try_table: where an exception in it goes."""
    reached: bool = False
    """Whether any branch leads to the end."""


_OF_INSTANCES = frozenset(
    row.rule
    for row in OPS.values()
    if row.rule.startswith(("memory.", "table.", "global.", "data.", "elem.", "call_ind", "return_call_ind", "throw", "try"))
    or row.rule in ("ref.func", "atomic.fence")
)
"""Instructions that need an instance: its memories, tables, globals, or other functions than those named."""

FUEL_SLICE = 1 << 20
"""Steps between two looks at whether the lane has been asked to stop."""


FIRST_NOTE = 100
"""The metadata before belongs to the module: see `prelude.METADATA`."""


class ModuleContext:
    """What the functions of one module have in common while they are lowered."""

    def __init__(self, module: Module, build: Build, prefix: str) -> None:
        self.module = module
        self.build = build
        self.prefix = prefix
        self.layout = state.StateLayout(module)
        self.notes = itertools.count(FIRST_NOTE)
        """Numbers for metadata of functions."""

    def symbol(self, index: int) -> str:
        """The name of a defined function, by its index in the module."""
        return f"@{self.prefix}f{index}"

    def tail_symbol(self, index: int) -> str:
        """The wrapper of a function that takes its arguments from cells."""
        return f"@{self.prefix}t{index}"

    @property
    def functions_symbol(self) -> str:
        """The module's own function table."""
        return f"@{self.prefix}functions"

    @property
    def convention(self) -> str:
        """The calling convention of guest functions; on a CPU the one that promises tail calls."""
        return "" if self.build.gpu else "tailcc "


def result_type(kind: FuncType) -> str:
    """What a guest function returns to LLVM: its first result; the others go through cells."""
    return LLVM_TYPES[kind.results[0]] if kind.results else "void"


def signature(kind: FuncType) -> str:
    """The LLVM function type of a guest function."""
    parameters = ", ".join(["ptr", "ptr", *(LLVM_TYPES[param] for param in kind.params)])
    return f"{result_type(kind)} ({parameters})"


class FunctionLowering:
    """Lowers one function; the rules for groups of instructions are in the modules that register them in `RULES`."""

    def __init__(self, context: ModuleContext, index: int, function: Function) -> None:
        self.context = context
        self.module = context.module
        self.build = context.build
        self.layout = context.layout
        self.stride = context.build.stride
        self.index = index
        self.function = function
        self.lines: list[str] = []
        self.slots: list[str] = []
        self.cold: list[str] = []
        self.stack: list[Value] = []
        self.frames: list[Frame] = []
        self.number = 0
        self.place = function.start
        self.local_types: list[str] = []
        self.calls: set[int] = set()
        """Functions that this one calls by index."""
        self.calls_unknown = False
        """Whether it calls what only the running program knows."""
        self.metadata: list[str] = []
        self._scope = next(context.notes) if context.build.places and index >= 0 else 0
        self._noted = (0, "")
        self._entered = 0
        self._rounds = ""
        self.traps = False
        """Whether it can end the lane."""
        self.loops = False
        self.touches = False
        """Whether it uses anything that belongs to an instance."""
        self.leaves = False
        """Whether some access may need a careful build."""
        self.unwinds = False
        """Whether some call leaves the function with an exception."""

    # --- writing -----------------------------------------------------------------------------------------------------

    def emit(self, line: str) -> None:
        """Write one line of code."""
        self.lines.append(line)

    def name(self, hint: str = "v") -> str:
        """A name that nothing else in the function has."""
        self.number += 1
        return f"%{hint}.{self.number}"

    def assign(self, text: str, hint: str = "v") -> str:
        """Write an instruction and give the name of its value."""
        name = self.name(hint)
        self.lines.append(f"{name} = {text}")
        return name

    def label(self, hint: str) -> str:
        """A label that nothing else in the function has, without the % that refers to it."""
        self.number += 1
        return f"{hint}.{self.number}"

    def slot(self, kind: str, hint: str = "slot") -> str:
        """A place in the function's frame for a value of this type."""
        name = self.name(hint)
        self.slots.append(f"{name} = alloca {LLVM_TYPES[kind]}")
        return name

    def push(self, kind: str, value: str) -> None:
        """Put a value on the stack."""
        self.stack.append((kind, value))

    def pop(self) -> str:
        """Take the value on top of the stack."""
        return self.stack.pop()[1]

    def pop_many(self, count: int) -> list[Value]:
        """Take several values, the deepest first."""
        if not count:
            return []
        values = self.stack[-count:]
        del self.stack[-count:]
        return values

    def note(self) -> str:
        """What ties an instruction that may end the lane, or a call, to its place in the module."""
        if not self._scope:
            return ""
        if self._noted[0] != self.place:
            number = next(self.context.notes)
            self.metadata.append(f"!{number} = !DILocation(line: {self.place}, scope: !{self._scope})")
            self._noted = (self.place, f", !dbg !{number}")
        return self._noted[1]

    def trap_if(self, condition: str, kind: int) -> None:
        """End the lane if a condition holds: by a path that never comes back."""
        self.traps = True
        bad, fine = self.label("trap"), self.label("on")
        self.lines.append(f"br i1 {condition}, label %{bad}, label %{fine}, !prof !0")
        self.lines.append(f"{fine}:")
        self.cold += (f"{bad}:", f"call void @lw.trap(ptr %st, i32 {kind}, i32 {self.place}){self.note()}", "unreachable")

    def leave_if(self, condition: str) -> None:
        """End the lane, to be run again in a careful build, if a condition holds; all such exits are one."""
        fine = self.label("on")
        self.leaves = self.traps = True
        self.lines.append(f"br i1 {condition}, label %careful, label %{fine}, !prof !0")
        self.lines.append(f"{fine}:")

    # --- cells -------------------------------------------------------------------------------------------------------

    def cell(self, number: int, base: str = "%st") -> str:
        """The address of a cell of an instance's state."""
        if number == 0:
            return base
        return self.assign(f"getelementptr inbounds i8, ptr {base}, i64 {number * self.stride}", "cell")

    def load_cell(self, number: int, llvm: str = "i64", base: str = "%st", constant: bool = False) -> str:
        """The value of a cell; `constant` if it never changes while code runs."""
        address = self.cell(number, base)
        note = ", !invariant.load !1" if constant else ""
        return self.assign(f"load {llvm}, ptr {address}, align 8, !tbaa !2{note}")

    def store_cell(self, number: int, llvm: str, value: str, base: str = "%st") -> None:
        """Set a cell."""
        self.emit(f"store {llvm} {value}, ptr {self.cell(number, base)}, align 8, !tbaa !2")

    def load_value(self, kind: str, number: int, base: str = "%st") -> str:
        """A WebAssembly value from its cell or cells."""
        if kind != "v128":
            return self.load_cell(number, LLVM_TYPES[kind], base)
        halves = [self.load_cell(number + half, "i64", base) for half in (0, 1)]
        low = self.assign(f"insertelement <2 x i64> poison, i64 {halves[0]}, i32 0")
        both = self.assign(f"insertelement <2 x i64> {low}, i64 {halves[1]}, i32 1")
        return self.assign(f"bitcast <2 x i64> {both} to <4 x i32>")

    def store_value(self, kind: str, number: int, value: str, base: str = "%st") -> None:
        """Set the cell or cells of a WebAssembly value."""
        if kind != "v128":
            self.store_cell(number, LLVM_TYPES[kind], value, base)
            return
        halves = self.assign(f"bitcast <4 x i32> {value} to <2 x i64>")
        for half in (0, 1):
            self.store_cell(number + half, "i64", self.assign(f"extractelement <2 x i64> {halves}, i32 {half}"), base)

    def record(self, first: int, imported: bool) -> str:
        """The address of a memory's, table's or global's cells, here or in the instance that they were imported from."""
        if imported:
            return self.load_cell(first, "ptr", constant=True)
        return self.cell(first)

    def shared(self) -> str:
        """The state with the store's common cells."""
        return self.load_cell(state.SHARED, "ptr", constant=True) if self.build.linked else "%st"

    # --- the walk ----------------------------------------------------------------------------------------------------

    def lower(self) -> None:
        """Lower the whole body; `text` gives the function then."""
        kind = self.function.type
        declared, first = locals_of(self.module, self.function)
        self.local_types = [*kind.params, *declared]
        for number, local in enumerate(self.local_types):
            self.slots.append(f"%l{number} = alloca {LLVM_TYPES[local]}")
        for number, param in enumerate(kind.params):
            self.emit(f"store {LLVM_TYPES[param]} %p{number}, ptr %l{number}")
        self.emit("br label %start")
        self.emit("start:")
        for number, local in enumerate(declared, len(kind.params)):
            self.emit(f"store {LLVM_TYPES[local]} {zero(local)}, ptr %l{number}")
        self._enter()
        self.open_block("function", FuncType((), kind.results))
        walk = instructions(self.module, first, self.function.end)
        for found in walk:
            self.place = found.offset
            self.step(found, walk)

    def step(self, found: Instruction, walk: Iterator[Instruction]) -> None:
        """Lower one instruction, then skip what can no longer be reached."""
        op = found.op
        if op.width or op.rule in _OF_INSTANCES:
            self.touches = True
        if op.rule:
            if RULES[op.rule](self, op, *found.immediates):
                self._skip(walk)
        else:
            self.apply(op, found.immediates)

    def _skip(self, walk: Iterator[Instruction]) -> None:
        """Pass over code behind an unconditional branch, up to the end of its block or its `else`."""
        depth = 0
        for found in walk:
            rule = found.op.rule
            if rule in ("block", "loop", "if", "try_table"):
                depth += 1
            elif depth == 0 and rule in ("else", "end"):
                del self.stack[self.frames[-1].height :]
                self.place = found.offset
                if rule == "else":
                    self.begin_else()
                    return
                if self.close_block(reachable=False) or not self.frames:
                    return
            elif rule == "end":
                depth -= 1

    def apply(self, op: Op, immediates: tuple[Any, ...]) -> None:
        """Write out the meaning of an instruction that has one."""
        operands = self.pop_many(len(op.params))
        self.number += 1
        number = self.number
        names: dict[str, Any] = {f"a{at}": value for at, (_, value) in enumerate(operands)}
        names["n"] = number
        for at, immediate in enumerate(immediates):
            names[f"i{at}"] = immediate
        done: set[tuple[str, str]] = set()
        for step in op.steps:
            for operand, vector in step.casts:
                if (operand, vector) not in done:
                    done.add((operand, vector))
                    short = vector[1:-1].replace(" ", "")
                    self.emit(f"%cast{operand}.{short}.{number} = bitcast <4 x i32> {names['a' + operand]} to {vector}")
            if step.kind == "ir":
                self.emit(step.parts[0].format(**names))
            elif step.kind == "trap":
                self.trap_if(step.parts[0].format(**names), traps.NUMBERS[step.parts[1]])
            else:
                MEMORY_STEPS[step.kind](self, op, immediates[0], [part.format(**names) for part in step.parts])
            if step.result_cast:
                self.emit(f"%r.{number} = bitcast {step.result_cast} %raw.{number} to <4 x i32>")
        if op.results:
            result = f"%r.{number}"
            if op.nan:
                result = self._settle_nan(op, result, operands)
            self.push(op.results[0], result)

    def _settle_nan(self, op: Op, result: str, operands: list[Value]) -> str:
        """A computed NaN as the specification wants it, where the target or the optimiser might give another."""
        kind = op.results[0]
        if kind == "v128":
            return self._settle_lanes(op, result, any(value.startswith("<") for _, value in operands))
        known = any(value in _IDENTITIES for _, value in operands)
        if not known and not (self.build.gpu and kind == "f32"):
            return result
        llvm = LLVM_TYPES[kind]
        # On the bits: to LLVM a select between NaNs is no choice.
        bits = f"i{kind[1:]}"
        nan = self.assign(f"fcmp uno {llvm} {result}, 0.0")
        plain = self.assign(f"call {bits} @lw.bits.{kind}({llvm} {result})")
        settled = self.assign(f"select i1 {nan}, {bits} {QUIET_BITS[kind]}, {bits} {plain}")
        return self.assign(f"call {llvm} @lw.from_bits.{kind}({bits} {settled})")

    def _settle_lanes(self, op: Op, result: str, known: bool) -> str:
        singles = op.name.startswith("f32x4")
        if not known and not self.build.gpu:
            return result
        floats, bits = ("<4 x float>", "<4 x i32>") if singles else ("<2 x double>", "<2 x i64>")
        quiet = "splat (i32 2143289344)" if singles else "splat (i64 9221120237041090560)"
        nan = self.assign(f"fcmp uno {floats} {self.assign(f'bitcast <4 x i32> {result} to {floats}')}, zeroinitializer")
        plain = self.assign(f"bitcast <4 x i32> {result} to {bits}")
        flags = f"<{4 if singles else 2} x i1>"
        settled = self.assign(f"select {flags} {nan}, {bits} {quiet}, {bits} {plain}")
        return self.assign(f"bitcast {bits} {settled} to <4 x i32>")

    # --- blocks ------------------------------------------------------------------------------------------------------

    def open_block(self, kind: str, block: FuncType) -> Frame:
        """Begin a block whose parameters are on the stack."""
        frame = Frame("", kind, block, len(self.stack) - len(block.params))
        frame.results = [self.slot(result, "out") for result in block.results]
        frame.end = self.label("end")
        frame.label, frame.targets = frame.end, frame.results
        self.frames.append(frame)
        return frame

    def close_block(self, reachable: bool = True) -> bool:
        """End the innermost block; gives whether the code behind it can be reached."""
        frame = self.frames[-1]
        if reachable:
            self.fill(frame.results, frame.type.results)
            self.emit(f"br label %{frame.end}")
            frame.reached = True
        if frame.otherwise:  # an `if` without `else`: what it takes is what it gives
            self.emit(f"{frame.otherwise}:")
            for slot, given, kind in zip(frame.results, frame.given, frame.type.results, strict=True):
                value = self.assign(f"load {LLVM_TYPES[kind]}, ptr {given}")
                self.emit(f"store {LLVM_TYPES[kind]} {value}, ptr {slot}")
            self.emit(f"br label %{frame.end}")
            frame.reached = True
        self.frames.pop()
        del self.stack[frame.height :]
        if frame.reached:
            self.emit(f"{frame.end}:")
            self.take(frame.results, frame.type.results)
        if not self.frames and frame.reached:
            self.leave([value for _, value in self.stack])
        return frame.reached

    def begin_else(self) -> None:
        """Go over to the `else` part of the innermost `if`."""
        frame = self.frames[-1]
        self.emit(f"{frame.otherwise}:")
        frame.otherwise = ""
        self.take(frame.given, frame.type.params)

    def take(self, slots: list[str], kinds: tuple[str, ...]) -> None:
        """Push what slots hold."""
        for slot, kind in zip(slots, kinds, strict=True):
            self.push(kind, self.assign(f"load {LLVM_TYPES[kind]}, ptr {slot}"))

    def fill(self, slots: list[str], kinds: tuple[str, ...]) -> None:
        """Store the values on top of the stack into slots, leaving them on the stack."""
        if slots:
            for slot, (_, value), kind in zip(slots, self.stack[-len(slots) :], kinds, strict=True):
                self.emit(f"store {LLVM_TYPES[kind]} {value}, ptr {slot}")

    def branch(self, depth: int) -> str:
        """Fill what a label takes and give the label to branch to."""
        frame = self.frames[-1 - depth]
        loop = frame.kind == "loop"
        self.fill(frame.targets, frame.type.params if loop else frame.type.results)
        if not loop:
            frame.reached = True
        return frame.label

    def leave(self, values: list[str]) -> None:
        """Return from the function."""
        kinds = self.function.type.results
        number = state.RESULTS
        for kind, value in zip(kinds[1:], values[1:], strict=True):
            self.store_value(kind, number, value)
            number += state.cells_of(kind)
        self.emit(f"ret {LLVM_TYPES[kinds[0]]} {values[0]}" if kinds else "ret void")

    # --- the frame of the function -----------------------------------------------------------------------------------

    def _enter(self) -> None:
        if self.build.meter == "count":
            self.burn()
        self._entered = len(self.lines)

    def guard_stack(self) -> None:
        """Have the function end the lane where one more call could overflow the stack; for those that recurse."""
        behind, self.lines = self.lines[self._entered :], self.lines[: self._entered]
        self.place = self.function.start
        if self.build.meter == "stop":  # calls that never end are calls of these
            self.burn()
        here = self.name("here")
        self.slots.append(f"{here} = alloca i64")
        address = self.assign(f"ptrtoint ptr {here} to i64")
        floor = self.load_cell(state.FLOOR, "i64", self.shared(), constant=True)
        self.trap_if(self.assign(f"icmp ult i64 {address}, {floor}"), traps.STACK_EXHAUSTED)
        self.lines += behind

    def count_round(self) -> None:
        """Count one round of a loop, in a register: now and then the lane looks whether it is to stop."""
        if not self._rounds:
            self._rounds = self.name("rounds")
            self.slots += (f"{self._rounds} = alloca i32", f"store i32 {FUEL_SLICE}, ptr {self._rounds}")
        before = self.assign(f"load i32, ptr {self._rounds}")
        left = self.assign(f"sub i32 {before}, 1")
        self.emit(f"store i32 {left}, ptr {self._rounds}")
        dry, fine = self.label("dry"), self.label("on")
        self.emit(f"br i1 {self.assign(f'icmp slt i32 {left}, 0')}, label %{dry}, label %{fine}, !prof !0")
        self.emit(f"{fine}:")
        self.cold += (
            f"{dry}:",
            f"call void @lw.look(ptr %st, i32 {self.place})",
            f"store i32 {FUEL_SLICE}, ptr {self._rounds}",
            f"br label %{fine}",
        )

    def burn(self) -> None:
        """Count one step against the lane's fuel."""
        cell = self.cell(state.FUEL, self.shared())
        before = self.assign(f"load i32, ptr {cell}, align 8, !tbaa !2")
        left = self.assign(f"sub i32 {before}, 1")
        self.emit(f"store i32 {left}, ptr {cell}, align 8, !tbaa !2")
        empty = self.assign(f"icmp slt i32 {left}, 0")
        dry, fine = self.label("dry"), self.label("on")
        self.emit(f"br i1 {empty}, label %{dry}, label %{fine}, !prof !0")
        self.emit(f"{fine}:")
        self.cold += (f"{dry}:", f"call void @lw.refuel(ptr %st, i32 {self.place})", f"br label %{fine}")

    def text(self, inline: bool = True) -> str:
        """The LLVM definition of the function; `inline` whether callers may swallow it."""
        kind = self.function.type
        parameters = ["ptr %st", "ptr %mem", *(f"{LLVM_TYPES[param]} %p{at}" for at, param in enumerate(kind.params))]
        if self.unwinds:
            self.cold += ("unwind:", f"ret {result_type(kind)} poison" if kind.results else "ret void")
        scope = ""
        if self._scope:
            scope = f" !dbg !{self._scope}"
            self.metadata.append(
                f'!{self._scope} = distinct !DISubprogram(name: "f{self.index}", scope: !12, file: !12, '
                f"line: {self.function.start}, type: !14, unit: !13, spFlags: DISPFlagDefinition)"
            )
        if self.leaves:
            exit_ = f"call void @lw.trap(ptr %st, i32 {traps.MISALIGNED}, i32 {self.function.start})"
            self.cold += ("careful:", exit_, "unreachable")
        body = "\n".join([*self.slots, *self.lines, *self.cold])
        return (
            f"define hidden {self.context.convention}{result_type(kind)} {self.context.symbol(self.index)}"
            f"({', '.join(parameters)}) {'' if inline else 'noinline '}#0{scope} {{\n{body}\n}}\n"
        )


def zero(kind: str) -> str:
    """The value that a local starts with."""
    return {"f32": "0.0", "f64": "0.0", "v128": "zeroinitializer"}.get(kind, "0")


Rule: TypeAlias = Callable[..., bool | None]
"""Lowers an instruction from its operands and immediates; true if what follows cannot be reached."""

RULES: dict[str, Rule] = {}
MEMORY_STEPS: dict[str, Callable[[FunctionLowering, Op, Any, list[str]], None]] = {}
"""How the memory accesses of snippets are written out."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register how an instruction is lowered."""

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


__all__ = ["RULES", "FunctionLowering", "ModuleContext", "Step"]
