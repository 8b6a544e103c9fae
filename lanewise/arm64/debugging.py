"""Looking into lanes: where they stop, what they did last, and what is there in words that people read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lanewise.arm64 import lane
from lanewise.arm64.arguments import address_range, lane_number, whole
from lanewise.errors import ArgumentError, LanewiseError, OutOfMemoryError

if TYPE_CHECKING:
    from lanewise.arm64.cpu import ParallelCPU

_KINDS = {"r": 1, "w": 2, "rw": 3}
_MOST_TRACED, _MOST_SHOWN = 1 << 16, 1 << 16


@dataclass(frozen=True)
class Instruction:
    """A word of machine code at its address."""

    address: int
    word: int

    @property
    def text(self) -> str:
        """As an assembler would have it."""
        return disassemble(self.word.to_bytes(4, "little"), self.address)[0]

    def __str__(self) -> str:
        return f"{self.address:#x}: {self.word:08x}  {self.text}"


class Debugger:
    """Breakpoints, watchpoints and traces of a ParallelCPU. While there are any, lanes are interpreted, and slower."""

    def __init__(self, cpu: ParallelCPU) -> None:
        self._cpu = cpu
        self._breakpoints: list[int] = []
        self._watchpoints: list[tuple[int, int, int]] = []
        self._length = 0
        self._traces: Any = None
        self._block: Any = None

    @property
    def active(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._breakpoints or self._watchpoints or self._length)

    def add_breakpoint(self, address: int) -> None:
        """Stop lanes before they run what is there; they go on behind it when they are executed again."""
        at = address_range(address, 4, self._cpu.memory_size, self._cpu.memory_start)
        if at % 4:
            raise ArgumentError(f"address is {at:#x}; instructions are at multiples of 4")
        if at not in self._breakpoints:
            if len(self._breakpoints) == lane.MOST_BREAKPOINTS:
                raise ArgumentError(f"there are {lane.MOST_BREAKPOINTS} breakpoints already, and no more can be had")
            self._breakpoints.append(at)
            self._block = None

    def remove_breakpoint(self, address: int) -> None:
        """Let lanes pass again."""
        if address not in self._breakpoints:
            raise ArgumentError(f"there is no breakpoint at {whole(address, 'address', 0, 2**64 - 1):#x}")
        self._breakpoints.remove(address)
        self._block = None

    def add_watchpoint(self, address: int, count: int = 8, access: Literal["r", "w", "rw"] = "rw") -> None:
        """Stop lanes before they read or write any of some bytes."""
        length = whole(count, "count", 1, 2**48)
        at = address_range(address, count, self._cpu.memory_size, self._cpu.memory_start)
        if not isinstance(access, str) or access not in _KINDS:
            raise ArgumentError(f"access is {access!r}; it is 'r', 'w' or 'rw'")
        if len(self._watchpoints) == lane.MOST_WATCHPOINTS:
            raise ArgumentError(f"there are {lane.MOST_WATCHPOINTS} watchpoints already, and no more can be had")
        self._watchpoints.append((at, at + length - 1, _KINDS[access]))
        self._block = None

    def clear(self) -> None:
        """Forget all breakpoints, watchpoints and traces."""
        self._breakpoints, self._watchpoints, self._length = [], [], 0
        self._traces = self._block = None

    def trace(self, count: int) -> None:
        """Remember the last instructions of each lane: so many from now on."""
        length, lanes = whole(count, "count", 1, _MOST_TRACED), self._cpu.get_num_lanes()
        try:
            self._traces = self._cpu.device.zeros((lanes, 2 * length + 1), np.uint64)
        except OutOfMemoryError as error:
            message = f"count is {length:,}, for which there is no memory with {lanes:,} lanes: {error}"
            raise OutOfMemoryError(message) from None
        self._length, self._block = length, None

    def get_lane_trace(self, number: int) -> list[Instruction]:
        """The last instructions that a lane ran, the latest last; what stopped it is among them, each time it did."""
        if self._traces is None:
            raise ArgumentError("nothing is traced; call trace(count) before execute")
        row = self._traces.get()[lane_number(number, self._cpu.get_num_lanes())]
        count, pairs = int(row[0]), row[1:].reshape(-1, 2)
        order = [at % self._length for at in range(max(0, count - self._length), count)]
        return [Instruction(int(pairs[at][0]), int(pairs[at][1])) for at in order]

    def where(self, number: int, before: int = 3, after: int = 4) -> str:
        """The code around the place where a lane is, a line each, with a mark."""
        before, after = whole(before, "before", 0, _MOST_SHOWN), whole(after, "after", 0, _MOST_SHOWN)
        here = int(self._cpu.get_lane_pc(number))
        if not 0 <= here - self._cpu.memory_start <= self._cpu.memory_size - 4:
            return f"-> {here:#x}, where there is no memory"
        lines = []
        for at in range(here - 4 * before, here + 4 * after + 1, 4):
            if 0 <= at - self._cpu.memory_start <= self._cpu.memory_size - 4:
                word = int.from_bytes(self._cpu.read_memory(at, 4, number if self._cpu.private else 0), "little")
                lines.append(("-> " if at == here else "   ") + str(Instruction(at, word)))
        return "\n".join(lines)

    @property
    def address(self) -> int:
        """Where the block for the device is."""
        if not self.active:
            return 0
        if self._block is None:
            words = np.zeros(lane.DEBUG_WORDS, np.uint64)
            words[lane.BREAKPOINTS], words[lane.WATCHPOINTS] = len(self._breakpoints), len(self._watchpoints)
            words[lane.TRACE_LENGTH] = self._length
            words[lane.TRACES] = self._traces.address if self._length else 0
            words[lane.BREAKPOINT : lane.BREAKPOINT + len(self._breakpoints)] = self._breakpoints
            flat = [number for one in self._watchpoints for number in one]
            words[lane.WATCHPOINT : lane.WATCHPOINT + len(flat)] = flat
            self._block = self._cpu.device.array(words)
        return int(self._block.address)


def disassemble(code: bytes, address: int = 0) -> list[str]:
    """Machine code in words that people read: a line for each instruction."""
    try:
        import capstone
    except ImportError:
        raise LanewiseError("disassembly needs the package capstone: pip install capstone") from None
    engine = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
    lines = []
    for at in range(0, len(code) - 3, 4):
        found = next(engine.disasm_lite(code[at : at + 4], address + at, 1), None)
        lines.append(
            f"{found[2]} {found[3]}".strip() if found else f".word {int.from_bytes(code[at : at + 4], 'little'):#x}"
        )
    return lines
