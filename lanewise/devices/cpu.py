"""The CPU device: kernels run on worker threads without the GIL, groups spread over the cores."""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanewise import settings
from lanewise.compiler import Target, compile_module, compiling, load_object
from lanewise.devices.arguments import ArgumentPacker
from lanewise.devices.arrays import DeviceArray
from lanewise.devices.base import Buffer, Device, Launch, Properties
from lanewise.devices.cpu_launch import CpuLaunch, NativeCode
from lanewise.devices.cpu_memory import ArrayMemory
from lanewise.devices.cpu_native import runtime
from lanewise.devices.cpu_queue import LaunchQueue
from lanewise.devices.cpu_scheduler import PAGE
from lanewise.devices.foreign import ForeignArray
from lanewise.devices.shapes import check_shape
from lanewise.errors import ArgumentError
from lanewise.lang.abi_host import HostAbi
from lanewise.lang.functions import Kernel
from lanewise.lang.program import lower_kernel

_CHUNKS_PER_WORKER = 8
_RECURSIVE_STACK_BYTES = 256 * 1024
_STACK_BYTES = 64 * 1024


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel as native code, with how its arguments are packed."""

    code: NativeCode
    packer: ArgumentPacker


class CpuDevice(Device):
    """Every core of this machine. Device memory is host memory; groups with barriers run as fibers."""

    def __init__(self) -> None:
        self.name = "cpu"
        self._workers = settings.cpu_threads()
        self.properties = Properties(
            name=_cpu_name(),
            cores=self._workers,
            resident_threads=self._workers * settings.DEFAULT_GROUP_SIZE * 4,
            memory_bytes=_memory_bytes(),
            details=(("architecture", platform.machine()),),
        )
        runtime()  # a machine that cannot run kernels says so now, and the first kernel need not wait for it
        self._loaded: dict[Kernel, LoadedKernel] = {}
        self._queue = LaunchQueue(self._workers)

    def alloc(self, nbytes: int) -> Buffer:
        memory = ArrayMemory(nbytes)
        return Buffer(self, memory.address, nbytes, owner=memory)

    def zeros(self, shape: Any, dtype: Any = None) -> DeviceArray:
        """Memory that the system gives is zero, and is taken only where it is touched."""
        return self.empty(shape, dtype)

    def copy_in(self, target: Buffer, source: np.ndarray[Any, Any]) -> None:
        self.synchronize()
        ctypes.memmove(self.usable(target, source.nbytes), source.ctypes.data, source.nbytes)

    def copy_out(self, target: np.ndarray[Any, Any], source: Buffer) -> None:
        self.synchronize()
        ctypes.memmove(target.ctypes.data, self.usable(source, target.nbytes), target.nbytes)

    def copy(self, target: Buffer, source: Buffer, nbytes: int) -> None:
        self.synchronize()
        ctypes.memmove(self.usable(target, nbytes), self.usable(source, nbytes), nbytes)

    def fill(self, target: Buffer, byte: int, nbytes: int) -> None:
        self.synchronize()
        ctypes.memset(self.usable(target, nbytes), byte, nbytes)

    def check_foreign(self, found: ForeignArray, what: str) -> None:
        if found.on_cuda:
            raise ArgumentError(f"{what} lives on a CUDA device, the launch is on the CPU; copy it to the host first")

    def prepare(self, kernel: Kernel, group_size: int = settings.DEFAULT_GROUP_SIZE) -> None:
        self._load(kernel)

    def _load(self, kernel: Kernel) -> LoadedKernel:
        loaded = self._loaded.get(kernel)
        if loaded is None:
            module = lower_kernel(kernel, HostAbi())
            with compiling(f"the kernel {kernel.name} for the CPU"):
                compiled = compile_module(module.ir, Target.host(), name=f"{kernel.name}.cpu", source=module.source)
            facts, stack = module.facts, 0
            if facts.converges or facts.yields:
                stack = (_RECURSIVE_STACK_BYTES if facts.recursive else _STACK_BYTES) + 4 * facts.local_bytes
                stack = (stack + PAGE - 1) // PAGE * PAGE
            library = load_object(compiled.code, [module.entry], runtime().imports(groups=stack > 0))
            code = NativeCode(module.name, library.address(module.entry), library, module, stack)
            made = LoadedKernel(code, ArgumentPacker(kernel, self))
            loaded = self._loaded.setdefault(kernel, made)  # another thread may have been first
        return loaded

    def launch(self, kernel: Kernel, threads: int, group_size: int, args: Sequence[Any]) -> Launch:
        check_shape(kernel, threads, group_size, settings.MAX_GROUP_SIZE)
        groups = -(-threads // group_size)
        chunk = max(1, groups // (self._workers * _CHUNKS_PER_WORKER))
        loaded = self._load(kernel)
        packed = loaded.packer.layout.pack(*loaded.packer.values(args))
        # Memory that is freed while the launch runs must stay: the arrays' own owners are kept, not only the arrays.
        keep = (args, [arg.buffer.owner for arg in args if isinstance(arg, DeviceArray)])
        launch = CpuLaunch(self._queue, loaded.code, packed, keep, threads, group_size, chunk)
        self._queue.submit(launch)
        return launch

    def launch_native(
        self, code: NativeCode, args: bytes, workers: int = 1, keep: Any = None, group_size: int = 1
    ) -> CpuLaunch:
        """Have workers enter native code with a block of arguments; `keep` is kept alive until they are done.

        Code that runs groups of fibers says how large they are, and its `workers` are all threads of these groups.
        """
        launch = CpuLaunch(self._queue, code, args, keep, workers, group_size, 1)
        self._queue.submit(launch)
        return launch

    def synchronize(self) -> None:
        self._queue.wait()

    def close(self) -> None:
        """Let the worker threads end; the device can still be used and then starts new ones."""
        self._queue.close()


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0
