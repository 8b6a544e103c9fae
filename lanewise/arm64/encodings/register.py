"""Integer instructions on registers."""

from __future__ import annotations

from lanewise.arm64.encodings.arithmetic import (
    add_with_carry,
    carry_word,
    extended,
    logical,
    negative,
    overflow_word,
    shifted,
    sums,
    width,
)
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.flags import flag_word
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value, known


def _amount(m: Machine, f: Fields, bits: int) -> Value:
    by = m.resize(f.imm6, bits)
    if bits == 32:
        m.undefined_if(m.compare("ugt", by, 31))
    return by


def _logical(m: Machine, f: Fields) -> None:
    bits = width(f)
    y = shifted(m, m.read(f.Rm, bits), f.shift, _amount(m, f, bits))
    y = m.select(f.N, m.invert(y), y)
    logical(m, f, m.read(f.Rn, bits), y)


def _add_shifted(m: Machine, f: Fields) -> None:
    bits = width(f)
    y = shifted(m, m.read(f.Rm, bits), f.shift, _amount(m, f, bits))
    add_with_carry(m, f, m.read(f.Rn, bits), y)


def _add_extended(m: Machine, f: Fields) -> None:
    bits = width(f)
    m.undefined_if(m.compare("ugt", f.imm3, 4))
    y = m.left(extended(m, m.read(f.Rm), f.option, bits), m.resize(f.imm3, bits))
    add_with_carry(m, f, m.read(f.Rn, bits, sp=True), y, sp=True)


def _add_carry(m: Machine, f: Fields) -> None:
    bits = width(f)
    add_with_carry(m, f, m.read(f.Rn, bits), m.read(f.Rm, bits), carry=m.flag("c"))


def _compare(m: Machine, f: Fields, y: Value) -> None:
    """Compare with a number if a condition holds, else set the flags to what the word says."""
    bits = width(f)
    holds = m.holds(f.cond)
    if f.op.number:
        y = m.invert(y)
    x = m.read(f.Rn, bits)
    total, carried, overflow = sums(m, x, y, known(1, f.op.number))
    if m.flag_words:
        words = total, total, carry_word(m, x, y, total), overflow_word(m, x, y, total)
        given = [flag_word(bits, name, f.nzcv.number >> 3 - at & 1) for at, name in enumerate("nzcv")]
        m.set_flag_words(*(m.select(holds, word, other) for word, other in zip(words, given, strict=True)))
        return
    found = (negative(m, total), m.compare("eq", total, 0), carried, overflow)
    n, z, c, v = (m.select(holds, flag, m.resize(m.right(f.nzcv, 3 - at), 1)) for at, flag in enumerate(found))
    m.set_flags(n, z, c, v)


def _compare_register(m: Machine, f: Fields) -> None:
    _compare(m, f, m.read(f.Rm, width(f)))


def _compare_immediate(m: Machine, f: Fields) -> None:
    _compare(m, f, m.resize(f.imm5, width(f)))


def _select(m: Machine, f: Fields) -> None:
    bits = width(f)
    y = m.read(f.Rm, bits)
    if f.op.number:
        y = m.invert(y)
    if f.o2.number:
        y = m.add(y, 1)
    m.write(f.Rd, m.select(m.holds(f.cond), m.read(f.Rn, bits), y))


def _divide(m: Machine, f: Fields) -> None:
    """By zero it is 0, and the least number by -1 is itself."""
    bits = width(f)
    x, y = m.read(f.Rn, bits), m.read(f.Rm, bits)
    bad = m.compare("eq", y, 0)
    if f.o1.number:
        least = m.both(m.compare("eq", x, 1 << bits - 1), m.compare("eq", y, -1))
        one = m.select(m.either(bad, least), known(bits, 1), y)
        result = m.operate("sdiv", x, one)
    else:
        result = m.operate("udiv", x, m.select(bad, known(bits, 1), y))
    m.write(f.Rd, m.select(bad, known(bits, 0), result))


def _shift(m: Machine, f: Fields) -> None:
    bits = width(f)
    m.write(f.Rd, shifted(m, m.read(f.Rn, bits), f.shift, m.both(m.read(f.Rm, bits), bits - 1)))


_POLYNOMIALS = 0xEDB88320, 0x82F63B78


def _crc(m: Machine, f: Fields) -> None:
    """Of 1 to 8 bytes, bit by bit: the lowest first."""
    count = 8 << f.size.number
    rest = m.differ(m.resize(m.read(f.Rn, 32), 64), m.resize(m.resize(m.read(f.Rm), count), 64))
    for _ in range(count):
        odd = m.resize(rest, 1)
        half = m.right(rest, 1)
        rest = m.select(odd, m.differ(half, known(64, _POLYNOMIALS[f.op.number])), half)
    m.write(f.Rd, m.resize(rest, 32))


