"""Worker threads of the CPU device: Python threads that run device code without the GIL.

The thread that launches never runs device code, so Ctrl-C always reaches it; cancelling a launch then means a signal to
each worker that is still inside.
"""

from __future__ import annotations

import ctypes
import mmap
import queue
import signal
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lanewise.devices.cpu_memory import array_before
from lanewise.devices.cpu_native import runtime
from lanewise.devices.cpu_scheduler import CANCEL_SIGNAL, INTERRUPTED, PAGE, STACK_RESERVE
from lanewise.devices.cpu_signals import SignalStack
from lanewise.errors import DeviceError, OutOfMemoryError
from lanewise.lang import lane as shared_types
from lanewise.settings import MAX_GROUP_SIZE, MAX_SHARED_BYTES, WARP_SIZE

if TYPE_CHECKING:
    from lanewise.devices.cpu_launch import CpuLaunch, NativeCode

_THREAD_STACK_BYTES = 16 * 2**20
_HANDLED = {int(signal.SIGSEGV), int(signal.SIGBUS), CANCEL_SIGNAL}


_here = threading.local()


def current_worker() -> Worker | None:
    """The worker whose thread this is, if any: then the host is being called by a guest."""
    return getattr(_here, "worker", None)


class Worker:
    """One OS thread with the stacks, the lanes and the shared memory of the group it runs."""

    def __init__(self, index: int) -> None:
        self.jobs: queue.SimpleQueue[CpuLaunch | None] = queue.SimpleQueue()
        self.finished: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._index = index
        self._record = shared_types.Worker.record()
        self._address = self._record.ctypes.data
        self._shared = _aligned(MAX_SHARED_BYTES + 64)
        self._record["shared"] = self._shared.ctypes.data
        self._lanes = _aligned(MAX_GROUP_SIZE * shared_types.Lane.size)
        self._record["lanes"] = self._lanes.ctypes.data
        self._boxes = _aligned(2 * (MAX_GROUP_SIZE // WARP_SIZE) * shared_types.WarpBox.size)
        self._record["boxes"] = self._boxes.ctypes.data
        self._stacks = _Stacks()
        self._stack_low = 0
        self._thread: threading.Thread | None = None

    def start(self, work: Callable[[], None]) -> None:
        """Start the thread; `work` is what it does until the device is closed."""

        def main() -> None:
            # Signals meant for Python must not land on a fiber's small stack.
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _HANDLED)
            stack = SignalStack()
            self._stack_low = _stack_low()
            runtime().register(self._address)
            _here.worker = self
            try:
                work()
            finally:
                runtime().unregister(self._address)
                stack.release()

        self._thread = threading.Thread(target=main, name=f"lanewise-cpu-{self._index}", daemon=True)
        before = threading.stack_size(_THREAD_STACK_BYTES)  # deep enough for recursive kernels
        try:
            self._thread.start()
        finally:
            threading.stack_size(before)

    def serve(self) -> None:
        """What every worker but the first does: run its share of each launch that it is handed."""
        while (job := self.jobs.get()) is not None:
            job.run_on(self)
            del job
            self.finished.put(None)

    def interrupt(self) -> None:
        """Send the worker's thread the signal that makes it leave device code."""
        if self._thread is not None and self._thread.ident is not None and self._thread.is_alive():
            signal.pthread_kill(self._thread.ident, CANCEL_SIGNAL)

    def run(self, launch: CpuLaunch) -> None:
        """Run this worker's share of a launch; raises if a fault or a cancellation ended it."""
        kernel, record = launch.kernel, self._record
        if kernel.stack_bytes:
            self._provide_stacks(kernel)
        record["stack_low"] = self._stack_low  # guests on fibers put their own there
        record["next"] = record["end"] = 0
        record["scheduler_sp"] = 0
        code = runtime().run(launch.record_address, self._address, kernel.entry, launch.args_address)
        if code != INTERRUPTED:
            return
        name = kernel.name
        if int(record["signal"]) == CANCEL_SIGNAL:
            raise DeviceError(f"kernel {name} was cancelled")
        address = int(record["fault_address"])
        if self._stacks.contains(address):
            raise DeviceError(f"kernel {name} needs more stack than its threads have; use fewer values at a time in it")
        size = array_before(address)
        where = f"at address {address:#x}" if size is None else f"behind the end of an array of {size:,} bytes"
        raise DeviceError(
            f"kernel {name} touched memory that is not its own, {where}; "
            "check its indices against the sizes of the arrays it was given"
        )

    def _provide_stacks(self, kernel: NativeCode) -> None:
        local_bytes = kernel.module.facts.local_bytes if kernel.module is not None else 0
        self._stacks.provide(kernel.stack_bytes)
        self._record["stacks"] = self._stacks.address
        self._record["stack_size"] = self._stacks.stack_bytes
        self._record["stack_reserve"] = STACK_RESERVE + 2 * local_bytes


class _Stacks:
    """One stack a lane, each above a page that may not be touched: who overflows faults instead of spoiling another."""

    def __init__(self) -> None:
        self.stack_bytes = 0
        self.address = 0
        self._memory: mmap.mmap | None = None

    def contains(self, address: int) -> bool:
        """Whether an address lies among the stacks or their guards."""
        return self._memory is not None and self.address <= address < self.address + len(self._memory)

    def provide(self, stack_bytes: int) -> None:
        """Have stacks of at least this size."""
        if stack_bytes <= self.stack_bytes:
            return
        step = stack_bytes + PAGE
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
        try:
            memory = mmap.mmap(-1, MAX_GROUP_SIZE * step, flags=flags)
        except OSError:
            raise OutOfMemoryError(f"no memory for the stacks of a group, {MAX_GROUP_SIZE * step:,} bytes") from None
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        protect = ctypes.CDLL(None).mprotect
        for lane in range(MAX_GROUP_SIZE):
            # A system with few mappings left refuses at some point; the stacks still work, without their guards.
            if protect(ctypes.c_void_p(address + lane * step), ctypes.c_size_t(PAGE), 0) != 0:
                break
        self._memory, self.address, self.stack_bytes = memory, address, stack_bytes


def _stack_low() -> int:
    """The lowest address of the calling thread's stack; 0 where the system does not tell."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "pthread_getattr_np"):
        return 0
    attributes = ctypes.create_string_buffer(256)
    low, size = ctypes.c_void_p(), ctypes.c_size_t()
    libc.pthread_self.restype = ctypes.c_void_p
    if libc.pthread_getattr_np(ctypes.c_void_p(libc.pthread_self()), attributes):
        return 0
    libc.pthread_attr_getstack(attributes, ctypes.byref(low), ctypes.byref(size))
    libc.pthread_attr_destroy(attributes)
    return low.value or 0


def _aligned(nbytes: int) -> np.ndarray[Any, Any]:
    raw = np.zeros(nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + nbytes]
