"""Compile what nobody waits for, in a process that outlives its parent: the next one finds the code in the cache.

A program that runs for a second would otherwise begin to be optimised each time and never be. The process has the
lowest priority, and one is at work at a time for each cache.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict

from lanewise.compiler import frames
from lanewise.compiler.bundles import unbundle
from lanewise.compiler.cache import Cache
from lanewise.compiler.workers import Job, compile_guest, ending, module_path

_BOOT = "import sys; sys.path[:] = sys.argv[2:]; from importlib import import_module; import_module(sys.argv[1]).main()"
_MAIN = "lanewise.compiler.outliving_main"
_STEP = 0.1
"""Seconds between two looks whether somebody else's process is through."""


def compile_outliving(cache: Cache, key: str, jobs: Callable[[], Sequence[Job]]) -> list[bytes] | None:
    """Have the code of `jobs` put into a cache under a key, as a bundle, and wait for it; None if that fails.

    Without a cache, or where its files cannot be locked, it is compiled for this process alone.
    """
    lock = cache.lock("optimise")
    if lock is None or not sys.executable:
        return compile_guest(jobs(), cache=None)
    try:
        stored = cache.get(key)
        while stored is None and not taken(lock):
            time.sleep(_STEP)
            stored = cache.get(key)  # whoever has the lock may be making it
        stored = stored or cache.get(key) or _compile(cache, key, jobs(), lock)
    except OSError:  # a file system without locks, or no room for a process
        return compile_guest(jobs(), cache=None)
    finally:
        os.close(lock)
    return unbundle(stored) if stored else None


@contextmanager
def outlived(cache: Cache, key: str, jobs: Sequence[Job]) -> Iterator[None]:
    """While this process compiles `jobs`: if it ends before that is done, another begins anew, and keeps the code."""

    def hand_over() -> None:
        lock = cache.lock("optimise") if sys.executable else None
        if lock is None:
            return
        with suppress(OSError, RuntimeError):
            if taken(lock):  # else somebody is at work, and another run will come
                process = _started(cache, key, jobs, lock)
                process.returncode = 0  # nobody waits for it
        os.close(lock)

    atexit.register(hand_over)
    try:
        yield
    except BaseException:
        if not ending():  # else it failed for its workers were ended, and this is what comes next
            atexit.unregister(hand_over)
        raise
    atexit.unregister(hand_over)


def taken(lock: int) -> bool:
    """Take a lock, unless somebody else has it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # one that waits could not be ended
    except BlockingIOError:
        return False
    return True


def _compile(cache: Cache, key: str, jobs: Sequence[Job], lock: int) -> bytes | None:
    """Start the process and wait for it."""
    process = _started(cache, key, jobs, lock)
    assert process.stdout is not None
    with process.stdout as pipe:
        unstored = pipe.read()
    process.wait()
    fcntl.flock(lock, fcntl.LOCK_UN)  # for a process that was forked meanwhile, too, and has the file open
    return unstored or cache.get(key)


def _started(cache: Cache, key: str, jobs: Sequence[Job], lock: int) -> subprocess.Popen[bytes]:
    """Start the process that compiles `jobs`, and tell it of them."""
    place = {"directory": str(cache.directory), "limit": cache.limit, "key": key, "jobs": len(jobs)}
    said = [frames.pack(place)]
    for job in jobs:
        header = {"name": job.name, "level": job.level, "target": asdict(job.target)}
        said.append(frames.pack(header, job.ir.encode()))
    return start_outliving(_MAIN, said, lock)


def start_outliving(main: str, said: Sequence[bytes], lock: int) -> subprocess.Popen[bytes]:
    """Start a process that runs `main` of a module, keeps the lock as long as it lives, and is told so much."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", _BOOT, main, *module_path()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=[lock],
        cwd="/",  # it must not keep anybody from unmounting the current one
        start_new_session=True,  # neither Ctrl-C nor the end of the terminal is for it
    )
    assert process.stdin is not None
    with suppress(BrokenPipeError), process.stdin as pipe:
        for frame in said:
            pipe.write(frame)
    return process
