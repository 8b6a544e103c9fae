"""Instructions on single numbers of floating point."""

from __future__ import annotations

from lanewise.arm64.encodings import numbers
from lanewise.arm64.encodings.arithmetic import width
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value, known

_SIZES = {0: 32, 1: 64, 3: 16}


def _bits(f: Fields) -> int:
    return _SIZES[f.ftype.number]


def _two(work: str) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        x, y = m.read_vector(f.Rn, _bits(f)), m.read_vector(f.Rm, _bits(f))
        m.write_vector(f.Rd, binary(m, work, x, y))

    return meaning


def binary(m: Machine, work: str, x: Value, y: Value) -> Value:
    """An operation on two numbers, by its name."""
    if work in ("fmaxnm", "fminnm"):
        return numbers.number_or_other(m, work == "fmaxnm", x, y)
    if work in ("fmax", "fmin"):
        return numbers.intrinsic(m, "maximum" if work == "fmax" else "minimum", x, y)
    if work == "fnmul":
        return numbers.negate(m, numbers.operate(m, "fmul", x, y))
    return numbers.operate(m, work, x, y)


def unary(m: Machine, work: str, x: Value) -> Value:
    """An operation on one number, by its name."""
    if work == "fmov":
        return x
    if work == "fabs":
        return m.both(x, (1 << x.bits - 1) - 1)
    if work == "fneg":
        return numbers.negate(m, x)
    return numbers.intrinsic(m, work, x)


def _one(work: str) -> Meaning:
    return lambda m, f: m.write_vector(f.Rd, unary(m, work, m.read_vector(f.Rn, _bits(f))))


def _convert(bits: int) -> Meaning:
    return lambda m, f: m.write_vector(f.Rd, numbers.convert(m, m.read_vector(f.Rn, _bits(f)), bits))


def _multiply_add(m: Machine, f: Fields) -> None:
    """The product is taken away if o0 differs from o1, and the addend if o1 is set."""
    bits = _bits(f)
    x, y, addend = (m.read_vector(number, bits) for number in (f.Rn, f.Rm, f.Ra))
    if f.o0.number != f.o1.number:
        x = numbers.negate(m, x)
    if f.o1.number:
        addend = numbers.negate(m, addend)
    m.write_vector(f.Rd, numbers.multiply_add(m, addend, x, y))


def _flags(m: Machine, x: Value, y: Value) -> tuple[Value, ...]:
    """What a comparison says: none of the others if one is no number."""
    kind, one, other = numbers.KINDS[x.bits], numbers.as_float(m, x), numbers.as_float(m, y)
    less, same, odd = (m.assign(1, f"fcmp {how} {kind} {one}, {other}") for how in ("olt", "oeq", "uno"))
    return less, same, m.invert(less), odd


def _compare(m: Machine, f: Fields) -> None:
    x = m.read_vector(f.Rn, _bits(f))
    y = known(_bits(f), 0) if f.o1.number else m.read_vector(f.Rm, _bits(f))
    m.set_flags(*_flags(m, x, y))


def _compare_if(m: Machine, f: Fields) -> None:
    holds = m.holds(f.cond)
    found = _flags(m, m.read_vector(f.Rn, _bits(f)), m.read_vector(f.Rm, _bits(f)))
    for at, (name, flag) in enumerate(zip("nzcv", found, strict=True)):
        m.set_flag(name, m.select(holds, flag, m.resize(m.right(f.nzcv, 3 - at), 1)))


def _select(m: Machine, f: Fields) -> None:
    bits = _bits(f)
    m.write_vector(f.Rd, m.select(m.holds(f.cond), m.read_vector(f.Rn, bits), m.read_vector(f.Rm, bits)))


def _immediate(m: Machine, f: Fields) -> None:
    m.write_vector(f.Rd, numbers.expanded(m, f.imm8, _bits(f)))


# --- integers --------------------------------------------------------------------------------------------------------


