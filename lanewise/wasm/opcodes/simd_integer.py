"""Vector instructions on lanes of integers."""

from __future__ import annotations

from collections.abc import Iterator

from lanewise.wasm.opcodes.row import Op
from lanewise.wasm.opcodes.simd_shapes import (
    EXTENSIONS,
    I8X16,
    I16X8,
    I32X4,
    I64X2,
    INTEGER_SHAPES,
    NARROWER,
    Shape,
    half,
    half_type,
    picked,
    splatted,
    vector_op,
)

_UNARY = "v128 -> v128"
_BINARY = "v128 v128 -> v128"

_FIRST = {shape: 0x60 + 0x20 * at for at, shape in enumerate(INTEGER_SHAPES)}
"""Each shape has 32 numbers from here on, and the same operation the same place among them."""


def _operand(shape: Shape, number: int) -> str:
    return f"{shape.llvm} %{number}:{shape.short}"


def _two(shape: Shape) -> str:
    """Write both operands as an instruction takes them, the type once."""
    return f"{_operand(shape, 0)}, %1:{shape.short}"


def _call(shape: Shape, intrinsic: str) -> str:
    operands = f"{_operand(shape, 0)}, {_operand(shape, 1)}"
    return f"%r:{shape.short} = call {shape.llvm} @llvm.{intrinsic}.{shape.suffix}({operands})"


def _comparisons() -> Iterator[Op]:
    predicates = {
        "eq": "eq",
        "ne": "ne",
        "lt_s": "slt",
        "lt_u": "ult",
        "gt_s": "sgt",
        "gt_u": "ugt",
        "le_s": "sle",
        "le_u": "ule",
        "ge_s": "sge",
        "ge_u": "uge",
    }
    for shape, first in ((I8X16, 35), (I16X8, 45), (I32X4, 55), (I64X2, 214)):
        known = [name for name in predicates if shape != I64X2 or not name.endswith("_u")]
        for at, name in enumerate(known):
            meaning = f"""
                %flags = icmp {predicates[name]} {_two(shape)}
                %r:{shape.short} = sext <{shape.lanes} x i1> %flags to {shape.llvm}"""
            yield vector_op(first + at, f"{shape.name}.{name}", _BINARY, meaning)


def _one_operand(shape: Shape) -> Iterator[Op]:
    first, name, llvm = _FIRST[shape], shape.name, shape.llvm
    absolute = f"%r:{shape.short} = call {llvm} @llvm.abs.{shape.suffix}({_operand(shape, 0)}, i1 false)"
    yield vector_op(first, f"{name}.abs", _UNARY, absolute)
    negated = f"%r:{shape.short} = sub {llvm} zeroinitializer, %0:{shape.short}"
    yield vector_op(first + 1, f"{name}.neg", _UNARY, negated)
    flags = f"<{shape.lanes} x i1>"
    all_true = f"""
        %flags = icmp ne {_operand(shape, 0)}, zeroinitializer
        %all = call i1 @llvm.vector.reduce.and.v{shape.lanes}i1({flags} %flags)
        %r = zext i1 %all to i32"""
    yield vector_op(first + 3, f"{name}.all_true", "v128 -> i32", all_true)
    bitmask = f"""
        %flags = icmp slt {_operand(shape, 0)}, zeroinitializer
        %bits = bitcast {flags} %flags to i{shape.lanes}
        %r = zext i{shape.lanes} %bits to i32"""
    yield vector_op(first + 4, f"{name}.bitmask", "v128 -> i32", bitmask)


def _shifts(shape: Shape) -> Iterator[Op]:
    resize = "zext" if shape.bits > 32 else "trunc"
    by = f"%by = and i32 %1, {shape.bits - 1}\n"
    lane = "%by"
    if shape.bits != 32:
        by += f"%lane = {resize} i32 %by to {shape.lane}\n"
        lane = "%lane"
    by += splatted(shape, lane, "%all")
    for at, (name, instruction) in enumerate({"shl": "shl", "shr_s": "ashr", "shr_u": "lshr"}.items()):
        meaning = f"{by}%r:{shape.short} = {instruction} {_operand(shape, 0)}, %all"
        yield vector_op(_FIRST[shape] + 11 + at, f"{shape.name}.{name}", "v128 i32 -> v128", meaning)


def _arithmetic(shape: Shape) -> Iterator[Op]:
    first, name = _FIRST[shape], shape.name
    for at, operation in ((14, "add"), (17, "sub"), (21, "mul")):
        if shape != I8X16 or operation != "mul":
            meaning = f"%r:{shape.short} = {operation} {_two(shape)}"
            yield vector_op(first + at, f"{name}.{operation}", _BINARY, meaning)
    if shape.bits <= 16:
        for at, operation in ((15, "add"), (18, "sub")):
            yield vector_op(first + at, f"{name}.{operation}_sat_s", _BINARY, _call(shape, f"s{operation}.sat"))
            yield vector_op(first + at + 1, f"{name}.{operation}_sat_u", _BINARY, _call(shape, f"u{operation}.sat"))
        yield vector_op(first + 27, f"{name}.avgr_u", _BINARY, _rounded_average(shape))
    if shape.bits <= 32:
        for at, extreme in ((22, "min"), (24, "max")):
            yield vector_op(first + at, f"{name}.{extreme}_s", _BINARY, _call(shape, f"s{extreme}"))
            yield vector_op(first + at + 1, f"{name}.{extreme}_u", _BINARY, _call(shape, f"u{extreme}"))


