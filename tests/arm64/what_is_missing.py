"""Words that Unicorn runs and the table of encodings does not have, by the names that Capstone gives them.

    python tests/arm64/what_is_missing.py [--words 200000] [--seed 1]

Random words of the groups of encodings that user-mode programs use; Capstone must be installed.
"""

from __future__ import annotations

import argparse
from collections import Counter

import capstone
import numpy as np
import unicorn
from unicorn import arm64_const as names

from lanewise.arm64.finding import row_of

SIZE = 8192
AT = 4096
GROUPS = {
    "vectors": (0x0E000000, 0x9E000000),
    "single elements and numbers": (0x1E000000, 0x1E000000),
    "memory": (0x08000000, 0x0A000000),
    "registers": (0x0A000000, 0x0E000000),
    "numbers in the word": (0x10000000, 0x1C000000),
    "system": (0xD5000000, 0xFFC00000),
    "branches": (0x14000000, 0x1C000000),
}
"""Values of words of each group, and the bits that say it."""


def words_of(value: int, mask: int, count: int, random: np.random.Generator) -> list[int]:
    """Random words, with fields that are often all zeros or ones, as many that are fixed are."""
    found = random.integers(0, 1 << 32, count, np.uint64)
    misc = np.uint64(0b11111 << 17)
    found = np.where(random.random(count) < 0.2, found & ~misc | np.uint64(0b10000 << 17), found)
    for low, bits in ((10, 6), (16, 5), (12, 4), (5, 5), (16, 3), (0, 5)):
        field = np.uint64((1 << bits) - 1 << low)
        kind = random.random(count)
        found = np.where(kind < 0.15, found & ~field, np.where(kind > 0.9, found | field, found))
    return [int(word) & ~mask | value for word in found]


class Peer:
    """Unicorn, in user mode, asked only whether it knows a word."""

    def __init__(self) -> None:
        self.machine = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        self.machine.ctl_set_cpu_model(names.UC_CPU_ARM64_MAX)
        self.machine.mem_map(0, SIZE)
        self.machine.reg_write(names.UC_ARM64_REG_CPACR_EL1, 3 << 20)
        self.machine.reg_write(names.UC_ARM64_REG_PSTATE, 0)
        self.undefined = False
        self.machine.hook_add(unicorn.UC_HOOK_INTR, self._interrupt)

    def _interrupt(self, machine: unicorn.Uc, number: int, data: object) -> None:
        self.undefined = number == 1
        machine.emu_stop()

    def knows(self, word: int) -> bool:
        """Whether the word is an instruction."""
        self.machine.mem_write(AT, word.to_bytes(4, "little"))
        self.machine.ctl_remove_cache(0, SIZE)
        self.undefined = False
        for number in range(31):
            self.machine.reg_write(getattr(names, f"UC_ARM64_REG_X{number}"), 64 * number)
        try:
            self.machine.emu_start(AT, 0, count=1)
        except unicorn.UcError as error:
            return error.errno not in (unicorn.UC_ERR_INSN_INVALID, unicorn.UC_ERR_EXCEPTION)
        return not self.undefined


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    reader = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
    peer = Peer()
    for group, (value, mask) in GROUPS.items():
        random = np.random.default_rng(chosen.seed)
        found: Counter[str] = Counter()
        examples: dict[str, str] = {}
        for word in words_of(value, mask, chosen.words, random):
            if row_of(word) is not None:
                continue
            read = next(reader.disasm(word.to_bytes(4, "little"), 0), None)
            if read is not None and peer.knows(word):
                shape = f"{read.mnemonic} {''.join(c for c in read.op_str.split(',')[0] if not c.isdigit())}"
                found[shape] += 1
                examples.setdefault(shape, f"{word:08x} {read.mnemonic} {read.op_str}")
        print(f"{group}: {len(found)} forms that the table does not have")
        for shape, count in sorted(found.items()):
            print(f"  {count:6} {examples[shape]}")


if __name__ == "__main__":
    main()
