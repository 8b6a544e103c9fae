"""Loads and stores of integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.machine import ALIGNMENT, Access, Fields, Machine
from lanewise.arm64.values import Value, known


def _access(m: Machine, f: Fields, address: Value) -> None:
    """Load or store `size` by `opc`: a store, a load, a load with the sign to 64 bits, and to 32."""
    bits, kind = 8 << f.size.number, f.opc.number
    if kind == 0:
        value = m.read(f.Rt, bits)
        m.check(address, bits // 8, "w")
        m.store(address, value)
        return
    m.check(address, bits // 8, "r")
    value = m.load(address, bits)
    if kind > 1:
        value = m.resize(value, 64 if kind == 2 else 32, sign=True)
    m.write(f.Rt, m.resize(value, 64) if value.bits < 32 else value)


def _scaled(m: Machine, f: Fields) -> None:
    _access(m, f, m.add(m.read(f.Rn, sp=True), m.left(m.resize(f.imm12, 64), f.size.number)))


def _unscaled(m: Machine, f: Fields) -> None:
    _access(m, f, m.add(m.read(f.Rn, sp=True), m.resize(f.imm9, 64, sign=True)))


def _before(m: Machine, f: Fields) -> None:
    address = m.add(m.read(f.Rn, sp=True), m.resize(f.imm9, 64, sign=True))
    _access(m, f, address)
    m.write(f.Rn, address, sp=True)


def _after(m: Machine, f: Fields) -> None:
    address = m.read(f.Rn, sp=True)
    _access(m, f, address)
    m.write(f.Rn, m.add(address, m.resize(f.imm9, 64, sign=True)), sp=True)


def _index(m: Machine, f: Fields, scale: int) -> Value:
    """A register as an offset: all of it or its lower half, extended by zeros or the sign; perhaps scaled."""
    x = m.read(f.Rm)
    half = m.resize(x, 32)
    offset = m.select(f.whole, x, m.select(f.sign, m.resize(half, 64, sign=True), m.resize(half, 64)))
    return m.select(f.S, m.left(offset, scale), offset)


def _indexed(m: Machine, f: Fields) -> None:
    _access(m, f, m.add(m.read(f.Rn, sp=True), _index(m, f, f.size.number)))


def _prefetch(m: Machine, f: Fields) -> None:
    """Nothing comes sooner."""


def _literal(m: Machine, f: Fields) -> None:
    address = m.add(m.pc, m.left(m.resize(f.imm19, 64, sign=True), 2))
    bits = 64 if f.opc.number == 1 else 32
    m.check(address, bits // 8, "r")
    m.write(f.Rt, m.resize(m.load(address, bits), 64, sign=f.opc.number == 2))


def _pair(mode: int) -> Meaning:
    """Two registers, at an address that is changed after (1), not (0 and 2), or before (3)."""

    def meaning(m: Machine, f: Fields) -> None:
        bits, sign = (64 if f.opc.number == 2 else 32), f.opc.number == 1
        offset = m.left(m.resize(f.imm7, 64, sign=True), 3 if bits == 64 else 2)
        base = m.read(f.Rn, sp=True)
        changed = m.add(base, offset)
        address = base if mode == 1 else changed
        second = m.add(address, bits // 8)
        if f.L.number:
            m.check(address, bits // 4, "r")
            x, y = m.load(address, bits), m.load(second, bits)
            m.write(f.Rt, m.resize(x, 64, sign=sign))
            m.write(f.Rt2, m.resize(y, 64, sign=sign))
        else:
            x, y = m.read(f.Rt, bits), m.read(f.Rt2, bits)
            m.check(address, bits // 4, "w")
            m.store(address, x)
            m.store(second, y)
        if mode in (1, 3):
            m.write(f.Rn, changed, sp=True)

    return meaning


# --- vector registers ------------------------------------------------------------------------------------------------


def _access_vector(m: Machine, f: Fields, address: Value) -> None:
    """1 to 16 bytes, by `size` and the upper bit of `opc`."""
    bits = 8 << (f.size.number | (f.opc.number & 2) << 1)
    m.check(address, bits // 8, "r" if f.opc.number & 1 else "w")
    if f.opc.number & 1:
        m.write_vector(f.Rt, m.load(address, bits))
    else:
        m.store(address, m.read_vector(f.Rt, bits))


def _scale(f: Fields) -> int:
    return f.size.number | (f.opc.number & 2) << 1


def _scaled_vector(m: Machine, f: Fields) -> None:
    _access_vector(m, f, m.add(m.read(f.Rn, sp=True), m.left(m.resize(f.imm12, 64), _scale(f))))


def _unscaled_vector(m: Machine, f: Fields) -> None:
    _access_vector(m, f, m.add(m.read(f.Rn, sp=True), m.resize(f.imm9, 64, sign=True)))


def _before_vector(m: Machine, f: Fields) -> None:
    address = m.add(m.read(f.Rn, sp=True), m.resize(f.imm9, 64, sign=True))
    _access_vector(m, f, address)
    m.write(f.Rn, address, sp=True)


def _after_vector(m: Machine, f: Fields) -> None:
    address = m.read(f.Rn, sp=True)
    _access_vector(m, f, address)
    m.write(f.Rn, m.add(address, m.resize(f.imm9, 64, sign=True)), sp=True)


def _indexed_vector(m: Machine, f: Fields) -> None:
    _access_vector(m, f, m.add(m.read(f.Rn, sp=True), _index(m, f, _scale(f))))


def _literal_vector(m: Machine, f: Fields) -> None:
    address = m.add(m.pc, m.left(m.resize(f.imm19, 64, sign=True), 2))
    bits = 32 << f.opc.number
    m.check(address, bits // 8, "r")
    m.write_vector(f.Rt, m.load(address, bits))


def _pair_vector(mode: int) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        bits = 32 << f.opc.number
        offset = m.left(m.resize(f.imm7, 64, sign=True), 2 + f.opc.number)
        base = m.read(f.Rn, sp=True)
        changed = m.add(base, offset)
        address = base if mode == 1 else changed
        m.check(address, bits // 4, "r" if f.L.number else "w")
        second = m.add(address, bits // 8)
        if f.L.number:
            x, y = m.load(address, bits), m.load(second, bits)
            m.write_vector(f.Rt, x)
            m.write_vector(f.Rt2, y)
        else:
            m.store(address, m.read_vector(f.Rt, bits))
            m.store(second, m.read_vector(f.Rt2, bits))
        if mode in (1, 3):
            m.write(f.Rn, changed, sp=True)

    return meaning


# --- in order, and all at once ---------------------------------------------------------------------------------------


def aligned(m: Machine, address: Value, bits: int, access: Access = "rw") -> str:
    """Where an access must be whole; a lane stops where it could not be."""
    low = m.both(address, bits // 8 - 1)
    m.stop_if(m.compare("ne", low, 0), ALIGNMENT, address)
    m.check(address, bits // 8, access)
    return m.place(address)


def _ordered(m: Machine, f: Fields) -> None:
    """Load with what follows behind it, or store with what came before ahead of it."""
    bits = 8 << f.size.number
    at = aligned(m, m.read(f.Rn, sp=True), bits, "r" if f.L.number else "w")
    if f.L.number:
        value = m.assign(bits, f"load atomic i{bits}, ptr {at} seq_cst, align {bits // 8}")
        m.write(f.Rt, m.resize(value, 64))
    else:
        m.emit(f"store atomic i{bits} {m.read(f.Rt, bits).text}, ptr {at} seq_cst, align {bits // 8}")


def _load_exclusive(m: Machine, f: Fields) -> None:
    """Remember what was there: a store succeeds while that is still so."""
    bits = 8 << f.size.number
    address = m.read(f.Rn, sp=True)
    at = aligned(m, address, bits, "r")
    value = m.assign(bits, f"load atomic i{bits}, ptr {at} seq_cst, align {bits // 8}")
    m.set_special("exclusive", m.invert(address))
    m.set_special("seen", m.resize(value, 64))
    m.write(f.Rt, m.resize(value, 64))


def store_exclusive(m: Machine, f: Fields, value: Value, exchange: Callable[[str], Value]) -> None:
    """Store if that is still there which was seen: `exchange` does so, and says whether it was."""
    address = m.read(f.Rn, sp=True)
    exclusive = m.special("exclusive")  # an address inverted, or 0 for none: so none is at the last of all addresses
    held = m.both(m.compare("eq", exclusive, m.invert(address)), m.compare("ne", exclusive, 0))
    attempt, done = m.label("attempt"), m.label("done")
    m.head.append("%failed = alloca i32")
    m.emit("store i32 1, ptr %failed")
    m.emit(f"br {held.typed}, label %{attempt}, label %{done}")
    m.start(attempt)
    won = exchange(aligned(m, address, value.bits))
    m.emit(f"store {m.resize(m.invert(won), 32).typed}, ptr %failed")
    m.emit(f"br label %{done}")
    m.start(done)
    m.set_special("exclusive", known(64, 0))
    m.write(f.Rs, m.assign(32, "load i32, ptr %failed"))


def _store_exclusive(m: Machine, f: Fields) -> None:
    bits = 8 << f.size.number
    seen, value = m.resize(m.special("seen"), bits), m.read(f.Rt, bits)

    def exchange(at: str) -> Value:
        pair = m.pointer(f"cmpxchg ptr {at}, {seen.typed}, {value.typed} seq_cst seq_cst, align {bits // 8}")
        return m.assign(1, f"extractvalue {{ i{bits}, i1 }} {pair}, 1")

    store_exclusive(m, f, value, exchange)


_ATOMICS = (
    ("ldadd", "add"), ("ldclr", "and"), ("ldeor", "xor"), ("ldset", "or"), ("ldsmax", "max"), ("ldsmin", "min"),
    ("ldumax", "umax"), ("ldumin", "umin"),
)  # fmt: skip


def _atomic(operation: str) -> Meaning:
    """Change memory by a register, all at once; the other gets what was there."""

    def meaning(m: Machine, f: Fields) -> None:
        bits = 8 << f.size.number
        at = aligned(m, m.read(f.Rn, sp=True), bits)
        value = m.read(f.Rs, bits)
        if operation == "and":
            value = m.invert(value)
        text = f"atomicrmw {operation} ptr {at}, {value.typed} seq_cst, align {bits // 8}"
        m.write(f.Rt, m.resize(m.assign(bits, text), 64))

    return meaning


def _compare_swap(m: Machine, f: Fields) -> None:
    bits = 8 << f.size.number
    at = aligned(m, m.read(f.Rn, sp=True), bits)
    wanted, value = m.read(f.Rs, bits), m.read(f.Rt, bits)
    pair = m.pointer(f"cmpxchg ptr {at}, {wanted.typed}, {value.typed} seq_cst seq_cst, align {bits // 8}")
    m.write(f.Rs, m.resize(m.assign(bits, f"extractvalue {{ i{bits}, i1 }} {pair}, 0"), 64))


def _load_acquired(m: Machine, f: Fields) -> None:
    bits = 8 << f.size.number
    at = aligned(m, m.read(f.Rn, sp=True), bits, "r")
    m.write(f.Rt, m.resize(m.assign(bits, f"load atomic i{bits}, ptr {at} acquire, align {bits // 8}"), 64))


_INDEX = "Rm sign:1 1 whole:1 S"
"""A register as an offset; in the manual the bits around the 1 are those of the field `option`."""
_ALL = {"size": (0, 1, 2, 3), "opc": (0, 1)}
_SIGNED = {"size": (0, 1), "opc": (2, 3)}
_WORD = {"size": (2,), "opc": (2,)}


def _sizes(name: str, pattern: str, meaning: Meaning) -> list[Row]:
    return [row for choices in (_ALL, _SIGNED, _WORD) for row in rows(name, pattern, meaning, **choices)]


def _vector_sizes(name: str, pattern: str, meaning: Meaning) -> list[Row]:
    whole = rows(name, pattern, meaning, size=(0,), opc=(2, 3))
    return [*rows(name, pattern, meaning, size=(0, 1, 2, 3), opc=(0, 1)), *whole]


_PLAIN: list[Row] = [
    *_sizes("ldr", "size 111 0 01 opc imm12 Rn Rt", _scaled),
    *_sizes("ldur", "size 111 0 00 opc 0 imm9 00 Rn Rt", _unscaled),
    *_sizes("ldtr", "size 111 0 00 opc 0 imm9 10 Rn Rt", _unscaled),
    *_sizes("ldr", "size 111 0 00 opc 0 imm9 01 Rn Rt", _after),
    *_sizes("ldr", "size 111 0 00 opc 0 imm9 11 Rn Rt", _before),
    *_sizes("ldr", f"size 111 0 00 opc 1 {_INDEX} 10 Rn Rt", _indexed),
    *(
        row
        for mode in range(4)
        for form, choices in (("opc", {"opc": (0, 2)}), ("opc=01", {"L": (1,)}))
        if not (mode == 0 and form == "opc=01")
        for row in rows("ldp", f"{form} 101 0 0 {mode:02b} L imm7 Rt2 Rn Rt", _pair(mode), "L", **choices)
    ),
    *_vector_sizes("ldr v", "size 111 1 01 opc imm12 Rn Rt", _scaled_vector),
    *_vector_sizes("ldur v", "size 111 1 00 opc 0 imm9 00 Rn Rt", _unscaled_vector),
    *_vector_sizes("ldr v", "size 111 1 00 opc 0 imm9 01 Rn Rt", _after_vector),
    *_vector_sizes("ldr v", "size 111 1 00 opc 0 imm9 11 Rn Rt", _before_vector),
    *_vector_sizes("ldr v", f"size 111 1 00 opc 1 {_INDEX} 10 Rn Rt", _indexed_vector),
    *(
        row
        for mode in range(4)
        for row in rows("ldp v", f"opc 101 1 0 {mode:02b} L imm7 Rt2 Rn Rt", _pair_vector(mode), "L", opc=(0, 1, 2))
    ),
]
_ORDERED: list[Row] = [
    *rows("ldar", "size 001000 1 L 0 Rs o0 Rt2 Rn Rt", _ordered, "size L"),
    *rows("ldxr", "size 001000 0 1 0 Rs o0 Rt2 Rn Rt", _load_exclusive, "size"),
    *rows("stxr", "size 001000 0 0 0 Rs o0 Rt2 Rn Rt", _store_exclusive, "size"),
    *rows("cas", "size 001000 1 L 1 Rs o0 11111 Rn Rt", _compare_swap, "size"),
    *(
        row
        for number, (name, operation) in enumerate(_ATOMICS)
        for row in rows(name, f"size 111 0 00 A R 1 Rs 0 {number:03b} 00 Rn Rt", _atomic(operation), "size")
    ),
    *rows("swp", "size 111 0 00 A R 1 Rs 1 000 00 Rn Rt", _atomic("xchg"), "size"),
    *rows("ldapr", "size 111 0 00 1 0 1 11111 1 100 00 Rn Rt", _load_acquired, "size"),
]
ROWS: list[Row] = [
    *(replace(row, plain=True) for row in _PLAIN),
    *rows("prfm", "11 111 0 01 10 imm12 Rn Rt", _prefetch),
    *rows("prfum", "11 111 0 00 10 0 imm9 00 Rn Rt", _prefetch),
    *rows("prfm", f"11 111 0 00 10 1 {_INDEX} 10 Rn Rt", _prefetch),
    *rows("prfm", "11 011 0 00 imm19 Rt", _prefetch),
    *rows("ldr", "opc 011 0 00 imm19 Rt", _literal, opc=(0, 1, 2)),
    *rows("ldr v", "opc 011 1 00 imm19 Rt", _literal_vector, opc=(0, 1, 2)),
    *(replace(row, ordered=True) for row in _ORDERED),
]
