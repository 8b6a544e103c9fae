"""More of floating point in vectors: across a register, bits behind a point, and rounding to odd numbers."""

from __future__ import annotations

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings import numbers
from lanewise.arm64.encodings.forms import SHIFTED
from lanewise.arm64.encodings.integers import from_integer, to_integer
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import known


def _across(work: str) -> Meaning:
    """Four numbers to one, by twos."""

    def meaning(m: Machine, f: Fields) -> None:
        x = m.read_vector(f.Rn)
        twos = numbers.binary(m, work, 32, *(e.shuffled(m, 32, x, x, order) for order in ((0, 2), (1, 3))))
        m.write_vector(f.Rd, numbers.binary(m, work, 32, *e.parts(m, twos, 32)))

    return meaning


def _fixed(element: int, sign: bool, to: bool) -> Meaning:
    """Numbers to integers of which some bits are behind the point, or back."""

    def meaning(m: Machine, f: Fields) -> None:
        x = m.read_vector(f.Rn, e.whole(f) if hasattr(f, "Q") else element)
        places = m.sub(known(64, element), m.resize(f.amount, 64))
        if to:
            m.write_vector(f.Rd, to_integer(m, element, x, element, "z", sign, places))
        else:
            m.write_vector(f.Rd, from_integer(m, element, x, element, sign, places))

    return meaning


def _shorter_odd(m: Machine, f: Fields) -> None:
    if not hasattr(f, "Q"):
        m.write_vector(f.Rd, numbers.rounded_to_odd(m, m.read_vector(f.Rn, 64)))
        return
    e.write_half_by(m, f.Rd, numbers.rounded_to_odd(m, m.read_vector(f.Rn)), f.Q)


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
]
