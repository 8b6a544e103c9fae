"""Compile what strangers wrote, in processes that may die: LLVM aborts on what it cannot do, and holds one lock."""

from __future__ import annotations

import atexit
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import lanewise.compiler
from lanewise import settings
from lanewise.compiler import frames, unrolling
from lanewise.compiler.pipeline import CacheChoice, cache_key, resolve_cache
from lanewise.compiler.targets import Target
from lanewise.errors import CompileError

_START_SECONDS = 60.0
"""How long a worker may take to start, on a machine that is busy with something else."""

_PARTING_SECONDS = 2.0
"""How long a process that ends waits for a thread of its own that compiles."""

_NEVER = float("inf")

_BOOT = "import sys; sys.path[:] = sys.argv[1:]; from lanewise.compiler.worker_main import main; main()"
"""Runs a worker with this process's module path: not the user's __main__, nor what lies in the current directory."""


_Finish = Callable[[int, "bytes | CompileError"], None]


@dataclass(frozen=True)
class Job:
    """One module for a worker to compile; `name` stands in messages and names dumped files."""

    ir: str
    target: Target
    name: str = "module"
    level: int = 3


def compile_guest(
    jobs: Sequence[Job], *, timeout: float | None = None, workers: int | None = None, cache: CacheChoice = "default"
) -> list[bytes]:
    """Compile `jobs` in worker processes, on all cores, and return their code in order.

    `timeout` is in seconds for each job. All jobs are tried; then, where some failed, the first one's CompileError is
    raised, with the others as notes. The workers are shared and kept, unless `workers` asks for a number of its own.
    """
    if workers is None:
        outcomes = _shared_pool().compile(jobs, timeout=timeout, cache=cache)
    else:
        with WorkerPool(workers) as pool:
            outcomes = pool.compile(jobs, timeout=timeout, cache=cache)
    failures = [outcome for outcome in outcomes if isinstance(outcome, CompileError)]
    if failures:
        for other in failures[1:]:
            failures[0].add_note(f"also: {other}")
        raise failures[0]
    return [outcome for outcome in outcomes if isinstance(outcome, bytes)]


def compile_each(jobs: Sequence[Job]) -> list[bytes | CompileError]:
    """The same without a cache, and for each job its code or why there is none."""
    return _shared_pool().compile(jobs, cache=None)


