"""A launch on the CPU device: the record that its workers share, who is inside, and how it ended."""

from __future__ import annotations

import ctypes
import math
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lanewise.devices.base import Launch
from lanewise.devices.latch import Latch
from lanewise.devices.traps import trap_error
from lanewise.errors import DeviceError, LanewiseError
from lanewise.lang import lane as shared_types
from lanewise.lang.program import Module

if TYPE_CHECKING:
    from lanewise.devices.cpu_queue import LaunchQueue
    from lanewise.devices.cpu_workers import Worker

_FAR_BEYOND = 2**62
_WAIT_STEP = 0.2
_DROP_STEP = 0.005


@dataclass(frozen=True)
class NativeCode:
    """Code that workers enter, with what a launch of it needs."""

    name: str
    entry: int
    library: Any = None
    """What keeps the code loaded."""
    module: Module | None = None
    """The kernel that it was made of, for messages; none for guest programs."""
    stack_bytes: int = 0
    """Stack of a fiber; 0 for what runs without fibers."""
    seconds: float | None = None
    """How long a launch may run; see `CpuLaunch.wait_limited`."""


_here = threading.local()


def cancelled_here() -> bool:
    """Whether a launch that this thread is inside of has been cancelled; for functions that device code calls back."""
    return any(launch.cancelled for launch in getattr(_here, "launches", ()))


class CpuLaunch(Launch):
    """One launch. Only the queue's leader starts and finishes it, so its state needs no lock but for who is inside."""

    def __init__(
        self,
        queue: LaunchQueue,
        kernel: NativeCode,
        packed: bytes,
        keep: Any,
        threads: int,
        group_size: int,
        chunk: int,
    ) -> None:
        self.kernel = kernel
        self.groups = -(-threads // group_size)
        self.chunk = chunk
        self.error: LanewiseError | None = None
        self.reported = False
        self.cancelled = False
        self.late = False
        """Whether it was ended for running longer than it may."""
        self.began = math.inf
        """When its turn came, by the clock of `time.monotonic`."""
        self._queue = queue
        self._keep = keep
        self._args = ctypes.create_string_buffer(packed, max(len(packed), 1))
        self._record = shared_types.Launch.record()
        self._record["thread_count"] = threads
        self._record["group_size"] = group_size
        self._record["group_count"] = self.groups
        self._record["chunk"] = chunk
        self._record["traps"]["first"] = shared_types.NO_TRAP
        self.record_address = self._record.ctypes.data
        self.args_address = ctypes.addressof(self._args)
        self._inside: set[Worker] = set()
        self._lock = threading.Lock()
        self._finished = Latch()
        self._begun = Latch()

    @property
    def args(self) -> bytes:
        """The block of arguments, in which native code may have left something."""
        return self._args.raw

    @property
    def done(self) -> bool:
        return self._finished.is_set()

    def run_on(self, worker: Worker) -> None:
        """One worker's share, on the worker's own thread; whatever goes wrong becomes the error of the launch."""
        self.began = min(self.began, time.monotonic())
        self._begun.set()
        if self.error is not None:
            return  # it was dropped before its turn came
        with self._lock:
            self._inside.add(worker)
        around = getattr(_here, "launches", ())
        _here.launches = (*around, self)
        try:
            worker.run(self)
        except LanewiseError as error:
            self.fail(error)
        except Exception as error:
            self.fail(DeviceError(f"kernel {self.kernel.name} could not be run: {error}"))
        finally:
            _here.launches = around
            with self._lock:
                self._inside.discard(worker)

    def run_inside(self, worker: Worker) -> None:
        """Run as a whole inside another launch, on its worker, which has nobody else who would look at the time."""
        limit = None
        if self.kernel.seconds is not None:
            limit = threading.Thread(target=self._limit, name="lanewise-limit", daemon=True)
            limit.start()
        self.run_on(worker)
        self.finish()
        if limit is not None:
            limit.join()

    def fail(self, error: LanewiseError) -> None:
        """Note an error; the threads that have not started need not run."""
        self.error = self.error or error
        self._record["next_group"] = _FAR_BEYOND

    def finish(self) -> None:
        """All workers are done with it."""
        count = int(self._record["traps"]["count"])
        if self.error is None and count and self.kernel.module is not None:
            self.error = trap_error(self.kernel.module, count, int(self._record["traps"]["first"]))
        self._keep = None
        self._finished.set()
        self._begun.set()  # if it never did, nobody need wait for that any more

    def interrupt(self) -> None:
        """Make every worker leave the launch, wherever it is in device code; elsewhere it looks at `cancelled`."""
        self.cancelled = True
        self._record["next_group"] = _FAR_BEYOND
        with self._lock:
            for worker in self._inside:
                worker.interrupt()

    def cancel(self) -> None:
        """End this launch, and those before it that have not ended."""
        self._queue.cancel(self._finished)

    def drop(self) -> None:
        """End this launch alone: at once if it runs, else when its turn comes; others are not touched."""
        self.reported = True
        self.fail(DeviceError(f"kernel {self.kernel.name} was cancelled"))
        while self._begun.is_set() and not self._finished.wait(_DROP_STEP):
            self.interrupt()

    def _limit(self) -> None:
        """End it if it runs longer than it may."""
        wait_in_steps(self._begun)
        if not wait_in_steps(self._finished, self.kernel.seconds):
            self.late = True
            self.drop()

    def wait_limited(self) -> bool:
        """Wait for the end, but for no more seconds of running than the code may take: gives False if it took them."""
        if not self.done and self.kernel.seconds is not None:
            try:
                self._limit()
            except BaseException:
                self.cancel()
                raise
        return not self.late and self.wait()

    def wait_through(self) -> None:
        """Wait for code that ends soon by itself: an interrupt cancels nothing, and is raised when it has ended."""
        interrupted: KeyboardInterrupt | None = None
        while not self._finished.is_set():
            try:
                wait_in_steps(self._finished)
            except KeyboardInterrupt as interrupt:
                interrupted = interrupt
        self.wait()
        if interrupted is not None:
            raise interrupted

    def wait(self, timeout: float | None = None) -> bool:
        try:
            finished = wait_in_steps(self._finished, timeout)
        except BaseException:
            self.cancel()
            raise
        if finished and self.error is not None:
            self.reported = True
            raise self.error
        return finished


def wait_in_steps(event: Latch, timeout: float | None = None) -> bool:
    """Wait for an event; in steps, since a signal that lands on another thread does not wake this one."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while not event.is_set():
        left = _WAIT_STEP if deadline is None else min(_WAIT_STEP, deadline - time.monotonic())
        if left <= 0:
            return False
        event.wait(left)
    return True
