"""Branches, calls of the system, hints, barriers and the registers of the system that programs read."""

from __future__ import annotations

from lanewise.arm64 import lane
from lanewise.arm64.encodings.arithmetic import width
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.machine import BRK, HLT, SVC, WFI, Fields, Machine
from lanewise.arm64.values import Value, known

_LINK = known(5, 30)


def _ahead(m: Machine, offset: Value) -> Value:
    return m.add(m.pc, m.left(m.resize(offset, 64, sign=True), 2))


def _branch(m: Machine, f: Fields) -> None:
    if f.op.number:
        m.write(_LINK, m.add(m.pc, 4))
    m.jump(_ahead(m, f.imm26))


def _branch_if(m: Machine, f: Fields) -> None:
    m.jump_if(m.holds(f.cond), _ahead(m, f.imm19))


def _branch_zero(m: Machine, f: Fields) -> None:
    m.jump_if(m.compare("ne" if f.op.number else "eq", m.read(f.Rt, width(f)), 0), _ahead(m, f.imm19))


def _branch_bit(m: Machine, f: Fields) -> None:
    number = m.either(m.left(m.resize(f.b5, 64), 5), m.resize(f.b40, 64))
    bit = m.resize(m.right(m.read(f.Rt), number), 1)
    m.jump_if(bit if f.op.number else m.invert(bit), _ahead(m, f.imm14))


def _branch_register(m: Machine, f: Fields) -> None:
    target = m.read(f.Rn)
    if f.opc.number == 1:
        m.write(_LINK, m.add(m.pc, 4))
    m.jump(target)


def _stops(reason: int) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        m.stop_if(known(1, 1), reason, m.resize(f.imm16, 64))

    return meaning


def _hint(m: Machine, f: Fields) -> None:
    number = m.either(m.left(m.resize(f.CRm, 32), 3), m.resize(f.op2, 32))
    m.stop_if(m.compare("eq", number, 3), WFI, known(64, 0))


def _nothing(m: Machine, f: Fields) -> None:
    """Memory is in order for each lane, and code is read anew each time."""


def _forget_exclusive(m: Machine, f: Fields) -> None:
    m.set_special("exclusive", known(64, 0))


_FLAGS_LOW = 28


def _read_flags(m: Machine, f: Fields) -> None:
    value = known(64, 0)
    for at, name in enumerate("vczn"):
        value = m.either(value, m.left(m.resize(m.flag(name), 64), _FLAGS_LOW + at))
    m.write(f.Rt, value)


def _write_flags(m: Machine, f: Fields) -> None:
    value = m.read(f.Rt)
    for at, name in enumerate("vczn"):
        m.set_flag(name, m.resize(m.right(value, _FLAGS_LOW + at), 1))


def _reads(name: str) -> Meaning:
    return lambda m, f: m.write(f.Rt, m.special(name))


def _writes(name: str) -> Meaning:
    return lambda m, f: m.set_special(name, m.read(f.Rt))


def _write_control(m: Machine, f: Fields) -> None:
    """How floating point is to be done: the upper half of the word that has both."""
    mode = m.left(m.both(m.read(f.Rt), lane.FPCR_BITS), 32)
    m.set_floating(m.either(mode, m.both(m.floating(), lane.FPSR_BITS)))


def _write_status(m: Machine, f: Fields) -> None:
    """What became of it: the lower half."""
    flags = m.both(m.read(f.Rt), lane.FPSR_BITS)
    m.set_floating(m.either(flags, m.both(m.floating(), lane.FPCR_BITS << 32)))


_LINE = 64
"""Bytes that are cleared at once."""


def _clear_line(m: Machine, f: Fields) -> None:
    address = m.both(m.read(f.Rt), -_LINE)
    m.check(address, _LINE, "w")
    for offset in range(0, _LINE, 16):
        m.store(m.add(address, offset), known(128, 0))


def _gives(number: int) -> Meaning:
    return lambda m, f: m.write(f.Rt, known(64, number))


