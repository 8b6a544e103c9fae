"""The state of lowering one function: its names, its block, and how values meet types."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lanewise.errors import LangError
from lanewise.lang import numbers
from lanewise.lang.functions import DeviceFunction
from lanewise.lang.ir import Block, Literal, Operand, Place, Tuple, Value, constant
from lanewise.lang.types import BOOL, ArrayType, PointerType, Scalar, StructType, Type, f64, i32, i64, u64

if TYPE_CHECKING:
    from lanewise.lang.program import Program

_INFINITE = (constant(f64, math.inf), constant(f64, -math.inf))

INHERITED = ("converges", "barriers", "yields", "traps", "group_ids", "raw_pointers", "communicates")
"""The facts that a caller takes over from what it calls."""


@dataclass
class Facts:
    """What a function does that its callers and its launch must know; callers inherit most of it."""

    converges: bool = False
    """Has a barrier or a warp operation: lanes of a group must run at the same time."""
    barriers: bool = False
    yields: bool = False
    """Polls: lanes of a group must take turns even without a barrier."""
    traps: bool = False
    group_ids: bool = False
    """Uses local_id, group_id or the like, so the CPU cannot run all threads of a launch as one loop."""
    raw_pointers: bool = False
    """Has pointers that come from memory or from numbers, so nothing is known about what they overlap."""
    communicates: bool = False
    """Has a barrier, a fence, an atomic or the like: other threads may change memory while this one runs."""
    recursive: bool = False
    local_bytes: int = 0
    callees: list[DeviceFunction] = field(default_factory=list)


@dataclass
class Loop:
    """Where `continue` and `break` go, and which names were assigned at each break."""

    again: str
    done: str
    at_break: list[set[str] | None] = field(default_factory=list)


class FunctionLowering:
    """Lowers one function; see `statements.lower_body` for the entry."""

    def __init__(self, program: Program, function: DeviceFunction) -> None:
        self.program = program
        self.function = function
        self.block = Block()
        self.facts = Facts()
        self.names: dict[str, Place] = {}
        self.assigned: set[str] | None = set()
        """Names that surely have a value here; None where control cannot arrive."""
        self.loops: list[Loop] = []

    def error(self, message: str, node: ast.AST, hint: str = "") -> LangError:
        """The error to raise for a mistake at this node."""
        return self.function.source.error(message, node, hint)

    # --- names -------------------------------------------------------------------------------------------------------

    def declare(self, name: str, kind: Type, *, clean: bool = False) -> Place:
        """A new local variable with a stack slot; LLVM turns most of them into registers."""
        if isinstance(kind, ArrayType | StructType):
            self.facts.local_bytes += kind.size
        place = Place(kind, self.block.slot(kind.memory), local=True, private=True, clean=clean)
        self.names[name] = place
        return place

    # --- values ------------------------------------------------------------------------------------------------------

    def read(self, operand: Operand, node: ast.AST) -> Value | Literal:
        """The value of an operand; memory is loaded, a literal stays one."""
        if isinstance(operand, Place):
            return self.load(operand, node)
        if isinstance(operand, Tuple) and not operand.items:
            raise self.error("this call returns nothing", node)
        if isinstance(operand, Tuple):
            raise self.error("a tuple is no single value", node, "take it apart: `a, b = ...`")
        return operand

    def value(self, operand: Operand, node: ast.AST) -> Value:
        """The value of an operand in a register; a literal takes its default type (i32, or f64 as in C)."""
        found = self.read(operand, node)
        return self.settle(found, node) if isinstance(found, Literal) else found

    def settle(self, literal: Literal, node: ast.AST) -> Value:
        """A literal that met no type: bool, i32 (or i64, u64 where it does not fit), f64."""
        number = literal.value
        if isinstance(number, bool):
            return Value(BOOL, constant(BOOL, number))
        if isinstance(number, float):
            return Value(f64, constant(f64, number))
        for kind in (i32, i64, u64):
            if kind.min_value <= number <= kind.max_value:
                return Value(kind, constant(kind, number))
        raise self.error(f"{_shown(number)} does not fit 64 bits", node)

    def load(self, place: Place, node: ast.AST) -> Value:
        """Read a scalar or pointer from memory."""
        kind = place.type
        if isinstance(kind, ArrayType):
            raise self.error(f"{kind} is no single value", node, "index it, or pass it where a Ptr is taken")
        if isinstance(kind, StructType):
            raise self.error(f"struct {kind} is no single value", node, "name one of its fields")
        if kind is BOOL:
            raw = self.block.assign(f"load i8, ptr {place.ref}")
            return Value(BOOL, self.block.assign(f"icmp ne i8 {raw}, 0"))
        if isinstance(kind, PointerType) and not place.local:
            self.facts.raw_pointers = True
        return Value(kind, self.block.assign(f"load {kind.llvm}, ptr {place.ref}"), arith=not place.clean)

    def store(self, place: Place, value: Value) -> None:
        """Write a scalar or pointer to memory; a thread's own variable keeps whatever NaN the machine made."""
        if not place.local:
            value = numbers.canonical(self.block, value)
        if value.type is BOOL:
            byte = self.block.assign(f"zext i1 {value.ref} to i8")
            self.block.emit(f"store i8 {byte}, ptr {place.ref}")
        else:
            self.block.emit(f"store {value.type.llvm} {value.ref}, ptr {place.ref}")

    def coerce(self, operand: Operand, kind: Type, node: ast.AST, what: str = "") -> Value:
        """The operand as a value of exactly this type. Literals adapt; arrays and structs decay to pointers."""
        if isinstance(operand, Place) and isinstance(kind, PointerType):
            decayed = operand.type.element if isinstance(operand.type, ArrayType) else operand.type
            if isinstance(operand.type, ArrayType | StructType) and decayed == kind.element:
                return Value(kind, operand.ref)
        found = self.read(operand, node)
        if isinstance(found, Literal):
            return self.literal(found, kind, node)
        if found.type == kind:
            return found
        where = f"{what} is {kind}, this is {found.type}" if what else f"expected {kind}, this is {found.type}"
        if isinstance(kind, Scalar) and isinstance(found.type, Scalar):
            hint = "write `!= 0` to test a number" if kind is BOOL else f"write {kind}(...) to convert"
        elif isinstance(kind, PointerType) and found.type == kind.element:
            hint = "write addressof(...) to pass its address"
        elif isinstance(kind, PointerType) and isinstance(found.type, PointerType):
            hint = f"write {kind}(...) to convert"
        else:
            hint = ""
        raise self.error(where, node, hint)

    def literal(self, literal: Literal, kind: Type, node: ast.AST) -> Value:
        """A literal in the type it met, if it fits."""
        number = literal.value
        if not isinstance(kind, Scalar):
            raise self.error(f"expected {kind}, this is the number {number}", node)
        if isinstance(number, bool) != (kind is BOOL):
            hint = "write True or False" if kind is BOOL else f"write {kind}({number}) to convert"
            raise self.error(f"expected {kind}, this is {number}", node, hint)
        if kind.is_int:
            if isinstance(number, float):
                hint = f"convert what it meets, such as f32(...), or write {kind}({number}) to cut off the fraction"
                raise self.error(f"{number} is a float and meets {kind}", node, hint)
            if not kind.min_value <= number <= kind.max_value:
                holds = f"it holds {kind.min_value} to {kind.max_value}"
                wider = "i32" if kind.bits < 32 or (number < 0 and kind.bits == 32) else "i64"
                hint = f"{holds}; convert what it meets, such as {wider}(...), or write {kind}(...) to wrap it"
                raise self.error(f"{_shown(number)} does not fit {kind}", node, hint)
        ref = constant(kind, number)
        if ref in _INFINITE and abs(number) != math.inf:
            hint = "write f64(...) around the other operand" if kind.bits == 32 else ""
            raise self.error(f"{_shown(number)} is too large for {kind}", node, hint)
        return Value(kind, ref)

    def static(self, value: Any, node: ast.AST) -> Operand | None:
        """A Python constant as an operand, or None if it is no constant that device code can hold."""
        if isinstance(value, np.generic):
            kind = self.program.scalar_of(value.dtype)
            if kind is None:
                return None
            return Value(kind, constant(kind, value.item()))
        if isinstance(value, bool | int | float):
            plain = value if isinstance(value, bool) else float(value) if isinstance(value, float) else int(value)
            return Literal(plain)
        if isinstance(value, np.ndarray):
            return self.program.constant_array(self, value, node)
        return None

    # --- traps -------------------------------------------------------------------------------------------------------

    def trap_if(self, condition: str, message: str, node: ast.AST) -> None:
        """End this thread, naming the line, where the condition holds."""
        self.facts.traps = True
        site = self.program.add_site(message, self.function.source.position(node))
        bad, good = self.block.name("trap"), self.block.name("fine")
        self.block.branch(condition, bad, good, ", !prof !0")
        self.block.label(bad)
        self.program.abi.trap(self, site)
        self.block.label(good)


def _shown(number: float) -> str:
    """A number for a message, without hundreds of digits."""
    return (
        f"a number of {number.bit_length()} bits" if isinstance(number, int) and abs(number) >= 2**128 else str(number)
    )
