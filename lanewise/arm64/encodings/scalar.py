"""Instructions on vectors of which only the first element counts."""

from __future__ import annotations

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings import vector, vector_more
from lanewise.arm64.encodings.numbers import binary
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import known

_DOUBLE, _SINGLE = 0, 2
"""In the place of Q: 64 bits, or 32."""


def _first(meaning: Meaning) -> Meaning:
    """What an instruction means for one element of 64 bits, or of the size of a number."""

    def work(m: Machine, f: Fields) -> None:
        single = hasattr(f, "sz") and not f.sz.number
        meaning(m, f.having(Q=known(2, _SINGLE if single else _DOUBLE)))

    return work


def _pair(work: str) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        element = 64 if f.sz.number else 32
        m.write_vector(f.Rd, binary(m, work, element, *e.parts(m, m.read_vector(f.Rn, 2 * element), element)))

    return meaning


def _sum(m: Machine, f: Fields) -> None:
    x, y = e.parts(m, m.read_vector(f.Rn), 64)
    m.write_vector(f.Rd, m.add(x, y))


def _element(element: int) -> Meaning:
    return lambda m, f: m.write_vector(f.Rd, e.element_of(m, m.read_vector(f.Rn), element, f.index))


_SAME = ("cmgt", "cmhi", "cmge", "cmhs", "add v", "sub v", "cmtst", "cmeq")
_MISC = ("cmgt", "cmge", "cmeq", "cmle", "cmlt", "abs", "neg")
_NUMBERS = ("fabd", "fcmeq", "fcmge", "fcmgt", "facge", "facgt")
_PAIRS = (("fmaxnm", 0, 12), ("fadd", 0, 13), ("fmax", 0, 15), ("fminnm", 1, 12), ("fmin", 1, 15))


def _shifts() -> list[Row]:
    found: list[Row] = []
    for u in (0, 1):
        for opcode, rounds, onto in ((0, False, False), (2, False, True), (4, True, False), (6, True, True)):
            meaning = _first(vector_more.right(64, not u, rounds, onto))
            found += rows("shr d", f"01 {u} 111110 1 amount:6 {opcode:05b} 1 Rn Rd", meaning)
    found += rows("shl d", "01 0 111110 1 amount:6 01010 1 Rn Rd", _first(vector_more.left(64, False)))
    found += rows("sli d", "01 1 111110 1 amount:6 01010 1 Rn Rd", _first(vector_more.left(64, True)))
    return found + rows("sri d", "01 1 111110 1 amount:6 01000 1 Rn Rd", _first(vector_more.insert_right(64)))


ROWS: list[Row] = [
    *(
        row
        for name, opcode, u, _, meaning in vector.SAME
        if name in _SAME
        for row in rows(f"{name} d", f"01 {u} 11110 size=11 1 Rm {opcode:05b} 1 Rn Rd", _first(meaning))
    ),
    *(
        row
        for name, opcode, u, _, meaning in vector.MISC
        if name in _MISC
        for row in rows(f"{name} d", f"01 {u} 11110 size=11 10000 {opcode:05b} 10 Rn Rd", _first(meaning))
    ),
    *(
        row
        for name, u, high, opcode, meaning in vector_more.FLOAT_THREE
        if name in _NUMBERS
        for row in rows(f"{name} s", f"01 {u} 11110 {high} sz 1 Rm {opcode:05b} 1 Rn Rd", _first(meaning), "sz")
    ),
    *(
        row
        for name, u, high, opcode, meaning in vector_more.FLOAT_TWO
        if name[1:4] in ("cvt", "cm" + name[3])
        for row in rows(f"{name} s", f"01 {u} 11110 {high} sz 10000 {opcode:05b} 10 Rn Rd", _first(meaning), "sz")
    ),
    *(
        row
        for work, high, opcode in _PAIRS
        for row in rows(f"{work}p s", f"01 1 11110 {high} sz 11000 {opcode:05b} 10 Rn Rd", _pair(work), "sz")
    ),
    *rows("addp d", "01 0 11110 11 11000 11011 10 Rn Rd", _sum),
    *_shifts(),
    *(
        row
        for element, tail in ((8, "index:4 1"), (16, "index:3 10"), (32, "index:2 100"), (64, "index:1 1000"))
        for row in rows("dup s", f"01 0 11110000 {tail} 0 0000 1 Rn Rd", _element(element))
    ),
    *(
        row
        for name, u, opcode, meaning in vector_more.BY_ELEMENT
        for row in rows(f"{name} s", f"01 {u} 11111 1 sz L M Rm4 {opcode} H 0 Rn Rd", _first(meaning), "sz")
    ),
]
