"""Worker threads of the CPU device and the launches they run: in order, one launch at a time, over all cores.

Python threads call into native code, which runs without the GIL. The thread that launches never runs device code, so
Ctrl-C always reaches it; cancelling a launch then means a signal to each worker that is still inside.
"""

from __future__ import annotations

import ctypes
import mmap
import queue
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from lanewise.devices.base import Launch
from lanewise.devices.cpu_native import runtime
from lanewise.devices.cpu_scheduler import CANCEL_SIGNAL, INTERRUPTED, STACK_STAGGER
from lanewise.devices.cpu_signals import SignalStack
from lanewise.devices.traps import trap_error
from lanewise.errors import DeviceError, LanewiseError
from lanewise.lang import lane as shared_types
from lanewise.settings import MAX_GROUP_SIZE, MAX_SHARED_BYTES, WARP_SIZE

if TYPE_CHECKING:
    from lanewise.devices.cpu import LoadedKernel

_FAR_BEYOND = 2**62
_WAIT_STEP = 0.2
_THREAD_STACK_BYTES = 16 * 2**20


class CpuLaunch(Launch):
    """A launch on the CPU: the record that workers share, and who of them is still in it."""

    def __init__(
        self, kernel: LoadedKernel, packed: bytes, threads: int, group_size: int, groups: int, chunk: int, keep: Any
    ) -> None:
        self.kernel = kernel
        self.groups = groups
        self.chunk = chunk
        self._keep = keep
        self._args = ctypes.create_string_buffer(packed, max(len(packed), 1))
        self.record = shared_types.Launch.record()
        self.record["thread_count"] = threads
        self.record["group_size"] = group_size
        self.record["group_count"] = groups
        self.record["chunk"] = chunk
        self.record["traps"]["first"] = shared_types.NO_TRAP
        self.record_address = self.record.ctypes.data
        self.args_address = ctypes.addressof(self._args)
        self.previous: CpuLaunch | None = None
        self.inside: set[Worker] = set()
        self._left = 0
        self._lock = threading.Lock()
        self._finished = threading.Event()
        self._error: LanewiseError | None = None
        self._reported = False

    @property
    def done(self) -> bool:
        return self._finished.is_set()

    def start(self, workers: list[Worker]) -> None:
        """Hand the launch to these workers."""
        self._left = len(workers)
        for worker in workers:
            worker.jobs.put(self)

    def run_on(self, worker: Worker) -> None:
        """One worker's share; called on the worker's own thread."""
        if self.previous is not None:
            self.previous._finished.wait()
        with self._lock:
            self.inside.add(worker)
        try:
            fault = worker.run(self)
        finally:
            with self._lock:
                self.inside.discard(worker)
        if fault is not None:
            self._error = fault
            self.record["next_group"] = _FAR_BEYOND  # the others need not go on
        with self._lock:
            self._left -= 1
            last = self._left == 0
        if last:
            self._finish()

    def _finish(self) -> None:
        count = int(self.record["traps"]["count"])
        if self._error is None and count:
            self._error = trap_error(self.kernel.module, count, int(self.record["traps"]["first"]))
        self._keep = None
        self.previous = None
        self._finished.set()

    def wait(self, timeout: float | None = None) -> bool:
        try:
            finished = self.finished_within(timeout)
        except BaseException:
            self.cancel()
            raise
        if finished:
            self.raise_error()
        return finished

    def finished_within(self, timeout: float | None) -> bool:
        """Wait in steps: a signal that lands on another thread does not wake this one, but its handler runs here."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._finished.is_set():
            left = _WAIT_STEP if deadline is None else min(_WAIT_STEP, deadline - time.monotonic())
            if left <= 0:
                return False
            self._finished.wait(left)
        return True

    def raise_error(self) -> None:
        """Raise what went wrong, once."""
        if self._error is not None and not self._reported:
            self._reported = True
            raise self._error

    def cancel(self) -> None:
        """End the launch now, wherever its threads are."""
        self._reported = True
        while not self._finished.wait(0.005):
            self.record["next_group"] = _FAR_BEYOND
            with self._lock:
                for worker in self.inside:
                    worker.interrupt()


class Worker:
    """One OS thread with the stacks, the lanes and the shared memory of the group it runs."""

    def __init__(self, index: int) -> None:
        self.jobs: queue.SimpleQueue[CpuLaunch | None] = queue.SimpleQueue()
        self._record = shared_types.Worker.record()
        self._address = self._record.ctypes.data
        self._shared = _aligned(MAX_SHARED_BYTES + 64)
        self._record["shared"] = self._shared.ctypes.data
        self._lanes = _aligned(MAX_GROUP_SIZE * shared_types.Lane.size)
        self._boxes = _aligned(2 * (MAX_GROUP_SIZE // WARP_SIZE) * shared_types.WarpBox.size)
        self._stacks: mmap.mmap | None = None
        self._stack_bytes = 0
        self._thread = threading.Thread(target=self._loop, name=f"lanewise-cpu-{index}", daemon=True)
        _start_with_stack(self._thread)

    def interrupt(self) -> None:
        """Send the worker's thread the signal that makes it leave device code."""
        ident = self._thread.ident
        if ident is not None and self._thread.is_alive():
            signal.pthread_kill(ident, CANCEL_SIGNAL)

    def _loop(self) -> None:
        # Signals meant for Python must not land on a fiber's small stack.
        signal.pthread_sigmask(
            signal.SIG_BLOCK, signal.valid_signals() - {CANCEL_SIGNAL, signal.SIGSEGV, signal.SIGBUS}
        )
        stack = SignalStack()
        runtime().register(self._address)
        while (job := self.jobs.get()) is not None:
            job.run_on(self)
            del job
        runtime().unregister(self._address)
        stack.release()

    def run(self, launch: CpuLaunch) -> LanewiseError | None:
        """Run this worker's share of a launch; gives an error if a fault or a cancellation ended it."""
        if launch.kernel.stack_bytes:
            self._provide_stacks(launch.kernel.stack_bytes)
        record = self._record
        record["next"] = record["end"] = 0
        record["scheduler_sp"] = 0
        code = runtime().run(launch.record_address, self._address, launch.kernel.entry, launch.args_address)
        if code != INTERRUPTED:
            return None
        name = launch.kernel.module.name
        if int(record["signal"]) == CANCEL_SIGNAL:
            return DeviceError(f"kernel {name} was cancelled")
        return DeviceError(
            f"kernel {name} touched memory that is not its own, at address {int(record['fault_address']):#x}; "
            "check its indices against the sizes of the arrays it was given"
        )

    def _provide_stacks(self, stack_bytes: int) -> None:
        if self._stack_bytes < stack_bytes:
            size = MAX_GROUP_SIZE * (stack_bytes + STACK_STAGGER)
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
            self._stacks = mmap.mmap(-1, size, flags=flags)
            self._record["stacks"] = ctypes.addressof(ctypes.c_char.from_buffer(self._stacks))
            self._record["lanes"] = self._lanes.ctypes.data
            self._record["boxes"] = self._boxes.ctypes.data
            self._stack_bytes = stack_bytes
        self._record["stack_size"] = self._stack_bytes


