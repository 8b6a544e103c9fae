"""What the vector instructions have in common: the shapes that a v128 is seen in, and pieces of their meanings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lanewise.wasm.opcodes.row import I32, LLVM_TYPES, Op, op, vector_type


class Shape(NamedTuple):
    """A way to cut 128 bits into lanes."""

    kind: str
    """The type of a lane in the specification's words, such as i8 or f32."""
    bits: int

    @property
    def name(self) -> str:
        """As the names of instructions have it: i8x16."""
        return f"{self.kind}x{self.lanes}"

    @property
    def lanes(self) -> int:
        return 128 // self.bits

    @property
    def lane(self) -> str:
        """The LLVM type of a lane."""
        return LLVM_TYPES.get(self.kind, self.kind)

    @property
    def scalar(self) -> str:
        """The type that a lane has on the stack: the small ones travel as i32."""
        return self.kind if self.bits >= 32 else I32

    @property
    def short(self) -> str:
        """As snippets write it behind a colon: 16xi8."""
        return f"{self.lanes}x{self.lane}"

    @property
    def llvm(self) -> str:
        return vector_type(self.short)

    @property
    def suffix(self) -> str:
        """As the names of intrinsics have it: v16i8."""
        return f"v{self.lanes}{self.kind}"

    def splat(self, value: int | str) -> str:
        """Write the constant that holds `value` in all lanes."""
        return f"splat ({self.lane} {value})"


I8X16, I16X8, I32X4, I64X2 = (Shape(f"i{bits}", bits) for bits in (8, 16, 32, 64))
F32X4, F64X2 = Shape("f32", 32), Shape("f64", 64)
INTEGER_SHAPES = (I8X16, I16X8, I32X4, I64X2)
FLOAT_SHAPES = (F32X4, F64X2)
SHAPES = INTEGER_SHAPES + FLOAT_SHAPES

NARROWER = {I16X8: I8X16, I32X4: I16X8, I64X2: I32X4}
"""Each shape with the one of half its lane width."""

EXTENSIONS = {"s": "sext", "u": "zext"}


def vector_op(number: int, name: str, signature: str, meaning: str = "", **more: object) -> Op:
    """Write the row of the vector instruction with this number behind the prefix."""
    return op((0xFD << 16) | number, name, signature, meaning, feature="simd", **more)


def splatted(shape: Shape, value: str, result: str) -> str:
    """Write `value`, of the type of a lane, into all lanes of `result`."""
    return f"""
        %first = insertelement {shape.llvm} poison, {shape.lane} {value}, i32 0
        {result} = shufflevector {shape.llvm} %first, {shape.llvm} poison, <{shape.lanes} x i32> zeroinitializer
        """


def picked(lanes: Iterable[int]) -> str:
    """Write the mask of a shufflevector that picks these lanes."""
    indices = [f"i32 {lane}" for lane in lanes]
    return f"<{len(indices)} x i32> <{', '.join(indices)}>"


def half(shape: Shape, which: str, operand: str, result: str) -> str:
    """Write the low or the high half of an operand into `result`, a vector of half as many lanes."""
    start = {"low": 0, "high": shape.lanes // 2}[which]
    mask = picked(range(start, start + shape.lanes // 2))
    return f"{result} = shufflevector {shape.llvm} {operand}:{shape.short}, {shape.llvm} poison, {mask}\n"


def half_type(shape: Shape) -> str:
    """Return the LLVM type of half a vector."""
    return f"<{shape.lanes // 2} x {shape.lane}>"
