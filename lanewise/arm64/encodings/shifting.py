"""Shifts whose way and distance a second register says, and shifts to the left that saturate.

To the right a shift may round by the last bit that falls out; to the left it may stay at the largest number, and then
QC of FPSR is set (see `saturating`).
"""

from __future__ import annotations

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings.forms import SHIFTED, elements, shifted, size, sized
from lanewise.arm64.encodings.row import Meaning, Row
from lanewise.arm64.encodings.saturating import note
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value, known


def _lowest_byte(m: Machine, element: int, y: Value) -> Value:
    """The lowest byte of each element, with its sign."""
    if element == 8:
        return y
    gap = e.repeated(y.bits, element, element - 8)
    return e.each(m, "ashr", element, e.each(m, "shl", element, y, gap), gap)


def _up(m: Machine, element: int, x: Value, by: Value, sign: bool) -> tuple[Value, Value]:
    """Shifted left by any distance, and ones where bits were lost that count."""
    most = e.repeated(x.bits, element, element - 1)
    near = e.function(m, "umin", element, by, most)
    moved = e.each(m, "shl", element, x, near)
    moved = m.both(moved, e.compared(m, "ule", element, by, most))
    back = e.each(m, "ashr" if sign else "lshr", element, moved, near)
    return moved, e.compared(m, "ne", element, back, x)


def _end(m: Machine, element: int, x: Value, sign: bool) -> Value:
    """The largest number there is, or the smallest for negative ones."""
    if not sign:
        return known(x.bits, -1)
    signs = e.each(m, "ashr", element, x, e.repeated(x.bits, element, element - 1))
    return m.differ(signs, e.repeated(x.bits, element, (1 << element - 1) - 1))


def _choose(m: Machine, mask: Value, x: Value, y: Value) -> Value:
    """Bits of one where a mask is set, of the other elsewhere."""
    return m.differ(y, m.both(m.differ(x, y), mask))


def _down(m: Machine, element: int, x: Value, by: Value, sign: bool, rounds: bool) -> Value:
    """Shifted right by any distance from one on; far enough, there are only signs left, or nothing."""
    one, most = e.repeated(x.bits, element, 1), e.repeated(x.bits, element, element - 1)
    less = e.each(m, "sub", element, by, one)
    near = e.function(m, "umin", element, less, most)
    almost = e.each(m, "ashr" if sign else "lshr", element, x, near)
    if not sign:
        almost = m.both(almost, e.compared(m, "ule", element, less, most))
    made = e.each(m, "ashr" if sign else "lshr", element, almost, one)
    return e.each(m, "add", element, made, m.both(almost, one)) if rounds else made


def _by_register(sign: bool, rounds: bool, saturates: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        element = size(f)
        x, y = (elements(m, f, number, element) for number in (f.Rn, f.Rm))
        by = _lowest_byte(m, element, y)
        zero = known(x.bits, 0)
        back = e.compared(m, "slt", element, by, zero)
        left, lost = _up(m, element, x, by, sign)
        right = _down(m, element, x, e.each(m, "sub", element, zero, by), sign, rounds)
        if saturates:
            note(m, m.both(lost, m.invert(back)))
            left = _choose(m, lost, _end(m, element, x, sign), left)
        m.write_vector(f.Rd, _choose(m, back, right, left))

    return meaning


def _by_number(element: int, sign: bool, to_sign: bool) -> Meaning:
    """To the left; numbers with a sign can become ones without, of which negative ones do not fit."""

    def meaning(m: Machine, f: Fields) -> None:
        x = elements(m, f, f.Rn, element)
        by = e.spread(m, x.bits, element, m.resize(f.amount, element))
        made, lost = _up(m, element, x, by, to_sign)
        end = _end(m, element, x, to_sign)
        if sign and not to_sign:
            negative = e.compared(m, "slt", element, x, known(x.bits, 0))
            lost, end = m.either(lost, negative), m.invert(negative)
        note(m, lost)
        m.write_vector(f.Rd, _choose(m, lost, end, made))

    return meaning


_ALL, _DOUBLE = (0, 1, 2, 3), (3,)
_BY_REGISTER = [
    (name, opcode, rounds, saturates)
    for name, opcode, rounds, saturates in (
        ("shl", 0b01000, False, False), ("qshl", 0b01001, False, True), ("rshl", 0b01010, True, False),
        ("qrshl", 0b01011, True, True),
    )
]  # fmt: skip

ROWS: list[Row] = [
    *(
        row
        for name, opcode, rounds, saturates in _BY_REGISTER
        for u in (0, 1)
        for row in sized(
            "su"[u] + name, u, f"1 Rm {opcode:05b} 1 Rn Rd", _by_register(not u, rounds, saturates), _ALL,
            _ALL if saturates else _DOUBLE,
        )
    ),
    *(
        row
        for name, u, opcode, sign, to_sign in (
            ("sqshlu", 1, 0b01100, True, False), ("sqshl", 0, 0b01110, True, True), ("uqshl", 1, 0b01110, False, False),
        )
        for element, head in SHIFTED
        for row in shifted(f"{name} n", u, opcode, element, head, _by_number(element, sign, to_sign))
    ),
]  # fmt: skip
