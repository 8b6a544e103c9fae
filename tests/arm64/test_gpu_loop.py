"""The interpreter's loop for a GPU, run by the host beside its own: both do the same, at all edges."""

import re

import numpy as np
import pytest
from assembler import hlt, movz, program

import lanewise as lw
from lanewise.arm64 import runners
from lanewise.arm64.encodings import TABLE
from lanewise.arm64.entry import ENTRY, entry_ir
from lanewise.arm64.exact.library import declared, exact_ir
from lanewise.arm64.gpu_interpreter import GpuInterpreter
from lanewise.arm64.program import _common
from lanewise.arm64.unaligned import accesses
from lanewise.compiler import QUICK, Job, Target, compile_guest, load_object
from lanewise.devices.cpu_launch import NativeCode

SIZE, LANES = 256, 512
BRANCHES = {"b.cond": (19, 5), "cbz": (19, 5), "b": (26, 0)}
"""How many bits say how far they go, and from which on."""
PLAIN = [row for row in TABLE if row.plain]
COMPARISONS = [row for row in TABLE if row.name == "add" and ("S", 1) in row.settled]
KINDS = (PLAIN, COMPARISONS, [row for row in TABLE if row.name in BRANCHES], TABLE)


def _portable(text):
    """The same without PTX, whose few lines only hide from LLVM what it could know."""
    text = re.sub(r'call i64 asm "mov.b64 \$0, \$1;", "=l,l"\(i64 (%\w+)\)', r"add i64 \1, 0", text)
    text = re.sub(r'call i32 asm "mov.b32 \$0, 1;", "=r"\(\)', "add i32 0, 1", text)
    return re.sub(r'call i32 asm "add.u32 \$0, \$1, 1;", "=r,r"\(i32 (%\w+)\)', r"add i32 \1, 1", text)


def test_the_loop_has_no_access_that_other_lanes_have_a_say_in():
    """Around one the lanes of a warp give way to each other, at each instruction."""
    loop = GpuInterpreter().pieces(merged=False)[0]
    assert "load i64" in loop
    assert re.findall(r"atomicrmw|cmpxchg|load atomic|exchange_pair|load volatile", loop) == []


@pytest.fixture(scope="module")
def gpu_loop():
    """The loop by itself, and the pieces that a translation is linked with."""
    host = Target.host()
    common = _common(host) + accesses() + declared()
    pieces = [common + _portable(text) for text in GpuInterpreter().pieces(merged=False)]
    entries = [entry_ir(False, translated) for translated in (False, True)]
    jobs = [Job(text, host, "arm64", QUICK) for text in (*entries, *pieces, exact_ir(host))]
    alone, with_translation, *loop = compile_guest(jobs, cache=None)
    library = load_object([alone, *loop], [ENTRY], {})
    return (NativeCode("arm64", library.address(ENTRY), library), b""), [with_translation, *loop]


@pytest.fixture
def both(gpu_loop, monkeypatch):
    """Run the same by the host's loop and by that for a GPU; what they give must be the same."""

    def run(work):
        usual = work()
        with monkeypatch.context() as changed:
            changed.setattr(runners, "_interpreter", lambda debugging: gpu_loop[0])
            changed.setattr(runners, "launch_code", lambda *given: gpu_loop[1])
            others = work()
        for state, other in zip(usual, others, strict=True):
            assert not [name for name in state if state[name] != other[name]]
        return usual

    return run


def state(cpu, result):
    """All that lanes have."""
    arrays = {
        "cycles": result.cycles_per_lane, "details": result.stop_details, "pcs": cpu.pcs, "registers": cpu.registers,
        "flags": cpu.flags, "vectors": cpu.vectors, "fpsr": cpu.fpsr,
    }  # fmt: skip
    memory = [cpu.read_memory(cpu.memory_start, SIZE, number) for number in range(cpu.get_num_lanes())]
    return {name: array.tobytes() for name, array in arrays.items()} | {
        "reasons": result.stop_reasons,
        "memory": memory,
    }


def any_word(random):
    """Mostly plain accesses, comparisons and branches to what is near."""
    rows = KINDS[random.choice(4, p=[0.35, 0.2, 0.2, 0.25])]
    row = rows[random.integers(len(rows))]
    word = int(random.integers(2**32)) & ~row.mask | row.value
    if row.name in BRANCHES:
        bits, low = BRANCHES[row.name]
        ones = (1 << bits) - 1
        return word & ~(ones << low) | (int(random.integers(-8, 9)) & ones) << low
    if row.plain and random.random() < 0.5:  # a small offset
        word &= ~(0x3FFC00 & ~row.mask)
    return word


