"""Loads and stores of several vector registers: one behind the other, or element by element in turn."""

from __future__ import annotations

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value, known

_FORMS = {
    0b0000: (4, 1), 0b0010: (1, 4), 0b0100: (3, 1), 0b0110: (1, 3), 0b0111: (1, 1), 0b1000: (2, 1), 0b1010: (1, 2),
}  # fmt: skip
"""By opcode: elements in turn, and how often as many registers follow."""


def _register(m: Machine, first: Value, at: int) -> Value:
    return m.resize(m.both(m.add(m.resize(first, 32), at), 31), 5)


def _after(m: Machine, f: Fields, base: Value, count: int) -> None:
    """The address grows by a register, or by what was read if that is number 31."""
    step = m.select(m.compare("eq", f.Rm, 31), known(64, count), m.read(f.Rm))
    m.write(f.Rn, m.add(base, step), sp=True)


def _many(opcode: int, changes: bool) -> Meaning:
    turns, repeats = _FORMS[opcode]

    def meaning(m: Machine, f: Fields) -> None:
        bits, element = e.whole(f), 8 << f.size.number
        count, each = turns * repeats, bits // element
        base = m.read(f.Rn, sp=True)
        m.check(base, count * bits // 8, "r" if f.L.number else "w")
        columns = [m.read_vector(_register(m, f.Rt, at), bits) for at in range(count)] if not f.L.number else []
        if turns == 1:
            for at in range(count):
                address = m.add(base, at * bits // 8)
                if f.L.number:
                    m.write_vector(_register(m, f.Rt, at), m.load(address, bits))
                else:
                    m.store(address, columns[at])
        elif f.L.number:
            found = [m.load(m.add(base, at * bits // 8), bits) for at in range(turns)]
            flat = [part for one in found for part in e.parts(m, one, element)]
            for at in range(turns):
                m.write_vector(_register(m, f.Rt, at), e.together(m, flat[at::turns]))
        else:
            parts = [e.parts(m, one, element) for one in columns]
            flat = [parts[at % turns][at // turns] for at in range(turns * each)]
            for at in range(turns):
                m.store(m.add(base, at * bits // 8), e.together(m, flat[at * each : (at + 1) * each]))
        if changes:
            _after(m, f, base, count * bits // 8)

    return meaning


def _one(element: int, turns: int, changes: bool) -> Meaning:
    """One element of each of some registers; the others stay."""

    def meaning(m: Machine, f: Fields) -> None:
        base = m.read(f.Rn, sp=True)
        size = element // 8
        m.check(base, turns * size, "r" if f.L.number else "w")
        found = [m.load(m.add(base, turn * size), element) for turn in range(turns)] if f.L.number else []
        for turn in range(turns):
            number = _register(m, f.Rt, turn)
            old = m.read_vector(number)
            if f.L.number:
                m.write_vector(number, e.with_element(m, old, element, f.index, found[turn]))
            else:
                m.store(m.add(base, turn * size), e.element_of(m, old, element, f.index))
        if changes:
            _after(m, f, base, turns * size)

    return meaning


def _repeated(turns: int, changes: bool) -> Meaning:
    """One element, in all places of a register."""

    def meaning(m: Machine, f: Fields) -> None:
        element = 8 << f.size.number
        base = m.read(f.Rn, sp=True)
        m.check(base, turns * element // 8, "r")
        for turn in range(turns):
            value = m.load(m.add(base, turn * element // 8), element)
            m.write_vector(_register(m, f.Rt, turn), e.spread(m, e.whole(f), element, value))
        if changes:
            _after(m, f, base, turns * element // 8)

    return meaning


def _rows() -> list[Row]:
    found: list[Row] = []
    for changes in (False, True):
        rm = "1 L 0 Rm" if changes else "0 L 0 00000"
        for opcode, (turns, _) in _FORMS.items():
            pattern = f"0 Q 001100 {rm} {opcode:04b} size Rn Rt"
            meaning = _many(opcode, changes)
            found += rows("ld", pattern, meaning, "L size", Q=(1,))
            found += rows("ld", pattern, meaning, "L", Q=(0,), size=(0, 1, 2) if turns > 1 else (0, 1, 2, 3))
        for turns in (1, 2, 3, 4):
            r, low = turns - 1 & 1, turns - 1 >> 1
            middle = f"1 L {r} Rm" if changes else f"0 L {r} 00000"
            for element, tail in (
                (8, f"00{low} index:3"), (16, f"01{low} index:2 0"), (32, f"10{low} index:1 00"), (64, f"10{low} 0 01"),
            ):  # fmt: skip
                name = f"0 index:1 001101 {middle} {tail}"
                if element < 64:
                    name = f"0 upper:1 001101 {middle} {tail}"
                found += rows("ld one", f"{name} Rn Rt", _placed(element, turns, changes), "L")
            again = f"0 Q 001101 {middle.replace('L', 'L=1')} 11{low} 0 size Rn Rt"
            found += rows("ld r", again, _repeated(turns, changes), "Q size")
    return found


def _placed(element: int, turns: int, changes: bool) -> Meaning:
    """The element's number has its highest bit in the place of Q."""
    work = _one(element, turns, changes)
    below = {8: 3, 16: 2, 32: 1, 64: 0}[element]

    def meaning(m: Machine, f: Fields) -> None:
        if below:
            number = m.either(m.left(m.resize(f.upper, 8), below), m.resize(f.index, 8))
            work(m, f.having(index=number))
        else:
            work(m, f)

    return meaning


ROWS = _rows()