def _one(operation: str) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        x = m.read(f.Rn, width(f))
        m.write(f.Rd, m.intrinsic(operation, x))

    return meaning


def _reverse_parts(part: int) -> Meaning:
    """Bytes are turned around in each part of so many bits."""

    def meaning(m: Machine, f: Fields) -> None:
        bits = width(f)
        x = m.intrinsic("bswap", m.read(f.Rn, bits))
        if part <= 32 < bits:
            x = m.intrinsic("fshl", x, x, known(bits, 32))
        if part == 16:
            low = known(bits, 0x0000FFFF0000FFFF)
            x = m.either(m.left(m.both(x, low), 16), m.both(m.right(x, 16), low))
        m.write(f.Rd, x)

    return meaning


def _count_signs(m: Machine, f: Fields) -> None:
    """How many bits below the highest are like it."""
    bits = width(f)
    x = m.read(f.Rn, bits)
    unlike = m.differ(x, m.right_signed(x, bits - 1))
    m.write(f.Rd, m.intrinsic("ctlz", m.either(m.left(unlike, 1), 1)))


def _multiply(m: Machine, f: Fields) -> None:
    bits = width(f)
    product = m.mul(m.read(f.Rn, bits), m.read(f.Rm, bits))
    m.write(f.Rd, m.operate("sub" if f.o0.number else "add", m.read(f.Ra, bits), product))


def _multiply_long(sign: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        x, y = (m.resize(m.read(number, 32), 64, sign=sign) for number in (f.Rn, f.Rm))
        m.write(f.Rd, m.operate("sub" if f.o0.number else "add", m.read(f.Ra), m.mul(x, y)))

    return meaning


def _multiply_high(sign: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        x, y = (m.resize(m.read(number), 128, sign=sign) for number in (f.Rn, f.Rm))
        m.write(f.Rd, m.resize(m.right(m.mul(x, y), 64), 64))

    return meaning


ROWS: list[Row] = [
    *rows("and", "sf opc 01010 shift N Rm imm6 Rn Rd", _logical, "sf opc shift N"),
    *rows("add", "sf op S 01011 shift 0 Rm imm6 Rn Rd", _add_shifted, "sf op S", shift=(0, 1, 2)),
    *rows("add", "sf op S 01011 00 1 Rm option imm3 Rn Rd", _add_extended, "sf op S"),
    *rows("adc", "sf op S 11010000 Rm 000000 Rn Rd", _add_carry, "sf op S"),
    *rows("ccmp", "sf op 1 11010010 Rm cond 00 Rn 0 nzcv", _compare_register, "sf op"),
    *rows("ccmp", "sf op 1 11010010 imm5 cond 10 Rn 0 nzcv", _compare_immediate, "sf op"),
    *rows("csel", "sf op 0 11010100 Rm cond 0 o2 Rn Rd", _select, "sf op o2"),
    *rows("div", "sf 0 0 11010110 Rm 00001 o1 Rn Rd", _divide, "sf o1"),
    *rows("lslv", "sf 0 0 11010110 Rm 0010 shift Rn Rd", _shift, "sf shift"),
    *rows("crc32", "0 0 0 11010110 Rm 010 op size Rn Rd", _crc, "op", size=(0, 1, 2)),
    *rows("crc32", "1 0 0 11010110 Rm 010 op size=11 Rn Rd", _crc, "op"),
    *rows("rbit", "sf 1 0 11010110 00000 000000 Rn Rd", _one("bitreverse"), "sf"),
    *rows("rev16", "sf 1 0 11010110 00000 000001 Rn Rd", _reverse_parts(16), "sf"),
    *rows("rev", "sf 1 0 11010110 00000 000010 Rn Rd", _reverse_parts(32), "sf"),
    *rows("rev", "sf=1 1 0 11010110 00000 000011 Rn Rd", _reverse_parts(64)),
    *rows("clz", "sf 1 0 11010110 00000 000100 Rn Rd", _one("ctlz"), "sf"),
    *rows("cls", "sf 1 0 11010110 00000 000101 Rn Rd", _count_signs, "sf"),
    *rows("madd", "sf 00 11011 000 Rm o0 Ra Rn Rd", _multiply, "sf o0"),
    *rows("smaddl", "1 00 11011 001 Rm o0 Ra Rn Rd", _multiply_long(True), "o0"),
    *rows("umaddl", "1 00 11011 101 Rm o0 Ra Rn Rd", _multiply_long(False), "o0"),
    *rows("smulh", "1 00 11011 010 Rm 0 Ra Rn Rd", _multiply_high(True)),
    *rows("umulh", "1 00 11011 110 Rm 0 Ra Rn Rd", _multiply_high(False)),
]
