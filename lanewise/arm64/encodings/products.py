"""Products that are doubled, as of fractions, and saturate: long ones, and their rounded upper halves.

Where one did not fit, QC of FPSR is set (see `saturating`).
"""

from __future__ import annotations

from collections.abc import Callable

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings.forms import elements, size, sized
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.encodings.saturating import note, sum_of
from lanewise.arm64.encodings.vector_more import one_element
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value

Read = Callable[[Machine, Fields, Value, int], Value]
"""How a register's elements of a size are read."""


def _half(m: Machine, f: Fields, number: Value, element: int) -> Value:
    """The elements that become twice as long: those of one half of a register, or the first."""
    return e.half_by(m, m.read_vector(number), f.Q) if hasattr(f, "Q") else m.read_vector(number, element)


def _product(m: Machine, f: Fields, by_element: bool, read: Read) -> Value:
    """The product in elements of twice the size."""
    element = size(f)
    x = read(m, f, f.Rn, element)
    if by_element:
        y = e.spread(m, x.bits, element, one_element(m, f, element))
    else:
        y = read(m, f, f.Rm, element)
    long = [e.resized(m, one, element, 2 * element, sign=True) for one in (x, y)]
    return e.each(m, "mul", 2 * element, *long)


def _upper(rounds: bool, by_element: bool) -> Meaning:
    """The upper half of twice the product: only that of the smallest number with itself does not fit."""

    def meaning(m: Machine, f: Fields) -> None:
        element, wide = size(f), 2 * size(f)
        product = _product(m, f, by_element, elements)
        if rounds:
            product = e.each(m, "add", wide, product, e.repeated(product.bits, wide, 1 << element - 2))
        upper = e.each(m, "ashr", wide, product, e.repeated(product.bits, wide, element - 1))
        near = e.function(m, "smin", wide, upper, e.repeated(product.bits, wide, (1 << element - 1) - 1))
        note(m, m.differ(near, upper))
        m.write_vector(f.Rd, e.resized(m, near, wide, element))

    return meaning


def _long(operation: str, by_element: bool) -> Meaning:
    """Twice the product, which is kept, added to what is there, or taken away."""

    def meaning(m: Machine, f: Fields) -> None:
        wide = 2 * size(f)
        product = _product(m, f, by_element, _half)
        made, unlike = sum_of("add", True)(m, wide, product, product)
        if operation:
            made, also = sum_of(operation, True)(m, wide, m.read_vector(f.Rd, made.bits), made)
            unlike = m.either(unlike, also)
        note(m, unlike)
        m.write_vector(f.Rd, made)

    return meaning


_SIZES = (1, 2)
_UPPER = (("sqdmulh", 0, 0b1100, False), ("sqrdmulh", 1, 0b1101, True))
_LONG = (("sqdmull", 0b1101, 0b1011, ""), ("sqdmlal", 0b1001, 0b0011, "add"), ("sqdmlsl", 0b1011, 0b0111, "sub"))


def _by_element(name: str, opcode: int, meaning: Meaning) -> list[Row]:
    tail = f"size L M Rm4 {opcode:04b} H 0 Rn Rd"
    return [
        *rows(f"{name} e", f"0 Q 0 01111 {tail}", meaning, size=_SIZES),
        *rows(f"{name} e s", f"01 0 11111 {tail}", meaning, size=_SIZES),
    ]


ROWS: list[Row] = [
    *(
        row
        for name, u, opcode, rounds in _UPPER
        for row in [
            *sized(name, u, "1 Rm 10110 1 Rn Rd", _upper(rounds, False), _SIZES, _SIZES),
            *_by_element(name, opcode, _upper(rounds, True)),
        ]
    ),
    *(
        row
        for name, opcode, by_element, operation in _LONG
        for row in [
            *sized(name, 0, f"1 Rm {opcode:04b} 00 Rn Rd", _long(operation, False), _SIZES, _SIZES),
            *_by_element(name, by_element, _long(operation, True)),
        ]
    ),
]
