"""Code whose lanes meet again: calls are written out, loops have one way in, and what lanes compute stays the same."""

import numpy as np
import pytest
from assembler import add, add_imm, b, bne, br, hlt, ldr, movz, program, str_, subs_imm
from plans import any_plan, plan_of

import lanewise as lw
from lanewise.arm64 import translator
from lanewise.arm64.finding import Block
from lanewise.arm64.guards import find_guards
from lanewise.arm64.places import Place, Plan
from lanewise.arm64.slices import Slices
from lanewise.arm64.translation import Translation
from lanewise.compiler.graphs import components


@pytest.fixture
def device(lane_device):
    return lane_device


STACK, FURTHER, LINK, RET = 29, 12, 30, br(30) | 1 << 22
PUSH, POP = 0xF81F0FBE, 0xF84107BE  # str x30, [x29, #-16]!; ldr x30, [x29], #16
MARK = 0x1234  # no other test has this code, so that its translations are those of this file
BEGIN, CODE_END, TWICE, ITSELF, ELSEWHERE, INNER = 0, 13, 14, 22, 30, 32  # words where functions begin, and the end


def bl(words):
    """A call so many words ahead."""
    return b(words) | 1 << 31


def beq(words):
    """To so many words from here, if equal."""
    return bne(words) & ~1


CODE = program(
    movz(28, 9),
    movz(27, 5),  # 1: the outer loop
    bl(TWICE - 2),  # 2: the inner loop
    add_imm(1, 1, 7),
    bl(TWICE - 4),
    subs_imm(27, 27, 1),
    bne(-4),
    add_imm(10, 28, 0),
    bl(ITSELF - 8),
    bl(ELSEWHERE - 9),
    add_imm(6, 6, 1),  # left out if it returns further on
    subs_imm(28, 28, 1),
    bne(-11),
    hlt(MARK),
    PUSH,  # 14: is called twice, and calls in a loop
    movz(9, 3),
    bl(INNER - 16),
    subs_imm(9, 9, 1),
    bne(-2),
    POP,
    add(2, 2, 27),
    RET,
    PUSH,  # 22: calls itself
    add(5, 5, 10),
    subs_imm(10, 10, 1),
    beq(2),
    bl(-4),
    POP,
    RET,
    0,
    add(LINK, LINK, FURTHER),  # 30: returns to where it was called from, or further on
    RET,
    add_imm(3, 3, 1),  # 32
    add(4, 4, 3),
    RET,
)


@pytest.fixture
def meeting(monkeypatch):
    """Translations for a CPU are written as those for a GPU."""
    monkeypatch.setattr(translator, "lanes_meet", lambda gpu: True)


def lanes(device, code, further, entries):
    """Three that are about to run some code."""
    cpu = lw.ParallelCPU(3, 1 << 12, "private", device)
    cpu.load_program(code)
    for lane in range(3):
        cpu.set_registers_lane(lane, {STACK: 1 << 11, 1: lane, FURTHER: further})
    cpu.set_pc_all(0)
    if entries is not None:
        cpu.translate(0, len(code), entries)
    return cpu


def run(device, limit, further, entries, code=CODE):
    """What lanes have whenever they have run so many instructions, until they stop."""
    cpu = lanes(device, code, further, entries)
    found = []
    while not found or found[-1][0] == ["cycles"] * 3:
        result = cpu.execute(limit)
        state = cpu.pcs.tolist(), cpu.registers.tolist(), cpu.flags.tolist(), cpu.read_memory_all(0, 1 << 12).tolist()
        found.append([result.stop_reasons, result.cycles_per_lane.tolist(), *state])
    return found


@pytest.mark.parametrize("further", [0, 4])
@pytest.mark.parametrize("limit", [17, 61, 211, 100_000])
@pytest.mark.parametrize("entries", [[0], [4 * ITSELF, 4 * INNER, 0, 4 * 17]])
def test_lanes_do_what_the_interpreter_does(limit, further, entries, device, meeting):
    """However often they stop in the midst of loops and calls, and wherever they return to."""
    wanted = run(device, limit, further, None)
    assert wanted[-1][0] == ["hlt"] * 3
    assert run(device, limit, further, entries) == wanted


def test_who_returns_elsewhere_goes_on_in_the_same_launch(device, meeting):
    """Else it would run some ten instructions in the time in which others run millions."""
    cpu = lanes(device, CODE, 4, [0])
    said, going = cpu.resume(np.zeros((3, 2), np.uint64), 3, Slices(), 2**62)
    assert not going.some
    assert said[:, 0].tolist() == [4 * CODE_END] * 3


@pytest.mark.parametrize("behind", [[], [0]])
@pytest.mark.parametrize("limit", [1, 100])
def test_behind_a_call_there_may_be_nothing(behind, limit, device, meeting):
    """A call of what does not return may be the last in the code, or have data behind it."""
    code = program(movz(7, MARK), b(3), add_imm(3, 3, 1), RET, bl(-2), *behind)
    wanted = run(device, limit, 0, None, code)
    assert wanted[-1][0] == ["undefined instruction"] * 3
    assert run(device, limit, 0, [0], code) == wanted


def plan_of_code():
    return plan_of(CODE, [0])


