"""Compiling that outlives its process: the code is in the cache for the next one, made once, and never half of it."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lanewise.compiler import Cache, Job, Target, bundle, compile_outliving, unbundle

ADD = "define i32 @add(i32 %a, i32 %b) {\n  %s = add i32 %a, %b\n  ret i32 %s\n}\n"
WRONG = "define i32 @wrong("
KEY = "a" * 64
LIMIT = 1 << 20
_PATIENCE = 60.0

# A program that is over as soon as what it wants to be compiled has been handed over.
SHORT = f"""
import os, sys, threading, time
from lanewise.compiler import Cache, Job, Target, compile_outliving, outliving
cache = Cache(sys.argv[1], {LIMIT})
started = threading.Event()
outliving.subprocess.Popen.wait = lambda process: (started.set(), time.sleep(100))
jobs = [Job({ADD!r}, Target.host(), str(n)) for n in range(2)]
threading.Thread(target=compile_outliving, args=(cache, {KEY!r}, lambda: jobs), daemon=True).start()
started.wait()
os._exit(0)
"""

# A program that is over while a thread of it compiles, by a worker that was stopped and so never gives an answer.
HURRIED = f"""
import os, signal, sys, threading
from lanewise.compiler import Cache, Job, Target, compile_guest, outlived, workers
jobs = [Job({ADD!r}, Target.host(), str(n)) for n in range(2)]
compile_guest(jobs, cache=None)
pool = workers._shared_pool()
for worker in pool._idle:
    os.kill(worker.process.pid, signal.SIGSTOP)
begun = threading.Event()
def work():
    with outlived(Cache(sys.argv[1], {LIMIT}), {KEY!r}, jobs):
        begun.set()
        compile_guest(jobs, cache=None)
threading.Thread(target=work, daemon=True).start()
begun.wait()
"""


# The same where nothing was compiled before: workers begin within, and so are ended before it is handed over.
FIRST = f"""
import os, signal, sys, threading, time
from lanewise.compiler import Cache, Job, Target, compile_guest, outlived, workers
jobs = [Job({ADD!r}, Target.host(), str(n)) for n in range(2)]
class Stopped(workers._Worker):
    def __init__(self):
        super().__init__()
        os.kill(self.process.pid, signal.SIGSTOP)
workers._Worker = Stopped
def work():
    with outlived(Cache(sys.argv[1], {LIMIT}), {KEY!r}, jobs):
        compile_guest(jobs, cache=None)
threading.Thread(target=work, daemon=True).start()
while workers._shared is None or not workers._shared._busy:
    time.sleep(0.01)
"""


def _jobs(*texts: str) -> list[Job]:
    return [Job(text, Target.host(), str(number)) for number, text in enumerate(texts)]


def test_the_code_is_given_and_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "code", LIMIT)
    codes = compile_outliving(cache, KEY, lambda: _jobs(ADD, ADD))
    stored = cache.get(KEY)
    assert codes is not None
    assert stored is not None
    assert len(codes) == 2
    assert unbundle(stored) == codes


@pytest.mark.parametrize("program", [SHORT, HURRIED, FIRST], ids=["handed over", "ended in the midst", "the first"])
def test_the_code_of_a_process_that_has_ended_comes_into_the_cache(program: str, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "code", LIMIT)
    # Nobody who reads what the program writes waits for what outlives it: `communicate` would.
    done = subprocess.run([sys.executable, "-c", program, str(cache.directory)], capture_output=True, timeout=_PATIENCE)
    assert done.returncode == 0, done.stderr.decode()
    deadline = time.monotonic() + _PATIENCE
    while (stored := cache.get(KEY)) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert stored is not None
    assert len(unbundle(stored)) == 2


def test_it_is_made_once_for_all_who_want_it(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "code", LIMIT)
    asked = []

    def jobs() -> list[Job]:
        asked.append(1)
        return _jobs(ADD)

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda _: compile_outliving(cache, KEY, jobs), range(4)))
    assert len(asked) == 1
    assert results[0] is not None
    assert all(result == results[0] for result in results)


def test_one_piece_that_fails_leaves_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "code", LIMIT)
    assert compile_outliving(cache, KEY, lambda: _jobs(ADD, WRONG)) is None
    assert cache.get(KEY) is None


def test_code_that_has_no_room_in_the_cache_is_for_this_process_alone(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "code", 100)
    codes = compile_outliving(cache, KEY, lambda: _jobs(ADD))
    assert codes is not None
    assert len(codes) == 1
    assert cache.get(KEY) is None


def test_a_lock_that_a_forked_process_holds_keeps_nobody_from_code_that_is_there(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "code", LIMIT)
    lock = cache.lock("optimise")
    assert lock is not None
    fcntl.flock(lock, fcntl.LOCK_EX)
    cache.put(KEY, bundle([b"code"]))
    assert compile_outliving(cache, KEY, lambda: _jobs(ADD)) == [b"code"]
    os.close(lock)


def test_files_that_cannot_be_locked_are_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    monkeypatch.setattr(fcntl, "flock", refuse)
    codes = compile_outliving(Cache(tmp_path / "code", LIMIT), KEY, lambda: _jobs(ADD))
    assert codes is not None
    assert len(codes) == 1


def test_a_cache_that_was_removed_does_not_come_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "code", LIMIT)
    place = {"directory": str(cache.directory), "limit": LIMIT, "key": KEY}
    script = f"from lanewise.compiler.outliving_main import _keep; _keep({place!r}, b'code')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"code"
    assert not cache.directory.exists()


def test_without_a_cache_this_process_gets_its_code(tmp_path: Path) -> None:
    codes = compile_outliving(Cache(tmp_path / "code", 0), KEY, lambda: _jobs(ADD))
    assert codes is not None
    assert len(codes) == 1
