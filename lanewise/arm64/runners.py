"""How lanes run on a device: their code is loaded, and a launch runs each of them for a while."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

from lanewise.arm64 import lane
from lanewise.arm64.entry import ENTRY
from lanewise.arm64.mapping import map_copies, map_empty
from lanewise.arm64.program import is_translated, launch_code, translated_code
from lanewise.arm64.slices import Going
from lanewise.arm64.transfers import read_pieces, repeat_piece, write_pieces
from lanewise.compiler import Target, load_object
from lanewise.devices import DeviceArray
from lanewise.devices.cpu import CpuDevice
from lanewise.devices.cpu_launch import NativeCode
from lanewise.devices.cuda import CudaDevice
from lanewise.errors import ArgumentError

Words = np.ndarray[Any, np.dtype[np.uint64]]
_GROUP = 64
_WARP = 32
_LINE = 128
"""Bytes of a line of a GPU's caches."""
_MOST_SHARED = 8192
"""Places that are mapped; a process can have some 65,000 mappings."""
_NATIVE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True)
class Wanted:
    """What is to be translated: the code at an address, from some entries on, for memory that has some addresses."""

    base: int
    code: bytes
    entries: tuple[int, ...]
    memory: range
    calls: bool = True
    """Whether what is called from there is translated, too."""
    hurry: bool = False
    """Whether lanes are to begin soon, by a slower interpreter if need be."""

    def pieces(self, target: Target) -> list[bytes]:
        """The translation, from the cache or compiled: the table of its units first."""
        return translated_code(target, *self._given())

    def is_there(self, target: Target) -> bool:
        """Whether it is made already."""
        return is_translated(target, *self._given())

    def _given(self) -> tuple[bytes, int, tuple[int, ...], range, bool]:
        if not self.entries:  # which is the same for all programs
            return b"", 0, (), range(0), False
        return self.code, self.base, self.entries, self.memory, self.calls


def _pieces(target: Target, wanted: Wanted | None, debugging: bool) -> tuple[list[bytes], bytes]:
    """All code that a launch needs, and the table of the translation's units."""
    if wanted is None:
        return launch_code(target, debugging, translated=False), b""
    pieces = launch_code(target, debugging, True, wanted.hurry)
    table, *code = wanted.pieces(target)
    return pieces + code, table