def test_functions_that_go_on_in_each_other_are_not_there_once_for_each():
    """Each of these is called, and has all behind it."""
    count = 140
    body = [word for _ in range(count) for word in (add_imm(1, 1, 1), bne(1))]
    calls = [bl(2 * at - len(body) - 1 - at) for at in range(count)]
    plan = plan_of(program(*body, RET, *calls, hlt()), [4 * len(body) + 4])
    assert len(plan.places) == 2 * count + 2
    assert {plan.places[place].block.address for place in plan.entries.values()} == plan.entries.keys()


def test_what_is_called_stands_in_the_place_of_its_calls():
    plan = plan_of_code()
    copies = [place.block.address for place in plan.places]
    assert copies.count(4 * TWICE) == 3  # both calls, and on its own
    assert copies.count(4 * INNER) == 1 + 3  # where it is called by each of those
    assert copies.count(4 * ITSELF) == 1  # what calls itself is not written out
    begin = plan.entries[0]
    reached, wanted = set(), [begin]
    while wanted:
        if (place := wanted.pop()) not in reached:
            reached.add(place)
            wanted += plan.places[place].next_places
    assert 4 * TWICE in {plan.places[place].block.address for place in reached}
    assert not {plan.entries[4 * TWICE], plan.entries[4 * INNER]} & reached  # lanes that come from elsewhere stay apart


def test_calls_of_long_functions_are_written_out_while_there_are_few_instructions():
    """Else a program of a thousand instructions could take minutes to compile."""
    long = [word for _ in range(8) for word in [*[add_imm(1, 1, 1)] * 60, subs_imm(2, 2, 1), bne(-61)]]
    calls = [bl(-len(long) - 1 - at) for at in range(40)]
    plan = plan_of(program(*long, RET, *calls, hlt()), [4 * len(long) + 4])
    for at in (0, 4 * 62):
        assert 2 <= sum(place.block.address == at for place in plan.places) < 10


def test_a_function_is_there_on_its_own_once_wherever_lanes_come_to_it():
    """Those that come to its midst are to meet those that came by its beginning."""
    plan = plan_of(program(add_imm(1, 1, 1), subs_imm(2, 2, 1), bne(-1), RET, bl(-4), hlt()), [16])
    assert [place.block.address for place in plan.places if place.returns is None].count(4) == 2  # one is in the call
    loop, head = plan.places[plan.entries[4]], plan.places[plan.entries[0]]
    assert loop.number in head.ways.values()


def test_a_return_of_what_was_written_out_has_one_way():
    for place in plan_of_code().places:
        if place.returns is not None:
            address, back = place.returns
            assert plan_of_code().places[back].block.address == address
            assert place.ways == {}


def guarded_ways(plan):
    """The graph of a plan with its guards: the dispatcher is -1, guards are -2 and below."""
    guarded = find_guards(plan)

    def label(place):
        guard = guarded.of_head.get(place)
        return place if guard is None else -2 - guard.number

    ways = {place.number: {label(way) for way in place.next_places} for place in plan.places}
    ways[-1] = {place if guard is None else -2 - guard.number for place, guard in guarded.first.items()}
    for guard in guarded.guards:
        inside = {place if further is None else -2 - further.number for place, further in guard.inside.items()}
        ways[-2 - guard.number] = {*guard.heads, *inside}
    return ways


def loops_with_several_heads(ways):
    """Loops that are entered at more than one node by who comes from the dispatcher."""
    reached, wanted = set(), [-1]
    while wanted:
        if (node := wanted.pop()) not in reached:
            reached.add(node)
            wanted += ways[node]
    found = []

    def look(nodes):
        for part in components(sorted(nodes), lambda node: [way for way in ways[node] if way in nodes]):
            if len(part) == 1 and not part & ways[min(part)]:
                continue
            heads = {node for node in part for one in reached - part if node in ways[one]}
            if len(heads) > 1:
                found.append(heads)
            look(part - heads if heads else set())

    look(reached)
    return found


def test_every_loop_has_one_way_in():
    unguarded = 0
    for seed in range(3000):
        plan = any_plan(seed)
        plain = {place.number: set(place.next_places) for place in plan.places} | {-1: set(plan.entries.values())}
        unguarded += bool(loops_with_several_heads(plain))
        assert loops_with_several_heads(guarded_ways(plan)) == [], seed
    assert unguarded > 1000  # most of them had loops with more


def test_a_loop_that_is_entered_at_its_head_alone_has_no_guard():
    places = [Place(0, Block(0), {4: 1}), Place(1, Block(4), {4: 1, 8: 2}), Place(2, Block(8), {4: 1})]
    assert find_guards(Plan(places, {0: 0, 4: 1})).guards == []
    assert [guard.heads for guard in find_guards(Plan(places, {0: 0, 8: 2})).guards] == [[1]]


def test_loops_may_be_inside_each_other_hundreds_of_times():
    count = 700
    places = [Place(at, Block(4 * at), {4 * way: way for way in (at - 1, at + 1) if way >= 0}) for at in range(count)]
    places.append(Place(count, Block(4 * count)))
    guards = find_guards(Plan(places, {4 * at: at for at in range(count + 1)})).guards
    assert [guard.heads for guard in guards] == [[at] for at in range(count - 1)]
    assert guards[0].inside[count - 1] is guards[1]


def test_code_of_a_gpu_compares_addresses_with_numbers():
    """The size of memory is known, so that no register has it."""
    code = program(movz(1, 8), ldr(2, 3, 8), str_(2, 1), hlt())
    _, unit = Translation(True, code, 0, [0], range(1 << 12)).pieces()
    assert "%size" not in unit.split("define void @arm64_unit_0(", 1)[1].split("{\n", 1)[1]
