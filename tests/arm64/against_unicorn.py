"""Single instructions on Lanewise and on Unicorn: the same registers, flags and memory afterwards.

    python tests/arm64/against_unicorn.py [--cases 300] [--seed 1] [--row NAME] [--device cpu] [--translated]

For each row of the table so many words with random fields, over random registers, flags and memory; of floating point
(`--row 'f*,*cvtf*'`) in all modes of FPCR, with all flags of FPSR. Translated, rows that go elsewhere are left out.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase as fnmatch
from itertools import groupby
from typing import Any

import numpy as np
import unicorn
from contents import EDGES, FPCR, FPSR, vectors
from unicorn import arm64_const as names

from lanewise.arm64.cpu import ParallelCPU
from lanewise.arm64.encodings import TABLE, Row
from lanewise.arm64.finding import ENDS
from lanewise.devices import Device

SIZE = 8192
AT = 4096
"""Where the instruction is, in the middle of its lane's memory."""
APART = 16
"""Bytes from one instruction to the next where they are translated, in memory behind all else."""
HLT = 0xD4400000
REGISTERS = [getattr(names, f"UC_ARM64_REG_X{number}") for number in range(31)] + [names.UC_ARM64_REG_SP]
VECTORS = [getattr(names, f"UC_ARM64_REG_Q{number}") for number in range(32)]


_SHORT = "Unicorn 2.1 compares numbers of less than 64 bits with a sign as if they had none"
KNOWN_WRONG = {f"{name} size={size}": _SHORT for name in ("ldsmax", "ldsmin") for size in range(3)}
"""Rows that Unicorn gets wrong, and how: they must differ somewhere."""
ENOUGH = 30
"""Words of a row among which there is one that shows it."""
LANES, TRANSLATED_LANES = 4096, 1024
"""Words that run at once; translated, each lane has the code of all."""


def title(row: Row) -> str:
    """A row's name with the fields that are settled."""
    return " ".join([row.name, *(f"{name}={number}" for name, number in row.settled)])


@dataclass
class Case:
    """A word, and what there is before it runs."""

    row: Row
    word: int
    registers: np.ndarray[Any, Any]
    flags: int
    memory: np.ndarray[Any, Any]
    vectors: np.ndarray[Any, Any]
    fpsr: int
    fpcr: int
    words: list[int]
    """What runs, of which the word is the last."""
    at: int = AT

    @property
    def end(self) -> int:
        """Where it goes on; translated, at what stops it there."""
        return self.at + 4 * len(self.words)


def cases_of(row: Row, count: int, random: np.random.Generator) -> list[Case]:
    """Words of a row with random fields, most of them with addresses in memory."""
    found = []
    for _ in range(count):
        word = row.value
        fields = {}
        for field in row.fields:
            number = int(random.integers(0, 1 << field.bits))
            if field.name.startswith("imm") and field.bits > 6 and random.random() < 0.7:
                number = int(random.integers(-32, 32)) & ((1 << field.bits) - 1)
            fields[field.name] = number
            word |= number << field.low
        if row.name == "casp" and random.random() < 0.7:
            word &= ~(1 << 16 | 1)  # others than even registers are no instruction
        registers = random.integers(0, 2**64, 32, np.uint64)
        for at in range(32):
            kind = random.random()
            if kind < 0.35:
                registers[at] = np.uint64(int(random.integers(0, SIZE)) & (~15 if kind < 0.25 else ~0))
            elif kind < 0.5:
                registers[at] = random.choice(EDGES)
        registers[31] = np.uint64(int(registers[31]) & ~15)
        memory = random.integers(0, 256, SIZE, np.uint8)
        memory[3::4] = 0x91  # each word an addition: Unicorn looks at what is behind an instruction, and may abort
        words = [*_ahead_of(row, word, random), word]
        for at, one in enumerate(words):
            memory[AT + 4 * at : AT + 4 * at + 4] = np.frombuffer(one.to_bytes(4, "little"), np.uint8)
        flags = int(random.integers(0, 16)) << 28
        fpsr = int(random.integers(0, 1 << 32)) & FPSR if random.random() < 0.5 else 0
        fpcr = int(random.integers(0, 1 << 32)) & FPCR if random.random() < 0.7 else 0
        found.append(Case(row, word, registers, flags, memory, vectors(random), fpsr, fpcr, words))
    return [case for case in found if _is_defined(case, row)]


def _ahead_of(row: Row, word: int, random: np.random.Generator) -> list[int]:
    """What makes a store that has a condition happen more often than by chance: a load of what is there.

    For an exclusive store that is an exclusive load, perhaps with another change between; to compare and swap, one
    into the registers that are compared.
    """
    if row.name not in ("stxr", "stxp", "cas", "casp") or random.random() < 0.3:
        return []
    size, base, pair, compared = word >> 30, word >> 5 & 31, row.name.endswith("p"), word >> 16 & 31
    if row.name == "casp":
        load = (0b0010100101 | size << 9) << 22 | compared + 1 << 10 | base << 5 | compared
        return [load] if compared not in (base, base - 1, base - 2, 31) else []
    if row.name == "cas":
        return [size << 30 | 0b11100101 << 22 | base << 5 | compared] if compared != base else []
    taken = {base, word & 31, word >> 10 & 31, compared}
    first, second, *_ = (number for number in range(31) if number not in taken)
    load = size << 30 | (0b001000010 | pair) << 21 | 31 << 16 | (second if pair else 31) << 10 | base << 5 | first
    store = 0b00111001 << 24 | base << 5 | 31  # of one byte, there
    return [load, store] if random.random() < 0.3 else [load]


