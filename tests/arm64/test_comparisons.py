"""Comparisons and the branches behind them, which a GPU interprets together: each counts by itself all the same."""

import numpy as np
import pytest
from assembler import bne, hlt, movz, program, subs_imm

import lanewise as lw


@pytest.fixture
def device(lane_device):
    return lane_device


NUMBERS = (0, 1, 5, 2**31, 2**63 - 1, 2**63, 2**64 - 5, 2**64 - 1)
HOLDS = (
    lambda x, y: x == y,
    lambda x, y: x >= y,
    lambda x, y: _signed(x - y) < 0,
    lambda x, y: _signed(x) - _signed(y) != _signed(x - y),
    lambda x, y: x > y,
    lambda x, y: _signed(x) >= _signed(y),
    lambda x, y: _signed(x) > _signed(y),
    lambda x, y: True,
)
"""What conditions with even numbers say of the numbers that were compared."""


def _signed(number):
    return (number + 2**63) % 2**64 - 2**63


def b_cond(condition, words):
    return bne(words) & ~0xF | condition


def cmp(rn, rm):
    return 0xEB00001F | rm << 16 | rn << 5


@pytest.mark.parametrize("between", [False, True])
def test_branches_go_by_what_was_compared(between, device):
    """A word between the two has the branch run by itself."""
    pairs = [(x, y) for x in NUMBERS for y in NUMBERS]
    lanes = 16 * len(pairs)
    cpu = lw.ParallelCPU(lanes, 4096, device=device)
    length = 24
    nothing = [movz(3, 0)] if between else []
    for condition in range(16):
        block = [cmp(0, 1), *nothing, b_cond(condition, 2), hlt(1), hlt(2)]
        cpu.load_program(program(*block), length * condition)
    registers = np.zeros((lanes, 32), np.uint64)
    registers[:, :2] = np.array(pairs * 16, np.uint64)
    cpu.registers = registers
    for number in range(lanes):
        cpu.set_pc_lane(number, length * (number // len(pairs)))
    result = cpu.execute(100)
    wanted = []
    for condition in range(16):
        for x, y in pairs:
            holds = HOLDS[condition // 2](x, y) != (condition % 2 == 1 and condition < 14)
            wanted.append(length * condition + 4 * (2 + between + holds))
    assert result.pcs_per_lane.tolist() == wanted
    assert set(result.cycles_per_lane.tolist()) == {2 + between}


def test_a_comparison_may_be_the_last_instruction_of_a_run(device):
    cpu = lw.ParallelCPU(2, 4096, device=device)
    cpu.load_program(program(subs_imm(0, 0, 1), bne(-1), hlt()))
    cpu.registers = np.full((2, 32), 3, np.uint64)
    for pc in (4, 0, 4, 0, 4, 8):
        assert cpu.step().cycles_per_lane.tolist() == [1, 1]
        assert cpu.pcs.tolist() == [pc, pc]


def test_a_comparison_may_be_the_last_word_of_memory(device):
    cpu = lw.ParallelCPU(2, 64, device=device)
    cpu.load_program(program(subs_imm(0, 0, 1)), 60)
    cpu.set_pc_all(60)
    result = cpu.execute(100)
    assert result.stop_reasons == ["pc out of range"] * 2
    assert result.cycles_per_lane.tolist() == [1, 1]
    assert result.pcs_per_lane.tolist() == [64, 64]


def test_what_only_looks_like_a_branch_is_undefined(device):
    cpu = lw.ParallelCPU(2, 4096, device=device)
    cpu.load_program(program(subs_imm(0, 0, 1), bne(-1) | 16))
    result = cpu.execute(100)
    assert result.stop_reasons == ["undefined instruction"] * 2
    assert result.cycles_per_lane.tolist() == [1, 1]
    assert result.pcs_per_lane.tolist() == [4, 4]
