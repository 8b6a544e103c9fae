"""How many lanes a warp has: halved for as long as that is faster, by slices of one length."""

import numpy as np
import pytest
from assembler import b, program

import lanewise as lw
from lanewise.arm64.slices import Slices
from lanewise.arm64.warps import Warps


def settle(warps, rates, length=1000):
    """Slices that run at these rates, by lanes of a warp; the lengths that they had."""
    lengths = []
    while not warps.settled:
        lengths.append(warps.slice_of(length))
        warps.ran(lengths[-1], rates[warps.lanes], 1.0)
        length *= 4
    return lengths


@pytest.mark.parametrize(
    ("rates", "best"),
    [
        ({32: 100, 16: 60}, 32),
        ({32: 100, 16: 104}, 32),
        ({32: 100, 16: 120, 8: 130, 4: 90}, 8),
        ({32: 1, 16: 2, 8: 3, 4: 4, 2: 5, 1: 6}, 1),
    ],
)
def test_the_fastest_number_that_was_tried_stays(rates, best):
    warps = Warps(100_000)
    lengths = settle(warps, rates)
    assert warps.lanes == best
    assert len(lengths) == len(rates)
    assert set(lengths) == {1000}
    assert warps.slice_of(123_456) == 123_456


def test_slices_that_are_over_at_once_tell_nothing():
    warps = Warps(64)
    warps.ran(10, 1_000_000, 0.001)
    assert (warps.lanes, warps.settled, warps.slice_of(500)) == (32, False, 500)


def test_few_lanes_are_in_one_warp_at_first():
    assert [Warps(lanes).lanes for lanes in (1, 3, 32, 33)] == [1, 4, 32, 32]


def test_a_slice_is_judged_by_what_ran_in_it_alone(device, monkeypatch):
    """Whatever ran while there was nothing to find out, or before lanes began anew."""
    cpu = lw.ParallelCPU(3, 4096, device=device)
    monkeypatch.setattr(cpu.runner, "far", True)
    told = []
    monkeypatch.setattr(Warps, "ran", lambda self, length, instructions, seconds: told.append(instructions))

    def go_on():
        cpu.load_program(program(b(0)))
        cpu.resume(np.zeros((3, 2), np.uint64), 3, Slices(), 2**62)

    go_on()
    cpu._warps.settled = True
    go_on()
    cpu.load_anew()
    go_on()
    go_on()
    cpu.begin_anew()
    go_on()
    assert told == [3 * Slices().length] * 4
