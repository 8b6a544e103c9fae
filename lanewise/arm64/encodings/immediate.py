"""Integer instructions with a number in their word."""

from __future__ import annotations

from lanewise.arm64.encodings.arithmetic import add_with_carry, logical, width
from lanewise.arm64.encodings.row import Row, rows
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import known


def _adr(m: Machine, f: Fields) -> None:
    high = m.left(m.resize(f.immhi, 64, sign=True), 2)
    offset = m.either(high, m.resize(f.immlo, 64))
    if f.op.number:
        m.write(f.Rd, m.add(m.both(m.pc, -4096), m.left(offset, 12)))
    else:
        m.write(f.Rd, m.add(m.pc, offset))


def _add_sub(m: Machine, f: Fields) -> None:
    bits = width(f)
    number = m.resize(f.imm12, bits)
    number = m.select(f.sh, m.left(number, 12), number)
    x = m.read(f.Rn, bits, sp=True)
    add_with_carry(m, f, x, number, sp=True)


def _logical(m: Machine, f: Fields) -> None:
    bits = width(f)
    if bits == 32:
        m.undefined_if(f.N)
    number = m.immediate(m.resize(f.N, 32), m.resize(f.immr, 32), m.resize(f.imms, 32))
    m.undefined_if(m.compare("eq", number, 0))
    logical(m, f, m.read(f.Rn, bits), m.resize(number, bits), sp=f.opc.number != 3)


def _move_wide(m: Machine, f: Fields) -> None:
    bits = width(f)
    if bits == 32:
        m.undefined_if(m.compare("ugt", f.hw, 1))
    at = m.left(m.resize(f.hw, bits), 4)
    number = m.left(m.resize(f.imm16, bits), at)
    if f.opc.number == 0:
        number = m.invert(number)
    elif f.opc.number == 3:
        hole = m.invert(m.left(known(bits, 0xFFFF), at))
        number = m.either(m.both(m.read(f.Rd, bits), hole), number)
    m.write(f.Rd, number)


def _bitfield(m: Machine, f: Fields) -> None:
    """A field of `length` bits goes from bit `immr` to bit 0, or from bit 0 to bit `bits - immr`."""
    bits = width(f)
    first, last = m.resize(f.immr, bits), m.resize(f.imms, bits)
    if bits == 32:
        m.undefined_if(m.either(m.compare("ugt", first, 31), m.compare("ugt", last, 31)))
    down = m.compare("uge", last, first)
    length = m.add(m.select(down, m.sub(last, first), last), 1)
    from_bit = m.select(down, first, known(bits, 0))
    to_bit = m.select(down, known(bits, 0), m.both(m.sub(known(bits, 0), first), bits - 1))
    gap = m.both(m.sub(known(bits, bits), length), bits - 1)
    x = m.left(m.right(m.read(f.Rn, bits), from_bit), gap)  # the field at the very top
    if f.opc.number == 0:
        m.write(f.Rd, m.left(m.right_signed(x, gap), to_bit))
        return
    moved = m.left(m.right(x, gap), to_bit)
    if f.opc.number == 1:
        hole = m.invert(m.left(m.right(known(bits, -1), gap), to_bit))
        moved = m.either(m.both(m.read(f.Rd, bits), hole), moved)
    m.write(f.Rd, moved)


def _extract(m: Machine, f: Fields) -> None:
    bits = width(f)
    by = m.resize(f.imms, bits)
    if bits == 32:
        m.undefined_if(m.compare("ugt", by, 31))
    m.write(f.Rd, m.intrinsic("fshr", m.read(f.Rn, bits), m.read(f.Rm, bits), by))


ROWS: list[Row] = [
    *rows("adr", "op immlo 10000 immhi Rd", _adr, "op"),
    *rows("add", "sf op S 100010 sh imm12 Rn Rd", _add_sub, "sf op S sh"),
    *rows("and", "sf opc 100100 N immr imms Rn Rd", _logical, "sf opc"),
    *rows("mov", "sf opc 100101 hw imm16 Rd", _move_wide, "sf", opc=(0, 2, 3)),
    *rows("bfm", "sf=0 opc 100110 N=0 immr imms Rn Rd", _bitfield, opc=(0, 1, 2)),
    *rows("bfm", "sf=1 opc 100110 N=1 immr imms Rn Rd", _bitfield, opc=(0, 1, 2)),
    *rows("extr", "sf=0 00 100111 N=0 0 Rm imms Rn Rd", _extract),
    *rows("extr", "sf=1 00 100111 N=1 0 Rm imms Rn Rd", _extract),
]
