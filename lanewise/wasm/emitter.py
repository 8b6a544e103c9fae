"""Writing the LLVM IR of a function: names, labels, cells of the instance's state, and the ways out of a lane."""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import TypeAlias

from lanewise.wasm import state
from lanewise.wasm.build import Build
from lanewise.wasm.model import Function, FuncType, Module
from lanewise.wasm.opcodes.row import LLVM_TYPES
from lanewise.wasm.recursion import rings
from lanewise.wasm.throwing import throwing_functions

Value: TypeAlias = tuple[str, str]
"""A value on the stack: its WebAssembly type and its LLVM name or constant."""

FUEL_SLICE = 1 << 20
"""Steps that are taken off a lane's fuel at a time."""
ROUNDS = 1 << 14
CALLS = 1 << 10
"""How often a lane looks whether it is to stop: every so many rounds of the loops of one call of a function, and every
so many calls of functions that have loops or recurse. The product of both bounds what lies between two looks."""


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

    @cached_property
    def throwing(self) -> frozenset[int]:
        """The functions that can throw, by their index in the module."""
        return throwing_functions(self.module, self.build.linked) if self.build.throws else frozenset()

    @cached_property
    def rings(self) -> dict[int, tuple[int, ...]]:
        """Rings of calls that are lowered together, by the functions that they are entered by."""
        return rings(self.module) if self.build.rings else {}

    def type_throws(self, kind: FuncType) -> bool:
        """Whether some function of a type can throw, which need not be one of this module if others are linked."""
        return (self.build.throws and self.build.linked) or kind in self._throwing_types

    @cached_property
    def _throwing_types(self) -> frozenset[FuncType]:
        return frozenset(self.module.functions[index] for index in self.throwing)

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


class Emitter:
    """A function that is being written."""

    def __init__(self, context: ModuleContext, index: int, function: Function) -> None:
        self.context = context
        self.module = context.module
        self.build = context.build
        self.layout = context.layout
        self.stride = context.build.stride
        self.index = index
        self.function = function
        self.lines: list[str] = []
        self.notes_stores = context.build.marked and index >= 0
        """Whether it notes where it stores, see `marking`; the engine's own functions need not."""
        self.tallies = context.build.meter == "tally" and index >= 0
        """Whether its steps are summed up, see `compiler.tallies`."""
        self.slots: list[str] = ["%marks = alloca i32", "store i32 0, ptr %marks"] if self.notes_stores else []
        self.cold: list[str] = []
        self.stack: list[Value] = []
        self.number = 0
        self.place = function.start
        self.local_types: list[str] = []
        self.calls: set[int] = set()
        """Functions that this one calls by index."""
        self.tail_calls = False
        """Whether it ends in a call that must use no stack."""
        self.calls_unknown = False
        """Whether it calls what only the running program knows."""
        self.metadata: list[str] = []
        self._scope = next(context.notes) if context.build.places and index >= 0 else 0
        self._noted = (0, "")
        self.traps = False
        """Whether it can end the lane."""
        self.loops = False
        self.touches = False
        """Whether it uses anything that belongs to an instance."""
        self.writes = False
        """Whether it may change anything that belongs to an instance."""
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
        self.cold += (
            f"{bad}:",
            self.ending(kind),
            "unreachable",
        )

    def ending(self, kind: int) -> str:
        """The call that ends the lane here."""
        end = "ended" if self.tallies else "trap"
        return f"call void @lw.{end}(ptr %st, i32 {kind}, i32 {self.place}){self.note()}"

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
        """The value of a cell; `constant` if it never changes while code runs.

        Many lanes set the cells of their states in the very kernel that reads them: there LLVM is not told.
        """
        address = self.cell(number, base)
        note = ", !invariant.load !1" if constant and not self.build.lanes else ""
        return self.assign(f"load {llvm}, ptr {address}, align 8, !tbaa !2{note}")

    def store_cell(self, number: int, llvm: str, value: str, base: str = "%st", seen: bool = False) -> None:
        """Set a cell; `seen` if it must have been set when a fault behind it ends the lane."""
        keep = "volatile " if seen and self.build.checks == "guard" else ""
        self.emit(f"store {keep}{llvm} {value}, ptr {self.cell(number, base)}, align 8, !tbaa !2")

    def load_value(self, kind: str, number: int, base: str = "%st") -> str:
        """A WebAssembly value from its cell or cells."""
        if kind != "v128":
            return self.load_cell(number, LLVM_TYPES[kind], base)
        halves = [self.load_cell(number + half, "i64", base) for half in (0, 1)]
        low = self.assign(f"insertelement <2 x i64> poison, i64 {halves[0]}, i32 0")
        both = self.assign(f"insertelement <2 x i64> {low}, i64 {halves[1]}, i32 1")
        return self.assign(f"bitcast <2 x i64> {both} to <4 x i32>")

    def store_value(self, kind: str, number: int, value: str, base: str = "%st", seen: bool = False) -> None:
        """Set the cell or cells of a WebAssembly value."""
        if kind != "v128":
            self.store_cell(number, LLVM_TYPES[kind], value, base, seen)
            return
        halves = self.assign(f"bitcast <4 x i32> {value} to <2 x i64>")
        for half in (0, 1):
            part = self.assign(f"extractelement <2 x i64> {halves}, i32 {half}")
            self.store_cell(number + half, "i64", part, base, seen)

    def record(self, first: int, imported: bool) -> str:
        """The address of the cells of a memory, table or global, here or in the instance that it was imported from."""
        if imported:
            return self.load_cell(first, "ptr", constant=True)
        return self.cell(first)

    def shared(self) -> str:
        """The state with the store's common cells."""
        return self.load_cell(state.SHARED, "ptr", constant=True) if self.build.linked else "%st"

    # --- fuel --------------------------------------------------------------------------------------------------------

    def count_round(self, *, step: bool = True) -> None:
        """Mark a round of a loop: where the marker is left when all is optimised, the lane looks now and then.

        A round may be no step: one that the module does not have.
        """
        marker = "round" if step or not self.tallies else "pass"
        self.emit(f"call void @lw.{marker}(ptr %st, i32 {self.place}) #5")

    def count_step(self) -> None:
        """Count a step that is no round."""
        if self.build.meter == "count":
            self.burn()
        elif self.tallies:
            self.emit("call void @lw.step() #5")

    def hand_on_steps(self) -> None:
        """Tell the state how many steps there were: ahead of a call or a return."""
        if self.tallies:
            self.emit("call void @lw.give(ptr %st) #5")

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