class WorkerPool:
    """Worker processes that start when they are needed and end with `close`, with the `with` block or with Python."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = settings.cpu_threads() if workers is None else workers
        if self.workers < 1:
            raise ValueError(f"a pool needs 1 worker or more, not {workers}")
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []
        self._abandoned = False
        self._process = os.getpid()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers and wait for them; the pool may be used again."""
        if self._process == os.getpid():  # after a fork the workers are still the parent's
            with self._lock:
                while self._idle:
                    self._idle.pop().end()

    def abandon(self) -> None:
        """End the workers at once, those at work too: the process ends, and a thread that waits for them with it."""
        if self._process != os.getpid():
            return
        self._abandoned = True
        for worker in list(self._busy):
            worker.process.kill()
        if self._lock.acquire(timeout=_PARTING_SECONDS):  # soon: whoever has it hears that its workers are gone
            try:
                while self._idle:
                    self._idle.pop().end()
            finally:
                self._lock.release()

    def compile(
        self, jobs: Sequence[Job], *, timeout: float | None = None, cache: CacheChoice = "default"
    ) -> list[bytes | CompileError]:
        """Compile all `jobs` and return, in order, the code of each or the error that it failed with."""
        if self._process != os.getpid():
            raise CompileError("this WorkerPool belongs to the process that was forked; make a new one here")
        chosen = resolve_cache(cache)
        outcomes: dict[int, bytes | CompileError] = {}
        keys: dict[int, str] = {}
        for number, job in enumerate(jobs):
            if chosen:
                keys[number] = cache_key(job.ir, job.target, job.level)
                if settings.dump_dir() is None and (code := chosen.get(keys[number])) is not None:  # dumps need stages
                    outcomes[number] = code

        def finish(number: int, outcome: bytes | CompileError) -> None:
            outcomes[number] = outcome
            if chosen and isinstance(outcome, bytes):
                chosen.put(keys[number], outcome)  # at once, so that an interrupt does not lose it

        with self._lock:
            self._run(jobs, deque(number for number in range(len(jobs)) if number not in outcomes), timeout, finish)
        return [outcomes[number] for number in range(len(jobs))]

    def _run(self, jobs: Sequence[Job], waiting: deque[int], timeout: float | None, finish: _Finish) -> None:
        """Hand the waiting jobs to workers until each is finished; on any exception no worker is left at work."""
        busy = self._busy = []
        try:
            while waiting or busy:
                if self._abandoned:
                    raise CompileError("the process ends")
                while waiting and len(busy) < self.workers:
                    busy.append(self._take())
                    number = waiting.popleft()
                    busy[-1].assign(number, jobs[number], timeout)
                for worker in _wait(busy):
                    finish(worker.number, worker.outcome())
                    if worker.alive and unrolling.asked_for(jobs[worker.number].ir):
                        worker.end()  # LLVM would go on in the same way
                    elif worker.alive:
                        self._idle.append(worker)
                    busy.remove(worker)
        except BaseException:
            for worker in busy:
                worker.end()
            raise

    def _take(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.process.poll() is None:
                return worker
            worker.end()  # somebody killed it while it had nothing to do
        return _Worker()


_shared_lock = threading.Lock()
_shared: WorkerPool | None = None


def ending() -> bool:
    """Whether this process ends, and its workers have been ended before."""
    return _shared is not None and _shared._process == os.getpid() and _shared._abandoned


def _shared_pool() -> WorkerPool:
    """Return this process's own pool; a forked child makes a new one, for the pipes of the old are its parent's."""
    global _shared
    with _shared_lock:
        if _shared is None or _shared._process != os.getpid() or _shared.workers != settings.cpu_threads():
            if _shared is not None:
                _shared.close()
            _shared = WorkerPool()
            atexit.register(_shared.abandon)
        return _shared


def _wait(busy: list[_Worker]) -> list[_Worker]:
    """Move bytes until something happens, or somebody's time is over; return the workers that are through."""
    with selectors.DefaultSelector() as selector:
        for worker in busy:
            selector.register(worker.answers, selectors.EVENT_READ, worker.receive)
            if worker.unsent:
                selector.register(worker.jobs, selectors.EVENT_WRITE, worker.send)
        soonest = min(worker.deadline for worker in busy)
        ready = selector.select(None if soonest == _NEVER else max(0.0, soonest - time.monotonic()))
    for key, _ in ready:
        key.data()
    for worker in busy:
        worker.check_clock()
    return [worker for worker in busy if worker.over]


def module_path() -> list[str]:
    """Where a process that is started finds the modules that this one has."""
    root = str(Path(lanewise.compiler.__file__).parents[2])
    return [entry for entry in sys.path if entry] + [root]


class _Worker:
    """One worker process, and the job that it has."""

    def __init__(self) -> None:
        if not sys.executable:
            raise CompileError("compile workers need a Python interpreter, and sys.executable names none; set it")
        self._complaints = tempfile.TemporaryFile("a+b")  # noqa: SIM115 - lives as long as the worker
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", _BOOT, *module_path()],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            process_group=0,  # a Ctrl-C in the terminal goes to the parent alone
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.jobs = self.process.stdin.fileno()
        self.answers = self.process.stdout.fileno()
        os.set_blocking(self.jobs, False)
        self.alive = True
        self._ready = False
        self._received = bytearray()

    def assign(self, number: int, job: Job, timeout: float | None) -> None:
        """Give the worker a job; its time starts now, or when a new worker says that it is ready."""
        self.number = number
        self.over = False
        self._job = job
        self._timeout = timeout
        self._timed_out = False
        self._answer: tuple[dict[str, Any], bytes] | None = None
        self._complaints.truncate(0)
        header = {"name": job.name, "level": job.level, "target": asdict(job.target)}
        self.unsent = memoryview(frames.pack(header, job.ir.encode()))
        self._start_clock(timeout if self._ready else _START_SECONDS)

    def _start_clock(self, seconds: float | None) -> None:
        self.deadline = _NEVER if seconds is None else time.monotonic() + seconds

    def check_clock(self) -> None:
        """Kill the worker if its time is over."""
        if not self.over and time.monotonic() >= self.deadline:
            self._timed_out = True
            self.end()

    def send(self) -> None:
        """Send as much of the job as the pipe takes; that a worker is gone shows when its answer is read."""
        if self.over:
            return
        try:
            self.unsent = self.unsent[os.write(self.jobs, self.unsent) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self.unsent = memoryview(b"")

    def receive(self) -> None:
        """Read what has come; the job is over with an answer, or with the end of the worker."""
        data = os.read(self.answers, 1 << 20)
        if not data:
            self.end()
        self._received += data
        while (frame := frames.unpack(self._received)) is not None:
            if self._ready:
                self._answer = frame
                self.over = True
            else:
                self._ready = True
                self._start_clock(self._timeout)

    def outcome(self) -> bytes | CompileError:
        """Return the code that the worker made, or say why there is none."""
        if self._answer is not None:
            header, body = self._answer
            return body if header["error"] is None else CompileError(header["error"])
        name = self._job.name
        if not self._timed_out:
            return CompileError(f"{name}: {self._epitaph()}")
        if not self._ready:
            return CompileError(f"{name}: no compile worker started within {_START_SECONDS:g} s; is the machine busy?")
        return CompileError(f"{name}: LLVM was stopped after {self._timeout:g} s; allow more time, or make it smaller")

    def _epitaph(self) -> str:
        """Say what the worker died of, in LLVM's own words where it left some."""
        if found := re.search(r"^LLVM ERROR: (.*)$", self._last_words, re.MULTILINE):
            return f"LLVM gave up: {found[1]}"
        if found := re.search(r"^(?:.*: )?error: .*$", self._last_words, re.MULTILINE):
            return f"LLVM gave up: {found[0]}"
        status = self.process.returncode
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        return f"the compile worker died ({how}); {self._last_words.strip()[-2000:] or 'it left no message'}"

    def end(self) -> None:
        """Kill the process, wait for it, and close what belongs to it; its last words stay."""
        if not self.alive:
            return
        self.alive = False
        self.over = True
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
        self._complaints.seek(0)
        self._last_words = self._complaints.read().decode(errors="replace")
        self._complaints.close()
