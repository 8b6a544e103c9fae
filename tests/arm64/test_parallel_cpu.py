"""ParallelCPU: what people set, run and read, on every device; and what is said where they are mistaken."""

import sys

import numpy as np
import pytest
from assembler import NOP, WFI, add, add_imm, b, bne, br, brk, hlt, ldr, movz, program, str_, str_word, subs_imm, svc

import lanewise as lw
from lanewise.arm64 import lane, slices


@pytest.fixture
def device(lane_device):
    return lane_device


COUNT_DOWN = program(movz(1, 0), movz(0, 1000), add(1, 1, 0), subs_imm(0, 0, 1), bne(-2), hlt())
"""X1 becomes 1000 + 999 + ... + 1."""
INSTRUCTIONS = 2 + 3 * 1000


@pytest.fixture
def cpu(device):
    made = lw.ParallelCPU(num_lanes=5, memory_size=4096, device=device)
    made.load_program(COUNT_DOWN)
    return made


@pytest.fixture
def private(device):
    return lw.ParallelCPU(3, 4096, "private", device)


def test_all_lanes_run_a_loop_to_its_end(cpu):
    cpu.set_pc_all(0)
    result = cpu.execute(10_000_000)
    assert cpu.registers[:, 1].tolist() == [500_500] * 5
    assert result.cycles_per_lane.tolist() == [INSTRUCTIONS] * 5
    assert (result.total_cycles, result.min_cycles, result.max_cycles) == (5 * INSTRUCTIONS, INSTRUCTIONS, INSTRUCTIONS)
    assert result.pcs_per_lane.tolist() == [20] * 5
    assert result.stop_reasons == ["hlt"] * 5
    assert result.lane_efficiency == 1.0
    assert result.avg_ips() == result.total_cycles / result.elapsed_seconds
    assert "5 lanes ran 15,010 instructions" in repr(result)


@pytest.mark.parametrize("translated", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 3, 4, 100, INSTRUCTIONS - 1, INSTRUCTIONS])
def test_a_lane_stops_after_exactly_as_many_instructions_as_it_may(limit, translated, cpu):
    cpu.set_pc_all(0)
    if translated:
        cpu.translate(0, len(COUNT_DOWN))
    result = cpu.execute(limit)
    assert result.cycles_per_lane.tolist() == [limit] * 5
    assert set(result.stop_reasons) == {"cycles"}
    rest = cpu.execute(10_000_000)
    assert rest.cycles_per_lane.tolist() == [INSTRUCTIONS - limit] * 5
    assert cpu.registers[:, 1].tolist() == [500_500] * 5


def test_lanes_go_where_each_is_told(cpu):
    cpu.load_program(program(*(add_imm(2, 2, number) for number in range(1, 6)), hlt()), 256)
    for number in range(5):
        cpu.set_pc_lane(number, 256 + 4 * number)
    result = cpu.execute(100)
    assert cpu.registers[:, 2].tolist() == [15, 14, 12, 9, 5]
    assert result.cycles_per_lane.tolist() == [5, 4, 3, 2, 1]
    assert result.lane_efficiency == 15 / 25


def test_step_runs_one_instruction(cpu):
    cpu.set_pc_all(4)
    assert cpu.step().total_cycles == 5
    assert cpu.pcs.tolist() == [8] * 5


@pytest.mark.parametrize(
    ("words", "reason", "detail"),
    [
        ((svc(7),), "svc", 7),
        ((brk(3),), "brk", 3),
        ((hlt(9),), "hlt", 9),
        ((WFI,), "wfi", 0),
        ((0,), "undefined instruction", 0),
        ((ldr(0, 1),), "memory out of range", 4096),
        ((0xC85FFC20,), "unaligned address", 4098),  # ldaxr x0, [x1]
        ((br(2),), "unaligned pc", 2),
        ((br(3),), "pc out of range", 1 << 40),
    ],
)
@pytest.mark.parametrize("translated", [False, True])
def test_what_stops_a_lane_is_told_with_its_number_or_address(words, reason, detail, translated, cpu):
    cpu.load_program(program(NOP, *words, hlt()), 64)
    for number in range(5):
        at = 4098 if reason == "unaligned address" else 4096
        cpu.set_registers_lane(number, {1: at, 2: 2, 3: 1 << 40})
    cpu.set_pc_all(64)
    if translated:
        cpu.translate(64, 12)
    result = cpu.execute(100)
    assert result.stop_reasons == [reason] * 5
    assert result.stop_details.tolist() == [detail] * 5
    jumped = reason in ("unaligned pc", "pc out of range")
    assert result.pcs_per_lane.tolist() == [detail if jumped else 68] * 5
    assert result.cycles_per_lane.tolist() == [2 if jumped else 1] * 5


