"""Instructions on single numbers of floating point."""

from __future__ import annotations

from lanewise.arm64.encodings import numbers
from lanewise.arm64.encodings.arithmetic import width
from lanewise.arm64.encodings.integers import from_integer, to_integer
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value, known

_SIZES = {0: 32, 1: 64, 3: 16}


def _bits(f: Fields) -> int:
    return _SIZES[f.ftype.number]


def _two(work: str) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        x, y = m.read_vector(f.Rn, _bits(f)), m.read_vector(f.Rm, _bits(f))
        m.write_vector(f.Rd, numbers.binary(m, work, x.bits, x, y))

    return meaning


def _one(work: str) -> Meaning:
    return lambda m, f: m.write_vector(f.Rd, numbers.unary(m, work, _bits(f), m.read_vector(f.Rn, _bits(f))))


def _convert(bits: int) -> Meaning:
    return lambda m, f: m.write_vector(f.Rd, numbers.convert(m, _bits(f), m.read_vector(f.Rn, _bits(f)), bits))


def _multiply_add(m: Machine, f: Fields) -> None:
    """The product is taken away if o0 differs from o1, and the addend if o1 is set."""
    bits = _bits(f)
    x, y, addend = (m.read_vector(number, bits) for number in (f.Rn, f.Rm, f.Ra))
    if f.o0.number != f.o1.number:
        x = numbers.negate(m, bits, x)
    if f.o1.number:
        addend = numbers.negate(m, bits, addend)
    m.write_vector(f.Rd, numbers.multiply_add(m, bits, addend, x, y))


def _flags(m: Machine, f: Fields, y: Value) -> tuple[Value, ...]:
    """What a comparison says: none of the others if one is no number. `op` says that a quiet one is invalid, too."""
    less, same, odd = numbers.compare(m, m.read_vector(f.Rn, _bits(f)), y, f.op)
    return less, same, m.invert(less), odd


def _compare(m: Machine, f: Fields) -> None:
    m.set_flags(*_flags(m, f, known(_bits(f), 0) if f.o1.number else m.read_vector(f.Rm, _bits(f))))


def _compare_if(m: Machine, f: Fields) -> None:
    """Where the condition does not hold, nothing is compared: that would raise flags."""
    places = [m.variable(1) for _ in "nzcv"]
    for at, place in enumerate(places):
        m.emit(f"store {m.resize(m.right(f.nzcv, 3 - at), 1).typed}, ptr {place}")
    compares, on = m.label("compares"), m.label("on")
    m.emit(f"br {m.holds(f.cond).typed}, label %{compares}, label %{on}")
    m.start(compares)
    for place, flag in zip(places, _flags(m, f, m.read_vector(f.Rm, _bits(f))), strict=True):
        m.emit(f"store {flag.typed}, ptr {place}")
    m.emit(f"br label %{on}")
    m.start(on)
    m.set_flags(*(m.assign(1, f"load i1, ptr {place}") for place in places))


def _select(m: Machine, f: Fields) -> None:
    bits = _bits(f)
    m.write_vector(f.Rd, m.select(m.holds(f.cond), m.read_vector(f.Rn, bits), m.read_vector(f.Rm, bits)))


def _immediate(m: Machine, f: Fields) -> None:
    m.write_vector(f.Rd, numbers.expanded(m, f.imm8, _bits(f)))


# --- integers --------------------------------------------------------------------------------------------------------


def _to_integer(rounding: str, sign: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        x = m.read_vector(f.Rn, _bits(f))
        m.write(f.Rd, to_integer(m, x.bits, x, width(f), rounding, sign))

    return meaning


def _from_integer(sign: bool) -> Meaning:
    return lambda m, f: m.write_vector(f.Rd, from_integer(m, width(f), m.read(f.Rn, width(f)), _bits(f), sign))


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
        m.write(f.Rd, to_integer(m, x.bits, x, width(f), "z", sign, _places(m, f)))

    return meaning


def _from_fixed(sign: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        _check_scale(m, f)
        m.write_vector(f.Rd, from_integer(m, width(f), m.read(f.Rn, width(f)), _bits(f), sign, _places(m, f)))

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
    0: "fmov", 1: "fabs", 2: "fneg", 3: "fsqrt", 8: "frintn", 9: "frintp", 10: "frintm", 11: "frintz", 12: "frinta",
    14: "frintx", 15: "frinti",
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
