"""ParallelCPU: AArch64 CPUs, one per lane, over memory that they share or that each has for itself."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lanewise.arm64 import lane
from lanewise.arm64.machine import REASONS
from lanewise.arm64.program import ENTRY, interpreter_code, translated_code
from lanewise.compiler import Target, load_object
from lanewise.devices import device as find_device
from lanewise.devices.cpu import CpuDevice
from lanewise.devices.cpu_launch import NativeCode
from lanewise.errors import ArgumentError


@dataclass(frozen=True)
class ExecutionResult:
    """What lanes did in one call of `execute`."""

    total_cycles: int
    elapsed_seconds: float
    cycles_per_lane: np.ndarray[Any, Any]
    pcs_per_lane: np.ndarray[Any, Any]
    stop_reasons: list[str]

    def avg_ips(self) -> float:
        """Instructions per second of all lanes together."""
        return self.total_cycles / self.elapsed_seconds if self.elapsed_seconds else 0.0


class ParallelCPU:
    """CPUs that run the instructions in their memory."""

    def __init__(
        self,
        num_lanes: int = 32,
        memory_size: int = 4 << 20,
        memory: Literal["shared", "private"] = "shared",
        device: str = "auto",
    ) -> None:
        if num_lanes < 1:
            raise ArgumentError(f"num_lanes is {num_lanes}; there is 1 lane or more")
        if memory_size < 4 or memory_size % 4:
            raise ArgumentError(f"memory_size is {memory_size}; it is 4 bytes or more, in whole words")
        if memory not in ("shared", "private"):
            raise ArgumentError(f"memory is {memory!r}; it can be 'shared' or 'private'")
        if memory == "private" and memory_size % 16:
            raise ArgumentError(f"memory_size is {memory_size}; where each lane has its own, it is in 16s of bytes")
        self._device: Any = find_device(device)
        self._lanes = num_lanes
        self._spacing = memory_size if memory == "private" else 0
        self._size = memory_size
        self._memory = self._device.zeros(memory_size * (num_lanes if self._spacing else 1), np.uint8)
        states = np.zeros((num_lanes, lane.WORDS), np.uint64)
        states[:, lane.SPECIAL["exclusive"]] = np.uint64(2**64 - 1)
        self._states = self._device.array(states)
        self._code = _loaded(self._device)

    def get_num_lanes(self) -> int:
        """How many lanes there are."""
        return self._lanes

    @property
    def states(self) -> np.ndarray[Any, Any]:
        """A copy of all that lanes are: see `lane`."""
        found: np.ndarray[Any, Any] = self._states.get()
        return found

    @states.setter
    def states(self, value: np.ndarray[Any, Any]) -> None:
        self._device.copy_in(self._states.buffer, np.ascontiguousarray(value, np.uint64))

    @property
    def memory(self) -> np.ndarray[Any, Any]:
        """A copy of all memory, that of one lane behind the other where each has its own."""
        found: np.ndarray[Any, Any] = self._memory.get()
        return found

    @memory.setter
    def memory(self, value: np.ndarray[Any, Any]) -> None:
        self._device.copy_in(self._memory.buffer, np.ascontiguousarray(value, np.uint8))

    def load_program(self, program: bytes, address: int = 0) -> None:
        """Put machine code into memory, into that of every lane where each has its own."""
        for number in range(self._lanes if self._spacing else 1):
            self.write_memory(address, program, number)

    def write_memory(self, address: int, data: bytes, number: int = 0) -> None:
        """Set bytes of memory; of that of one lane where each has its own."""
        if not 0 <= address <= self._size - len(data):
            raise ArgumentError(
                f"{len(data):,} bytes at address {address:#x} do not fit a memory of {self._size:,} bytes"
            )
        memory = self._memory.get()
        at = number * self._spacing + address
        memory[at : at + len(data)] = np.frombuffer(bytes(data), np.uint8)
        self._device.copy_in(self._memory.buffer, memory)

    def read_memory(self, address: int, count: int, number: int = 0) -> bytes:
        """Bytes of memory."""
        at = number * self._spacing + address
        return bytes(self._memory.get()[at : at + count])

    def set_pc_all(self, pc: int) -> None:
        """Where all lanes go on."""
        states = self.states
        states[:, lane.PC] = pc
        self.states = states

    def translate(self, base: int, count: int, entries: tuple[int, ...]) -> None:
        """Compile the code that lies there, from some addresses on; what it does stays the same, but for the time."""
        code = self.read_memory(base, count)
        library = load_object([translated_code(Target.host(), code, base, entries)], [ENTRY], {})
        self._code = NativeCode("arm64", library.address(ENTRY), library)

    def execute(self, max_cycles: int) -> ExecutionResult:
        """Run each lane until it stops, or has run so many instructions."""
        if max_cycles < 1:
            raise ArgumentError(f"max_cycles is {max_cycles}; it is 1 or more")
        words = np.zeros(lane.RUN_WORDS, np.uint64)
        words[lane.MEMORY], words[lane.SIZE] = self._memory.address, self._size
        words[lane.LANES], words[lane.LIMIT] = self._lanes, max_cycles
        words[lane.STATES], words[lane.SPACING] = self._states.address, self._spacing
        start = time.perf_counter()
        block = np.array([words.ctypes.data], np.uint64).tobytes()
        workers = min(self._lanes, self._device.properties.cores)
        self._device.launch_native(self._code, block, workers, [words]).wait()
        elapsed = time.perf_counter() - start
        states = self.states
        cycles = states[:, lane.CYCLES]
        return ExecutionResult(
            int(cycles.sum()),
            elapsed,
            cycles,
            states[:, lane.PC],
            [REASONS[int(one)] for one in states[:, lane.REASON]],
        )


def _loaded(device: Any) -> Any:
    assert isinstance(device, CpuDevice)
    library = load_object([interpreter_code(Target.host())], [ENTRY], {})
    return NativeCode("arm64", library.address(ENTRY), library)
