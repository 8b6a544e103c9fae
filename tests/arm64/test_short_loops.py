"""Short loops have several rounds written out: they ask once for all, and what lanes compute stays the same."""

import numpy as np
import pytest
from assembler import add, add_imm, b, bne, eor, hlt, movz, program, subs_imm
from plans import any_plan, plan_of

import lanewise as lw
from lanewise.arm64 import translator
from lanewise.arm64.allowances import find_allowances
from lanewise.arm64.rounds import with_rounds


@pytest.fixture
def device(lane_device):
    return lane_device


PLAIN = program(add(1, 1, 0), eor(2, 2, 1), subs_imm(0, 0, 1), bne(-3), hlt(0x4321))
TWO_WAYS = program(  # the loop is entered in its middle, and one way through it is longer
    movz(9, 0x77),
    b(2),  # to 3
    add(1, 1, 0),  # 2
    subs_imm(3, 3, 1),  # 3
    bne(2),  # to 6
    movz(3, 5),
    subs_imm(0, 0, 1),  # 6
    bne(-5),  # to 2
    hlt(0x4322),
)


@pytest.mark.parametrize("gpu", [False, True])
def test_a_short_loop_asks_once_for_four_rounds(gpu):
    plan = plan_of(PLAIN, [0])
    rounds = with_rounds(plan, gpu)
    assert [place.block.address for place in rounds.places].count(0) == 4
    assert find_allowances(plan).asked == {plan.entries[0]: 5}
    assert find_allowances(rounds).asked == {rounds.entries[0]: 4 * 4 + 1}


def test_all_rounds_are_ways_that_were_there():
    """Each place has its block as before, and goes on to the same addresses."""
    more = 0
    for seed in range(2000):
        plan = any_plan(seed, words=5)
        rounds = with_rounds(plan, gpu=True)
        assert [place.number for place in rounds.places] == list(range(len(rounds.places)))
        before = {place.block.address: place for place in plan.places}
        for place in rounds.places:
            was = before[place.block.address]
            assert place.block is was.block
            assert place.ways.keys() == was.ways.keys()
            assert all(rounds.places[way].block.address == address for address, way in place.ways.items())
        more += len(rounds.places) > len(plan.places)
    assert more > 500


def loops(count, words):
    """The plan of some loops one behind the other, each of so many instructions."""
    loop = [*[add_imm(1, 1, 1)] * (words - 2), subs_imm(0, 0, 1), bne(1 - words)]
    return plan_of(program(*loop * count, hlt()), [0])


@pytest.mark.parametrize("gpu", [False, True])
def test_a_long_loop_stays_as_it_is(gpu):
    assert len(with_rounds(loops(1, 16), gpu).places) == 5
    assert len(with_rounds(loops(1, 17), gpu).places) == 2


def test_on_a_gpu_few_loops_have_rounds():
    """Lanes that are apart would wait for more code to arrive."""
    before = loops(30, 4)
    assert len(with_rounds(before, gpu=True).places) == 31 + 3 * (64 // 12)
    assert len(with_rounds(before, gpu=False).places) == 31 + 3 * (121 // 12)


@pytest.mark.parametrize("code", [PLAIN, TWO_WAYS], ids=["plain", "two ways"])
@pytest.mark.parametrize("limit", [*range(1, 24), 10_000])
def test_lanes_stop_after_exactly_as_many_instructions(code, limit, device, monkeypatch):
    """In whichever round that is."""
    monkeypatch.setattr(translator, "lanes_meet", lambda gpu: True)
    found = []
    for translated in (False, True):
        cpu = lw.ParallelCPU(5, 1 << 12, "private", device)
        cpu.load_program(code)
        for lane in range(5):
            cpu.set_registers_lane(lane, {0: 3 + 2 * lane, 3: 1 + lane})
        cpu.set_pc_all(0)
        if translated:
            cpu.translate(0, len(code), [0])
        states = []
        while not states or "cycles" in states[-1][0]:
            result = cpu.execute(limit)
            counts = np.asarray(result.cycles_per_lane).tolist()
            states.append([result.stop_reasons, counts, cpu.pcs.tolist(), cpu.registers.tolist(), cpu.flags.tolist()])
        found.append(states)
    assert found[0] == found[1]
    assert set(found[0][-1][0]) == {"hlt"}
