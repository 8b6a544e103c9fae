"""More of floating point in vectors: across a register, bits behind a point, and rounding to odd numbers."""

from __future__ import annotations

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings import numbers
from lanewise.arm64.encodings.floating import binary
from lanewise.arm64.encodings.forms import SHIFTED
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.encodings.vector_more import one_element
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.shared import call
from lanewise.arm64.values import Value, known


def _across(work: str) -> Meaning:
    """Four numbers to one, by twos."""

    def meaning(m: Machine, f: Fields) -> None:
        first, second, third, fourth = e.parts(m, m.read_vector(f.Rn), 32)
        m.write_vector(f.Rd, binary(m, work, binary(m, work, first, second), binary(m, work, third, fourth)))

    return meaning


def _fixed(element: int, sign: bool, to: bool) -> Meaning:
    """Numbers to integers of which some bits are behind the point, or back."""
    work = numbers.to_fixed if to else numbers.from_fixed

    def meaning(m: Machine, f: Fields) -> None:
        bits = e.whole(f) if hasattr(f, "Q") else element
        places = m.sub(known(64, element), m.resize(f.amount, 64))
        given = m.read_vector(f.Rn, bits)
        m.write_vector(f.Rd, e.one_by_one(m, element, lambda x: work(m, x, element, places, sign), given))

    return meaning


def _shorter_odd(m: Machine, f: Fields) -> None:
    if not hasattr(f, "Q"):
        m.write_vector(f.Rd, numbers.rounded_to_odd(m, m.read_vector(f.Rn, 64)))
        return
    made = [numbers.rounded_to_odd(m, x) for x in e.parts(m, m.read_vector(f.Rn), 64)]
    e.write_half_by(m, f.Rd, e.together(m, made), f.Q)


def _product_by_element(m: Machine, f: Fields) -> None:
    element = 64 if f.sz.number else 32
    bits = e.whole(f) if hasattr(f, "Q") else element
    if element == 64:
        m.undefined_if(f.L)
    y = one_element(m, f, element)

    def product(x: Value) -> Value:
        return call(m, "extended_product", x, y)

    m.write_vector(f.Rd, e.one_by_one(m, element, product, m.read_vector(f.Rn, bits)))


def _fixed_rows() -> list[Row]:
    found: list[Row] = []
    for element, head in SHIFTED[2:]:
        for u in (0, 1):
            for name, opcode, to in (("cvtf n", 0b11100, False), ("fcvtz n", 0b11111, True)):
                tail = f"{head} amount:{7 - len(head)} {opcode:05b} 1 Rn Rd"
                meaning = _fixed(element, not u, to)
                found += rows(name, f"0 Q {u} 011110 {tail}", meaning, Q=(1,) if element == 64 else (0, 1))
                found += rows(f"{name} s", f"01 {u} 111110 {tail}", meaning)
    return found


ROWS: list[Row] = [
    *(
        row
        for work, high, opcode in (("fmaxnm", 0, 12), ("fmax", 0, 15), ("fminnm", 1, 12), ("fmin", 1, 15))
        for row in rows(f"{work}v", f"0 1 1 01110 {high} 0 11000 {opcode:05b} 10 Rn Rd", _across(work))
    ),
    *_fixed_rows(),
    *rows("fcvtxn", "0 Q 1 01110 0 1 10000 10110 10 Rn Rd", _shorter_odd),
    *rows("fcvtxn s", "01 1 11110 0 1 10000 10110 10 Rn Rd", _shorter_odd),
    *rows("fmulx e", "0 Q 1 01111 1 sz L M Rm4 1001 H 0 Rn Rd", _product_by_element, "Q", sz=(0,)),
    *rows("fmulx e", "0 Q 1 01111 1 sz L M Rm4 1001 H 0 Rn Rd", _product_by_element, Q=(1,), sz=(1,)),
    *rows("fmulx e s", "01 1 11111 1 sz L M Rm4 1001 H 0 Rn Rd", _product_by_element, "sz"),
]
