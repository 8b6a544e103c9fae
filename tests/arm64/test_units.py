"""Translations of many units: lanes go from one to another as the interpreter does, and what was left out is known."""

import subprocess

import pytest
from assembler import add, add_imm, b, bne, br, hlt, ldr, movz, program, str_, subs_imm

import lanewise as lw
from lanewise.arm64.finding import Code
from lanewise.arm64.linux import hot, run_linux
from lanewise.arm64.linux.elf import read_program
from lanewise.arm64.units import find_units


@pytest.fixture
def device(lane_device):
    return lane_device


LINK = 30
FUNCTIONS = 150


def bl(words):
    """A call so many words ahead."""
    return b(words) | 1 << 31


def blr(rn):
    """A call of the address in a register."""
    return br(rn) | 1 << 21


RET = br(LINK) | 1 << 22


def call_each_other():
    """Functions that call the next one while a counter lasts, by its address every third time; the first is entered.

    x28 counts calls, x1 adds up, x9 keeps how many returns are to come, each at its own stack in x10.
    """
    str_link, ldr_link = 0xF81F0D5E, 0xF841055E  # str x30, [x10, #-16]!; ldr x30, [x10], #16
    code = []
    for number in range(FUNCTIONS):
        body = [
            str_link,
            add_imm(1, 1, number),
            subs_imm(28, 28, 1),
            0x54000000 | 6 << 5,  # b.eq to the end
            add(1, 1, 28),
            movz(11, (number + 1) % FUNCTIONS * 44),
            blr(11) if number % 3 == 0 else bl((number + 1) % FUNCTIONS * 11 - number * 11 - 6),
            add_imm(1, 1, 1),
            subs_imm(9, 9, 1),
            ldr_link,
            RET,
        ]
        code += body
    return program(*code, hlt()), 4 * len(code)


