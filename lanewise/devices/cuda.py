"""The CUDA device: kernels compiled to PTX, checked launches, faults and traps turned into errors."""

from __future__ import annotations

import bisect
import itertools
import os
import struct
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from threading import get_ident
from typing import Any

import numpy as np

from lanewise import settings
from lanewise.compiler import Target, bundle, compile_module, compiling
from lanewise.devices.arguments import ArgumentPacker
from lanewise.devices.arrays import DeviceArray
from lanewise.devices.base import Buffer, Device, Launch, Properties
from lanewise.devices.cuda_driver import FORKED, device_count
from lanewise.devices.cuda_engine import Engine, LocalEngine, MappedMemory
from lanewise.devices.cuda_remote import RemoteEngine
from lanewise.devices.foreign import ForeignArray
from lanewise.devices.shapes import check_shape
from lanewise.devices.traps import trap_error
from lanewise.errors import ArgumentError, DeviceError, DeviceLostError, NoDeviceError
from lanewise.lang.abi_nvptx import NvptxAbi, runs_in_strides, stack_bytes
from lanewise.lang.functions import Kernel
from lanewise.lang.program import Module, lower_kernel

__all__ = ["CudaDevice", "device_count"]

_GROUP_CLASSES = (256, 512, 1024)
"""A kernel is compiled for groups up to one of these sizes: the larger, the fewer registers a thread may have."""
_MAX_GROUPS = 2**31 - 2
_THREADS_IN_TURN = 4
"""How many threads of a large launch one hardware thread runs in turn: enough loads in flight, still many groups."""
_SPINS_BEFORE_SLEEP = 200
_SLEEP_SECONDS = 50e-6
_QUIET_PART = 8
"""A quiet wait looks again when another of so many parts of the time that it has taken is over: it ends that much later
at most, and looks the less often the longer it takes."""
_MOST_HELD = 256
"""How many launches with other libraries' arrays may be under way: beyond, a launch waits for the ones before it."""
_process_faulted = False
"""Whether a fault broke CUDA in this process, so that new devices need a process of their own."""


@dataclass(frozen=True)
class CudaKernel:
    """A kernel loaded for one class of group sizes, with or without overlapping arguments."""

    module: Module
    packer: ArgumentPacker
    handle: Any
    strides: bool
    """Whether a hardware thread can run several threads of a launch in turn."""


@dataclass(frozen=True)
class NativeKernel:
    """A kernel of a program that was not written in lang."""

    name: str
    handle: Any
    frame_bytes: int
    """Stack that the largest frame among its functions takes."""


class CudaLaunch(Launch):
    """A launch on a CUDA stream. The stream runs in order, so waiting for it covers this launch and all before it."""

    def __init__(self, device: CudaDevice) -> None:
        self._device = device

    def wait(self, timeout: float | None = None) -> bool:
        return self._device.wait(timeout)

    def wait_quietly(self) -> None:
        self._device.wait_quietly()

    @property
    def done(self) -> bool:
        return self._device.idle()


class _Loan:
    """Stands for another library's array as the owner of a wrapped buffer, and is dropped with the last use of it."""


