"""Vector instructions that move lanes or bits without regard to what they mean."""

from __future__ import annotations

from collections.abc import Iterator

from lanewise.wasm.opcodes.row import Op
from lanewise.wasm.opcodes.simd_shapes import EXTENSIONS, I8X16, SHAPES, Shape, splatted, vector_op


def _splats() -> Iterator[Op]:
    for at, shape in enumerate(SHAPES):
        narrow, value = "", "%0"
        if shape.bits < 32:
            narrow, value = f"%part = trunc i32 %0 to {shape.lane}", "%part"
        meaning = narrow + splatted(shape, value, f"%r:{shape.short}")
        yield vector_op(15 + at, f"{shape.name}.splat", f"{shape.scalar} -> v128", meaning)


def _lane_access() -> Iterator[Op]:
    number = 21
    for shape in SHAPES:
        for name, meaning in (*_extractions(shape), ("replace_lane", _replacement(shape))):
            signature = f"v128 {shape.scalar} -> v128" if name == "replace_lane" else f"v128 -> {shape.scalar}"
            yield vector_op(number, f"{shape.name}.{name}", signature, meaning, immediates="lane", lanes=shape.lanes)
            number += 1


def _extractions(shape: Shape) -> Iterator[tuple[str, str]]:
    extract = f"extractelement {shape.llvm} %0:{shape.short}, i32 $0"
    if shape.bits >= 32:
        yield "extract_lane", f"%r = {extract}"
        return
    for sign, extend in EXTENSIONS.items():
        yield f"extract_lane_{sign}", f"%part = {extract}\n%r = {extend} {shape.lane} %part to i32"


def _replacement(shape: Shape) -> str:
    narrow, value = "", "%1"
    if shape.bits < 32:
        narrow, value = f"%part = trunc i32 %1 to {shape.lane}\n", "%part"
    return f"{narrow}%r:{shape.short} = insertelement {shape.llvm} %0:{shape.short}, {shape.lane} {value}, i32 $0"


def _swizzle() -> str:
    """Pick lanes by run-time indices; those out of range give 0.

    One extraction a lane is the form in which LLVM recognises a byte permutation of the target. An index out of range
    would be undefined to it, so the high bits of each are cut off first.
    """
    vector = I8X16.llvm
    lines = [f"%low = and {vector} %1:16xi8, {I8X16.splat(15)}"]
    built = "poison"
    for lane in range(I8X16.lanes):
        lines += (
            f"%index{lane} = extractelement {vector} %low, i32 {lane}",
            f"%lane{lane} = extractelement {vector} %0:16xi8, i8 %index{lane}",
            f"%built{lane} = insertelement {vector} {built}, i8 %lane{lane}, i32 {lane}",
        )
        built = f"%built{lane}"
    lines += (
        f"%inside = icmp ult {vector} %1:16xi8, {I8X16.splat(16)}",
        f"%r:16xi8 = select <16 x i1> %inside, {vector} {built}, {vector} zeroinitializer",
    )
    return "\n".join(lines)


_ONES = "splat (i32 -1)"

_BITSELECT = f"""
    %chosen = and <4 x i32> %0, %2
    %others = xor <4 x i32> %2, {_ONES}
    %rest = and <4 x i32> %1, %others
    %r = or <4 x i32> %chosen, %rest"""

_ANY_TRUE = """
    %bits = call i32 @llvm.vector.reduce.or.v4i32(<4 x i32> %0)
    %any = icmp ne i32 %bits, 0
    %r = zext i1 %any to i32"""

_ANDNOT = f"%other = xor <4 x i32> %1, {_ONES}\n%r = and <4 x i32> %0, %other"

ROWS = (
    vector_op(12, "v128.const", "-> v128", immediates="v128", rule="const"),
    vector_op(13, "i8x16.shuffle", "v128 v128 -> v128", immediates="lanes", lanes=32, rule="shuffle"),
    vector_op(14, "i8x16.swizzle", "v128 v128 -> v128", _swizzle()),
    *_splats(),
    *_lane_access(),
    vector_op(77, "v128.not", "v128 -> v128", f"%r = xor <4 x i32> %0, {_ONES}"),
    vector_op(78, "v128.and", "v128 v128 -> v128", "%r = and <4 x i32> %0, %1"),
    vector_op(79, "v128.andnot", "v128 v128 -> v128", _ANDNOT),
    vector_op(80, "v128.or", "v128 v128 -> v128", "%r = or <4 x i32> %0, %1"),
    vector_op(81, "v128.xor", "v128 v128 -> v128", "%r = xor <4 x i32> %0, %1"),
    vector_op(82, "v128.bitselect", "v128 v128 v128 -> v128", _BITSELECT),
    vector_op(83, "v128.any_true", "v128 -> i32", _ANY_TRUE),
)
