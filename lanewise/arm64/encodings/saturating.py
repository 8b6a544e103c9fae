"""Integers that stay at the largest or smallest number there is instead of going around.

Where one did, the bit QC of FPSR is set: each work here gives its result, and a number that is not 0 if some element
did not fit.
"""

from __future__ import annotations

from collections.abc import Callable

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings.forms import SHIFTED, elements, shifted, size, sized
from lanewise.arm64.encodings.row import Meaning, Row
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value, known

Made = tuple[Value, Value]
"""A result, and what is not 0 if some element of it did not fit."""
Two = Callable[[Machine, int, Value, Value], Made]
One = Callable[[Machine, int, Value], Made]


def note(m: Machine, unlike: Value) -> None:
    """Remember that something did not fit, if a number is not 0."""
    m.saturated(m.compare("ne", unlike, 0))


# --- sums ------------------------------------------------------------------------------------------------------------


def sum_of(operation: str, sign: bool) -> Two:
    """`add` or `sub`, with or without signs."""

    def work(m: Machine, element: int, x: Value, y: Value) -> Made:
        made = e.function(m, f"{'s' if sign else 'u'}{operation}.sat", element, x, y)
        return made, m.differ(made, e.each(m, operation, element, x, y))

    return work


def _mixed_sum(sign: bool) -> Two:
    """A number without a sign onto one with, or the other way around: as of two alike, moved by half of all."""
    plain = sum_of("add", not sign)

    def work(m: Machine, element: int, x: Value, old: Value) -> Made:
        middle = e.repeated(x.bits, element, 1 << element - 1)
        made, unlike = plain(m, element, m.differ(old, middle), x)
        return m.differ(made, middle), unlike

    return work


def _three(work: Two) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        x, y = (elements(m, f, number, size(f)) for number in (f.Rn, f.Rm))
        made, unlike = work(m, size(f), x, y)
        note(m, unlike)
        m.write_vector(f.Rd, made)

    return meaning


def _onto(work: Two) -> Meaning:
    return lambda m, f: _three(work)(m, f.having(Rm=f.Rd))


# --- one register ----------------------------------------------------------------------------------------------------


def _negated(m: Machine, element: int, x: Value) -> Made:
    return sum_of("sub", True)(m, element, known(x.bits, 0), x)


def _without_sign(m: Machine, element: int, x: Value) -> Made:
    other, unlike = _negated(m, element, x)
    return e.function(m, "smax", element, x, other), unlike


def _two(work: One) -> Meaning:
    return _onto(lambda m, element, x, old: work(m, element, x))


# --- into half the bits ----------------------------------------------------------------------------------------------


def _clamped(m: Machine, wide: int, x: Value, sign: bool, to_sign: bool) -> Value:
    """Numbers that half the bits hold; the nearest for those that they do not."""
    half = wide // 2
    low, high = (-(1 << half - 1), (1 << half - 1) - 1) if to_sign else (0, (1 << half) - 1)
    if not sign:
        return e.function(m, "umin", wide, x, e.repeated(x.bits, wide, high))
    x = e.function(m, "smax", wide, x, e.repeated(x.bits, wide, low))
    return e.function(m, "smin", wide, x, e.repeated(x.bits, wide, high))


def _narrowed(m: Machine, f: Fields, element: int, x: Value, sign: bool, to_sign: bool) -> None:
    """Set a register, or its upper half, to numbers of twice the size as far as they fit."""
    near = _clamped(m, 2 * element, x, sign, to_sign)
    note(m, m.differ(near, x))
    made = e.resized(m, near, 2 * element, element)
    if hasattr(f, "Q"):
        e.write_half_by(m, f.Rd, made, f.Q)
    else:
        m.write_vector(f.Rd, made)


def _wide(m: Machine, f: Fields, element: int) -> Value:
    return m.read_vector(f.Rn, 128 if hasattr(f, "Q") else 2 * element)


def _narrow(sign: bool, to_sign: bool) -> Meaning:
    return lambda m, f: _narrowed(m, f, size(f), _wide(m, f, size(f)), sign, to_sign)


def _shift_narrow(element: int, sign: bool, to_sign: bool, rounds: bool) -> Meaning:
    """Shifted right by one to all bits of the smaller size, and rounded by the last bit that falls out."""

    def meaning(m: Machine, f: Fields) -> None:
        wide, how = 2 * element, "ashr" if sign else "lshr"
        x = _wide(m, f, element)
        by = m.sub(known(wide, element - 1), m.resize(f.amount, wide))  # one less than the shift
        most = e.each(m, how, wide, x, e.spread(m, x.bits, wide, by))
        one = e.repeated(x.bits, wide, 1)
        made = e.each(m, how, wide, most, one)
        if rounds:
            made = e.each(m, "add", wide, made, m.both(most, one))
        _narrowed(m, f, element, made, sign, to_sign)

    return meaning


_ALL = (0, 1, 2, 3)
_SUMS: list[tuple[str, int, int, Meaning]] = [
    ("sqadd", 0, 0b00001, _three(sum_of("add", True))),
    ("uqadd", 1, 0b00001, _three(sum_of("add", False))),
    ("sqsub", 0, 0b00101, _three(sum_of("sub", True))),
    ("uqsub", 1, 0b00101, _three(sum_of("sub", False))),
]
_TWO: list[tuple[str, int, int, Meaning]] = [
    ("suqadd", 0, 0b00011, _onto(_mixed_sum(True))),
    ("usqadd", 1, 0b00011, _onto(_mixed_sum(False))),
    ("sqabs", 0, 0b00111, _two(_without_sign)),
    ("sqneg", 1, 0b00111, _two(_negated)),
]
_NARROW: list[tuple[str, int, int, Meaning]] = [
    ("sqxtun", 1, 0b10010, _narrow(True, False)),
    ("sqxtn", 0, 0b10100, _narrow(True, True)),
    ("uqxtn", 1, 0b10100, _narrow(False, False)),
]
_SHIFT_NARROW = [
    ("sqshrun", 1, 0b10000, True, False, False), ("sqrshrun", 1, 0b10001, True, False, True),
    ("sqshrn", 0, 0b10010, True, True, False), ("sqrshrn", 0, 0b10011, True, True, True),
    ("uqshrn", 1, 0b10010, False, False, False), ("uqrshrn", 1, 0b10011, False, False, True),
]  # fmt: skip


ROWS: list[Row] = [
    *(
        row
        for name, u, opcode, meaning in _SUMS
        for row in sized(name, u, f"1 Rm {opcode:05b} 1 Rn Rd", meaning, _ALL, _ALL)
    ),
    *(
        row
        for name, u, opcode, meaning in _TWO
        for row in sized(name, u, f"10000 {opcode:05b} 10 Rn Rd", meaning, _ALL, _ALL)
    ),
    *(
        row
        for name, u, opcode, meaning in _NARROW
        for row in sized(name, u, f"10000 {opcode:05b} 10 Rn Rd", meaning, (0, 1, 2), (0, 1, 2))
    ),
    *(
        row
        for name, u, opcode, sign, to_sign, rounds in _SHIFT_NARROW
        for element, head in SHIFTED[:3]
        for row in shifted(name, u, opcode, element, head, _shift_narrow(element, sign, to_sign, rounds))
    ),
]