def _to_integer(rounding: str, sign: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        x = m.read_vector(f.Rn, _bits(f))
        m.write(f.Rd, numbers.to_integer(m, x, width(f), rounding, sign))

    return meaning


def _from_integer(sign: bool) -> Meaning:
    return lambda m, f: m.write_vector(f.Rd, numbers.from_integer(m, m.read(f.Rn, width(f)), _bits(f), sign))


def _places(m: Machine, f: Fields) -> Value:
    """How many bits are behind the point."""
    return m.sub(known(64, 64), m.resize(f.scale, 64))


def _check_scale(m: Machine, f: Fields) -> None:
    if width(f) == 32:
        m.undefined_if(m.compare("ult", f.scale, 32))


def _to_fixed(sign: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        _check_scale(m, f)
        x = m.read_vector(f.Rn, _bits(f))
        m.write(f.Rd, numbers.to_fixed(m, x, width(f), _places(m, f), sign))

    return meaning


def _from_fixed(sign: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        _check_scale(m, f)
        m.write_vector(f.Rd, numbers.from_fixed(m, m.read(f.Rn, width(f)), _bits(f), _places(m, f), sign))

    return meaning


def _to_general(m: Machine, f: Fields) -> None:
    m.write(f.Rd, m.resize(m.read_vector(f.Rn, _bits(f)), 64))


def _from_general(m: Machine, f: Fields) -> None:
    m.write_vector(f.Rd, m.read(f.Rn, _bits(f)))


def _upper_to_general(m: Machine, f: Fields) -> None:
    m.write(f.Rd, m.resize(m.right(m.read_vector(f.Rn), 64), 64))


def _upper_from_general(m: Machine, f: Fields) -> None:
    low = m.resize(m.read_vector(f.Rd, 64), 128)
    m.write_vector(f.Rd, m.either(low, m.left(m.resize(m.read(f.Rn), 128), 64)))


_HEAD = "0 0 0 11110 ftype 1"
_WHOLE = "sf 0 0 11110 ftype"
_BOTH = {"ftype": (0, 1)}
_TWO = ("fmul", "fdiv", "fadd", "fsub", "fmax", "fmin", "fmaxnm", "fminnm", "fnmul")
_ONE = {
    0: "fmov", 1: "fabs", 2: "fneg", 3: "sqrt", 8: "roundeven", 9: "ceil", 10: "floor", 11: "trunc", 12: "round",
    14: "roundeven", 15: "roundeven",
}  # fmt: skip

ROWS: list[Row] = [
    *(
        row
        for number, work in enumerate(_TWO)
        for row in rows(work, f"{_HEAD} Rm {number:04b} 10 Rn Rd", _two(work), **_BOTH)
    ),
    *(
        row
        for number, work in _ONE.items()
        for row in rows(work, f"{_HEAD} {number:06b} 10000 Rn Rd", _one(work), **_BOTH)
    ),
    *rows("fcvt", f"{_HEAD} 000100 10000 Rn Rd", _convert(32), ftype=(1, 3)),
    *rows("fcvt", f"{_HEAD} 000101 10000 Rn Rd", _convert(64), ftype=(0, 3)),
    *rows("fcvt", f"{_HEAD} 000111 10000 Rn Rd", _convert(16), ftype=(0, 1)),
    *rows("fmadd", "0 0 0 11111 ftype o1 Rm o0 Ra Rn Rd", _multiply_add, "o0 o1", **_BOTH),
    *rows("fcmp", f"{_HEAD} Rm 00 1000 Rn op o1 000", _compare, "o1", **_BOTH),
    *rows("fccmp", f"{_HEAD} Rm cond 01 Rn op nzcv", _compare_if, **_BOTH),
    *rows("fcsel", f"{_HEAD} Rm cond 11 Rn Rd", _select, **_BOTH),
    *rows("fmov", f"{_HEAD} imm8 100 00000 Rd", _immediate, **_BOTH),
    *(
        row
        for number, rounding in enumerate("npmz")
        for sign in (True, False)
        for row in rows(
            "fcvt", f"{_WHOLE} 1 {number:02b} 00{int(not sign)} 000000 Rn Rd", _to_integer(rounding, sign), "sf",
            **_BOTH,
        )
    ),
    *(
        row
        for sign in (True, False)
        for row in [
            *rows("fcvta", f"{_WHOLE} 1 00 10{int(not sign)} 000000 Rn Rd", _to_integer("a", sign), "sf", **_BOTH),
            *rows("cvtf", f"{_WHOLE} 1 00 01{int(not sign)} 000000 Rn Rd", _from_integer(sign), "sf", **_BOTH),
            *rows("fcvtz", f"{_WHOLE} 0 11 00{int(not sign)} scale Rn Rd", _to_fixed(sign), "sf", **_BOTH),
            *rows("cvtf", f"{_WHOLE} 0 00 01{int(not sign)} scale Rn Rd", _from_fixed(sign), "sf", **_BOTH),
        ]
    ),
    *rows("fmov", "0 0 0 11110 ftype 1 00 110 000000 Rn Rd", _to_general, ftype=(0, 3)),
    *rows("fmov", "0 0 0 11110 ftype 1 00 111 000000 Rn Rd", _from_general, ftype=(0, 3)),
    *rows("fmov", "1 0 0 11110 ftype 1 00 110 000000 Rn Rd", _to_general, ftype=(1, 3)),
    *rows("fmov", "1 0 0 11110 ftype 1 00 111 000000 Rn Rd", _from_general, ftype=(1, 3)),
    *rows("fmov", "1 0 0 11110 10 1 01 110 000000 Rn Rd", _upper_to_general),
    *rows("fmov", "1 0 0 11110 10 1 01 111 000000 Rn Rd", _upper_from_general),
]  # fmt: skip