@pytest.mark.parametrize("translated", [False, True])
@pytest.mark.parametrize(
    "word", [0xC8007C41, 0x08007C41, 0x880C6514]
)  # stxr w0, x1, [x2]; stxrb; stxp w12, w20, w25, [x8]
def test_an_exclusive_store_fails_where_nothing_was_loaded_even_at_the_last_address(word, translated, cpu):
    cpu.load_program(program(word, hlt()), 64)
    for number in range(5):
        cpu.set_registers_lane(number, {2: 2**64 - 1, 8: 2**64 - 1})
    cpu.set_pc_all(64)
    if translated:
        cpu.translate(64, 8)
    assert cpu.execute(100).stop_reasons == ["hlt"] * 5
    assert cpu.registers[:, 12 if word & 31 == 20 else 0].tolist() == [1] * 5


@pytest.mark.parametrize("translated", [False, True])
def test_the_counter_counts_instructions(translated, cpu):
    cpu.load_program(program(NOP, NOP, 0xD53BE040, NOP, 0xD53BE041, hlt()), 64)  # mrs x0, cntvct_el0; then x1
    cpu.set_pc_all(64)
    if translated:
        cpu.translate(64, 24)
    cpu.execute(100)
    assert cpu.registers[:, :2].tolist() == [[2, 4]] * 5


def test_registers_flags_and_vectors_go_in_and_out(cpu):
    cpu.set_registers_lane(1, [5, 6, 7])
    cpu.set_registers_lane(1, {31: 64, 3: -1})
    found = cpu.get_lane_registers(1)
    assert found[:4].tolist() == [5, 6, 7, 2**64 - 1]
    assert found[31] == 64
    assert cpu.get_lane_registers(0).tolist() == [0] * 32
    cpu.set_flags_lane(2, True, False, True, False)
    assert cpu.get_lane_flags(2) == (True, False, True, False)
    assert cpu.flags.tolist() == [0, 0, 0b1010 << 28, 0, 0]
    vectors = np.arange(64, dtype=np.uint64).reshape(32, 2)
    cpu.set_vectors_lane(4, vectors)
    cpu.set_vectors_lane(2, {31: [5, np.uint64(2**64 - 1)]})
    assert cpu.get_lane_vectors(2).tolist() == [*([[0, 0]] * 31), [5, 2**64 - 1]]
    assert (cpu.get_lane_vectors(4) == vectors).all()
    assert not cpu.get_lane_vectors(3).any()


def test_whole_sets_of_lanes_go_in_and_out_as_arrays(cpu):
    registers = np.arange(5 * 32, dtype=np.uint64).reshape(5, 32)
    cpu.registers = registers
    vectors = np.arange(5 * 64, dtype=np.uint64).reshape(5, 32, 2)
    cpu.vectors = vectors
    cpu.pcs = [0, 4, 8, 12, 16]
    cpu.flags = np.full(5, 1 << 30)
    assert (cpu.registers == registers).all()
    assert (cpu.vectors == vectors).all()
    assert cpu.pcs.tolist() == [0, 4, 8, 12, 16]
    assert cpu.get_lane_flags(3) == (False, True, False, False)


def test_flags_are_set_without_bits_that_there_are_none_of(cpu):
    """A condition is looked up by all of them together."""
    cpu.flags = np.array([2**64 - 1, 1 << 32, 2**28 - 1, 1 << 63 | 1 << 28, 0], np.uint64)
    assert cpu.flags.tolist() == [15 << 28, 0, 0, 1 << 28, 0]