class Runner(Protocol):
    """Lanes on one device."""

    far: bool
    """Whether each access takes long, so that many should be made at once."""
    target: Target
    """What code is compiled for."""

    @property
    def warps(self) -> int:
        """Warps that a GPU runs at a time; 0 where there are none."""

    def spacing(self, size: int) -> int:
        """Bytes from one lane's memory of that size to the next one's, a multiple of 16."""

    def load(self, wanted: Wanted | None, debugging: bool) -> bytes:
        """Make code ready: the interpreter, or that which looks for breakpoints, and a translation if one is wanted.

        Gives the table of its units.
        """

    def run(self, words: Words, lanes: int, active: int, at_once: int) -> Going:
        """Run all lanes as the words say, of which so many will do something, and wait; on a GPU so many at once."""

    def read(self, address: int, count: int) -> bytes:
        """Bytes of the device."""

    def write(self, address: int, data: bytes) -> None:
        """Set bytes of the device."""

    def read_all(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """Bytes of several places: addresses and counts."""

    def write_all(self, writes: Sequence[tuple[int, bytes]]) -> None:
        """Set bytes at several places, which do not overlap."""

    def write_many(self, addresses: Sequence[int], data: bytes) -> None:
        """Set the same bytes at several places."""

    def clear_part(self, address: int, count: int) -> None:
        """Set bytes to 0, at the cost of what of them was used; none of them are where many were written at once."""

    def expect_gaps(self, address: int, count: int) -> None:
        """Lanes will leave most of this memory untouched."""

    def clear(self, memory: DeviceArray) -> None:
        """Set memory to 0 that lanes have used."""


def _native(wanted: Wanted | None, debugging: bool) -> tuple[NativeCode, bytes]:
    pieces, table = _pieces(Target.host(), wanted, debugging)
    library = load_object(pieces, [ENTRY], {})
    return NativeCode("arm64", library.address(ENTRY), library), table


@cache
def _interpreter(debugging: bool) -> tuple[NativeCode, bytes]:
    """What all who translate nothing run; a short program would be over before it is loaded again."""
    return _native(None, debugging)


class CpuRunner:
    """Cores take lane after lane."""

    far = False
    warps = 0

    def __init__(self, device: CpuDevice) -> None:
        self._device = device
        self.target = Target.host()
        self._code: NativeCode | None = None

    def spacing(self, size: int) -> int:
        return -(-size // 16) * 16

    def load(self, wanted: Wanted | None, debugging: bool) -> bytes:
        self._code, table = _interpreter(debugging) if wanted is None else _native(wanted, debugging)
        return table

    def run(self, words: Words, lanes: int, active: int, at_once: int) -> Going:
        assert self._code is not None
        words[lane.GOING] = words[lane.PAUSED] = 0
        block = np.array([words.ctypes.data], np.uint64)
        if active <= 1:  # handing it to another thread would take longer than many a call of the system
            _NATIVE(self._code.entry)(None, None, block.ctypes.data)
            return _going(words)
        workers = min(active, self._device.properties.cores)
        launch = self._device.launch_native(self._code, block.tobytes(), workers, [words])
        launch.wait_through()  # a slice is short, and half of one would leave lanes without their registers
        return _going(words)

    def read(self, address: int, count: int) -> bytes:
        return ctypes.string_at(address, count)

    def write(self, address: int, data: bytes) -> None:
        ctypes.memmove(address, data, len(data))

    def read_all(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        return [ctypes.string_at(address, count) for address, count in spans]

    def write_all(self, writes: Sequence[tuple[int, bytes]]) -> None:
        for address, data in writes:
            ctypes.memmove(address, data, len(data))

    def write_many(self, addresses: Sequence[int], data: bytes) -> None:
        """Whole pages are those of one file at first: lanes have their own of those that they change."""
        shared = len(data) // mmap.PAGESIZE * mmap.PAGESIZE
        whole = [at for at in addresses if at % mmap.PAGESIZE == 0][:_MOST_SHARED] if len(addresses) > 1 else []
        done = set(map_copies(whole, data[:shared])) if whole and shared else set()
        for address in addresses:
            if address not in done:
                self.write(address, data)
            else:
                self.write(address + shared, data[shared:])

    def clear_part(self, address: int, count: int) -> None:
        """Whole pages are given back, and are 0 when they are touched again."""
        first = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
        end = (address + count) // mmap.PAGESIZE * mmap.PAGESIZE
        room = ctypes.c_size_t(max(end - first, 0))
        if first >= end or ctypes.CDLL(None).madvise(ctypes.c_void_p(first), room, mmap.MADV_DONTNEED):
            ctypes.memset(address, 0, count)  # too few, or locked in memory
        else:
            ctypes.memset(address, 0, first - address)
            ctypes.memset(end, 0, address + count - end)

    def expect_gaps(self, address: int, count: int) -> None:
        """With huge pages a lane that touches a few bytes in some places would take megabytes for each."""
        first = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
        if address + count > first:
            room = ctypes.c_size_t(address + count - first)
            ctypes.CDLL(None).madvise(ctypes.c_void_p(first), room, mmap.MADV_NOHUGEPAGE)

    def clear(self, memory: DeviceArray) -> None:
        """New pages take the place of those that were touched; of what is not a whole page, the bytes are set."""
        first = -(-memory.address // mmap.PAGESIZE) * mmap.PAGESIZE
        end = (memory.address + memory.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
        if first >= end or not map_empty(first, end - first):
            self._device.fill(memory.buffer, 0, memory.nbytes)
            return
        ctypes.memset(memory.address, 0, first - memory.address)
        ctypes.memset(end, 0, memory.address + memory.nbytes - end)
        self.expect_gaps(first, end - first)


class CudaRunner:
    """A thread a lane, in as many warps as are wanted."""

    far = True

    def __init__(self, device: CudaDevice) -> None:
        self._device = device
        self.target = device.target
        self._kernel: Any = None

    @property
    def warps(self) -> int:
        """By the registers of the code that is loaded."""
        return 0 if self._kernel is None else self._device.threads_at_once(self._kernel, _GROUP) // _WARP

    def spacing(self, size: int) -> int:
        """An odd number of lines: with an even one, what lanes have at the same address would meet in few sets of a
        cache."""
        return (-(-size // _LINE) | 1) * _LINE

    def load(self, wanted: Wanted | None, debugging: bool) -> bytes:
        pieces, table = _pieces(self._device.target, wanted, debugging)
        self._kernel = self._device.load_native(pieces, "arm64", ENTRY, "Q", 0)
        return table

    def run(self, words: Words, lanes: int, active: int, at_once: int) -> Going:
        words[lane.GOING] = words[lane.PAUSED] = 0
        if active <= at_once:  # wherever they are among the others, who do nothing
            at_once = lanes
        turns = np.tile(words, (-(-lanes // at_once), 1))
        turns[:, lane.NEXT] = np.arange(0, lanes, at_once)
        turns[:, lane.LANES] = np.minimum(turns[:, lane.NEXT] + np.uint64(at_once), lanes)
        told = self._device.array(turns)
        threads = -(-min(at_once, lanes) // int(words[lane.PER_WARP])) * _WARP
        try:
            for turn in range(len(turns)):
                address = told.address + turn * words.nbytes
                self._device.launch_native(self._kernel, threads, min(_GROUP, threads), [address])
            self._device.synchronize()
        except KeyboardInterrupt:
            self._device.synchronize()
            raise
        return _going(told.get().max(axis=0))

    def read(self, address: int, count: int) -> bytes:
        return self._device.read(address, count).tobytes()

    def write(self, address: int, data: bytes) -> None:
        self._device.write(address, data)

    def read_all(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        return read_pieces(self._device, spans)

    def write_all(self, writes: Sequence[tuple[int, bytes]]) -> None:
        write_pieces(self._device, writes)

    def write_many(self, addresses: Sequence[int], data: bytes) -> None:
        repeat_piece(self._device, addresses, data)

    def clear_part(self, address: int, count: int) -> None:
        self._device.clear(address, count)

    def expect_gaps(self, address: int, count: int) -> None:
        """All of it is there from the beginning."""

    def clear(self, memory: DeviceArray) -> None:
        self._device.fill(memory.buffer, 0, memory.nbytes)


def _going(words: Words) -> Going:
    """What lanes have said in the words of a run."""
    return Going(bool(words[lane.GOING]), bool(words[lane.PAUSED]))


def runner_for(device: Any) -> Runner:
    """The runner of a device."""
    if isinstance(device, CpuDevice):
        return CpuRunner(device)
    if isinstance(device, CudaDevice):
        return CudaRunner(device)
    raise ArgumentError(f"the device {device.name} runs nothing; write cpu or cuda")
