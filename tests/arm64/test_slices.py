"""Slices: interpreted instructions have a limit of their own in them, and what lanes do does not depend on that."""

import os
import signal
import threading

import numpy as np
import pytest
from assembler import add_imm, b, bne, hlt, movz, program, str_, str_word, subs_imm

import lanewise as lw
from lanewise.arm64 import slices
from lanewise.arm64.slices import Slices

ELSEWHERE = 256
ROUNDS, MORE_ROUNDS = 1000, 5000
FAST = program(movz(0, ROUNDS), subs_imm(0, 0, 1), bne(-1), b(ELSEWHERE // 4 - 3))
SLOW = program(movz(1, MORE_ROUNDS), add_imm(2, 2, 3), subs_imm(1, 1, 1), bne(-2), hlt())
INSTRUCTIONS = 1 + 2 * ROUNDS + 1 + 1 + 3 * MORE_ROUNDS


def two_kinds(device, lanes=3):
    """Lanes that run a loop that is translated, then one that is not; the second begins there."""
    cpu = lw.ParallelCPU(lanes, 4096, "private", device)
    cpu.load_program(FAST)
    cpu.load_program(SLOW, ELSEWHERE)
    cpu.pcs = [ELSEWHERE if number == 1 else 0 for number in range(lanes)]
    cpu.translate(0, len(FAST), [0])
    return cpu


def sized(length, interpreted):
    """Slices of so many instructions."""
    found = Slices()
    found.length, found.interpreted = length, interpreted
    return found


def go_on(cpu, size, limit=2**62):
    """One slice: the instructions that each lane has run by then, and what they said."""
    lanes = cpu.get_num_lanes()
    said, going = cpu.resume(np.zeros((lanes, 2), np.uint64), lanes, size, limit)
    return said[:, 1].tolist(), going


def test_who_leaves_translated_code_interprets_no_more_than_is_allowed(device):
    cpu = two_kinds(device)
    ran, going = go_on(cpu, sized(1 << 20, 100))
    assert going == (True, True)
    translated = 1 + 2 * ROUNDS + 1
    assert ran == [translated + 100, 100, translated + 100]
    assert go_on(cpu, sized(1 << 20, 50))[0] == [translated + 150, 150, translated + 150]


def test_who_has_changed_its_code_interprets_no_more_than_is_allowed(device):
    code = program(str_word(3, 4), movz(0, 60_000), subs_imm(0, 0, 1), bne(-1), hlt())
    cpu = lw.ParallelCPU(1, 4096, device=device)
    cpu.load_program(code)
    cpu.set_registers_lane(0, {3: int.from_bytes(code[16:20], "little"), 4: 16})
    cpu.set_pc_all(0)
    cpu.translate(0, len(code), [0])
    first = go_on(cpu, sized(1 << 20, 1000))[0][0]
    assert first <= 1001
    assert go_on(cpu, sized(1 << 20, 1000))[0] == [first + 1000]


@pytest.mark.parametrize("interpreted", [1, 37, 1000])
def test_lanes_do_the_same_however_little_they_interpret_at_a_time(interpreted, device):
    cpu, alone = two_kinds(device), two_kinds(device)
    wanted = alone.execute(1 << 30).cycles_per_lane.tolist()
    assert wanted == [INSTRUCTIONS, 1 + 3 * MORE_ROUNDS, INSTRUCTIONS]
    size, going = sized(1 << 20, interpreted), True
    while going:
        ran, (going, _) = go_on(cpu, size)
        size.interpreted += 5
    assert ran == wanted
    assert cpu.registers.tolist() == alone.registers.tolist()
    assert cpu.pcs.tolist() == alone.pcs.tolist()


@pytest.mark.parametrize("limit", [5000, 5001, 9999])
def test_each_lane_runs_as_many_as_it_may_though_others_pause(limit, device, monkeypatch):
    """A lane that has run all is asked again while another, which is interpreted, has not."""
    monkeypatch.setattr(slices, "_FIRST", 64)
    monkeypatch.setattr(Slices, "adapt", lambda self, taken, wanted, full, paused: setattr(self, "length", 1 << 20))
    cpu = two_kinds(device)
    cpu.pcs = [0, ELSEWHERE, ELSEWHERE + 4]
    cpu.set_registers_lane(2, {1: 10})
    result = cpu.execute(limit)
    assert result.stop_reasons == ["cycles", "cycles", "hlt"]
    assert result.cycles_per_lane.tolist() == [limit, limit, 30]


def test_the_limit_of_interpreted_instructions_grows_only_when_it_ended_a_slice():
    found = sized(1000, 1000)
    for _ in range(5):
        found.adapt(0.02, 0.1, full=True, paused=False)
    assert (found.length, found.interpreted) == (32_000, 1000)
    found.adapt(0.02, 0.1, full=True, paused=True)
    assert (found.length, found.interpreted) == (32_000, 2000)
    found.adapt(0.25, 0.1, full=True, paused=False)
    assert (found.length, found.interpreted) == (16_000, 2000)
    found.adapt(0.25, 0.1, full=True, paused=True)
    assert (found.length, found.interpreted) == (8000, 1000)
    found.cut_short = True
    before = found.length
    found.adapt(0.001, 0.1, full=True, paused=False)
    assert found.length == before
    found.cut_short = False
    found.adapt(0.001, 0.1, full=False, paused=False)
    assert (found.length, found.interpreted) == (8000, 1000)
    found.adapt(20, 0.125, full=True, paused=False)
    assert (found.length, found.interpreted) == (50, 1000)
    found.adapt(0.001, 0.1, full=True, paused=False)
    assert (found.length, found.interpreted) == (200, 1000)


def test_no_slice_is_shorter_than_what_may_be_interpreted_in_it():
    found = sized(1000, 1000)
    found.adapt(0.02, 0.1, full=True, paused=True)
    assert (found.length, found.interpreted) == (2000, 2000)


@pytest.mark.parametrize("translated", [False, True])
def test_an_interrupt_leaves_lanes_as_they_are_between_two_instructions(translated, device):
    """They count in a register and in memory, and can go on."""
    cpu = lw.ParallelCPU(4, 4096, "private", device)
    cpu.load_program(program(add_imm(0, 0, 1), str_(0, 1), b(-2)))
    for number in range(4):
        cpu.set_registers_lane(number, {1: 1024})
    cpu.set_pc_all(0)
    if translated:
        cpu.translate(0, 12, [0])
    cpu.prepare()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        cpu.execute(1 << 60)
    for _ in range(2):
        counted = cpu.registers[:, 0]
        stored = cpu.read_memory_all(1024, 8).view(np.uint64)[:, 0]
        assert counted.min() > 0
        assert (counted - stored == (cpu.pcs == 4)).all()
        cpu.execute(1000)


def asking(device, lanes=5):
    """Lanes in a loop with a call in it, which is translated; each has another number of rounds to go."""
    code = program(movz(0, 300), add_imm(2, 2, 1), *[add_imm(3, 3, 1)] * 130, subs_imm(0, 0, 1), bne(-132), hlt())
    cpu = lw.ParallelCPU(lanes, 4096, "private", device)
    cpu.load_program(code)
    cpu.pcs = [4 * (number > 2) for number in range(lanes)]
    for number in range(lanes):
        cpu.set_registers_lane(number, {0: 100 + number})
    cpu.translate(0, len(code), [0])
    return cpu


@pytest.mark.parametrize("length", [1, 7, 100, 133, 134, 1000, 5003])
def test_lanes_get_on_in_slices_of_any_length(length, lane_device):
    """Even if translated code asks for more instructions than a slice has."""
    alone, cpu = asking(lane_device), asking(lane_device)
    wanted = alone.execute(1 << 30).cycles_per_lane.tolist()
    ran, going = [0] * 5, True
    size = sized(length, 1 << 20)
    while going:
        before = ran
        ran, (going, paused) = go_on(cpu, size)
        assert not paused
        for had, has, last in zip(before, ran, wanted, strict=True):
            assert had < has <= had + length or had == has == last
    assert ran == wanted
    assert cpu.registers.tolist() == alone.registers.tolist()


@pytest.mark.parametrize("limit", [1, 132, 20_000, 20_001, 39_000])
def test_the_last_slice_is_exact(limit, lane_device, monkeypatch):
    """However slices in between end."""
    monkeypatch.setattr(slices, "_FIRST", 1000)
    monkeypatch.setattr(Slices, "adapt", lambda self, taken, wanted, full, paused: None)
    result = asking(lane_device).execute(limit)
    whole = asking(lane_device).execute(1 << 30).cycles_per_lane
    assert result.cycles_per_lane.tolist() == np.minimum(whole, limit).tolist()


def test_between_slices_lanes_of_a_gpu_are_where_translated_code_is_entered(lane_device):
    """Else each would be interpreted for a while, and come to translated code alone."""
    if lane_device.name == "cpu":
        pytest.skip("lanes of a CPU need not enter at the same time")
    cpu = asking(lane_device)
    size = sized(1000, 1 << 20)
    for _ in range(6):
        _, (going, _) = go_on(cpu, size)
        assert going
        assert set(cpu.pcs.tolist()) <= cpu._entries
        size.length += 37
