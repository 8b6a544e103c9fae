"""The null device: it compiles kernels for both targets and never runs them, to test compiling anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lanewise import settings
from lanewise.compiler import Target, compile_module
from lanewise.devices.arguments import ArgumentPacker
from lanewise.devices.base import Buffer, Device, Launch, Properties
from lanewise.devices.shapes import check_shape
from lanewise.lang.abi_host import HostAbi
from lanewise.lang.abi_nvptx import NvptxAbi
from lanewise.lang.functions import Kernel
from lanewise.lang.program import lower_kernel

_ALIGNMENT = 64


class NullLaunch(Launch):
    """A launch that did nothing."""

    def wait(self, timeout: float | None = None) -> bool:
        return True

    @property
    def done(self) -> bool:
        return True


class NullDevice(Device):
    """Arguments are checked and kernels compiled, as on a real device; arrays have sizes and no contents."""

    def __init__(self) -> None:
        self.name = "null"
        self.properties = Properties("compiles, never runs", cores=1, resident_threads=1, memory_bytes=0)
        self._next = _ALIGNMENT
        self._prepared: dict[Kernel, ArgumentPacker] = {}

    def alloc(self, nbytes: int) -> Buffer:
        address = self._next
        self._next += -(-max(nbytes, 1) // _ALIGNMENT) * _ALIGNMENT
        return Buffer(self, address, nbytes)

    def copy_in(self, target: Buffer, source: np.ndarray[Any, Any], offset: int = 0) -> None:
        pass

    def copy_out(self, target: np.ndarray[Any, Any], source: Buffer, offset: int = 0) -> None:
        target[...] = np.zeros((), target.dtype)

    def copy(self, target: Buffer, source: Buffer, nbytes: int) -> None:
        pass

    def fill(self, target: Buffer, byte: int, nbytes: int) -> None:
        pass

    def prepare(self, kernel: Kernel, group_size: int = settings.DEFAULT_GROUP_SIZE) -> None:
        if kernel not in self._prepared:
            host = lower_kernel(kernel, HostAbi())
            compile_module(host.ir, Target.host(), name=f"{kernel.name}.cpu", source=host.source)
            for disjoint in (False, True):  # CUDA has a build for each
                gpu = lower_kernel(kernel, NvptxAbi(disjoint=disjoint))
                compile_module(gpu.ir, Target.nvptx(), name=f"{kernel.name}.cuda", source=gpu.source)
            self._prepared[kernel] = ArgumentPacker(kernel, self)

    def launch(self, kernel: Kernel, threads: int, group_size: int, args: Sequence[Any]) -> Launch:
        check_shape(kernel, threads, group_size, settings.MAX_GROUP_SIZE)
        self.prepare(kernel)
        self._prepared[kernel].values(args)
        return NullLaunch()

    def synchronize(self) -> None:
        pass