@pytest.mark.parametrize("start", [0, 4096, 1 << 48])
def test_random_code_does_the_same_for_any_number_of_instructions(start, both):
    """Registers are addresses in memory, around its ends and at the end of all addresses; and numbers of all sizes."""
    random = np.random.default_rng(start)
    words = [any_word(random) for _ in range(LANES * SIZE // 4)]
    memory = np.array(words, np.uint32).view(np.uint8).reshape(LANES, SIZE)
    kind, near = random.random((LANES, 32)), random.integers(0, SIZE + 8, (LANES, 32)).astype(np.uint64)
    aligned = np.where(random.random((LANES, 32)) < 0.6, near & ~np.uint64(7), near)
    registers = random.integers(0, 2**64, (LANES, 32), np.uint64)
    registers = np.where(kind < 0.8, np.uint64(start) + aligned, registers)
    registers = np.where(kind > 0.95, ~near, registers)
    vectors = random.integers(0, 2**64, (LANES, 32, 2), np.uint64)
    flags = random.integers(0, 16, LANES).astype(np.uint64) << np.uint64(28)
    places = [start + 4 * random.integers(0, SIZE // 4, LANES).astype(np.uint64) for _ in range(5)]
    limits = [int(limit) for limit in random.integers(1, 12, 5)]

    def work():
        cpu = lw.ParallelCPU(LANES, SIZE, "private", "cpu", start)
        cpu.write_memory(start, memory)
        cpu.registers, cpu.vectors, cpu.flags = registers, vectors, flags
        found = []
        for limit, pcs in zip(limits, places, strict=True):
            cpu.pcs = pcs
            found.append(state(cpu, cpu.execute(limit)))
        return found

    reasons = {reason for one in both(work) for reason in one["reasons"]}
    assert reasons > {"cycles", "memory out of range", "undefined instruction", "pc out of range", "unaligned address"}


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: f"{row.name} {row.value:08x}")
def test_no_access_is_made_beyond_an_end_of_memory(row, both):
    """Each byte around both ends, and around address 0: where the bytes that are used would go on at the other end."""
    start = 4096
    word = row.value | 2 << 5 | 1 | (4 << 10 if not row.mask >> 10 & 0x1F else 0)
    edges = [*range(start - 40, start + 8), *range(start + SIZE - 40, start + SIZE + 8)]
    edges += [at % 2**64 for at in range(-40, 8)]
    registers = np.zeros((len(edges), 32), np.uint64)
    registers[:, 2] = edges

    def work():
        cpu = lw.ParallelCPU(len(edges), SIZE, "private", "cpu", start)
        cpu.load_program(program(word), start + SIZE // 2)
        cpu.registers = registers
        cpu.set_pc_all(start + SIZE // 2)
        return [state(cpu, cpu.execute(1))]

    reasons = both(work)[0]["reasons"]
    assert set(reasons) == {"cycles", "memory out of range"}
    assert reasons[-48:] == ["memory out of range"] * 48


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: f"{row.name} {row.value:08x}")
def test_translated_code_that_is_written_over_does_what_it_was_changed_to(row, both):
    """The translation is asked for again where lanes have interpreted 17 instructions: then they are at its entry."""
    second = 4 << 10 if any(field.name == "Rt2" for field in row.fields) else 0
    code = program(movz(3, 1), hlt())
    changed = movz(3, 2) | hlt() << 32  # by its lowest byte alone, too
    steps = [row.value | second | 2 << 5 | 1, *[movz(5, 0)] * 15, 0x14000000 | (-(64 // 4 + 16) & 0x3FFFFFF)]

    def work():
        cpu = lw.ParallelCPU(1, SIZE, "private", "cpu")
        cpu.load_program(code, 0)
        cpu.load_program(program(*steps), 64)
        cpu.set_registers_lane(0, {1: changed, 4: hlt()})
        vectors = np.zeros((32, 2), np.uint64)
        vectors[1, 0], vectors[4, 0] = changed, hlt()
        cpu.set_vectors_lane(0, vectors)
        cpu.translate(0, len(code), [0])
        cpu.set_pc_all(64)
        return [state(cpu, cpu.execute(100)) | {"changed": cpu.read_memory(0, 8) != code, "x3": cpu.registers[0, 3]}]

    (found,) = both(work)
    assert found["reasons"] == ["hlt"]
    assert found["x3"] == 1 + found["changed"]