def test_modes_and_flags_of_floating_point_go_in_and_out_without_bits_that_there_are_none_of(cpu):
    lanes = cpu.get_num_lanes()
    cpu.fpcr, cpu.fpsr = [2**64 - 1] * lanes, [0x9F] * lanes
    assert cpu.fpcr.tolist() == [lane.FPCR_BITS] * lanes
    assert cpu.fpsr.tolist() == [0x9F] * lanes
    cpu.fpcr = [0] * lanes
    assert cpu.fpsr.tolist() == [0x9F] * lanes


def test_lanes_share_their_memory(cpu):
    cpu.load_program(program(0xF8200022), 64)  # ldadd x0, x2, [x1]
    for number in range(5):
        cpu.set_registers_lane(number, {0: 10, 1: 128})
    cpu.set_pc_all(64)
    cpu.execute(1)
    assert cpu.read_memory(128, 8) == (50).to_bytes(8, "little")
    assert sorted(cpu.registers[:, 2].tolist()) == [0, 10, 20, 30, 40]


def test_lanes_with_memory_of_their_own_do_not_see_each_others(private):
    private.load_program(program(ldr(0, 1), add_imm(0, 0, 1), str_(0, 1), hlt()))
    private.write_memory(512, np.arange(24, dtype=np.uint8).reshape(3, 8))
    for number in range(3):
        private.set_registers_lane(number, {1: 512})
    private.write_memory_u32(520, 77, 1)
    private.set_pc_all(0)
    private.execute(10)
    rows = private.read_memory_all(512, 12)
    assert rows[:, 0].tolist() == [1, 9, 17]
    assert rows[:, 8].tolist() == [0, 77, 0]
    assert private.read_memory(520, 1, 1) == b"M"
    private.write_memory(512, np.full((2, 4), 7, np.uint8), 1)  # all of it is for that lane
    assert private.read_memory_all(512, 8)[:, 0].tolist() == [1, 7, 17]
    assert private.read_memory_all(512, True).tolist() == [[1], [7], [17]]


@pytest.mark.parametrize("memory", ["shared", "private"])
@pytest.mark.parametrize("translated", [False, True])
def test_code_that_changes_itself_runs_as_it_is_then(translated, memory, device):
    """The instruction behind the store becomes another one, in a loop: it has been translated and run before."""
    code = program(str_word(4, 1), NOP, add_imm(0, 0, 1), subs_imm(2, 2, 1), bne(-4), hlt())
    cpu = lw.ParallelCPU(2, 4096, memory, device)
    cpu.load_program(code)
    for number in range(2):
        # The first time the store is elsewhere; W4 is `add x0, x0, #100`.
        cpu.set_registers_lane(number, {1: 1024, 2: 1, 4: add_imm(0, 0, 100)})
    cpu.set_pc_all(0)
    if translated:
        cpu.translate(0, len(code))
    assert cpu.execute(1000).stop_reasons == ["hlt"] * 2
    assert cpu.registers[:, 0].tolist() == [1, 1]
    for number in range(2):
        cpu.set_registers_lane(number, {1: 8, 2: 3})
    cpu.set_pc_all(0)
    result = cpu.execute(1000)
    assert result.cycles_per_lane.tolist() == [15, 15]
    assert cpu.registers[:, 0].tolist() == [301, 301]


def test_code_that_is_loaded_over_translated_code_runs(cpu):
    cpu.set_pc_all(0)
    cpu.translate(0, len(COUNT_DOWN))
    cpu.execute(100_000)
    cpu.load_program(program(movz(1, 3), hlt()))
    cpu.set_pc_all(0)
    cpu.execute(10)
    assert cpu.registers[:, 1].tolist() == [3] * 5


def test_words_that_are_written_over_translated_code_run(cpu):
    cpu.load_program(program(movz(0, 1), hlt()), 256)
    cpu.set_pc_all(256)
    cpu.translate(256, 8)
    cpu.write_memory(0, np.full(70, movz(0, 3), np.uint32))  # which reaches there, in bytes
    cpu.execute(1)
    assert cpu.registers[:, 0].tolist() == [3] * 5


