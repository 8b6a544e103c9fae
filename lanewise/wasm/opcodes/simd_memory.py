"""Vector instructions that touch linear memory."""

from __future__ import annotations

from collections.abc import Iterator

from lanewise.wasm.opcodes.row import Op
from lanewise.wasm.opcodes.simd_shapes import (
    EXTENSIONS,
    I32X4,
    I64X2,
    INTEGER_SHAPES,
    NARROWER,
    half_type,
    splatted,
    vector_op,
)


def _extending_loads() -> Iterator[Op]:
    number = 1
    for wide, narrow in NARROWER.items():
        packed, count = half_type(narrow), wide.lanes
        for sign, extend in EXTENSIONS.items():
            meaning = f"""
                %bits = memory.load i64 %0
                %part = bitcast i64 %bits to {packed}
                %r:{wide.short} = {extend} {packed} %part to {wide.llvm}"""
            name = f"v128.load{narrow.bits}x{count}_{sign}"
            yield vector_op(number, name, "i32 -> v128", meaning, immediates="memarg", width=8)
            number += 1


def _splatting_loads() -> Iterator[Op]:
    for at, shape in enumerate(INTEGER_SHAPES):
        meaning = f"%part = memory.load {shape.lane} %0" + splatted(shape, "%part", f"%r:{shape.short}")
        name, width = f"v128.load{shape.bits}_splat", shape.bits // 8
        yield vector_op(7 + at, name, "i32 -> v128", meaning, immediates="memarg", width=width)


def _lanes() -> Iterator[Op]:
    for at, shape in enumerate(INTEGER_SHAPES):
        more = {"immediates": "memarg lane", "width": shape.bits // 8, "lanes": shape.lanes}
        load = f"""
            %part = memory.load {shape.lane} %0
            %r:{shape.short} = insertelement {shape.llvm} %1:{shape.short}, {shape.lane} %part, i32 $1"""
        store = f"""
            %part = extractelement {shape.llvm} %1:{shape.short}, i32 $1
            memory.store {shape.lane} %part, %0"""
        yield vector_op(84 + at, f"v128.load{shape.bits}_lane", "i32 v128 -> v128", load, **more)
        yield vector_op(88 + at, f"v128.store{shape.bits}_lane", "i32 v128 ->", store, **more)


def _zeroing_loads() -> Iterator[Op]:
    for at, shape in enumerate((I32X4, I64X2)):
        meaning = f"""
            %part = memory.load {shape.lane} %0
            %r:{shape.short} = insertelement {shape.llvm} zeroinitializer, {shape.lane} %part, i32 0"""
        name, width = f"v128.load{shape.bits}_zero", shape.bits // 8
        yield vector_op(92 + at, name, "i32 -> v128", meaning, immediates="memarg", width=width)


ROWS = (
    vector_op(0, "v128.load", "i32 -> v128", "%r = memory.load <4 x i32> %0", immediates="memarg", width=16),
    *_extending_loads(),
    *_splatting_loads(),
    vector_op(11, "v128.store", "i32 v128 ->", "memory.store <4 x i32> %1, %0", immediates="memarg", width=16),
    *_lanes(),
    *_zeroing_loads(),
)