def _is_defined(case: Case, row: Row) -> bool:
    """Whether the architecture says what a word does: not where a register is loaded and changed as a base, too."""
    word = case.word
    rt, rn, rt2, rs = word & 31, word >> 5 & 31, word >> 10 & 31, word >> 16 & 31
    if row.name in ("ldr", "str") and word >> 24 & 0b111111 == 0b111000 and not word >> 21 & 1 and word >> 10 & 1:
        return rt != rn or rn == 31
    if row.name == "ldp v":
        return not (word >> 22 & 1 and rt == rt2)
    if row.name == "ldp":
        back = word >> 23 & 3 in (1, 3)
        return not (back and rn != 31 and rn in (rt, rt2)) and not (word >> 22 & 1 and rt == rt2)
    if row.name == "hlt" or (row.name == "hint" and word >> 5 & 127 == 3):
        return False  # Unicorn has no debugger, and never waits
    if row.name == "mrs" and word >> 5 & 0xFFFF in (0xD801, 0xD807, 0xDF00, 0xDF02):
        return False  # facts of the machine itself
    if row.name in ("ldar", "ldapr"):  # which Unicorn lets be anywhere, as later versions of the architecture do
        return int(case.registers[rn]) % (1 << (word >> 30)) == 0
    if row.name in ("stxr", "stxp"):  # to Unicorn the last address is held by whoever holds none
        return (rs == 31 or rs not in (rt, rn, rt2)) and int(case.registers[rn]) != 2**64 - 1
    if row.name == "ldxp":
        return rt != rt2
    return row.name != "dc zva"  # Unicorn's lines are of 512 bytes