@pytest.mark.parametrize("size", [64, 68, 100])
@pytest.mark.parametrize(
    "word",
    [0xF9400020, 0xF9000020, 0x4C400020, 0x4C000020, 0xAD400820, 0xD50B7421, 0x39400020],
    ids=["ldr", "str", "ld4", "st4", "ldp", "zva", "ldrb"],
)
@pytest.mark.parametrize("translated", [False, True])
def test_no_access_reaches_beyond_memory_however_small_it_is(translated, word, size, device):
    """X1 is an address: of the first bytes beyond, of the last that fit for one byte alone, and far away."""
    cpu = lw.ParallelCPU(4, size, "private", device)
    cpu.load_program(program(word))
    for number, address in enumerate((size, size - 1, 2**63, 2**64 - 8)):
        cpu.set_registers_lane(number, {1: address})
    cpu.set_pc_all(0)
    if translated:
        cpu.translate(0, 4)
    reasons = cpu.execute(1).stop_reasons
    one_byte = word == 0x39400020
    in_line = word == 0xD50B7421 and size == 64  # the line of the last byte is all of memory
    assert (
        reasons
        == ["memory out of range"]
        + ["cycles" if one_byte or in_line else "memory out of range"]
        + ["memory out of range"] * 2
    )


def test_programs_are_where_memory_begins(device):
    cpu = lw.ParallelCPU(2, 4096, device=device, memory_start=0x400000)
    cpu.load_program(COUNT_DOWN, 0x400000)
    cpu.set_pc_all(0x400000)
    assert cpu.execute(10_000).stop_reasons == ["hlt"] * 2
    with pytest.raises(lw.ArgumentError, match="do not fit a memory of 4,096 bytes from 0x400000 on"):
        cpu.load_program(COUNT_DOWN, 0)


def test_behind_isb_code_is_what_another_lane_has_made_it(device, monkeypatch):
    """Lane 1 waits in translated code for lane 0, which changes an instruction there after a while and says so."""
    monkeypatch.setattr(slices, "_FIRST", lane.LONGEST_SLICE)  # both run at the same time, where there are two cores
    ldar, cbz_x2_back, isb = 0xC8DFFC62, 0xB4000002 | (-1 & 0x7FFFF) << 5, 0xD5033FDF
    reader = program(ldar, cbz_x2_back, isb, movz(0, 1), hlt())
    writer = program(subs_imm(5, 5, 1), bne(-1), str_word(4, 1), str_(1, 3), hlt())
    for turn in range(3):
        cpu = lw.ParallelCPU(2, 4096, device=device)
        cpu.load_program(reader)
        cpu.load_program(writer, 256)
        cpu.set_registers_lane(0, {1: 12, 3: 1024, 4: movz(0, 2), 5: 20_000_000 + turn})
        cpu.set_registers_lane(1, {3: 1024})
        cpu.pcs = [256, 0]
        cpu.translate(0, 512, entries=[0, 256])
        assert cpu.execute(1 << 40).stop_reasons == ["hlt"] * 2
        assert cpu.get_lane_registers(1)[0] == 2


