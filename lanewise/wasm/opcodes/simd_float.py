"""Vector instructions on lanes of floating-point numbers, and the conversions between these and integers."""

from __future__ import annotations

from collections.abc import Iterator

from lanewise.wasm.opcodes.numeric import CANONICAL_NAN
from lanewise.wasm.opcodes.row import Op
from lanewise.wasm.opcodes.simd_shapes import F32X4, F64X2, FLOAT_SHAPES, I32X4, Shape, half, picked, vector_op

_UNARY = "v128 -> v128"
_BINARY = "v128 v128 -> v128"

_ROUNDINGS = {"ceil": "ceil", "floor": "floor", "trunc": "trunc", "nearest": "roundeven"}

_ROUNDING_NUMBERS = {F32X4: (103, 104, 105, 106), F64X2: (116, 117, 122, 148)}

_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "gt": "ogt", "le": "ole", "ge": "oge"}

_LOW_TO_ALL = picked((0, 1, 2, 3))
"""Two lanes and the two of a vector of zeros behind them."""


def _comparisons(shape: Shape, first: int) -> Iterator[Op]:
    mask = f"<{shape.lanes} x i{shape.bits}>"
    for at, (name, predicate) in enumerate(_PREDICATES.items()):
        meaning = f"""
            %flags = fcmp {predicate} {shape.llvm} %0:{shape.short}, %1:{shape.short}
            %r:{shape.lanes}xi{shape.bits} = sext <{shape.lanes} x i1> %flags to {mask}"""
        yield vector_op(first + at, f"{shape.name}.{name}", _BINARY, meaning)


def _arithmetic(shape: Shape, first: int) -> Iterator[Op]:
    llvm, short, name = shape.llvm, shape.short, shape.name
    one, two = f"{llvm} %0:{short}", f"{llvm} %0:{short}, {llvm} %1:{short}"

    def call(function: str) -> str:
        return f"%r:{short} = call {llvm} @{function}.{shape.suffix}({one})"

    # Sign operations change one bit and nothing else, also of a NaN: helpers keep targets from doing more.
    yield vector_op(first, f"{name}.abs", _UNARY, call("lw.abs"))
    yield vector_op(first + 1, f"{name}.neg", _UNARY, call("lw.neg"))
    yield vector_op(first + 3, f"{name}.sqrt", _UNARY, call("llvm.sqrt"), nan=True)
    for number, (rounding, intrinsic) in zip(_ROUNDING_NUMBERS[shape], _ROUNDINGS.items(), strict=True):
        yield vector_op(number, f"{name}.{rounding}", _UNARY, call(f"llvm.{intrinsic}"), nan=True)
    for at, operation in enumerate(("add", "sub", "mul", "div")):
        meaning = f"%r:{short} = f{operation} {one}, %1:{short}"
        yield vector_op(first + 4 + at, f"{name}.{operation}", _BINARY, meaning, nan=True)
    for at, (extreme, intrinsic) in enumerate({"min": "minimum", "max": "maximum"}.items()):
        # LLVM may drop the operation where both operands are the same value, and with it the quieting of a NaN.
        quiet = f"""
            %extreme = call {llvm} @llvm.{intrinsic}.{shape.suffix}({two})
            %unordered = fcmp uno {one}, %1:{short}
            %r:{short} = select <{shape.lanes} x i1> %unordered, {llvm} {_canonical(shape)}, {llvm} %extreme"""
        yield vector_op(first + 8 + at, f"{name}.{extreme}", _BINARY, quiet)
    integers = Shape(f"i{shape.bits}", shape.bits)
    for at, (choice, order) in enumerate({"pmin": "%1, %0", "pmax": "%0, %1"}.items()):
        # The chosen operand keeps its bits, whatever they are: the choice is made among integers.
        left, right = (f"{operand}:{short}" for operand in order.split(", "))
        meaning = f"""
            %second = fcmp olt {llvm} {left}, {right}
            %r:{integers.short} = select <{shape.lanes} x i1> %second, \
{integers.llvm} %1:{integers.short}, {integers.llvm} %0:{integers.short}"""
        yield vector_op(first + 10 + at, f"{name}.{choice}", _BINARY, meaning)


def _canonical(shape: Shape) -> str:
    return shape.splat(CANONICAL_NAN[shape.kind])


def _conversions() -> Iterator[Op]:
    for at, (sign, convert) in enumerate({"s": "sitofp", "u": "uitofp"}.items()):
        to_integer = f"fpto{sign}i.sat"
        whole = f"%r:4xi32 = call <4 x i32> @llvm.{to_integer}.v4i32.v4f32(<4 x float> %0:4xfloat)"
        yield vector_op(248 + at, f"i32x4.trunc_sat_f32x4_{sign}", _UNARY, whole)
        meaning = f"%r:4xfloat = {convert} <4 x i32> %0 to <4 x float>"
        yield vector_op(250 + at, f"f32x4.convert_i32x4_{sign}", _UNARY, meaning)
        low = f"""
            %part = call <2 x i32> @llvm.{to_integer}.v2i32.v2f64(<2 x double> %0:2xdouble)
            %r:4xi32 = shufflevector <2 x i32> %part, <2 x i32> zeroinitializer, {_LOW_TO_ALL}"""
        yield vector_op(252 + at, f"i32x4.trunc_sat_f64x2_{sign}_zero", _UNARY, low)
        meaning = half(I32X4, "low", "%0", "%part") + f"%r:2xdouble = {convert} <2 x i32> %part to <2 x double>"
        yield vector_op(254 + at, f"f64x2.convert_low_i32x4_{sign}", _UNARY, meaning)
    # Demoting what was promoted is no change to LLVM, which forgets that a NaN becomes quiet on the way.
    demote = f"""
        %less = fptrunc <2 x double> %0:2xdouble to <2 x float>
        %nan = fcmp uno <2 x double> %0:2xdouble, zeroinitializer
        %quiet = select <2 x i1> %nan, <2 x float> {_canonical(F32X4)}, <2 x float> %less
        %r:4xfloat = shufflevector <2 x float> %quiet, <2 x float> zeroinitializer, {_LOW_TO_ALL}"""
    yield vector_op(94, "f32x4.demote_f64x2_zero", _UNARY, demote)
    promote = half(F32X4, "low", "%0", "%part") + "%r:2xdouble = fpext <2 x float> %part to <2 x double>"
    yield vector_op(95, "f64x2.promote_low_f32x4", _UNARY, promote, nan=True)


ROWS = (
    *(row for at, shape in enumerate(FLOAT_SHAPES) for row in _comparisons(shape, 65 + 6 * at)),
    *(row for at, shape in enumerate(FLOAT_SHAPES) for row in _arithmetic(shape, 224 + 12 * at)),
    *_conversions(),
)