class CudaDevice(Device):
    """One NVIDIA GPU. It uses the primary context, so that arrays of CuPy and PyTorch can be used in place."""

    forked = False
    """Whether this object came into a forked process, where CUDA does not work; it is lost there too."""

    def __init__(self, index: int = 0) -> None:
        self.name = f"cuda:{index}"
        self.index = index
        self.lost = False
        if _process_faulted:
            self._engine: Engine = RemoteEngine(index)
        else:
            count = device_count()
            if index >= count:
                raise NoDeviceError(f"there is no cuda:{index}; this machine has cuda:0 to cuda:{count - 1}")
            self._engine = LocalEngine(index)
        self.stream_handle = self._engine.stream_handle
        found = self._engine.describe()
        self.sm: int = found["major"] * 10 + found["minor"]
        """Its compute capability, in which digits follow each other."""
        self.target = Target.nvptx(self.sm)
        self.properties = Properties(
            name=found["name"],
            cores=found["cores"],
            resident_threads=found["cores"] * found["threads"],
            memory_bytes=found["memory"],
            max_group_size=min(found["group"], settings.MAX_GROUP_SIZE),
            details=(
                ("compute capability", f"{found['major']}.{found['minor']}"),
                ("driver", f"CUDA {found['driver'] // 1000}.{found['driver'] % 1000 // 10}"),
                ("L2 cache", f"{found['cache'] / 2**20:.0f} MiB"),
                ("time limit on kernels", "yes: long kernels are killed" if found["watchdog"] else "no"),
            ),
        )
        self._loaded: dict[tuple[Kernel, int, bool], CudaKernel] = {}
        self._loading = threading.Lock()
        self.measuring = threading.Lock()
        """Held by whoever takes the time of work on this GPU, which nobody else may do meanwhile."""
        self._shared: set[int] = set()
        self._trapped: deque[DeviceError] = deque()
        self._adopted: dict[int, list[ForeignArray]] = {}
        """Other libraries' arrays of the launch that a thread is about to make, by thread."""
        self._held: dict[int, Any] = {}
        """Other libraries' arrays that kernels may be at work on, in the order of the launches."""
        self._turns = itertools.count()
        _living.add(self)

    def _engine_now(self) -> Engine:
        if self.lost:
            if self.forked:
                raise DeviceError(FORKED)
            raise DeviceLostError(
                f"{self.name} faulted; what lived on it is gone, and lanewise.device() gives a new one"
            )
        return self._engine

    def _fault(self) -> None:
        """Remember that nothing works any more on this object, nor in this process if it was its own driver."""
        global _process_faulted
        self.lost = True
        if isinstance(self._engine, LocalEngine):
            _process_faulted = True

    # --- memory ------------------------------------------------------------------------------------------------------

    def alloc(self, nbytes: int) -> Buffer:
        what = f"{self.name} has no {nbytes:,} bytes free; free arrays or work in parts"
        return Buffer(self, self._guard(self._engine_now().alloc, nbytes, what), nbytes, release=self._release)

    def _release(self, address: int) -> None:
        shared = address in self._shared
        self._shared.discard(address)
        if not self.lost:
            self._guard(self._engine.free, address, shared)

    def share(self, address: int) -> None:
        """Note that another library has been given this memory."""
        self._engine_now()
        self._shared.add(address)

    def copy_in(self, target: Buffer, source: np.ndarray[Any, Any]) -> None:
        if source.nbytes:
            self._guard(self._engine_now().copy_in, self.usable(target, source.nbytes), source)

    def copy_out(self, target: np.ndarray[Any, Any], source: Buffer) -> None:
        self.wait()
        if target.nbytes:
            self._guard(self._engine_now().copy_out, target, self.usable(source, target.nbytes))

    def copy(self, target: Buffer, source: Buffer, nbytes: int) -> None:
        self._guard(self._engine_now().copy, self.usable(target, nbytes), self.usable(source, nbytes), nbytes)

    def fill(self, target: Buffer, byte: int, nbytes: int) -> None:
        if nbytes:
            self._guard(self._engine_now().fill, self.usable(target, nbytes), byte, nbytes)

    def _guard(self, operation: Any, *args: Any) -> Any:
        """Do something with the engine, noting when the device is lost by it."""
        try:
            return operation(*args)
        except BaseException:
            if not self._engine.alive:
                self._fault()
            raise

    def check_foreign(self, found: ForeignArray, what: str) -> None:
        if not found.on_cuda:
            raise ArgumentError(
                f"{what} lives on the host, the launch is on {self.name}; copy it with device.array(...)"
            )
        index = found.cuda_index
        if index is None and found.address:
            index = self._guard(self._engine_now().owner_of, found.address)
        if index is not None and index != self.index:
            raise ArgumentError(f"{what} lives on cuda:{index}, the launch is on {self.name}; copy it there")
        if found.stream is not None and found.stream != self.stream_handle:
            self._guard(self._engine_now().wait_for, found.stream)
        self.idle()  # lets go of what launches before this one held
        self._adopted.setdefault(get_ident(), []).append(found)

    def wrap(self, foreign: Any) -> DeviceArray:
        made = super().wrap(foreign)
        self._adopted.pop(get_ident(), None)
        # Kernels may still be at work on it when the last use of it is dropped.
        loan, found = _Loan(), made.buffer.owner
        weakref.finalize(loan, self._hold, found).atexit = False
        made.buffer.owner = loan
        return made

    def _hold(self, found: Any) -> None:
        """Keep other libraries' arrays until the stream is idle; their owners may drop them before kernels end."""
        self._held[next(self._turns)] = found

    # --- launches ----------------------------------------------------------------------------------------------------

    def prepare(self, kernel: Kernel, group_size: int = settings.DEFAULT_GROUP_SIZE) -> None:
        self._load(kernel, group_size, True)

    def _load(self, kernel: Kernel, group_size: int, disjoint: bool) -> CudaKernel:
        limit = _GROUP_CLASSES[bisect.bisect_left(_GROUP_CLASSES, group_size)]
        found = self._loaded.get((kernel, limit, disjoint))
        if found is None:
            with self._loading:  # a kernel is loaded once, since traps name it by its handle
                found = self._loaded.get((kernel, limit, disjoint)) or self._load_new(kernel, limit, disjoint)
        return found

    def _load_new(self, kernel: Kernel, limit: int, disjoint: bool) -> CudaKernel:
        engine = self._engine_now()
        module = lower_kernel(kernel, NvptxAbi(limit, disjoint))
        packer = ArgumentPacker(kernel, self)
        stack = stack_bytes(module.facts) if module.facts.recursive else 0
        with compiling(f"the kernel {kernel.name} for the GPU"):  # by LLVM, then by the driver as it is loaded
            ptx = compile_module(module.ir, self.target, name=f"{kernel.name}.cuda", source=module.source).code
            handle = self._guard(
                engine.load, bundle([ptx]), kernel.name, module.entry, packer.offsets, packer.layout.format, stack
            )
        found = CudaKernel(module, packer, handle, runs_in_strides(module.facts))
        self._loaded[kernel, limit, disjoint] = found
        return found

    def launch(self, kernel: Kernel, threads: int, group_size: int, args: Sequence[Any]) -> Launch:
        check_shape(kernel, threads, group_size, self.properties.max_group_size)
        loaded = self._load(kernel, group_size, _disjoint(kernel, args))
        try:
            values = loaded.packer.values(args)
            if threads:
                groups = -(-threads // group_size)
                if groups > _MAX_GROUPS:
                    raise ArgumentError(
                        f"kernel {kernel.name}: {groups:,} groups; a GPU takes {_MAX_GROUPS:,}, so make groups larger"
                    )
                if loaded.strides and groups > self.properties.resident_threads // group_size:
                    groups = -(-groups // _THREADS_IN_TURN)
                self._engine_now().launch(loaded.handle, groups, group_size, threads, values)
        except BaseException:
            self._adopted.pop(get_ident(), None)
            if not self._engine.alive:
                self._fault()
            raise
        if self._adopted:
            self._hold(self._adopted.pop(get_ident(), None))
            if len(self._held) > _MOST_HELD:
                self._finish()
        return CudaLaunch(self)

    # --- programs that are no kernels of lang ------------------------------------------------------------------------

    def load_native(self, ptx: Sequence[bytes], name: str, entry: str, layout: str, stack: int) -> NativeKernel:
        """Link PTX modules and load one of their kernels, whose arguments `layout` describes as `struct` does.

        A whole program may be machine code instead, as `nvcc -cubin` makes it.
        """
        offsets, packed = [], struct.Struct(layout)
        for at in range(len(layout)):
            offsets.append(struct.calcsize(layout[: at + 1]) - struct.calcsize(layout[at]))
        handle = self._guard(self._engine_now().load, bundle(ptx), name, entry, offsets, packed.format, stack)
        return NativeKernel(name, handle, int(self._guard(self._engine_now().frame_bytes, handle)))

    def launch_native(
        self, kernel: NativeKernel, threads: int, group_size: int, values: Sequence[Any], stream: int = 0
    ) -> Launch:
        """Start a kernel that `load_native` loaded; on a stream other than 0 beside whatever runs.

        What it uses must live until that stream is idle: only work on stream 0 is in order with memory.
        """
        groups = -(-threads // group_size)
        self._guard(self._engine_now().launch, kernel.handle, groups, group_size, threads, values, stream)
        return CudaLaunch(self)

    def assemble_ahead(self, programs: Sequence[Sequence[bytes]], name: str) -> None:
        """Have machine code for programs that `load_native` will load, on all cores where that is possible."""
        self._guard(self._engine_now().assemble_ahead, [bundle(ptx) for ptx in programs], name)

    def threads_at_once(self, kernel: NativeKernel, group_size: int) -> int:
        """How many threads of a kernel the GPU has room for, by the registers that each of them takes."""
        groups = int(self._guard(self._engine_now().groups_at_once, kernel.handle, group_size))
        return max(1, groups) * group_size * self.properties.cores

    def stream_idle(self, stream: int) -> bool:
        """Whether all kernels are over that were started on a stream other than 0."""
        return bool(self._guard(self._engine_now().idle, stream))

    @property
    def stop_word(self) -> int:
        """The address of a word that kernels may look at: it is set while `finish_or_stop` wants them to end. There is
        none, 0, where nothing ends them but the end of the process that has them."""
        return self._engine_now().stop_word

    def finish_or_stop(self, timeout: float | None = None, word: int | None = None) -> bool:
        """Wait for all work; on Ctrl-C, or when the time is over, ask kernels that look to stop, and wait for that.

        They are asked by the `word` of 8 bytes at that address, which those of others do not look at, or all by one.
        """
        at = self.stop_word if word is None else word
        finished = False
        try:
            finished = self._finish(timeout)
        finally:
            if not finished and not self.lost:
                self._engine_now().ask_to_stop(True, at)
                try:
                    self._finish()
                finally:
                    if not self.lost:
                        self._engine_now().ask_to_stop(False, at)
        return finished

    def read(self, address: int, nbytes: int) -> np.ndarray[Any, Any]:
        """A copy of bytes at an address of this device; waits for launches before it."""
        found = np.empty(nbytes, np.uint8)
        self.wait()
        if nbytes:
            self._guard(self._engine_now().copy_out, found, address)
        return found

    def write(self, address: int, data: bytes) -> None:
        """Set bytes at an address of this device, in order with launches."""
        if data:
            self._guard(self._engine_now().copy_in, address, np.frombuffer(data, np.uint8))

    def clear(self, address: int, nbytes: int) -> None:
        """Set bytes at an address of this device to 0, in order with launches."""
        if nbytes:
            self._guard(self._engine_now().fill, address, 0, nbytes)

    def peek(self, address: int, nbytes: int) -> np.ndarray[Any, Any]:
        """A copy of bytes at an address while kernels run."""
        found = np.empty(nbytes, np.uint8)
        if nbytes:
            self._guard(self._engine_now().peek, found, address)
        return found

    def poke(self, address: int, data: bytes) -> None:
        """Set bytes at an address while kernels run; they see them when this returns."""
        if data:
            self._guard(self._engine_now().poke, address, np.frombuffer(data, np.uint8))

    def alloc_mapped(self, nbytes: int) -> MappedMemory:
        """Memory of the host that kernels see, too: what is written by one side while the other runs."""
        found: MappedMemory = self._guard(self._engine_now().alloc_mapped, nbytes)
        return found

    def idle(self) -> bool:
        """Whether all work that was started is done."""
        held = list(self._held)  # before the question: another thread may launch and hold while it is answered
        idle = bool(self._guard(self._engine_now().idle))
        if idle:
            for turn in held:
                self._held.pop(turn, None)
        return idle

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for all work, then raise what threads trapped on: one kernel's error here, others' at the next waits.

        Ctrl-C ends the wait and not the kernels, which nothing but the end of their process can stop.
        """
        if not self._finish(timeout):
            return False
        self._raise_traps()
        return True

    def wait_quietly(self) -> None:
        """Wait as `wait` does, without spinning: for who waits again and again for work of much less than a second."""
        started = time.perf_counter()
        while not self.idle():
            time.sleep(max(_SLEEP_SECONDS, (time.perf_counter() - started) / _QUIET_PART))
        self._raise_traps()

    def _raise_traps(self) -> None:
        for handle, count, first in self._guard(self._engine_now().take_traps):
            module = next(found.module for found in list(self._loaded.values()) if found.handle == handle)
            self._trapped.append(trap_error(module, count, first))
        if self._trapped:
            raise self._trapped.popleft()

    def _finish(self, timeout: float | None = None) -> bool:
        """Wait until the stream is idle, in small steps, so that Ctrl-C gets through; False if the time ran out."""
        deadline = None if timeout is None else time.monotonic() + timeout
        spins = 0
        while not self.idle():
            spins += 1
            if spins > _SPINS_BEFORE_SLEEP:
                time.sleep(_SLEEP_SECONDS)
            if deadline is not None and time.monotonic() > deadline:
                return False
        return True

    def synchronize(self) -> None:
        self.wait()


def _disjoint(kernel: Kernel, args: Sequence[Any]) -> bool:
    """Whether no two arrays among the arguments overlap, as far as can be told at once."""
    if kernel.pointer_count < 2:
        return True
    ranges = [(arg.address, arg.end) for arg in args if type(arg) is DeviceArray]
    if len(ranges) < kernel.pointer_count:
        return False  # another library's array among them: nothing is known
    if len(ranges) == 2:
        (a, a_end), (b, b_end) = ranges
        return a_end <= b or b_end <= a
    ranges.sort()
    return all(first[1] <= second[0] for first, second in itertools.pairwise(ranges))


_living: weakref.WeakSet[CudaDevice] = weakref.WeakSet()


def _lose_all() -> None:
    """In a forked child: every device that came along is unusable, and asking for it again says so."""
    for device in list(_living):
        device.forked = device.lost = True


os.register_at_fork(after_in_child=_lose_all)
