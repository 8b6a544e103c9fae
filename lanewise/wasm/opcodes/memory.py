"""Loads, stores and the other instructions that touch linear memory."""

from __future__ import annotations

from collections.abc import Iterator

from lanewise.wasm.opcodes.row import LLVM_TYPES, Op, op


def _loads() -> Iterator[Op]:
    for at, kind in enumerate(("i32", "i64", "f32", "f64")):
        meaning = f"%r = memory.load {LLVM_TYPES[kind]} %0"
        yield op(0x28 + at, f"{kind}.load", f"i32 -> {kind}", meaning, immediates="memarg", width=int(kind[1:]) // 8)
    code = 0x2C
    for kind, sizes in (("i32", (8, 16)), ("i64", (8, 16, 32))):
        for bits in sizes:
            for sign, extend in (("s", "sext"), ("u", "zext")):
                meaning = f"%part = memory.load i{bits} %0\n%r = {extend} i{bits} %part to {kind}"
                name = f"{kind}.load{bits}_{sign}"
                yield op(code, name, f"i32 -> {kind}", meaning, immediates="memarg", width=bits // 8)
                code += 1


def _stores() -> Iterator[Op]:
    for at, kind in enumerate(("i32", "i64", "f32", "f64")):
        meaning = f"memory.store {LLVM_TYPES[kind]} %1, %0"
        yield op(0x36 + at, f"{kind}.store", f"i32 {kind} ->", meaning, immediates="memarg", width=int(kind[1:]) // 8)
    for code, kind, bits in (
        (0x3A, "i32", 8),
        (0x3B, "i32", 16),
        (0x3C, "i64", 8),
        (0x3D, "i64", 16),
        (0x3E, "i64", 32),
    ):
        meaning = f"%part = trunc {kind} %1 to i{bits}\nmemory.store i{bits} %part, %0"
        yield op(code, f"{kind}.store{bits}", f"i32 {kind} ->", meaning, immediates="memarg", width=bits // 8)


ROWS = (
    *_loads(),
    *_stores(),
    op(0x3F, "memory.size", "-> i32", immediates="memory", rule="memory.size"),
    op(0x40, "memory.grow", "i32 -> i32", immediates="memory", rule="memory.grow"),
    op(
        (0xFC << 16) | 8,
        "memory.init",
        "i32 i32 i32 ->",
        immediates="data memory",
        rule="memory.init",
        feature="bulk-memory",
    ),
    op((0xFC << 16) | 9, "data.drop", immediates="data", rule="data.drop", feature="bulk-memory"),
    op(
        (0xFC << 16) | 10,
        "memory.copy",
        "i32 i32 i32 ->",
        immediates="memory memory",
        rule="memory.copy",
        feature="bulk-memory",
    ),
    op(
        (0xFC << 16) | 11,
        "memory.fill",
        "i32 i32 i32 ->",
        immediates="memory",
        rule="memory.fill",
        feature="bulk-memory",
    ),
)
