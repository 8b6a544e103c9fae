"""The immediates of logical instructions: a run of ones in an element of 2 to 64 bits, turned and repeated."""

from __future__ import annotations


def logical_immediate(number: int) -> int:
    """The 64 bits that N, immr and imms stand for, 13 bits together; 0 if they stand for nothing."""
    n, immr, imms = number >> 12, number >> 6 & 63, number & 63
    length = (n << 6 | (~imms & 63)).bit_length() - 1
    if length < 1:
        return 0
    size = 1 << length
    ones, turn = imms & (size - 1), immr & (size - 1)
    if ones == size - 1:
        return 0
    element = (1 << ones + 1) - 1
    element = (element >> turn | element << (size - turn)) & ((1 << size) - 1)
    return sum(element << at for at in range(0, 64, size))


def logical_immediates() -> list[int]:
    """All of them."""
    return [logical_immediate(number) for number in range(1 << 13)]