def apart(cases: list[Case]) -> list[Case]:
    """The same with each word at an address of its own, and the code of all in each lane's memory: that of one
    translation is the same for all lanes."""
    words = [[*case.words, *[HLT] * (APART // 4 - len(case.words))] for case in cases]
    code = np.array(words, "<u4").reshape(-1).view(np.uint8)
    code = np.pad(code, (0, -code.size % 4096))
    return [
        replace(case, memory=np.concatenate([case.memory, code]), at=SIZE + APART * at) for at, case in enumerate(cases)
    ]


def on_lanewise(cases: list[Case], device: str | Device, translated: bool) -> list[tuple[Any, ...]]:
    """What each case leaves: why it stopped, registers with the counter, flags, memory, vectors."""
    size = cases[0].memory.size
    cpu = ParallelCPU(len(cases), size, "private", device)
    cpu.registers = np.stack([case.registers for case in cases])
    cpu.flags = np.array([case.flags for case in cases], np.uint64)
    cpu.fpsr, cpu.fpcr = [case.fpsr for case in cases], [case.fpcr for case in cases]
    cpu.vectors = np.stack([case.vectors for case in cases]).reshape(-1, 32, 2)
    cpu.write_memory(0, np.stack([case.memory for case in cases]))
    cpu.pcs = [case.at for case in cases]
    if translated:
        cpu.translate(SIZE, size - SIZE)
    result = cpu.execute(100 if translated else len(cases[0].words))
    stops = zip(cases, result.stop_reasons, result.pcs_per_lane, strict=True)
    reasons = ["cycles" if (reason, pc) == ("hlt", case.end) else reason for case, reason, pc in stops]
    registers, vectors, flags, memory = cpu.registers, cpu.vectors, cpu.flags, cpu.read_memory_all(0, size)
    fpsr, fpcr = cpu.fpsr, cpu.fpcr
    return [
        (
            reason,
            [*map(int, registers[at]), int(result.pcs_per_lane[at])],
            int(flags[at]),
            bytes(memory[at]),
            [int(low) | int(high) << 64 for low, high in vectors[at]],
            int(fpsr[at]),
            int(fpcr[at]),
        )
        for at, reason in enumerate(reasons)
    ]


class Peer:
    """Unicorn, with a memory like that of a lane."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.machine = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        self.machine.ctl_set_cpu_model(names.UC_CPU_ARM64_MAX)
        self.machine.mem_map(0, size)
        self.machine.reg_write(names.UC_ARM64_REG_CPACR_EL1, 3 << 20)  # or vectors trap
        self.stopped = ""
        self.machine.hook_add(unicorn.UC_HOOK_INTR, self._interrupt)

    def _interrupt(self, machine: Any, number: int, data: Any) -> None:
        self.stopped = {1: "undefined instruction", 2: "svc", 4: "unaligned address", 7: "brk"}.get(
            number, f"interrupt {number}"
        )
        machine.emu_stop()

    def run(self, case: Case) -> tuple[Any, ...]:
        machine = self.machine
        machine.mem_write(0, case.memory.tobytes())
        for number, value in zip(REGISTERS, case.registers, strict=True):
            machine.reg_write(number, int(value))
        machine.reg_write(names.UC_ARM64_REG_NZCV, case.flags)
        for number, (low, high) in zip(VECTORS, case.vectors.reshape(-1, 2).tolist(), strict=True):
            machine.reg_write(number, low | high << 64)
        machine.reg_write(names.UC_ARM64_REG_FPSR, case.fpsr)
        machine.reg_write(names.UC_ARM64_REG_FPCR, case.fpcr)
        machine.ctl_remove_cache(0, self.size)
        self.stopped = ""
        reason = "cycles"
        try:
            machine.emu_start(case.at, 0, count=len(case.words))
        except unicorn.UcError as error:
            reason = {
                unicorn.UC_ERR_READ_UNMAPPED: "memory out of range",
                unicorn.UC_ERR_WRITE_UNMAPPED: "memory out of range",
                unicorn.UC_ERR_INSN_INVALID: "undefined instruction",
                unicorn.UC_ERR_EXCEPTION: "undefined instruction",
                unicorn.UC_ERR_FETCH_UNMAPPED: "cycles",
            }.get(error.errno, str(error))
        reason = self.stopped or reason
        registers = [machine.reg_read(number) for number in REGISTERS] + [machine.reg_read(names.UC_ARM64_REG_PC)]
        vectors = [machine.reg_read(number) for number in VECTORS]
        flags = machine.reg_read(names.UC_ARM64_REG_NZCV)
        fpsr = machine.reg_read(names.UC_ARM64_REG_FPSR) & FPSR
        fpcr = machine.reg_read(names.UC_ARM64_REG_FPCR) & FPCR
        return reason, registers, flags, bytes(machine.mem_read(0, self.size)), vectors, fpsr, fpcr


def differences(
    rows: Sequence[Row], count: int, seed: int, device: str | Device, translated: bool = False
) -> list[str]:
    """Words on which both do not agree."""
    step = max(1, (TRANSLATED_LANES if translated else LANES) // count)
    parts = [rows[at : at + step] for at in range(0, len(rows), step)]
    return [line for part in parts for line in _differ(part, count, seed, device, translated)]


def _differ(rows: Sequence[Row], count: int, seed: int, device: str | Device, translated: bool) -> list[str]:
    """The same for rows whose words all run at once."""
    found, wrong = [], Counter[str]()
    cases = [case for row in rows for case in cases_of(row, count, np.random.default_rng([seed, row.value]))]
    if not cases:
        return []
    cases.sort(key=lambda case: len(case.words))
    if translated:
        cases = apart(cases)
        results = on_lanewise(cases, device, translated)
    else:
        alike = [list(some) for _, some in groupby(cases, lambda case: len(case.words))]
        results = [ours for some in alike for ours in on_lanewise(some, device, translated)]
    peer = Peer(cases[0].memory.size)
    for case, ours in zip(cases, results, strict=True):
        theirs = peer.run(case)
        if ours[0] != "cycles" and ours[0] == theirs[0]:
            continue  # how far a word came that stopped is each one's own
        if ours != theirs:
            name = title(case.row)
            wrong[name] += 1
            if name not in KNOWN_WRONG:
                found.append(f"{name} {case.word:08x}: {_difference(ours, theirs)}")
    for name in {title(row) for row in rows} & KNOWN_WRONG.keys():
        if not wrong[name] and count >= ENOUGH:
            found.append(f"{name}: agrees, but is known to be wrong: {KNOWN_WRONG[name]}")
    return found


def _difference(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> str:
    if ours[0] != theirs[0]:
        return f"{ours[0]}, not {theirs[0]}"
    registers = [f"r{at} {x:x}, not {y:x}" for at, (x, y) in enumerate(zip(ours[1], theirs[1], strict=True)) if x != y]
    flags = [f"flags {ours[2] >> 28:04b}, not {theirs[2] >> 28:04b}"] if ours[2] != theirs[2] else []
    memory = ["memory"] if ours[3] != theirs[3] else []
    pairs = enumerate(zip(ours[4], theirs[4], strict=True))
    vectors = [f"v{at} {x:032x}, not {y:032x}" for at, (x, y) in pairs if x != y]
    both = zip(("FPSR", "FPCR"), ours[5:], theirs[5:], strict=True)
    modes = [f"{name} {x:x}, not {y:x}" for name, x, y in both if x != y]
    return "; ".join(registers + vectors + flags + memory + modes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--row", help="a name, or patterns with *, commas between")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--translated", action="store_true")
    chosen = parser.parse_args()
    rows = [row for row in TABLE if not chosen.row or any(fnmatch(row.name, one) for one in chosen.row.split(","))]
    rows = [row for row in rows if not chosen.translated or row.name not in ENDS]
    found = differences(rows, chosen.cases, chosen.seed, chosen.device, chosen.translated)
    for line in found[:5000]:
        print(line)
    print(f"{len(rows)} rows, {chosen.cases} words each: {len(found)} differ")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