def _rounded_average(shape: Shape) -> str:
    wide = f"<{shape.lanes} x i{shape.bits * 2}>"
    one = f"splat (i{shape.bits * 2} 1)"
    return f"""
        %left = zext {_operand(shape, 0)} to {wide}
        %right = zext {_operand(shape, 1)} to {wide}
        %sum = add {wide} %left, %right
        %more = add {wide} %sum, {one}
        %average = lshr {wide} %more, {one}
        %r:{shape.short} = trunc {wide} %average to {shape.llvm}"""


def _narrow(source: Shape, target: Shape, sign: str) -> str:
    """Put the lanes of both operands, which are signed, into half the width; what does not fit becomes the nearest."""
    least = 0 if sign == "u" else -(1 << (target.bits - 1))
    most = least + (1 << target.bits) - 1
    all_lanes = f"<{target.lanes} x {source.lane}>"
    suffix = f"v{target.lanes}{source.kind}"
    both = f"{_operand(source, 0)}, {_operand(source, 1)}"
    return f"""
        %wide = shufflevector {both}, {picked(range(target.lanes))}
        %raised = call {all_lanes} @llvm.smax.{suffix}({all_lanes} %wide, {all_lanes} splat ({source.lane} {least}))
        %fitting = call {all_lanes} @llvm.smin.{suffix}({all_lanes} %raised, {all_lanes} splat ({source.lane} {most}))
        %r:{target.short} = trunc {all_lanes} %fitting to {target.llvm}"""


def _width_changes(wide: Shape, narrow: Shape) -> Iterator[Op]:
    first = _FIRST[wide]
    if wide != I64X2:
        for at, sign in enumerate(EXTENSIONS):
            name = f"{narrow.name}.narrow_{wide.name}_{sign}"
            yield vector_op(_FIRST[narrow] + 5 + at, name, _BINARY, _narrow(wide, narrow, sign))
    at = 0
    for sign, extend in EXTENSIONS.items():
        for which in ("low", "high"):
            low = half(narrow, which, "%0", "%left")
            extended = f"{low}%r:{wide.short} = {extend} {half_type(narrow)} %left to {wide.llvm}"
            yield vector_op(first + 7 + at, f"{wide.name}.extend_{which}_{narrow.name}_{sign}", _UNARY, extended)
            product = f"""
                {low}{half(narrow, which, "%1", "%right")}
                %first = {extend} {half_type(narrow)} %left to {wide.llvm}
                %second = {extend} {half_type(narrow)} %right to {wide.llvm}
                %r:{wide.short} = mul {wide.llvm} %first, %second"""
            yield vector_op(first + 28 + at, f"{wide.name}.extmul_{which}_{narrow.name}_{sign}", _BINARY, product)
            at += 1


def _sum_of_pairs(wide: Shape, source: str, result: str) -> str:
    """Add neighbouring lanes of `source`, which has twice the lanes of `wide` in the same width."""
    long = f"<{wide.lanes * 2} x {wide.lane}>"
    return f"""
        %even = shufflevector {long} {source}, {long} poison, {picked(range(0, wide.lanes * 2, 2))}
        %odd = shufflevector {long} {source}, {long} poison, {picked(range(1, wide.lanes * 2, 2))}
        {result} = add {wide.llvm} %even, %odd"""


def _pairwise() -> Iterator[Op]:
    number = 124
    for wide in (I16X8, I32X4):
        narrow = NARROWER[wide]
        for sign, extend in EXTENSIONS.items():
            meaning = f"%long = {extend} {_operand(narrow, 0)} to <{narrow.lanes} x {wide.lane}>"
            meaning += _sum_of_pairs(wide, "%long", f"%r:{wide.short}")
            yield vector_op(number, f"{wide.name}.extadd_pairwise_{narrow.name}_{sign}", _UNARY, meaning)
            number += 1


_PRODUCTS = f"""
    %left = sext {_operand(I16X8, 0)} to <8 x i32>
    %right = sext {_operand(I16X8, 1)} to <8 x i32>
    %product = mul <8 x i32> %left, %right"""


# Only -1 times -1 leaves the range: its product is 1, which has no place among numbers of 15 fractional bits.
_Q15_PRODUCT = f"""{_PRODUCTS}
    %half = add <8 x i32> %product, splat (i32 16384)
    %rounded = ashr <8 x i32> %half, splat (i32 15)
    %fitting = call <8 x i32> @llvm.smin.v8i32(<8 x i32> %rounded, <8 x i32> splat (i32 32767))
    %r:8xi16 = trunc <8 x i32> %fitting to <8 x i16>"""

_POPCNT = f"%r:16xi8 = call <16 x i8> @llvm.ctpop.v16i8({_operand(I8X16, 0)})"

ROWS = (
    *_comparisons(),
    *(row for shape in INTEGER_SHAPES for row in (*_one_operand(shape), *_shifts(shape), *_arithmetic(shape))),
    *(row for wide, narrow in NARROWER.items() for row in _width_changes(wide, narrow)),
    *_pairwise(),
    vector_op(98, "i8x16.popcnt", _UNARY, _POPCNT),
    vector_op(130, "i16x8.q15mulr_sat_s", _BINARY, _Q15_PRODUCT),
    vector_op(186, "i32x4.dot_i16x8_s", _BINARY, _PRODUCTS + _sum_of_pairs(I32X4, "%product", "%r:4xi32")),
)