def test_where_a_translation_does_not_reach_lanes_are_interpreted(cpu):
    cpu.load_program(program(movz(3, 12), b(-1 - 512 // 4)), 512)
    cpu.set_pc_all(512)
    cpu.translate(0, len(COUNT_DOWN), entries=[0])
    result = cpu.execute(100_000)
    assert result.cycles_per_lane.tolist() == [INSTRUCTIONS + 2] * 5
    assert cpu.registers[:, [1, 3]].tolist() == [[500_500, 12]] * 5


# --- debugging -------------------------------------------------------------------------------------------------------


def test_lanes_stop_at_a_breakpoint_and_go_on_behind_it(cpu):
    cpu.debugger.add_breakpoint(12)
    cpu.set_pc_all(0)
    for turn in range(3):
        result = cpu.execute(1000)
        assert result.stop_reasons == ["breakpoint"] * 5
        assert result.pcs_per_lane.tolist() == [12] * 5
        assert cpu.registers[0, 0] == 1000 - turn
    cpu.debugger.remove_breakpoint(12)
    assert cpu.execute(100_000).stop_reasons == ["hlt"] * 5
    assert cpu.registers[0, 1] == 500_500


def test_a_breakpoint_that_was_passed_stops_lanes_that_come_again(cpu):
    cpu.debugger.add_breakpoint(0)
    cpu.set_pc_all(0)
    assert cpu.execute(10_000).stop_reasons == ["breakpoint"] * 5
    assert cpu.execute(10_000).stop_reasons == ["hlt"] * 5
    cpu.set_pc_all(0)
    assert cpu.execute(10_000).stop_reasons == ["breakpoint"] * 5


def test_a_breakpoint_and_a_watchpoint_of_one_instruction_stop_one_after_the_other(cpu):
    cpu.load_program(program(ldr(0, 1), hlt()), 64)
    for number in range(5):
        cpu.set_registers_lane(number, {1: 512})
    cpu.debugger.add_breakpoint(64)
    cpu.debugger.add_watchpoint(512, 8, "r")
    cpu.set_pc_all(64)
    assert [cpu.execute(10).stop_reasons[0] for _ in range(3)] == ["breakpoint", "watchpoint", "hlt"]


def test_a_breakpoint_stops_lanes_whose_code_is_translated(cpu):
    cpu.set_pc_all(0)
    cpu.translate(0, len(COUNT_DOWN))
    cpu.execute(10)
    cpu.debugger.add_breakpoint(20)
    assert cpu.execute(100_000).stop_reasons == ["breakpoint"] * 5
    cpu.debugger.clear()
    assert cpu.execute(10).stop_reasons == ["hlt"] * 5


@pytest.mark.parametrize(
    ("access", "stops"),
    [("r", ["watchpoint", "hlt"]), ("w", ["watchpoint", "hlt"]), ("rw", ["watchpoint", "watchpoint"])],
)
def test_lanes_stop_before_they_use_memory_that_is_watched(access, stops, cpu):
    cpu.load_program(program(ldr(0, 1), str_(2, 1), hlt()), 64)
    for number in range(5):
        cpu.set_registers_lane(number, {1: 512, 2: 9})
    cpu.debugger.add_watchpoint(516, 1, access)
    cpu.set_pc_all(64)
    first = cpu.execute(100)
    assert first.pcs_per_lane.tolist() == [68 if access == "w" else 64] * 5
    assert first.stop_details.tolist() == [512] * 5
    assert cpu.read_memory(512, 1) == b"\0"
    assert [first.stop_reasons[0], cpu.execute(100).stop_reasons[0]] == stops


def test_memory_beside_what_is_watched_stops_nobody(cpu):
    cpu.load_program(program(ldr(0, 1), ldr(0, 1, 16), hlt()), 64)
    for number in range(5):
        cpu.set_registers_lane(number, {1: 512})
    cpu.debugger.add_watchpoint(520, 8)
    cpu.set_pc_all(64)
    assert cpu.execute(100).stop_reasons == ["hlt"] * 5


def test_the_last_instructions_of_a_lane_are_remembered(cpu):
    cpu.debugger.trace(3)
    cpu.set_pc_all(0)
    cpu.execute(100_000)
    trace = cpu.debugger.get_lane_trace(4)
    assert [one.address for one in trace] == [12, 16, 20]
    assert [one.word for one in trace] == [subs_imm(0, 0, 1), bne(-2), hlt()]
    assert str(trace[0]) == "0xc: f1000400  subs x0, x0, #1"


def test_a_trace_without_memory_for_it_leaves_the_one_before(cpu, monkeypatch):
    """Else lanes would write entries of one length where there is room for those of another."""
    cpu.debugger.trace(2)
    with monkeypatch.context() as patched:
        patched.setattr(type(cpu.device), "zeros", lambda *given: (_ for _ in ()).throw(lw.OutOfMemoryError("none")))
        with pytest.raises(lw.OutOfMemoryError, match="count is 3, for which there is no memory with 5 lanes: none"):
            cpu.debugger.trace(3)
    cpu.debugger.add_breakpoint(20)
    cpu.set_pc_all(0)
    cpu.execute(100_000)
    assert [one.address for one in cpu.debugger.get_lane_trace(4)] == [12, 16]


def test_a_disassembly_shows_where_a_lane_is(cpu):
    cpu.set_pc_lane(2, 16)
    assert cpu.debugger.where(2, before=1, after=1).splitlines() == [
        "   0xc: f1000400  subs x0, x0, #1",
        "-> 0x10: 54ffffc1  b.ne #8",
        "   0x14: d4400000  hlt #0",
    ]


def test_a_lane_outside_of_memory_is_said_to_be_there(cpu):
    cpu.set_pc_lane(2, 1 << 40)
    assert cpu.debugger.where(2) == "-> 0x10000000000, where there is no memory"


def test_without_a_disassembler_it_is_said_how_to_get_one(cpu, monkeypatch):
    monkeypatch.setitem(sys.modules, "capstone", None)
    with pytest.raises(lw.LanewiseError, match="disassembly needs the package capstone: pip install capstone"):
        cpu.debugger.where(0)


# --- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: lw.ParallelCPU(0), "num_lanes is 0; it is 1 or more"),
        (lambda: lw.ParallelCPU(2**40), "num_lanes is 1099511627776; it is 1 or more, and 4294967295 or less"),
        (lambda: lw.ParallelCPU(2.5), "num_lanes is 2.5; it is a whole number"),
        (lambda: lw.ParallelCPU(1, 60), "memory_size is 60; it is 64 or more"),
        (lambda: lw.ParallelCPU(1, 66), "memory_size is 66; it must be a multiple of 4, the size of an instruction"),
        (lambda: lw.ParallelCPU(1, device=5), "device is 5; it is a name such as 'cpu', or a device"),
        (lambda: lw.ParallelCPU(1, 4096, "own"), "memory is 'own'; it is 'shared' or 'private'"),
        (
            lambda: lw.ParallelCPU(1, 4096, np.array(["shared", "private"])),
            "memory is array(['shared', 'private'], dtype='<U7'); it is 'shared' or 'private'",
        ),
        (lambda: lw.ParallelCPU(1, device="null"), "the device null runs nothing; write cpu or cuda"),
    ],
)
def test_lanes_that_cannot_be_had_are_refused(call, said):
    with pytest.raises(lw.ArgumentError) as refused:
        call()
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda cpu: cpu.execute(0), "max_cycles is 0; it is 1 or more"),
        (lambda cpu: cpu.execute("10"), "max_cycles is '10'; it is a whole number"),
        (lambda cpu: cpu.set_pc_all(-4), "pc is -4; it is 0 or more"),
        (lambda cpu: cpu.load_program(b"1234", -1), "address is -1; it is 0 or more"),
        (lambda cpu: cpu.load_program(b"1234", 2), "address is 0x2; instructions are at multiples of 4"),
        (lambda cpu: cpu.load_program(bytes(4100)), "4,100 bytes at address 0x0 do not fit a memory of 4,096 bytes"),
        (lambda cpu: cpu.read_memory(4090, 8), "8 bytes at address 0xffa do not fit a memory of 4,096 bytes"),
        (
            lambda cpu: cpu.write_memory_u32(0, 2**32),
            "value is 4294967296; it is -2147483648 or more, and 4294967295 or less",
        ),
        (lambda cpu: cpu.get_lane_registers(5), "there is no lane 5: there are 5, from 0 on"),
        (lambda cpu: cpu.get_lane_registers("x"), "a lane is a number, not 'x'"),
        (
            lambda cpu: cpu.set_registers_lane(0, {32: 1}),
            "the number of a register is 32; it is 0 or more, and 31 or less",
        ),
        (
            lambda cpu: setattr(cpu, "pcs", [0, 4]),
            "pcs have the shape (2,); whole numbers of the shape (5,) are wanted",
        ),
        (
            lambda cpu: cpu.set_vectors_lane(0, "x"),
            "vectors are of type str; whole numbers of the shape (32, 2) are wanted",
        ),
        (
            lambda cpu: cpu.set_vectors_lane(0, {32: [1, 2]}),
            "the number of a vector is 32; it is 0 or more, and 31 or less",
        ),
        (
            lambda cpu: cpu.set_vectors_lane(0, {3: [1]}),
            "the words of vector 3 have the shape (1,); whole numbers of the shape (2,) are wanted",
        ),
        (lambda cpu: setattr(cpu, "pcs", [0.5] * 5), "pcs are of type float64; they are whole numbers"),
        (lambda cpu: cpu.write_memory(0, np.zeros((5, 4), np.uint8)), None),
        (
            lambda cpu: cpu.write_memory(0, np.array([None, 3], object)),
            "data is an array of Python's objects; it is bytes, or an array of numbers",
        ),
        (lambda cpu: cpu.write_memory(0, b"ab", ""), "a lane is a number, not ''"),
        (lambda cpu: cpu.write_memory(0, b"ab", []), "a lane is a number, not []"),
        (lambda cpu: cpu.write_memory_u32(0, 1, np.array([0, 1])), "a lane is a number, not array([0, 1])"),
        (
            lambda cpu: cpu.get_lane_registers(np.zeros((30, 30), np.uint8)),
            "a lane is a number, not array([[0, 0, 0, 0, 0, 0, 0,...0, 0, 0, 0, 0]], dtype=uint8)",
        ),
        (lambda cpu: cpu.read_memory_all(0, 5000), None),
        (lambda cpu: cpu.read_memory_all(0, "8"), "count is '8'; it is a whole number"),
        (lambda cpu: cpu.set_flags_lane(0, np.array([1, 0]), 0, 0, 0), "n is array([1, 0]); it is True or False"),
        (lambda cpu: cpu.write_memory(0, "abc"), "data is str; it is bytes, or an array"),
        (lambda cpu: cpu.write_memory_everywhere(0, 5), "data is int; it is bytes, or an array"),
        (
            lambda cpu: cpu.write_memory_everywhere(cpu.memory_size - 1, b"ab"),
            "2 bytes at address 0xfff do not fit a memory of 4,096 bytes",
        ),
        (lambda cpu: cpu.debugger.where(0, "a"), "before is 'a'; it is a whole number"),
        (lambda cpu: cpu.debugger.where(0, after=-1), "after is -1; it is 0 or more"),
        (lambda cpu: cpu.load_program(None), "program is NoneType; it is bytes, or an array"),
        (lambda cpu: cpu.set_registers_lane(0, 5), "registers is 5; it is a list"),
        (lambda cpu: cpu.translate(0, 8, 5), "entries is 5; it is a list"),
        (lambda cpu: cpu.translate("0", 8), "address is '0'; it is a whole number"),
        (lambda cpu: setattr(cpu, "registers", [[1, 2], [3]]), None),
        (lambda cpu: cpu.debugger.remove_breakpoint("x"), "address is 'x'; it is a whole number"),
        (lambda cpu: cpu.debugger.add_watchpoint(8, 8, ["r"]), "access is ['r']; it is 'r', 'w' or 'rw'"),
        (lambda cpu: cpu.debugger.add_breakpoint(6), "address is 0x6; instructions are at multiples of 4"),
        (lambda cpu: cpu.debugger.remove_breakpoint(8), "there is no breakpoint at 0x8"),
        (lambda cpu: cpu.debugger.add_watchpoint(8, 8, "x"), "access is 'x'; it is 'r', 'w' or 'rw'"),
        (lambda cpu: cpu.debugger.get_lane_trace(0), "nothing is traced; call trace(count) before execute"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(call, said, cpu):
    with pytest.raises(lw.ArgumentError) as refused:
        call(cpu)
    assert said is None or str(refused.value) == said
    assert "\n" not in str(refused.value)


def test_lanes_with_different_code_are_not_translated_as_one(private):
    private.load_program(COUNT_DOWN)
    private.write_memory(4, b"\0\0\0\0", 2)
    with pytest.raises(lw.ArgumentError, match="lanes have different code there"):
        private.translate(0, len(COUNT_DOWN))


def test_the_state_of_a_lane_has_a_place_for_everything():
    places = [*range(32), lane.PC, lane.FLAGS, lane.CYCLES, lane.REASON, lane.DETAIL, *lane.SPECIAL.values()]
    assert len(set(places)) == len(places)
    assert max(places) < lane.VECTORS
    assert lane.VECTORS % 2 == 0
    assert lane.REMAINING == lane.VECTORS + 64
