"""Single elements of vector registers, by numbers that an interpreter knows only when it comes to the word."""

import numpy as np
import pytest
from assembler import hlt, program

import lanewise as lw


@pytest.fixture
def device(lane_device):
    return lane_device


OLD, OTHER, NUMBER, AT = (
    0x1111222233334444_5555666677778888,
    0x99AABBCCDDEEFF00_1234567890ABCDEF,
    0xF00DFACECAFEBEEF,
    1024,
)
SIZES = {8: "1", 16: "10", 32: "100", 64: "1000"}


def copied(op, bits, number, imm4, rn):
    """A word that copies an element into v1 or x1."""
    imm5 = int(f"{number:b}{SIZES[bits]}", 2)
    return 0x0E000400 | op << 29 | 1 << 30 | imm5 << 16 | imm4 << 11 | rn << 5 | 1


def loaded(bits, number):
    """ld1 {v1}[number], [x2]"""
    place = number * bits // 8
    opcode, size = {8: (0, place & 3), 16: (2, place & 3), 32: (4, 0), 64: (4, 1)}[bits]
    return 0x0D400000 | place >> 3 << 30 | opcode << 13 | (place >> 2 & 1) << 12 | size << 10 | 2 << 5 | 1


def element(value, bits, number):
    return value >> number * bits & (1 << bits) - 1


def replaced(bits, number, value):
    return OLD & ~((1 << bits) - 1 << number * bits) | (value & (1 << bits) - 1) << number * bits


@pytest.mark.parametrize("translated", [False, True])
@pytest.mark.parametrize("bits", SIZES)
def test_one_element_changes_or_is_read_and_all_others_stay(bits, translated, device):
    words, expected = [], []
    for number in range(128 // bits):
        other = 128 // bits - 1 - number
        words += [
            copied(0, bits, number, 3, 3),
            copied(1, bits, number, other * bits // 8, 2),
            loaded(bits, number),
            copied(0, bits, number, 0, 2),
        ]
        expected += [
            replaced(bits, number, NUMBER),
            replaced(bits, number, element(OTHER, bits, other)),
            replaced(bits, number, NUMBER),
            element(OTHER, bits, number) * ((1 << 128) // ((1 << bits) - 1)),
        ]
    cpu = lw.ParallelCPU(len(words), 4096, device=device)
    cpu.load_program(program(*(one for word in words for one in (word, hlt(0)))), 0)
    cpu.write_memory(AT, NUMBER.to_bytes(8, "little"))
    registers = np.zeros((len(words), 32), np.uint64)
    registers[:, 2], registers[:, 3] = AT, NUMBER
    cpu.registers = registers
    vectors = np.zeros((len(words), 32, 2), np.uint64)
    vectors[:, 1] = OLD & 2**64 - 1, OLD >> 64
    vectors[:, 2] = OTHER & 2**64 - 1, OTHER >> 64
    cpu.vectors = vectors
    for lane in range(len(words)):
        cpu.set_pc_lane(lane, 8 * lane)
    if translated:
        cpu.translate(0, 8 * len(words), range(0, 8 * len(words), 8))
    cpu.execute(10)
    found = [int(low) | int(high) << 64 for low, high in cpu.vectors[:, 1]]
    assert [f"{value:032x}" for value in found] == [f"{value:032x}" for value in expected]
