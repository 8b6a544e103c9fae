"""The CUDA device: kernels compiled to PTX, checked launches, faults and traps turned into errors."""

from __future__ import annotations

import bisect
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanewise import settings
from lanewise.compiler import Target, compile_module
from lanewise.devices.arguments import ArgumentPacker
from lanewise.devices.arrays import DeviceArray
from lanewise.devices.base import Buffer, Device, Launch, Properties
from lanewise.devices.cuda_driver import device_count
from lanewise.devices.cuda_engine import Engine, LocalEngine
from lanewise.devices.cuda_remote import RemoteEngine
from lanewise.devices.foreign import ForeignArray
from lanewise.devices.shapes import check_shape
from lanewise.devices.traps import trap_error
from lanewise.errors import ArgumentError, DeviceLostError, NoDeviceError
from lanewise.lang.abi_nvptx import NvptxAbi, runs_in_strides, stack_bytes
from lanewise.lang.functions import Kernel
from lanewise.lang.program import Module, lower_kernel

__all__ = ["CudaDevice", "device_count"]

_GROUP_CLASSES = (256, 512, 1024)
"""A kernel is compiled for groups up to one of these sizes: the larger, the fewer registers a thread may have."""
_THREADS_IN_TURN = 4
"""How many threads of a large launch one hardware thread runs in turn: enough loads in flight, still many groups."""
_SPINS_BEFORE_SLEEP = 200
_SLEEP_SECONDS = 50e-6
_process_faulted = False
"""Whether CUDA is broken in this process, so that new devices need a process of their own."""


@dataclass(frozen=True)
class CudaKernel:
    """A kernel loaded for one class of group sizes, with or without overlapping arguments."""

    module: Module
    packer: ArgumentPacker
    handle: Any
    strides: bool
    """Whether a hardware thread can run several threads of a launch in turn."""


class CudaLaunch(Launch):
    """A launch on a CUDA stream. The stream runs in order, so waiting for it covers this launch and all before it."""

    __slots__ = ("_device",)

    def __init__(self, device: CudaDevice) -> None:
        self._device = device

    def wait(self, timeout: float | None = None) -> bool:
        return self._device.wait(timeout)

    @property
    def done(self) -> bool:
        return self._device.idle()


class CudaDevice(Device):
    """One NVIDIA GPU. It uses the primary context, so that arrays of CuPy and PyTorch can be used in place."""

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
        self._target = Target.nvptx(found["major"] * 10 + found["minor"])
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
        self._shared: set[int] = set()

    def _engine_now(self) -> Engine:
        if self.lost:
            raise DeviceLostError(
                f"{self.name} faulted; what lived on it is gone, and lanewise.device() gives a new one"
            )
        return self._engine

    def _fault(self) -> None:
        """Remember that nothing works any more on this object, nor, if it was the driver's fault, in this process."""
        global _process_faulted
        self.lost = True
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
        self._shared.add(address)

    def copy_in(self, target: Buffer, source: np.ndarray[Any, Any], offset: int = 0) -> None:
        if source.nbytes:
            self._guard(self._engine_now().copy_in, target.address + offset, source)

    def copy_out(self, target: np.ndarray[Any, Any], source: Buffer, offset: int = 0) -> None:
        self.wait()
        if target.nbytes:
            self._guard(self._engine_now().copy_out, target, source.address + offset)

    def copy(self, target: Buffer, source: Buffer, nbytes: int) -> None:
        self._guard(self._engine_now().copy, target.address, source.address, nbytes)

    def fill(self, target: Buffer, byte: int, nbytes: int) -> None:
        if nbytes:
            self._guard(self._engine_now().fill, target.address, byte, nbytes)

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

    # --- launches ----------------------------------------------------------------------------------------------------

    def prepare(self, kernel: Kernel, group_size: int = settings.DEFAULT_GROUP_SIZE) -> None:
        self._load(kernel, group_size, True)

    def _load(self, kernel: Kernel, group_size: int, disjoint: bool) -> CudaKernel:
        limit = _GROUP_CLASSES[bisect.bisect_left(_GROUP_CLASSES, group_size)]
        found = self._loaded.get((kernel, limit, disjoint))
        if found is None:
            module = lower_kernel(kernel, NvptxAbi(limit, disjoint))
            ptx = compile_module(module.ir, self._target, name=f"{kernel.name}.cuda", source=module.source).code
            packer = ArgumentPacker(kernel, self)
            stack = stack_bytes(module.facts) if module.facts.recursive else 0
            handle = self._guard(
                self._engine_now().load, ptx, kernel.name, module.entry, packer.offsets, packer.layout.format, stack
            )
            found = CudaKernel(module, packer, handle, runs_in_strides(module.facts))
            self._loaded[kernel, limit, disjoint] = found
        return found

    def launch(self, kernel: Kernel, threads: int, group_size: int, args: Sequence[Any]) -> Launch:
        check_shape(kernel, threads, group_size, self.properties.max_group_size)
        loaded = self._load(kernel, group_size, _disjoint(kernel, args))
        values = loaded.packer.values(args)
        if threads:
            groups = -(-threads // group_size)
            if loaded.strides and groups > self.properties.resident_threads // group_size:
                groups = -(-groups // _THREADS_IN_TURN)
            self._guard(self._engine_now().launch, loaded.handle, groups, group_size, threads, values)
        return CudaLaunch(self)

    def idle(self) -> bool:
        """Whether all work that was started is done."""
        return bool(self._guard(self._engine_now().idle))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for all work in small steps, so that Ctrl-C gets through; then raise what threads trapped on."""
        deadline = None if timeout is None else time.monotonic() + timeout
        spins = 0
        while not self.idle():
            spins += 1
            if spins > _SPINS_BEFORE_SLEEP:
                time.sleep(_SLEEP_SECONDS)
            if deadline is not None and time.monotonic() > deadline:
                return False
        trapped = self._guard(self._engine.take_traps)
        if trapped:
            handle, count, first = trapped[0]
            module = next(found.module for found in self._loaded.values() if found.handle == handle)
            raise trap_error(module, count, first)
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
