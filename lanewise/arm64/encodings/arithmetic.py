"""What many integer instructions have in common."""

from __future__ import annotations

from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value, known


def width(f: Fields) -> int:
    """How many bits an instruction works on."""
    return 64 if f.sf.number else 32


def sums(m: Machine, x: Value, y: Value, carry: Value) -> tuple[Value, Value, Value]:
    """A sum, its carry and whether it overflowed."""
    bits = x.bits
    part = m.add(x, y)
    total = m.add(part, m.resize(carry, bits))
    carried = m.either(m.compare("ult", part, x), m.compare("ult", total, part))
    signs = m.both(m.differ(total, x), m.differ(total, y))
    return total, carried, m.resize(m.right(signs, bits - 1), 1)


def carry_word(m: Machine, x: Value, y: Value, total: Value) -> Value:
    """A number whose highest bit is the carry of a sum, whatever was carried into it."""
    return m.either(m.both(x, y), m.both(m.either(x, y), m.invert(total)))


def overflow_word(m: Machine, x: Value, y: Value, total: Value) -> Value:
    """A number whose highest bit says whether a sum overflowed."""
    return m.both(m.differ(total, x), m.differ(total, y))


def negative(m: Machine, x: Value) -> Value:
    """The sign, a bit."""
    return m.resize(m.right(x, x.bits - 1), 1)


def add_with_carry(m: Machine, f: Fields, x: Value, y: Value, *, sp: bool = False, carry: Value | None = None) -> None:
    """Add or subtract (`op`), perhaps with flags (`S`); then register 31 is nowhere, else the stack pointer if `sp`."""
    subtracts = bool(f.op.number)
    if carry is not None:
        total, carried, overflow = sums(m, x, m.invert(y) if subtracts else y, carry)
    elif subtracts:
        total, carried = m.sub(x, y), m.compare("uge", x, y)
        overflow = negative(m, m.both(m.differ(x, y), m.differ(total, x)))
    else:
        total = m.add(x, y)
        carried = m.compare("ult", total, x)
        overflow = negative(m, m.both(m.differ(total, x), m.differ(total, y)))
    if f.S.number:
        if m.flag_words:
            other = m.invert(y) if subtracts else y
            m.set_flag_words(total, total, carry_word(m, x, other, total), overflow_word(m, x, other, total))
        else:
            m.set_flags(negative(m, total), m.compare("eq", total, 0), carried, overflow)
        if subtracts and carry is None:
            m.compared(x, y)
    m.write(f.Rd, total, sp=sp and not f.S.number)


def logical(m: Machine, f: Fields, x: Value, y: Value, *, sp: bool = False) -> None:
    """And, or, exclusive or, and with flags, by `opc`."""
    result = m.operate(("and", "or", "xor", "and")[f.opc.number], x, y)
    if f.opc.number == 3 and m.flag_words:
        m.set_flag_words(result, result, known(32, 0), known(32, 0))
    elif f.opc.number == 3:
        m.set_flags(negative(m, result), m.compare("eq", result, 0), known(1, 0), known(1, 0))
    m.write(f.Rd, result, sp=sp)


def shifted(m: Machine, x: Value, kind: Value, by: Value) -> Value:
    """Shifted left, right, right with the sign, or turned right; by less than its bits."""
    ways = [m.left(x, by), m.right(x, by), m.right_signed(x, by), m.intrinsic("fshr", x, x, by)]
    if kind.known:
        return ways[kind.number]
    low, high = m.resize(kind, 1), m.resize(m.right(kind, 1), 1)
    return m.select(high, m.select(low, ways[3], ways[2]), m.select(low, ways[1], ways[0]))


def extended(m: Machine, x: Value, option: Value, bits: int) -> Value:
    """The lowest 8 to 64 bits of a register of 64, extended by zeros or the sign; then the lowest of that."""
    if option.known:
        size = 8 << (option.number & 3)
        return m.resize(m.resize(m.resize(x, size), 64, sign=bool(option.number >> 2)), bits)
    gap = m.sub(known(64, 64), m.left(known(64, 8), m.resize(m.both(option, 3), 64)))
    top = m.left(x, gap)
    sign = m.resize(m.right(option, 2), 1)
    return m.resize(m.select(sign, m.right_signed(top, gap), m.right(top, gap)), bits)