class LaunchQueue:
    """The order of launches on the CPU device: each starts when the one before it has ended."""

    def __init__(self, workers: int) -> None:
        self._count = workers
        self._workers: list[Worker] = []
        self._last: CpuLaunch | None = None
        self._pending: list[CpuLaunch] = []
        self._lock = threading.Lock()

    def submit(self, launch: CpuLaunch) -> None:
        """Queue a launch; it starts at once if nothing runs."""
        with self._lock:
            while len(self._workers) < self._count:
                self._workers.append(Worker(len(self._workers)))
            launch.previous = self._last if self._last is not None and not self._last.done else None
            needed = min(self._count, max(1, -(-launch.groups // launch.chunk)))
            self._last = launch
            self._pending = [earlier for earlier in self._pending if not earlier.done or earlier._error is not None]
            self._pending.append(launch)
            launch.start(self._workers[:needed])

    def wait(self) -> None:
        """Wait for all launches and raise the first error that nobody has seen yet."""
        with self._lock:
            pending, self._pending = self._pending, []
        try:
            for launch in pending:
                launch.finished_within(None)
        except BaseException:
            for launch in pending:
                launch.cancel()
            raise
        for launch in pending:
            launch.raise_error()

    def close(self) -> None:
        """Let the workers end."""
        with self._lock:
            for worker in self._workers:
                worker.jobs.put(None)
            self._workers = []


def _aligned(nbytes: int) -> np.ndarray[Any, Any]:
    raw = np.zeros(nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + nbytes]


def _start_with_stack(thread: threading.Thread) -> None:
    """Start a thread whose stack is deep enough for recursive kernels."""
    before = threading.stack_size(_THREAD_STACK_BYTES)
    try:
        thread.start()
    finally:
        threading.stack_size(before)
