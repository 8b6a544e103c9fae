"""A few instructions as words: what tests of lanes are written in, where no assembler is at hand."""

from __future__ import annotations


def program(*words: int) -> bytes:
    """Machine code of some words."""
    return b"".join(word.to_bytes(4, "little") for word in words)


def movz(rd: int, value: int) -> int:
    return 0xD2800000 | value << 5 | rd


def add(rd: int, rn: int, rm: int) -> int:
    return 0x8B000000 | rm << 16 | rn << 5 | rd


def eor(rd: int, rn: int, rm: int) -> int:
    """Either but not both."""
    return 0xCA000000 | rm << 16 | rn << 5 | rd


def add_imm(rd: int, rn: int, value: int) -> int:
    return 0x91000000 | value << 10 | rn << 5 | rd


def subs_imm(rd: int, rn: int, value: int) -> int:
    return 0xF1000000 | value << 10 | rn << 5 | rd


def ldr(rt: int, rn: int, offset: int = 0) -> int:
    return 0xF9400000 | offset // 8 << 10 | rn << 5 | rt


def str_(rt: int, rn: int, offset: int = 0) -> int:
    return 0xF9000000 | offset // 8 << 10 | rn << 5 | rt


def str_word(rt: int, rn: int, offset: int = 0) -> int:
    return 0xB9000000 | offset // 4 << 10 | rn << 5 | rt


def bne(words: int) -> int:
    """To so many words from here, if not equal."""
    return 0x54000001 | (words & 0x7FFFF) << 5


def b(words: int) -> int:
    return 0x14000000 | words & 0x3FFFFFF


def br(rn: int) -> int:
    return 0xD61F0000 | rn << 5


def svc(number: int = 0) -> int:
    return 0xD4000001 | number << 5


def brk(number: int = 0) -> int:
    return 0xD4200000 | number << 5


def hlt(number: int = 0) -> int:
    return 0xD4400000 | number << 5


WFI = 0xD503207F
NOP = 0xD503201F
