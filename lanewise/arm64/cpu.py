"""ParallelCPU: AArch64 CPUs, one per lane, over memory that they share or that each has for itself."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lanewise.arm64 import lane
from lanewise.arm64.arguments import (
    address_range,
    check_rows,
    content_of,
    entries_of,
    instructions,
    lane_number,
    listed,
    memory_choice,
    shaped,
    whole,
    yes_or_no,
)
from lanewise.arm64.debugging import Debugger
from lanewise.arm64.machine import HLT, REASONS, RUNNING
from lanewise.arm64.result import ExecutionResult
from lanewise.arm64.runners import Wanted, runner_for
from lanewise.arm64.slices import Going, Slices
from lanewise.arm64.warps import Warps
from lanewise.devices import Device
from lanewise.devices import device as find_device
from lanewise.errors import ArgumentError, OutOfMemoryError

if TYPE_CHECKING:
    from lanewise.arm64.linux.elf import Program

Array = np.ndarray[Any, Any]

_MOST_LANES = 2**32 - 1
_SLICE_SECONDS = 0.1
"""Lanes run in slices of about so long, so that Ctrl-C is heard in between."""


class ParallelCPU:
    """CPUs that run the instructions in their memory."""

    def __init__(
        self,
        num_lanes: int = 32,
        memory_size: int = 4 << 20,
        memory: Literal["shared", "private"] = "shared",
        device: str | Device = "auto",
        memory_start: int = 0,
    ) -> None:
        """Lanes see their memory from the address `memory_start` on; what is below is not there, nor what is beyond."""
        self._lanes = whole(num_lanes, "num_lanes", 1, _MOST_LANES)
        self._size = whole(memory_size, "memory_size", lane.LARGEST_ACCESS, 2**48)
        if self._size % 4:
            raise ArgumentError(f"memory_size is {self._size}; it must be a multiple of 4, the size of an instruction")
        self._start = whole(memory_start, "memory_start", 0, 2**48)
        if self._start % 16:
            raise ArgumentError(f"memory_start is {self._start:#x}; it must be a multiple of 16")
        private = memory_choice(memory) == "private"
        self.device: Any = find_device(device) if isinstance(device, str) else device
        if not isinstance(self.device, Device):
            raise ArgumentError(f"device is {device!r}; it is a name such as 'cpu', or a device")
        self.runner = runner_for(self.device)
        """How lanes run there, and how their memory is reached."""
        self._spacing = self.runner.spacing(self._size) if private else 0
        try:
            self._memory = self.device.zeros(self._spacing * self._lanes if private else self._size, np.uint8)
            self._states = self.device.zeros((self._lanes, lane.WORDS), np.uint64)
            self._summaries = self.device.zeros((self._lanes, len(lane.SUMMARY)), np.uint64)
            self._answers = self.device.zeros((self._lanes, lane.ANSWER_WORDS), np.uint64)
            self._modified = self.device.zeros(self._lanes if private else 1, np.uint64)
            self._samples = self.device.zeros((lane.SAMPLE_SLOTS, 2), np.uint64)
        except OutOfMemoryError as error:
            what = "each" if private else "that they share"
            message = f"memory for {self._lanes:,} lanes with {self._size:,} bytes {what} cannot be had: {error}"
            raise OutOfMemoryError(message) from None
        if private:
            self.runner.expect_gaps(self._memory.address, self._memory.nbytes)
        self.debugger = Debugger(self)
        """Breakpoints, watchpoints, traces and disassembly."""
        self._program: Program | None = None
        """What `load_elf` has loaded."""
        self._translation: Wanted | None = None
        self._units: Any = None
        """Of the translation, the unit of each word."""
        self._entries: set[int] = set()
        """Of the translation, addresses that lanes may come to from elsewhere."""
        self._loaded: Any = None
        """What the runner runs now."""
        self._warps = self._new_warps()
        self._ran: int | None = None
        """Instructions that all lanes had run when the last slice was over, if that was counted."""

    def __repr__(self) -> str:
        kind = "of its own" if self._spacing else "shared"
        return f"<ParallelCPU: {self._lanes:,} lanes on {self.device.name}, {self._size:,} bytes of memory, {kind}>"

    def get_num_lanes(self) -> int:
        """How many lanes there are."""
        return self._lanes

    @property
    def memory_size(self) -> int:
        """Bytes of memory, of each lane where they have their own."""
        return self._size

    @property
    def memory_start(self) -> int:
        """The address of memory's first byte."""
        return self._start

    @property
    def private(self) -> bool:
        """Whether each lane has memory of its own."""
        return bool(self._spacing)

    @property
    def functions(self) -> dict[str, int]:
        """Where functions of the program begin that `load_elf` has loaded, as far as its file has names for them."""
        return {} if self._program is None else dict(self._program.functions())

    # --- programs ----------------------------------------------------------------------------------------------------

    def load_program(self, program: bytes, address: int = 0) -> None:
        """Put machine code into memory, into that of every lane where each has its own."""
        content = content_of(program, "program")
        if address_range(address, len(content), self._size, self._start) % 4:
            raise ArgumentError(f"address is {address:#x}; instructions are at multiples of 4")
        self.write_memory(address, content)

    def load_elf(self, path: str | Path | bytes, argv: Any = None, env: Any = None) -> None:
        """Put a static program of Linux into the memory of every lane, with stacks, and have lanes begin where it does.

        `argv` and `env` are those of all lanes, or a list or function of them, as for `run_linux`, which also does what
        programs call for: here a lane stops at each call.
        """
        from lanewise.arm64.linux import given, loading  # who runs machine code does without
        from lanewise.arm64.linux.elf import read_program
        from lanewise.arm64.linux.stack import RANDOM_BYTES

        program = read_program(path, self._start)
        arguments = given.arguments(argv, self._lanes, program.name)
        environments = given.environments(env, self._lanes)
        random = [os.urandom(RANDOM_BYTES) for _ in range(self._lanes)]
        loading.load(self, program, arguments, environments, random)
        self._program = program

    def begin_anew(self) -> None:
        """Have lanes and their memory be as they were at first: all 0."""
        self._program = None
        self._translation = self._ran = None
        self.runner.clear(self._memory)
        for words in (self._states, self._summaries, self._answers, self._modified):
            self.device.fill(words.buffer, 0, words.nbytes)

    def halt_from(self, number: int) -> None:
        """Have lanes from this number on do nothing when lanes go on."""
        if number < self._lanes:
            states = self._copied(self._states)
            states[number:, lane.REASON] = HLT
            self.runner.write(self._states.address, states.tobytes())

    def set_pc_all(self, pc: int) -> None:
        """Where all lanes go on."""
        self.pcs = np.full(self._lanes, whole(pc, "pc", 0, 2**64 - 1), np.uint64)

    def set_pc_lane(self, number: int, pc: int) -> None:
        """Where one lane goes on."""
        self._set(number, lane.PC, [whole(pc, "pc", 0, 2**64 - 1)])
        self._set(number, lane.SPECIAL["passed"], [0])

    def get_lane_pc(self, number: int) -> int:
        """Where one lane goes on."""
        return int(self._get(number, lane.PC, 1)[0])

    # --- registers ---------------------------------------------------------------------------------------------------

    def get_lane_registers(self, number: int) -> Array:
        """X0 to X30 of a lane, and its stack pointer as the last."""
        return self._get(number, lane.REGISTERS, 32)

    def set_registers_lane(self, number: int, registers: Iterable[int] | dict[int, int]) -> None:
        """Set registers of a lane: the first ones from a list, or some by their numbers; 31 is the stack pointer."""
        given = registers if isinstance(registers, dict) else dict(enumerate(listed(registers, "registers")))
        found = self.get_lane_registers(number)
        for at, value in given.items():
            found[whole(at, "the number of a register", 0, 31)] = (
                whole(value, f"register {at}", -(2**63), 2**64 - 1) & 2**64 - 1
            )
        self._set(number, lane.REGISTERS, found)

    def get_lane_vectors(self, number: int) -> Array:
        """V0 to V31 of a lane, two words of 8 bytes each, the lower one first."""
        return self._get(number, lane.VECTORS, 64).reshape(32, 2)

    def set_vectors_lane(self, number: int, vectors: Any) -> None:
        """Set V0 to V31 of a lane, two words each, the lower one first; or some of them, by their numbers."""
        found = self.get_lane_vectors(number)
        if isinstance(vectors, dict):
            for at, value in vectors.items():
                found[whole(at, "the number of a vector", 0, 31)] = shaped(value, (2,), f"the words of vector {at}")
        else:
            found[:] = shaped(vectors, found.shape, "vectors")
        self._set(number, lane.VECTORS, found.reshape(-1))

    def get_lane_flags(self, number: int) -> tuple[bool, bool, bool, bool]:
        """N, Z, C and V of a lane."""
        word = int(self._get(number, lane.FLAGS, 1)[0])
        return bool(word >> 31 & 1), bool(word >> 30 & 1), bool(word >> 29 & 1), bool(word >> 28 & 1)

    def set_flags_lane(self, number: int, n: bool, z: bool, c: bool, v: bool) -> None:
        """Set N, Z, C and V of a lane."""
        bits = [yes_or_no(flag, name) for flag, name in ((n, "n"), (z, "z"), (c, "c"), (v, "v"))]
        self._set(number, lane.FLAGS, [sum(bit << 31 - at for at, bit in enumerate(bits))])

    @property
    def registers(self) -> Array:
        """X0 to X30 and the stack pointer of all lanes, a row for each."""
        return self._copied(self._states)[:, lane.REGISTERS : lane.REGISTERS + 32].copy()

    @registers.setter
    def registers(self, value: Any) -> None:
        self._set_all(lane.REGISTERS, 32, value, "registers")

    @property
    def vectors(self) -> Array:
        """V0 to V31 of all lanes: lane, register, word."""
        return self._copied(self._states)[:, lane.VECTORS : lane.VECTORS + 64].reshape(self._lanes, 32, 2).copy()

    @vectors.setter
    def vectors(self, value: Any) -> None:
        rows = shaped(value, (self._lanes, 32, 2), "vectors")
        self._set_all(lane.VECTORS, 64, rows.reshape(self._lanes, 64), "vectors")

    @property
    def pcs(self) -> Array:
        """Where all lanes go on."""
        return self._copied(self._states)[:, lane.PC].copy()

    @pcs.setter
    def pcs(self, value: Any) -> None:
        self._set_all(lane.PC, 1, shaped(value, (self._lanes,), "pcs").reshape(-1, 1), "pcs")
        self._set_all(lane.SPECIAL["passed"], 1, np.zeros((self._lanes, 1), np.uint64), "passed")

    @property
    def flags(self) -> Array:
        """The flags of all lanes as in the register NZCV: N is bit 31, V bit 28."""
        return self._copied(self._states)[:, lane.FLAGS].copy()

    @flags.setter
    def flags(self, value: Any) -> None:
        words = shaped(value, (self._lanes,), "flags") & np.uint64(lane.FLAG_BITS)
        self._set_all(lane.FLAGS, 1, words.reshape(-1, 1), "flags")

    @property
    def fpcr(self) -> Array:
        """FPCR of all lanes: how floating point is to be done."""
        return self._copied(self._states)[:, lane.FLOATING] >> np.uint64(32)

    @fpcr.setter
    def fpcr(self, value: Any) -> None:
        self._set_floating(shaped(value, (self._lanes,), "fpcr"), self.fpsr)

    @property
    def fpsr(self) -> Array:
        """FPSR of all lanes: what became of it."""
        return self._copied(self._states)[:, lane.FLOATING] & np.uint64(lane.FPSR_BITS)

    @fpsr.setter
    def fpsr(self, value: Any) -> None:
        self._set_floating(self.fpcr, shaped(value, (self._lanes,), "fpsr"))

    def _set_floating(self, fpcr: Array, fpsr: Array) -> None:
        """Set both; bits that they do not have stay 0, as when a program sets them."""
        words = (fpcr & np.uint64(lane.FPCR_BITS)) << np.uint64(32) | fpsr & np.uint64(lane.FPSR_BITS)
        self._set_all(lane.FLOATING, 1, words.reshape(-1, 1), "fpcr and fpsr")

    def _get(self, number: int, word: int, count: int) -> Array:
        at = self._states.address + (lane_number(number, self._lanes) * lane.WORDS + word) * 8
        return np.frombuffer(self.runner.read(at, count * 8), np.uint64).copy()

    def _set(self, number: int, word: int, values: Any) -> None:
        at = self._states.address + (lane_number(number, self._lanes) * lane.WORDS + word) * 8
        self.runner.write(at, np.asarray(values, np.uint64).tobytes())

    def _copied(self, words: Any) -> Array:
        """Words of the device, none of whose lanes runs now."""
        return np.frombuffer(self.runner.read(words.address, words.nbytes), np.uint64).reshape(words.shape).copy()

    def _set_all(self, word: int, count: int, value: Any, what: str) -> None:
        states = self._copied(self._states)
        states[:, word : word + count] = shaped(value, (self._lanes, count), what)
        self.runner.write(self._states.address, states.tobytes())

    # --- memory ------------------------------------------------------------------------------------------------------

    def read_memory(self, address: int, count: int, number: int = 0) -> bytes:
        """Bytes of memory; of that of one lane where each has its own."""
        return self.runner.read(self._place(address, count, number), count)

    def write_memory(self, address: int, data: Any, number: int | None = None) -> None:
        """Set bytes of memory: of one lane where each has its own, or of all of them.

        Data are bytes, or an array of bytes with a row for each lane.
        """
        if isinstance(data, np.ndarray) and data.ndim == 2 and number is None:
            check_rows(data, self._lanes, private=self.private)
            self._drop_translation(address, data.shape[1])
            self.runner.write_all(
                [(self._place(address, data.shape[1], one), row.tobytes()) for one, row in enumerate(data)]
            )
            return
        content = content_of(data, "data")
        every = number is None and self._spacing
        if every and self.runner.far:
            self.write_memory_everywhere(address, content)
            return
        address_range(address, len(content), self._size, self._start)
        self._drop_translation(address, len(content))
        for one in range(self._lanes) if every else (0 if number is None else number,):
            self.runner.write(self._place(address, len(content), one), content)

    def write_memory_everywhere(self, address: int, data: bytes) -> None:
        """Set the same bytes in the memory of all lanes, as few times as the device can do with."""
        data = content_of(data, "data")
        address_range(address, len(data), self._size, self._start)
        self._drop_translation(address, len(data))
        lanes = self._lanes if self._spacing else 1
        self.runner.write_many([self._place(address, len(data), one) for one in range(lanes)], data)

    def _drop_translation(self, address: int, count: int) -> None:
        """Forget it if what it was made from is about to change."""
        made = self._translation
        if made is not None and address < made.base + len(made.code) and address + count > made.base:
            self._translation = None

    def read_memory_all(self, address: int, count: int) -> Array:
        """The same bytes of each lane's own memory, a row for each."""
        count, lanes = whole(count, "count", 0, self._size), self._lanes if self._spacing else 1
        rows = self.runner.read_all([(self._place(address, count, one), count) for one in range(lanes)])
        return np.frombuffer(b"".join(rows), np.uint8).reshape(lanes, count).copy()

    def write_memory_u32(self, address: int, value: int, number: int | None = None) -> None:
        """Set a word of 4 bytes."""
        self.write_memory(
            address, (whole(value, "value", -(2**31), 2**32 - 1) & 2**32 - 1).to_bytes(4, "little"), number
        )

    def modified_place(self, number: int) -> int:
        """Where on the device it is said that a lane's translated code has been changed."""
        return int(self._modified.address) + 8 * (lane_number(number, self._lanes) if self._spacing else 0)

    def memory_place(self, number: int) -> int:
        """Where on the device a lane's memory begins."""
        return int(self._memory.address) + lane_number(number, self._lanes) * self._spacing

    def _place(self, address: int, count: int, number: int) -> int:
        offset = address_range(address, count, self._size, self._start) - self._start
        return self.memory_place(number) + offset

    # --- running -----------------------------------------------------------------------------------------------------

    def translate(self, address: int, count: int, entries: Iterable[int] | None = None) -> None:
        """Have the code that lies there compiled before lanes run next, from some addresses on.

        By default those are where lanes are, and on a CPU all `functions`: a GPU's compiler takes far longer for all of
        a program. What lanes do stays the same, but for the time. A lane that changes that code is interpreted from
        then on. Entries that are not in that code are left out.
        """
        address_range(address, count, self._size, self._start)
        first, length = instructions(address, count)
        code = self.read_memory(first, length)
        if self._spacing and not (self.read_memory_all(first, length) == np.frombuffer(code, np.uint8)).all():
            raise ArgumentError("lanes have different code there, so that one translation cannot be that of all")
        named = () if self.runner.far else self.functions.values()
        starts = {*map(int, self.pcs), *named} if entries is None else set(entries_of(entries))
        self._translation = Wanted(first, code, tuple(sorted(starts)), range(self._start, self._start + self._size))
        self._modified.set(np.zeros_like(self._modified.get()))

    def use_translation(self, wanted: Wanted | None) -> None:
        """Run by a translation whose code is still what is in memory, or by none."""
        if wanted != self._loaded:
            self._samples.set(np.zeros((lane.SAMPLE_SLOTS, 2), np.uint64))
        self._translation = wanted

    def untranslated(self) -> dict[int, int]:
        """Addresses at which lanes were that are not translated, and how often: entries for the next translation.

        If there are many, some are forgotten.
        """
        slots = self._copied(self._samples)
        found = {int(address): int(count) for address, count in slots if count}
        return {address: count for address, count in found.items() if address not in self._entries}

    def step(self) -> ExecutionResult:
        """Run one instruction of each lane."""
        return self.execute(1)

    def execute(self, max_cycles: int) -> ExecutionResult:
        """Run each lane until it stops, or has run so many instructions."""
        limit = whole(max_cycles, "max_cycles", 1, 2**63)
        words = self._told()
        words[lane.LIMIT] = limit
        slices, start, active = Slices(), time.perf_counter(), self._lanes
        while True:
            before = time.perf_counter()
            going, _ = self._run_slice(words, slices, active)
            words[lane.FRESH] = 0
            if not going.some:
                break
            if self._warps.at_once < self._lanes:  # the last of them need not wait for each other
                active = int((self._copied(self._summaries)[:, lane.SUMMARY.index(lane.REASON)] == RUNNING).sum())
            slices.adapt(time.perf_counter() - before, _SLICE_SECONDS, full=True, paused=going.paused)
        elapsed = time.perf_counter() - start
        pcs, cycles, reasons, details = self._copied(self._summaries).T[:4].copy()
        why = [REASONS[int(one)] for one in reasons]
        return ExecutionResult(int(cycles.sum()), elapsed, cycles, pcs, why, details)

    def resume(self, answers: Array, active: int, slices: Slices, limit: int) -> tuple[Array, Going]:
        """Let lanes go on for a slice that have not stopped, and those that get an answer to their call of the system.

        `answers` has a row for each lane: whether there is one, and what X0 becomes. So many lanes will be `active`.
        Nobody runs more than `limit` instructions altogether. Gives what `lane.SUMMARY` says of each lane.
        """
        words = self._told()
        words[lane.FRESH], words[lane.LIMIT] = 0, limit
        words[lane.ANSWERS] = self._answers.address
        self.runner.write(self._answers.address, answers.tobytes())
        going, summaries = self._run_slice(words, slices, active)
        return self._copied(self._summaries) if summaries is None else summaries, going

    def _run_slice(self, words: Array, slices: Slices, active: int) -> tuple[Going, Array | None]:
        """Let lanes run for a slice, and find out how many of them a warp should have; gives summaries if that took
        them."""
        length = self._warps.slice_of(slices.length)
        slices.cut_short = length < slices.length
        words[lane.SLICE], words[lane.INTERPRETED], words[lane.NEXT] = length, slices.interpreted, 0
        words[lane.PER_WARP], at_once = self._warps.lanes, self._warps.at_once
        if not self.runner.far or self._warps.settled:
            return self.runner.run(words, self._lanes, active, at_once), None
        if words[lane.FRESH]:
            self._ran = 0
        elif self._ran is None:
            self._ran = _instructions(self._copied(self._summaries))
        had, before = self._ran, time.perf_counter()
        going = self.runner.run(words, self._lanes, active, at_once)
        seconds = time.perf_counter() - before
        summaries = self._copied(self._summaries)
        self._ran = _instructions(summaries)
        self._warps.ran(length, self._ran - had, seconds)
        return going, summaries

    def _new_warps(self) -> Warps:
        """Lanes that share memory may wait for each other, so that none is to run behind others."""
        return Warps(self._lanes, self.runner.warps if self._spacing else 0)

    def load_anew(self) -> None:
        """Have lanes go on by the best code that there is by now."""
        self._loaded = None

    def prepare(self) -> None:
        """Have the code ready that lanes run by, which may take a while where it is to be compiled."""
        self._told()

    def _told(self) -> Array:
        """What a run is told, but for how far it goes."""
        translation = None if self.debugger.active else self._translation
        wanted = translation or self.debugger.active
        if self._loaded != wanted or self._loaded is None:
            table = np.frombuffer(self.runner.load(translation, self.debugger.active), np.uint32)
            self._units = self.device.array(table) if table.size else None
            base = 0 if translation is None else translation.base
            self._entries = {base + 4 * at for at in np.flatnonzero(table).tolist()}
            self._loaded = wanted
            self._warps, self._ran = self._new_warps(), None  # those that were settled were not counted
        words = np.zeros(lane.RUN_WORDS, np.uint64)
        words[lane.MEMORY], words[lane.SIZE] = self._memory.address, self._size
        words[lane.LANES], words[lane.SPACING], words[lane.START] = self._lanes, self._spacing, self._start
        words[lane.STATES], words[lane.SUMMARIES] = self._states.address, self._summaries.address
        words[lane.DEBUG] = self.debugger.address
        words[lane.MODIFIED], words[lane.MODIFIED_STEP] = self._modified.address, 8 if self._spacing else 0
        if self._translation is not None:
            words[lane.CODE], words[lane.CODE_BYTES] = self._translation.base, len(self._translation.code)
            words[lane.UNITS] = 0 if self._units is None else self._units.address
            words[lane.SAMPLES] = self._samples.address
            words[lane.STEPS] = lane.FEW_STEPS if self._translation.entries else lane.SAMPLED_STEPS
        words[lane.FRESH], words[lane.LIMIT] = 1, 2**64 - 1
        return words


def _instructions(summaries: Array) -> int:
    """How many all lanes have run."""
    return int(summaries[:, lane.SUMMARY.index(lane.CYCLES)].sum())
