"""Two neighbours in memory at once: exclusive loads and stores of pairs, and comparing and swapping them."""

from __future__ import annotations

from lanewise.arm64.encodings.memory import aligned, store_exclusive
from lanewise.arm64.encodings.row import Row, rows
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value


def _bits(f: Fields) -> int:
    return 64 if f.sz.number else 32


def _joined(m: Machine, low: Value, high: Value) -> Value:
    wide = 2 * low.bits
    return m.either(m.resize(low, wide), m.left(m.resize(high, wide), low.bits))


def _second(m: Machine, number: Value) -> Value:
    return m.add(number, 1)


def _upper(m: Machine, x: Value) -> Value:
    return m.resize(m.right(x, x.bits // 2), x.bits // 2)


def _exchange(m: Machine, at: str, wanted: Value, value: Value) -> Value:
    """What was there; it is changed if that is what is wanted."""
    if wanted.bits == 128:
        return m.assign(128, f"call i128 @arm64.exchange_pair(ptr {at}, {wanted.typed}, {value.typed})")
    pair = m.pointer(f"cmpxchg ptr {at}, {wanted.typed}, {value.typed} seq_cst seq_cst, align 8")
    return m.assign(64, f"extractvalue {{ i64, i1 }} {pair}, 0")


def _load_pair(m: Machine, f: Fields) -> None:
    """Two loads may be apart: if another lane was between, the store that follows does not find what they saw."""
    bits = _bits(f)
    address = m.read(f.Rn, sp=True)
    at = aligned(m, address, 2 * bits, "r")
    low = m.assign(64, f"load atomic i64, ptr {at} seq_cst, align 8")
    m.set_special("exclusive", m.invert(address))
    m.set_special("seen", low)
    if bits == 32:
        low, high = m.resize(low, 32), _upper(m, low)
    else:
        above = m.pointer(f"getelementptr i8, ptr {at}, i64 8")
        high = m.assign(64, f"load atomic i64, ptr {above} seq_cst, align 8")
        m.set_special("seen_above", high)
    m.write(f.Rt, low)
    m.write(f.Rt2, high)


def _store_pair(m: Machine, f: Fields) -> None:
    bits = _bits(f)
    seen = m.special("seen")
    if bits == 64:
        seen = _joined(m, seen, m.special("seen_above"))
    value = _joined(m, m.read(f.Rt, bits), m.read(f.Rt2, bits))
    store_exclusive(m, f, value, lambda at: m.compare("eq", _exchange(m, at, seen, value), seen))


def _compare_swap_pair(m: Machine, f: Fields) -> None:
    """Both registers with the next behind them, which must be even ones."""
    bits = _bits(f)
    m.undefined_if(m.resize(m.either(f.Rs, f.Rt), 1))
    at = aligned(m, m.read(f.Rn, sp=True), 2 * bits)
    wanted, value = (_joined(m, m.read(one, bits), m.read(_second(m, one), bits)) for one in (f.Rs, f.Rt))
    found = _exchange(m, at, wanted, value)
    m.write(f.Rs, m.resize(found, bits))
    m.write(_second(m, f.Rs), _upper(m, found))


ROWS: list[Row] = [
    *rows("ldxp", "1 sz 001000 0 1 1 Rs o0 Rt2 Rn Rt", _load_pair, "sz"),
    *rows("stxp", "1 sz 001000 0 0 1 Rs o0 Rt2 Rn Rt", _store_pair, "sz"),
    *rows("casp", "0 sz 001000 0 L 1 Rs o0 11111 Rn Rt", _compare_swap_pair, "sz"),
]