@pytest.mark.parametrize("step", [1, 8])
def test_lanes_go_from_unit_to_unit_as_the_interpreter_does(step, device):
    code, end = call_each_other()
    entries = [44 * number for number in range(0, FUNCTIONS, step)]
    many = len(find_units(Code(code, 0), entries, calls=True, gpu=device.name.startswith("cuda"))) > 1
    assert many == (step == 1)  # of fewer functions all is one unit
    found = []
    for translated in (False, True):
        cpu = lw.ParallelCPU(3, 1 << 16, "private", device)
        cpu.load_program(code)
        for lane, rounds in enumerate((1, 200, 451)):
            cpu.set_registers_lane(lane, {28: rounds, 10: 1 << 16, LINK: end})
        cpu.set_pc_all(0)
        if translated:
            cpu.translate(0, len(code), entries)
        result = cpu.execute(100_000)
        assert result.stop_reasons == ["hlt"] * 3
        found.append([result.cycles_per_lane.tolist(), cpu.registers.tolist(), cpu.flags.tolist()])
        found[-1].append(cpu.read_memory_all(0, 1 << 16).tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("limit", [1, 7, 40, 333, 999, 2001])
def test_a_limit_is_kept_between_units(limit, device):
    code, end = call_each_other()
    found = []
    for translated in (False, True):
        cpu = lw.ParallelCPU(1, 1 << 16, device=device)
        cpu.load_program(code)
        cpu.set_registers_lane(0, {28: 451, 10: 1 << 16, LINK: end})
        cpu.set_pc_all(0)
        if translated:
            cpu.translate(0, len(code), [44 * number for number in range(FUNCTIONS)])
        result = cpu.execute(limit)
        found.append([result.stop_reasons, result.cycles_per_lane.tolist(), cpu.pcs.tolist(), cpu.registers.tolist()])
    assert found[0] == found[1]
    assert found[0][1] == [limit]


def test_where_lanes_were_not_in_translated_code_is_counted(device):
    """The function at 64 is reached by its address alone."""
    code = program(movz(11, 64), subs_imm(28, 28, 1), blr(11), bne(-2), hlt())
    cpu = lw.ParallelCPU(1, 4096, device=device)
    cpu.load_program(code)
    cpu.load_program(program(add_imm(1, 1, 1), RET), 64)
    cpu.set_registers_lane(0, {28: 1000})
    cpu.set_pc_all(0)
    cpu.translate(0, 80, [0])
    assert cpu.execute(100_000).stop_reasons == ["hlt"]
    left = cpu.untranslated()
    assert left[64] > 10
    assert not {0, 12} & left.keys()  # where it begins and where the call comes back to are translated
    cpu.set_registers_lane(0, {1: 0, 28: 1000})
    cpu.set_pc_all(0)
    cpu.translate(0, 80, [0, *left])
    assert cpu.execute(100_000).stop_reasons == ["hlt"]
    assert int(cpu.get_lane_registers(0)[1]) == 1000


def test_a_loop_that_lanes_stay_in_without_coming_to_translated_code_is_counted(device):
    """Though they never leave translated code: they begin where nothing is translated."""
    code = program(hlt(), add_imm(1, 1, 1), subs_imm(28, 28, 1), bne(-2), b(-4))
    cpu = lw.ParallelCPU(2, 4096, device=device)
    cpu.load_program(code)
    cpu.set_pc_all(4)
    for number in range(2):
        cpu.set_registers_lane(number, {28: 50_000})
    cpu.translate(0, len(code), [0])
    assert cpu.execute(10**6).stop_reasons == ["hlt"] * 2
    left = cpu.untranslated()
    assert left.keys() <= {4, 8, 12, 16}
    assert sum(left.values()) > 100


def about_to_begin(path):
    """A lane with a program."""
    cpu = lw.ParallelCPU(1, 1 << 20, "private", "cpu", read_program(str(path)).start)
    cpu.load_elf(str(path))
    return cpu


@pytest.mark.parametrize("named", [False, True])
def test_functions_that_only_pointers_lead_to_are_found_by_their_names(named, build):
    cpu = about_to_begin(build("pointers"))
    first, start = cpu.get_lane_pc(0), cpu.functions["rounds"]
    cpu.translate(first, start + 16 - first, None if named else [first])
    assert cpu.execute(10**6).stop_reasons == ["hlt"]
    assert bool(cpu.untranslated().keys() & {start, start + 4, start + 8}) is not named
    cpu.begin_anew()
    assert cpu.functions == {}


def test_what_is_hot_begins_where_a_name_says_or_where_lanes_were(build, tmp_path):
    path = build("pointers")
    cpu = about_to_begin(path)
    start = cpu.functions["rounds"]
    stripped = tmp_path / "stripped"
    subprocess.run(["aarch64-linux-gnu-strip", "-o", stripped, path], check=True, timeout=60)
    for file, found in ((path, [start]), (stripped, [start + 4])):
        made = hot.HotCode(cpu, read_program(str(file)))
        assert made._hot(made._now, {start + 4: 100}) == found


def test_what_was_met_once_has_no_program_translated_anew(build):
    program_file = build("endings", "-static", "-O1")
    cpu = lw.ParallelCPU(1, 1 << 24, "private", "cpu")
    made = hot.HotCode(cpu, read_program(str(program_file)))
    at, other = made.code.start, made.code.start + 4096
    first = made._wanted(at, made._now.code, ())
    assert made._hot(first, {other: 1}) != []
    then = made._wanted(at, made._now.code, (at,))
    assert made._hot(then, {other: 1}) == []
    assert made._hot(then, {other: 10_000}) != []


@pytest.mark.parametrize("shared", ["shared", "private"])
def test_the_same_code_knows_how_large_the_memory_of_its_lanes_is(shared, device):
    """A translation is for a memory of one size: addresses in it that are known need no comparison."""
    code = program(movz(1, 4096), ldr(2, 1, 8), str_(1, 1, 16), hlt())
    for pages, wanted in ((1, "memory out of range"), (2, "hlt")):
        cpu = lw.ParallelCPU(2, pages * 4096, shared, device)
        cpu.load_program(code)
        cpu.set_pc_all(0)
        cpu.translate(0, len(code), [0])
        result = cpu.execute(100_000)
        assert result.stop_reasons == [wanted] * 2
        assert result.pcs_per_lane.tolist() == [12 if wanted == "hlt" else 4] * 2


@pytest.mark.parametrize("behind", [[], [0]])
def test_a_branch_to_what_follows_it_is_translated(behind, device):
    """Both of its ways lead out of the translation: to its end, or to what is no instruction."""
    code = program(subs_imm(1, 1, 1), bne(1))
    cpu = lw.ParallelCPU(1, 4096, device=device)
    cpu.load_program(code + program(*behind, hlt()))
    cpu.set_pc_all(0)
    cpu.translate(0, len(code) + 4 * len(behind), [0])
    assert cpu.execute(100).stop_reasons == (["undefined instruction"] if behind else ["hlt"])


@pytest.mark.parametrize("length", [8, 16, 32])
def test_lanes_come_back_to_translated_code_wherever_they_are_in_a_loop(length):
    """They are 3 instructions behind its head when a slice ends, and so are all looks that are as many apart."""
    code = program(movz(2, 1), movz(2, 2), movz(2, 3), *[add_imm(1, 1, 1)] * (length - 2), subs_imm(0, 0, 1))
    code += program(bne(1 - length), hlt())
    cpu = lw.ParallelCPU(1, 4096, device="cpu")
    cpu.load_program(code)
    cpu.set_registers_lane(0, {0: 1 << 20})
    cpu.set_pc_all(0)
    cpu.translate(0, len(code), [0])
    cpu.execute(1 << 16)  # now it is in the midst of a block
    before = cpu._samples.get()[:, 1].sum()
    assert cpu.execute(1 << 16).stop_reasons == ["cycles"]
    assert cpu._samples.get()[:, 1].sum() > before  # it has left translated code again, so it was there


def test_functions_begin_where_something_calls_them():
    code = program(bl(3), hlt(), hlt(), bl(-2), bl(100))
    assert Code(code, 0x400).called() == [0x404, 0x40C]


class AtOnce:
    """A thread that does its work when it is started."""

    def __init__(self, target, args, daemon):
        self.target, self.args = target, args

    def start(self):
        self.target(*self.args)

    def is_alive(self):
        return False


def test_what_a_program_spends_its_time_in_is_translated_and_remembered(build, monkeypatch):
    program_file = build("endings", "-static", "-O1")  # which no other test runs
    monkeypatch.setattr(hot, "_FIRST_LOOK", 0.001)
    monkeypatch.setattr(hot, "_LONGER", 10**6)  # once is enough
    monkeypatch.setattr(hot, "Thread", AtOnce)
    monkeypatch.setattr(hot, "has_interpreter", lambda target: True)  # whichever it is
    used = []
    real = lw.ParallelCPU.use_translation

    def use(self, wanted):
        used.append(len(wanted.entries))
        real(self, wanted)

    monkeypatch.setattr(lw.ParallelCPU, "use_translation", use)
    for remembered in (False, True):
        used.clear()
        found = run_linux(program_file, argv=["endings", "loop"], device="cpu", max_cycles=20_000_000)[0]
        assert (found.reason, found.instructions) == ("cycles", 20_000_000)
        assert bool(used[0]) == remembered
        assert used[-1] > 0


def test_code_that_a_call_of_the_system_has_written_is_not_run_as_it_was(build, monkeypatch):
    monkeypatch.setattr(hot, "_FIRST_LOOK", 0.001)
    monkeypatch.setattr(hot, "_LONGER", 10**6)
    monkeypatch.setattr(hot, "Thread", AtOnce)
    monkeypatch.setattr(hot, "has_interpreter", lambda target: True)  # whichever it is
    for _ in range(2):  # what is hot is remembered
        found = run_linux(build("rewrites"), stdin=movz(0, 2).to_bytes(4, "little"), device="cpu")[0]
        assert (found.reason, found.exit_code) == ("exit", 0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((0, 0), "count is 0: from address 0x0 on that is not one instruction of 4 bytes"),
        ((2, 4), "count is 4: from address 0x2 on that is not one instruction of 4 bytes"),
        ((0, 40, [8, 3]), "an entry is 0x3: instructions begin at multiples of 4"),
    ],
)
def test_what_cannot_be_translated_is_said(given, message, device):
    cpu = lw.ParallelCPU(1, 4096, device=device)
    with pytest.raises(lw.LanewiseError, match=message):
        cpu.translate(*given)


@pytest.mark.parametrize("count", [62, 63, 64, 65, 126, 127, 128, 129, 130, 200, 500])
def test_code_without_a_branch_may_be_of_any_length(count, device):
    """Blocks are cut where they are long; each begins where the one ahead ends."""
    body = [add(1 + at % 5, 1 + at % 5, 1 + (at + 1) % 5) for at in range(count)]
    code = program(movz(1, 1), movz(28, 7), *body, subs_imm(28, 28, 1), bne(-1 - count), hlt())
    assert all(address == block.address for address, block in Code(code, 0).blocks([0], calls=True).items())
    found = []
    for entries in (None, [0], [0, 4 * count // 8 * 4]):
        cpu = lw.ParallelCPU(1, 1 << 16, device=device)
        cpu.load_program(code)
        cpu.set_pc_all(0)
        if entries is not None:
            cpu.translate(0, len(code), entries)
        result = cpu.execute(100_000)
        found.append([result.stop_reasons, result.cycles_per_lane.tolist(), cpu.registers.tolist()])
        assert entries is None or not cpu.untranslated()
    assert found[0] == found[1] == found[2]
