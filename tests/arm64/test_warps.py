"""How many lanes a warp has, and how many run at once: tried by slices of one length, as long as they get faster."""

from types import SimpleNamespace

import numpy as np
import pytest
from assembler import b, bne, hlt, program, subs_imm

import lanewise as lw
from lanewise.arm64 import lane
from lanewise.arm64.runners import CudaRunner
from lanewise.arm64.slices import Slices
from lanewise.arm64.warps import Warps


def settle(warps, rates, length=1000):
    """Slices that run at these rates, by lanes of a warp, behind one that begins; the lengths that they had."""
    warps.ran(warps.slice_of(length), 1e9, 1.0)
    lengths = []
    while not warps.settled:
        lengths.append(warps.slice_of(length))
        warps.ran(lengths[-1], rates[warps.lanes if warps.at_once == LANES else (warps.lanes, warps.at_once)], 1.0)
        length *= 4
    return lengths


LANES = 100_000


@pytest.mark.parametrize(
    ("rates", "best"),
    [
        ({32: 100, 16: 74}, (32, LANES)),
        ({32: 100, 16: 90, (1, 800): 95}, (32, LANES)),
        ({32: 100, 16: 120, 8: 80, (1, 800): 130, (1, 400): 131}, (1, 800)),
        ({32: 100, 16: 90, (1, 800): 130, (1, 400): 150}, (1, 400)),
        ({32: 1, 16: 2, 8: 3, 4: 4, 2: 5, 1: 6, (1, 800): 6}, (1, LANES)),
    ],
)
def test_few_at_once_are_tried_where_lanes_are_not_in_step(rates, best):
    warps = Warps(LANES, 400)
    lengths = settle(warps, rates)
    assert lengths == [10 if isinstance(kind, tuple) else 40 for kind in rates]
    assert (warps.lanes, warps.at_once) == best


@pytest.mark.parametrize("lanes", [300, 400, 800])
def test_there_are_no_more_at_once_than_there_are(lanes):
    warps = Warps(lanes, 400)
    while not warps.settled:
        warps.ran(1000, 10, 1.0)
        assert warps.at_once <= lanes


@pytest.mark.parametrize("private", [True, False])
def test_lanes_that_run_behind_others_do_the_same(device, private, monkeypatch):
    """Also where the last turn has fewer of them; those that share memory never do, since they may wait for others."""
    cpu = lw.ParallelCPU(50, 4096, "private" if private else "shared", device)
    cpu.load_program(program(subs_imm(0, 0, 1), bne(-1), hlt()))
    cpu.registers = np.arange(1, 51, dtype=np.uint64)[:, None] * np.ones(32, np.uint64)
    cpu.prepare()
    assert (cpu.runner.warps > 0) == cpu.runner.far
    monkeypatch.setattr(type(cpu.runner), "warps", 10)
    assert (cpu._new_warps()._few != []) == private
    cpu._warps.lanes, cpu._warps.at_once, cpu._warps.settled = 2, 12, True
    result = cpu.execute(10_000)
    assert result.stop_reasons == ["hlt"] * 50
    assert result.cycles_per_lane.tolist() == [2 * count for count in range(1, 51)]  # the last stops it, and is not run
    cpu.set_pc_all(0)
    assert cpu.execute(7).stop_reasons == ["cycles"] * 50


class OneTurn:
    """A device that counts launches, and does nothing."""

    def __init__(self):
        self.launches = []

    def array(self, values):
        self.told = values
        return SimpleNamespace(address=1000, get=lambda: values)

    def launch_native(self, kernel, threads, group_size, values):
        self.launches.append((threads, int(self.told[len(self.launches), lane.LANES])))

    def synchronize(self):
        pass


@pytest.mark.parametrize(("active", "launches"), [(9, [(4 * 32, 4), (4 * 32, 8), (4 * 32, 9)]), (4, [(9 * 32, 9)])])
def test_the_last_lanes_that_run_do_not_wait_for_each_other(active, launches):
    runner, words = CudaRunner.__new__(CudaRunner), np.zeros(lane.RUN_WORDS, np.uint64)
    runner._device, runner._kernel, words[lane.PER_WARP] = OneTurn(), None, 1
    runner.run(words, 9, active, 4)
    assert runner._device.launches == launches


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
    warps = Warps(LANES)
    lengths = settle(warps, rates)
    assert warps.lanes == best
    assert len(lengths) == len(rates)
    assert set(lengths) == {40}  # of a second, what they take to be compared
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
