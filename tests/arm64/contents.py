"""What registers have when instructions are tried: numbers of all kinds, and all bits of FPCR and FPSR."""

from __future__ import annotations

from fnmatch import fnmatchcase as fnmatch
from typing import Any

import numpy as np

from lanewise.arm64 import lane
from lanewise.arm64.encodings import TABLE

FPCR, FPSR = lane.FPCR_BITS, lane.FPSR_BITS
"""Bits that ARMv8.0 has there; Unicorn's model has some of later versions, too."""
FLOATING = [row for row in TABLE if fnmatch(row.name, "f*") or fnmatch(row.name, "*cvtf*")]
"""Rows of floating point, for whose words FPCR, FPSR and special numbers matter."""


def vectors(random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Registers of 16 bytes: random bits, numbers of all kinds, and elements that are alike."""
    words = random.integers(0, 2**64, 64, np.uint64)
    for at in range(64):
        kind = random.random()
        if kind < 0.25:
            words[at] = np.float64(random.normal() * 10.0 ** random.integers(-5, 6)).view(np.uint64)
        elif kind < 0.5:
            pair = (random.normal(size=2) * 10.0 ** random.integers(-5, 6)).astype(np.float32)
            words[at] = pair.view(np.uint64)[0]
        elif kind < 0.65:
            size = int(random.choice([16, 32, 32, 64, 64]))
            words[at] = np.uint64(sum(_number(size, random) << place for place in range(0, 64, size)))
        elif kind < 0.7:
            words[at] = random.choice(EDGES)
        elif kind < 0.75 and at:
            words[at] = words[at - 1]
        elif kind < 0.85:
            size = int(random.choice([8, 16, 32, 64]))
            edges = [0, 1, (1 << size - 1) - 1, 1 << size - 1, (1 << size) - 1, *map(int, random.integers(-70, 70, 5))]
            parts = random.choice(np.array([edge & (1 << size) - 1 for edge in edges], np.uint64), 64 // size)
            words[at] = np.uint64(sum(int(part) << size * place for place, part in enumerate(parts)))
    return words


FRACTION = {16: 10, 32: 23, 64: 52}


def _number(bits: int, random: np.random.Generator) -> int:
    """A number of a size that is special: in its exponent, where formats end, and in its fraction, where they round."""
    length = FRACTION[bits]
    ones = (1 << bits - 1 - length) - 1
    bias = ones >> 1
    exponents = [0, 0, 1, 2, ones, ones, ones - 1, ones - 2, bias, bias + 1, bias - 1, bias - 2, bias + length]
    exponents += [bias + 15, bias + 16, bias - 14, bias - 24, bias - 25, bias + 30, bias + 31, bias + 32, bias + 63]
    exponents += [bias + 64, bias + 127, bias + 128, bias - 126, bias - 127, bias - 149, bias - 150, bias // 2]
    exponents += [bias + bias // 2, int(random.integers(0, ones))]
    last = 1 << int(random.integers(0, length + 1))
    fractions = [0, 0, 1, (1 << length) - 1, 1 << length - 1, (1 << length - 1) - 1, (1 << length - 1) + 1, last, -last]
    fractions += [last + 1, last - 1, last * 3, int(random.integers(0, 1 << length))]
    exponent = exponents[int(random.integers(len(exponents)))]
    fraction = fractions[int(random.integers(len(fractions)))] & (1 << length) - 1
    sign = int(random.integers(2))
    return sign << bits - 1 | min(max(exponent, 0), ones) << length | fraction


EDGES = np.array([0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
