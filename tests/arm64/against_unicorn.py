"""Single instructions on Lanewise and on Unicorn: the same registers, flags and memory afterwards.

    python tests/arm64/against_unicorn.py [--cases 300] [--seed 1] [--row NAME] [--device cpu]

For each row of the table so many words with random fields, over random registers, flags and memory.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import unicorn
from unicorn import arm64_const as names

from lanewise.arm64.cpu import ParallelCPU
from lanewise.arm64.encodings import TABLE, Row

SIZE = 8192
AT = 4096
"""Where the instruction is, in the middle of its lane's memory."""
REGISTERS = [getattr(names, f"UC_ARM64_REG_X{number}") for number in range(31)] + [names.UC_ARM64_REG_SP]
VECTORS = [getattr(names, f"UC_ARM64_REG_Q{number}") for number in range(32)]


@dataclass
class Case:
    """A word, and what there is before it runs."""

    row: Row
    word: int
    registers: np.ndarray[Any, Any]
    flags: int
    memory: np.ndarray[Any, Any]
    vectors: np.ndarray[Any, Any]


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
        memory[AT : AT + 4] = np.frombuffer(word.to_bytes(4, "little"), np.uint8)
        found.append(Case(row, word, registers, int(random.integers(0, 16)) << 28, memory, _vectors(random)))
    return [case for case in found if _is_defined(case, row)]


def _vectors(random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Registers of 16 bytes: random bits, numbers of all kinds, and elements that are alike."""
    words = random.integers(0, 2**64, 64, np.uint64)
    for at in range(64):
        kind = random.random()
        if kind < 0.25:
            words[at] = np.float64(random.normal() * 10.0 ** random.integers(-5, 6)).view(np.uint64)
        elif kind < 0.5:
            pair = (random.normal(size=2) * 10.0 ** random.integers(-5, 6)).astype(np.float32)
            words[at] = pair.view(np.uint64)[0]
        elif kind < 0.6:
            words[at] = random.choice(FLOATS)
        elif kind < 0.7:
            words[at] = random.choice(EDGES)
        elif kind < 0.75 and at:
            words[at] = words[at - 1]
    return words


FLOATS = np.array(
    [0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001, 0x8000000000000000, 1,
     0x7F8000007F800000, 0x7FC00000FF800001, 0x8000000000000001, 0x0010000000000000, 0x41DFFFFFFFC00000,
     0xC1E0000000000000, 0x43E0000000000000, 0x4F0000005F000000, 0x7FEFFFFFFFFFFFFF, 0x3FE0000000000000],
    np.uint64,
)  # fmt: skip
EDGES = np.array([0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)


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
    if row.name == "stxr":
        return rs not in (rt, rn) or rs == 31
    return True


def on_lanewise(cases: list[Case], device: str) -> list[tuple[Any, ...]]:
    """What each case leaves: why it stopped, registers with the counter, flags, memory, vectors."""
    cpu = ParallelCPU(len(cases), SIZE, "private", device)
    cpu.registers = np.stack([case.registers for case in cases])
    cpu.flags = np.array([case.flags for case in cases], np.uint64)
    cpu.vectors = np.stack([case.vectors for case in cases]).reshape(-1, 32, 2)
    cpu.write_memory(0, np.stack([case.memory for case in cases]))
    cpu.set_pc_all(AT)
    result = cpu.step()
    registers, vectors, flags, memory = cpu.registers, cpu.vectors, cpu.flags, cpu.read_memory_all(0, SIZE)
    return [
        (
            reason,
            [*map(int, registers[at]), int(result.pcs_per_lane[at])],
            int(flags[at]),
            bytes(memory[at]),
            [int(low) | int(high) << 64 for low, high in vectors[at]],
        )
        for at, reason in enumerate(result.stop_reasons)
    ]


class Peer:
    """Unicorn, with a memory like that of a lane."""

    def __init__(self) -> None:
        self.machine = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        self.machine.ctl_set_cpu_model(names.UC_CPU_ARM64_MAX)
        self.machine.mem_map(0, SIZE)
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
        machine.ctl_remove_cache(0, SIZE)
        self.stopped = ""
        reason = "cycles"
        try:
            machine.emu_start(AT, 0, count=1)
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
        return reason, registers, flags, bytes(machine.mem_read(0, SIZE)), vectors


def differences(rows: list[Row], count: int, seed: int, device: str) -> list[str]:
    """Words on which both do not agree."""
    peer, found = Peer(), []
    for row in rows:
        random = np.random.default_rng([seed, row.value])
        cases = cases_of(row, count, random)
        for case, ours in zip(cases, on_lanewise(cases, device) if cases else (), strict=True):
            theirs = peer.run(case)
            if ours[0] != "cycles" and ours[0] == theirs[0]:
                continue  # how far a word came that stopped is each one's own
            if ours != theirs:
                found.append(f"{row.name} {case.word:08x} {dict(row.settled)}: {_difference(ours, theirs)}")
    return found


def _difference(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> str:
    if ours[0] != theirs[0]:
        return f"{ours[0]}, not {theirs[0]}"
    registers = [f"r{at} {x:x}, not {y:x}" for at, (x, y) in enumerate(zip(ours[1], theirs[1], strict=True)) if x != y]
    flags = [f"flags {ours[2] >> 28:04b}, not {theirs[2] >> 28:04b}"] if ours[2] != theirs[2] else []
    memory = ["memory"] if ours[3] != theirs[3] else []
    pairs = enumerate(zip(ours[4], theirs[4], strict=True))
    vectors = [f"v{at} {x:032x}, not {y:032x}" for at, (x, y) in pairs if x != y]
    return "; ".join(registers + vectors + flags + memory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--row")
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    rows = [row for row in TABLE if chosen.row in (None, row.name)]
    found = differences(rows, chosen.cases, chosen.seed, chosen.device)
    for line in found[:5000]:
        print(line)
    print(f"{len(rows)} rows, {chosen.cases} words each: {len(found)} differ")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
