"""LLVM IR as text: a buffer for one function's blocks, and the values and places that the lowering passes around."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from lanewise.lang.types import Scalar, Type


@dataclass(frozen=True)
class Value:
    """A value in a register. `arith` marks floats whose NaN bits may still be the machine's own, not canonical ones."""

    type: Type
    ref: str
    arith: bool = False


@dataclass(frozen=True)
class Literal:
    """A number written in the source or in a module-level constant: it takes the type of what it meets."""

    value: bool | int | float


@dataclass(frozen=True)
class Place:
    """Something in memory that can be read, and written unless `readonly`; `local` places are variables."""

    type: Type
    ref: str
    readonly: bool = False
    local: bool = False
    private: bool = False
    """Whether no other thread sees it: a local variable, or a part of one."""
    clean: bool = True
    """Whether floats stored here have canonical NaN bits or bits that were copied on purpose."""


@dataclass(frozen=True)
class Tuple:
    """Several values at once: a tuple display or the result of a call that returns several."""

    items: tuple[Operand, ...]


Operand = Value | Literal | Place | Tuple


class Block:
    """Text of one function under construction: an entry block for stack slots, then the rest in order."""

    def __init__(self) -> None:
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.terminated = False
        self._next = 0

    def name(self, prefix: str = "t") -> str:
        """A fresh name, without its sigil."""
        self._next += 1
        return f"{prefix}{self._next}"

    def emit(self, text: str) -> None:
        """Add an instruction that has no result."""
        if self.terminated:
            self.label(self.name("dead"))
        self.lines.append("  " + text)

    def assign(self, text: str) -> str:
        """Add an instruction and give back the name of its result."""
        ref = "%" + self.name()
        self.emit(f"{ref} = {text}")
        return ref

    def slot(self, llvm_type: str, align: int | None = None) -> str:
        """Reserve stack memory in the entry block."""
        ref = "%" + self.name("slot")
        self.slots.append(f"  {ref} = alloca {llvm_type}" + (f", align {align}" if align else ""))
        return ref

    def label(self, label: str) -> None:
        """Begin a block; what came before falls into it unless it ended in a jump."""
        if not self.terminated:
            self.lines.append(f"  br label %{label}")
        self.lines.append(f"{label}:")
        self.terminated = False

    def jump(self, label: str) -> None:
        """End the block with a jump."""
        self.terminate(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str, weights: str = "") -> None:
        """End the block with a conditional jump."""
        self.terminate(f"br i1 {condition}, label %{yes}, label %{no}{weights}")

    def terminate(self, text: str) -> None:
        """End the block with this instruction."""
        self.emit(text)
        self.terminated = True

    def text(self) -> str:
        """The body: stack slots, then all blocks."""
        return "\n".join(["entry:", *self.slots, "  br label %body", "body:", *self.lines])


def constant(kind: Scalar, value: bool | int | float) -> str:
    """How LLVM IR writes a constant of this type; floats as the bits of a double, which is exact for f32 too."""
    if kind.kind == "bool":
        return "true" if value else "false"
    if kind.is_int:
        return str(kind.wrap(int(value)))
    number = _nearest_float(kind, value)
    if kind.bits == 32:
        try:
            number = struct.unpack("<f", struct.pack("<f", number))[0]
        except OverflowError:
            number = float("inf") if number > 0 else float("-inf")
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def _nearest_float(kind: Scalar, value: bool | int | float) -> float:
    """A number as a double; an integer is rounded to the type once, as the conversion at run time does."""
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        return float(np.array([value], np.int64 if value < 0 else np.uint64).astype(kind.dtype)[0])
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


CANONICAL_NAN = "0x7FF8000000000000"
"""The one NaN that arithmetic results are stored as: positive, quiet, payload zero. LLVM writes f32 as doubles too."""
