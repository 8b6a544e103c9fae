"""Atomic instructions on shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from lanewise.wasm.opcodes.row import I32, I64, Op, op

_ACCESSES = ((I32, 32), (I64, 64), (I32, 8), (I32, 16), (I64, 8), (I64, 16), (I64, 32))
"""The type on the stack and the bits in memory of the seven forms of each operation, in the order of their opcodes."""

_OPERATIONS = ("add", "sub", "and", "or", "xor", "xchg")


def _atomic(number: int, name: str, signature: str, meaning: str = "", **more: object) -> Op:
    return op((0xFE << 16) | number, name, signature, meaning, atomic=True, feature="threads", **more)


def _narrowed(kind: str, bits: int, operand: int, part: str) -> tuple[str, str]:
    """Return the line that cuts an operand to what memory holds of it, where one is needed, and what is left."""
    if kind == f"i{bits}":
        return "", f"%{operand}"
    return f"{part} = trunc {kind} %{operand} to i{bits}\n", part


def _widened(kind: str, bits: int, access: str) -> str:
    """Write the access so that its result, with zeros in front, is the instruction's."""
    if kind == f"i{bits}":
        return f"%r = {access}"
    return f"%old = {access}\n%r = zext i{bits} %old to {kind}"


def _loads_and_stores() -> Iterator[Op]:
    for at, (kind, bits) in enumerate(_ACCESSES):
        size = "" if kind == f"i{bits}" else str(bits)
        load = _widened(kind, bits, f"memory.atomic.load i{bits} %0")
        name = f"{kind}.atomic.load{size}_u" if size else f"{kind}.atomic.load"
        yield _atomic(0x10 + at, name, f"i32 -> {kind}", load, immediates="memarg", width=bits // 8)
        cut, value = _narrowed(kind, bits, 1, "%part")
        store = f"{cut}memory.atomic.store i{bits} {value}, %0"
        name = f"{kind}.atomic.store{size}"
        yield _atomic(0x17 + at, name, f"i32 {kind} ->", store, immediates="memarg", width=bits // 8)


def _updates() -> Iterator[Op]:
    for row, operation in enumerate((*_OPERATIONS, "cmpxchg")):
        for at, (kind, bits) in enumerate(_ACCESSES):
            name = f"{kind}.atomic.rmw.{operation}"
            if kind != f"i{bits}":
                name = f"{kind}.atomic.rmw{bits}.{operation}_u"
            if operation == "cmpxchg":
                signature, meaning = f"i32 {kind} {kind} -> {kind}", _exchange(kind, bits)
            else:
                cut, value = _narrowed(kind, bits, 1, "%part")
                signature = f"i32 {kind} -> {kind}"
                meaning = cut + _widened(kind, bits, f"memory.atomic.rmw {operation} i{bits} %0, {value}")
            yield _atomic(0x1E + 7 * row + at, name, signature, meaning, immediates="memarg", width=bits // 8)


def _exchange(kind: str, bits: int) -> str:
    """Compare and exchange; the narrow forms cut the expected value too before they compare.

    Drafts of the proposal and its tests once disagreed on that; the decision is WebAssembly/threads issue 195.
    """
    cut_expected, expected = _narrowed(kind, bits, 1, "%expected")
    cut_replacement, replacement = _narrowed(kind, bits, 2, "%replacement")
    access = f"memory.atomic.cmpxchg i{bits} %0, {expected}, {replacement}"
    return cut_expected + cut_replacement + _widened(kind, bits, access)


def _by_rule(number: int, name: str, signature: str, width: int) -> Op:
    return _atomic(number, name, signature, immediates="memarg", width=width, rule=name)


ROWS = (
    _by_rule(0x00, "memory.atomic.notify", "i32 i32 -> i32", 4),
    _by_rule(0x01, "memory.atomic.wait32", "i32 i32 i64 -> i32", 4),
    _by_rule(0x02, "memory.atomic.wait64", "i32 i64 i64 -> i32", 8),
    _atomic(0x03, "atomic.fence", "", immediates="zero", rule="atomic.fence"),
    *_loads_and_stores(),
    *_updates(),
)
