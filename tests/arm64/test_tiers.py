"""The interpreter against the translator: random code does the same in both, to the last bit and instruction."""

import numpy as np
import pytest
from assembler import bne, hlt, program, subs_imm
from contents import FLOATING, FPCR, FPSR
from contents import vectors as special_numbers

import lanewise as lw
from lanewise.arm64.encodings import TABLE


@pytest.fixture
def device(lane_device):
    return lane_device


SIZE = 8192
LENGTH, LANES = 12, 40
KEPT = 28
"""The register that counts rounds, which no word of a sequence changes."""


def random_word(random, rows):
    """A word of some row with random fields; small numbers more often than not."""
    row = rows[int(random.integers(len(rows)))]
    word = row.value
    for field in row.fields:
        number = int(random.integers(0, 1 << field.bits))
        if field.name in ("Rd", "Rt", "Rt2", "Rs", "Rn") and number == KEPT:
            number = 0
        word |= number << field.low
    return word


_WAYS_ON = ("b", "b.cond", "cbz", "tbz", "br", "svc", "brk", "hlt")


def sequences(seed, rows):
    """For each lane random words, run three times over, then a stop."""
    random = np.random.default_rng(seed)
    code, starts = [], []
    for _ in range(LANES):
        starts.append(4 * len(code))
        code += [random_word(random, rows) for _ in range(LENGTH)]
        code += [subs_imm(KEPT, KEPT, 1), bne(-LENGTH - 1), hlt()]
    return program(*code), starts, random


def outcomes(device, memory, code, starts, registers, vectors, fpcr):
    """All that lanes leave, interpreted and translated."""
    found = []
    for translated in (False, True):
        cpu = lw.ParallelCPU(LANES, SIZE, "private", device)
        cpu.write_memory(0, memory)
        cpu.load_program(code)
        cpu.registers, cpu.vectors, cpu.pcs = registers, vectors, starts
        cpu.fpcr = fpcr
        if translated:
            cpu.translate(0, len(code))
        result = cpu.execute(1000)
        found.append(
            [
                result.stop_reasons,
                result.cycles_per_lane.tolist(),
                result.pcs_per_lane.tolist(),
                result.stop_details.tolist(),
                cpu.registers.tolist(),
                cpu.vectors.tolist(),
                cpu.flags.tolist(),
                cpu.fpsr.tolist(),
                cpu.fpcr.tolist(),
                cpu.read_memory_all(0, SIZE).tolist(),
            ]
        )
    assert sum(found[0][1]) > LANES  # or nothing was compared
    return found


@pytest.mark.parametrize("seed", range(3))
def test_random_code_does_the_same_translated_and_interpreted(seed, device):
    code, starts, random = sequences(seed, [row for row in TABLE if row.name not in _WAYS_ON])
    memory = random.integers(0, 256, (LANES, SIZE), np.uint8)
    registers = random.integers(0, 2**64, (LANES, 32), np.uint64)
    registers[:, :24] = random.integers(len(code) // 8, SIZE // 8 - 64, (LANES, 24)) * 8  # most addresses are in memory
    registers[:, KEPT] = 3
    vectors = random.integers(0, 2**64, (LANES, 32, 2), np.uint64)
    interpreted, translated = outcomes(device, memory, code, starts, registers, vectors, [0] * LANES)
    assert interpreted == translated


@pytest.mark.parametrize("modes", ["set before", "set by code, which reads flags, too"])
def test_floating_point_does_the_same_translated_and_interpreted(modes, device):
    """With the flags that it leaves, which a program need not read."""
    system = [row for row in TABLE if row.name.endswith(("fpcr", "fpsr"))]
    code, starts, random = sequences(1, FLOATING if modes == "set before" else FLOATING + system * 20)
    registers = random.integers(0, 2**64, (LANES, 32), np.uint64)
    registers[:, KEPT] = 3
    numbers = np.stack([special_numbers(random) for _ in range(LANES)]).reshape(LANES, 32, 2)
    fpcr = random.integers(0, 2**32, LANES, np.uint64) & np.uint64(FPCR)
    fpcr[::2] = 0
    memory = np.zeros((LANES, SIZE), np.uint8)
    interpreted, translated = outcomes(device, memory, code, starts, registers, numbers, fpcr)
    assert interpreted == translated
    flags = np.bitwise_or.reduce(np.array(interpreted[7], np.uint64))
    assert int(flags) & 0xFF == FPSR & 0xFF  # or some were not compared
