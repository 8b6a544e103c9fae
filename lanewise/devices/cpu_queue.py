"""The order of launches on the CPU device: one at a time, led by the first worker, over as many others as it needs.

Whoever launches does one thing only, putting the launch into the leader's queue, so that Ctrl-C at any moment finds the
launch either not there or there as a whole.
"""

from __future__ import annotations

import atexit
import os
import queue
import sys
import threading
import weakref
from typing import TypeAlias

from lanewise.devices.cpu_launch import CpuLaunch, wait_in_steps
from lanewise.devices.cpu_workers import Worker, current_worker
from lanewise.devices.latch import Latch
from lanewise.errors import DeviceError

_CANCEL_STEP = 0.005
_Inbox: TypeAlias = "queue.SimpleQueue[CpuLaunch | Latch | None]"
_queues: weakref.WeakSet[LaunchQueue] = weakref.WeakSet()


class LaunchQueue:
    """Launches and markers in the order they came; threads are started by the first launch."""

    def __init__(self, workers: int) -> None:
        self._count = workers
        self._reset()
        _queues.add(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._inbox: _Inbox = queue.SimpleQueue()
        self._workers: list[Worker] = []
        self._current: CpuLaunch | None = None
        self._cancelling = 0
        self._failed: list[CpuLaunch] = []

    def submit(self, launch: CpuLaunch) -> None:
        """Queue a launch; it starts at once if nothing runs.

        A worker itself launches when a guest has called a function of the host: nobody else could run that.
        """
        worker = current_worker()
        if worker is not None:
            launch.run_inside(worker)
            return
        if not self._workers:
            self._start()
        self._inbox.put(launch)

    def _start(self) -> None:
        with self._lock:
            if not self._workers:
                # A queue of their own: where Ctrl-C breaks in here, workers that nobody knows wait at it for ever, and
                # the next launch starts others.
                inbox: _Inbox = queue.SimpleQueue()
                helpers = [Worker(index) for index in range(1, self._count)]
                for helper in helpers:
                    helper.start(helper.serve)
                leader = Worker(0)
                leader.start(lambda: self._lead(inbox, leader, helpers))
                self._inbox, self._workers = inbox, [leader, *helpers]

    def _lead(self, inbox: _Inbox, leader: Worker, helpers: list[Worker]) -> None:
        """What the first worker does: run its share of each launch and see the others finish theirs."""
        while (item := inbox.get()) is not None:
            if isinstance(item, Latch):
                item.set()
                continue
            if self._cancelling:
                item.fail(DeviceError(f"kernel {item.kernel.name} was cancelled"))
                item.reported = True
            else:
                self._current = item
                needed = helpers[: -(-item.groups // item.chunk) - 1] if item.groups else []
                for helper in needed:
                    helper.jobs.put(item)
                item.run_on(leader)
                for helper in needed:
                    helper.finished.get()
                self._current = None
            item.finish()
            if item.error is not None and not item.reported:
                with self._lock:
                    self._failed.append(item)
            del item
        for helper in helpers:
            helper.jobs.put(None)

    def close(self) -> None:
        """Let the workers end when they are through; a later launch starts new ones."""
        with self._lock:
            if self._workers:
                self._inbox.put(None)
                self._workers = []

    def wait(self) -> None:
        """Wait for all launches so far, then raise the first error that nobody has seen yet."""
        if self._workers and current_worker() is None:
            reached = Latch()
            self._inbox.put(reached)
            try:
                wait_in_steps(reached)
            except BaseException:
                self.cancel(reached)
                raise
        with self._lock:
            self._failed = [launch for launch in self._failed if not launch.reported]
            failed = self._failed.pop(0) if self._failed else None
        if failed is not None and failed.error is not None:
            failed.reported = True
            raise failed.error

    def cancel(self, reached: Latch) -> None:
        """End what runs and drop what waits, until this event is set: the end of a launch, or a marker in the queue."""
        with self._lock:
            self._cancelling += 1
        try:
            while not reached.wait(_CANCEL_STEP):
                current = self._current
                if current is not None:
                    current.reported = True
                    current.interrupt()
        finally:
            with self._lock:
                self._cancelling -= 1

    @staticmethod
    def after_fork() -> None:
        """In a forked child no worker lives on; the next launch starts new ones."""
        for known in list(_queues):
            known._reset()


os.register_at_fork(after_in_child=LaunchQueue.after_fork)


@atexit.register
def _tell_unseen_errors() -> None:
    """A program that ends without having waited for a launch that failed is told of it after all."""
    for known in list(_queues):
        for launch in known._failed:
            if not launch.reported:
                print(f"lanewise: nobody waited for a launch that failed: {launch.error}", file=sys.stderr)
