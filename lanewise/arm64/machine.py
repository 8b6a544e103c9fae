"""What instructions can do: read and write registers, flags and memory, go elsewhere, stop the lane."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

from lanewise.arm64 import lane
from lanewise.arm64.values import Value, known
from lanewise.arm64.writer import Writer

Access = Literal["r", "w", "rw"]


class Fields:
    """The fields of an instruction, by their names."""

    def __init__(self, found: dict[str, Value]) -> None:
        self._found = found

    def having(self, **more: Value) -> Fields:
        """The same with others in the place of some."""
        return Fields(self._found | more)

    def __getattr__(self, name: str) -> Value:
        try:
            return self._found[name]
        except KeyError:
            raise AttributeError(name) from None


class Machine(Writer):
    """A lane while code for it is written. Numbers of registers are values, too: see `values`."""

    pc: Value
    """Where the instruction is."""
    always_exact = False
    """Whether no floating point is to be done the plain way."""

    # --- registers ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def read(self, number: Value, bits: int = 64, *, sp: bool = False) -> Value:
        """A register's lowest bits; number 31 is 0, or the stack pointer."""

    @abstractmethod
    def write(self, number: Value, value: Value, *, sp: bool = False) -> None:
        """Set a register, its upper bits to 0; number 31 is nowhere, or the stack pointer."""

    @abstractmethod
    def read_vector(self, number: Value, bits: int = 128) -> Value:
        """The lowest bits of a vector register."""

    @abstractmethod
    def write_vector(self, number: Value, value: Value) -> None:
        """Set a vector register, its upper bits to 0."""

    @abstractmethod
    def flag(self, name: str) -> Value:
        """One of n, z, c and v, a bit."""

    @abstractmethod
    def set_flag(self, name: str, value: Value) -> None:
        """Set it."""

    def set_flags(self, n: Value, z: Value, c: Value, v: Value) -> None:
        """Set all four."""
        for name, value in zip("nzcv", (n, z, c, v), strict=True):
            self.set_flag(name, value)

    flag_words = False
    """Whether flags are words, as `flags.FlagWords` says."""

    def set_flag_words(self, n: Value, z: Value, c: Value, v: Value) -> None:
        """Set all four by words, where flags are such."""
        raise NotImplementedError

    def packed(self, n: Value, z: Value, c: Value, v: Value) -> Value:
        """The four as one number: v is its lowest bit."""
        flags = known(32, 0)
        for at, flag in enumerate((v, c, z, n)):
            flags = self.either(flags, self.left(self.resize(flag, 32), at))
        return flags

    def flags(self) -> Value:
        """All four as one number."""
        return self.packed(*(self.flag(name) for name in "nzcv"))

    def compared(self, x: Value, y: Value) -> None:
        """The flags are now those of a subtraction."""

    @abstractmethod
    def immediate(self, n: Value, immr: Value, imms: Value) -> Value:
        """The number of 64 bits that a logical instruction has in its word; 0 if there is none."""

    @abstractmethod
    def special(self, name: str) -> Value:
        """A register of the system, of 64 bits."""

    @abstractmethod
    def set_special(self, name: str, value: Value) -> None:
        """Set it."""

    @abstractmethod
    def cycles(self) -> Value:
        """How many instructions the lane has run ahead of this one."""

    @abstractmethod
    def floating(self) -> Value:
        """FPCR in the upper half of 64 bits, FPSR in the lower."""

    @abstractmethod
    def set_floating(self, value: Value) -> None:
        """Set both."""

    @abstractmethod
    def exact_words(self) -> str:
        """Where numbers are put for the exact functions of floating point."""

    def hand_over_if(self, flag: Value) -> bool:
        """Leave all that the instruction does to code that is always exact, if a bit is set; whether there is such.

        Nothing may have been changed before.
        """
        return False

    def saturated(self, flag: Value) -> None:
        """Remember in FPSR that a number did not fit its place, if a bit is set."""
        self.set_floating(self.either(self.floating(), self.left(self.resize(flag, 64), lane.SATURATED)))

    # --- memory ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def check(self, address: Value, count: int, access: Access) -> None:
        """Stop unless bytes from there on are in memory; before anything is changed."""

    @abstractmethod
    def load(self, address: Value, bits: int) -> Value:
        """Read from memory that was checked, at any alignment."""

    @abstractmethod
    def store(self, address: Value, value: Value) -> None:
        """Write to it."""

    @abstractmethod
    def place(self, address: Value) -> str:
        """The pointer to a byte of memory that was checked."""

    # --- ways on -----------------------------------------------------------------------------------------------------

    def fetch_anew(self) -> None:
        """From here on code is what any lane has made it."""

    @abstractmethod
    def jump(self, target: Value) -> None:
        """Go elsewhere after this instruction."""

    @abstractmethod
    def stop_if(self, flag: Value, reason: int, detail: Value) -> None:
        """End the lane here, if a bit is set."""

    def undefined_if(self, flag: Value) -> None:
        """The word is no instruction, if a bit is set."""
        self.stop_if(flag, UNDEFINED, known(64, 0))

    def jump_if(self, flag: Value, target: Value) -> None:
        """Go elsewhere, if a bit is set."""
        self.jump(self.select(flag, target, self.add(self.pc, 4)))

    def holds(self, condition: Value) -> Value:
        """Whether a condition holds, by its number."""
        if not condition.known:
            flags = self.flags()
            table = self.pointer(f"getelementptr i16, ptr @arm64.conditions, i32 {self.resize(condition, 32).text}")
            row = self.resize(self.assign(16, f"load i16, ptr {table}"), 32)
            return self.resize(self.right(row, flags), 1)
        n, z, c, v = (self.flag(name) for name in "nzcv")
        number = condition.number
        plain = [z, c, n, v][number // 2] if number < 8 else known(1, 1)
        if number // 2 == 4:
            plain = self.both(c, self.invert(z))
        elif number // 2 in (5, 6):
            plain = self.invert(self.differ(n, v))
            if number // 2 == 6:
                plain = self.both(plain, self.invert(z))
        return self.invert(plain) if number % 2 and number < 14 else plain


RUNNING, SVC, BRK, HLT, WFI, UNDEFINED, UNALIGNED_PC, PC_OUTSIDE, MEMORY, ALIGNMENT, BREAKPOINT, WATCHPOINT = range(12)
REASONS = (
    "cycles", "svc", "brk", "hlt", "wfi", "undefined instruction", "unaligned pc", "pc out of range",
    "memory out of range", "unaligned address", "breakpoint", "watchpoint",
)  # fmt: skip
"""Why a lane stopped, by the number that it leaves."""
LEFT, SHORT = 255, 254
"""A lane came to what is not translated, or had too few instructions left for what comes next in translated code; that
is told apart on a GPU alone."""


def condition_table() -> list[int]:
    """For each condition, a bit for each of the 16 states of the flags (n, z, c, v from the highest bit on)."""
    table = []
    for condition in range(16):
        bits = 0
        for flags in range(16):
            n, z, c, v = (bool(flags >> at & 1) for at in (3, 2, 1, 0))
            plain = (z, c, n, v, c and not z, n == v, n == v and not z, True)[condition // 2]
            bits |= (plain != (condition % 2 == 1 and condition < 14)) << flags
        table.append(bits)
    return table