_COUNTER = "1 011 1110 0000 010"
"""CNTVCT_EL0, the time: instructions that were run."""
_MRS, _MSR = "1101010100 1 1", "1101010100 0 1"
_SYSTEM = {"nzcv": "1 011 0100 0010 000", "tpidr_el0": "1 011 1101 0000 010"}
_CONTROL, _STATUS = "1 011 0100 0100 000", "1 011 0100 0100 001"
"""FPCR and FPSR."""
_CACHES = {"ic ivau": "0101", "dc cvac": "1010", "dc cvau": "1011", "dc civac": "1110"}
"""What programs do with caches, by CRm: nothing here, where all lanes see memory as it is."""
_FIXED = {
    "1 011 0000 0000 001": 0x8444C004,  # CTR_EL0: lines of 64 bytes
    "1 011 0000 0000 111": 4,  # DCZID_EL0: what is cleared at once, in words, as a power of two
    "1 011 1101 0000 011": 0,  # TPIDRRO_EL0: what a system tells its programs, of which there is none
    "1 011 1110 0000 000": 1_000_000_000,  # CNTFRQ_EL0: the counter is in nanoseconds
}

ROWS: list[Row] = [
    *rows("b", "op 00101 imm26", _branch, "op"),
    *rows("b.cond", "0101010 0 imm19 0 cond", _branch_if),
    *rows("cbz", "sf 011010 op imm19 Rt", _branch_zero, "sf op"),
    *rows("tbz", "b5 011011 op b40 imm14 Rt", _branch_bit, "op"),
    *rows("br", "1101011 00 opc 11111 000000 Rn 00000", _branch_register, opc=(0, 1, 2)),
    *rows("svc", "11010100 000 imm16 00001", _stops(SVC)),
    *rows("brk", "11010100 001 imm16 00000", _stops(BRK)),
    *rows("hlt", "11010100 010 imm16 00000", _stops(HLT)),
    *rows("hint", "11010101000000110010 CRm op2 11111", _hint),
    *rows("clrex", "11010101000000110011 CRm 010 11111", _forget_exclusive),
    *rows("dsb", "11010101000000110011 CRm 100 11111", _nothing),
    *rows("dmb", "11010101000000110011 CRm 101 11111", _nothing),
    *rows("isb", "11010101000000110011 CRm 110 11111", lambda m, f: m.fetch_anew()),
    *rows("sb", "11010101000000110011 0000 111 11111", _nothing),
    *(row for name, m in _CACHES.items() for row in rows(name, f"1101010100 0 01 011 0111 {m} 001 Rt", _nothing)),
    *rows("dc zva", "1101010100 0 01 011 0111 0100 001 Rt", _clear_line),
    *rows("mrs fpcr", f"{_MRS} {_CONTROL} Rt", lambda m, f: m.write(f.Rt, m.right(m.floating(), 32))),
    *rows("msr fpcr", f"{_MSR} {_CONTROL} Rt", _write_control),
    *rows("mrs fpsr", f"{_MRS} {_STATUS} Rt", lambda m, f: m.write(f.Rt, m.resize(m.floating(), 32))),
    *rows("msr fpsr", f"{_MSR} {_STATUS} Rt", _write_status),
    *rows("mrs", f"{_MRS} {_SYSTEM['nzcv']} Rt", _read_flags),
    *rows("msr", f"{_MSR} {_SYSTEM['nzcv']} Rt", _write_flags),
    *rows("mrs", f"{_MRS} {_SYSTEM['tpidr_el0']} Rt", _reads("tpidr")),
    *rows("msr", f"{_MSR} {_SYSTEM['tpidr_el0']} Rt", _writes("tpidr")),
    *rows("mrs", f"{_MRS} {_COUNTER} Rt", lambda m, f: m.write(f.Rt, m.cycles())),
    *(row for place, number in _FIXED.items() for row in rows("mrs", f"{_MRS} {place} Rt", _gives(number))),
]
