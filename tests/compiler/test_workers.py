"""Compile workers: LLVM may abort, hang or be killed there, and this process and the other jobs go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lanewise.compiler import Cache, Job, Target, WorkerPool, compile_guest, compile_module, workers
from lanewise.errors import CompileError

GPU = Target.nvptx()
ADD = "define i32 @add(i32 %a, i32 %b) {\n  %s = add i32 %a, %b\n  ret i32 %s\n}\n"
ABORTS = """
declare float @llvm.sin.f32(float)
define float @wave(float %x) {
  %y = call float @llvm.sin.f32(float %x)
  ret float %y
}
"""
# Long enough that no machine compiles it before a time-out of a tenth of a second.
SLOW = "\n".join(
    f"define i64 @f{number}(i64 %r) {{\n"
    + "".join(f"  %r{step} = mul i64 %r{step - 1 if step else ''}, %r\n" for step in range(300))
    + "  ret i64 %r299\n}"
    for number in range(300)
)

Children = Callable[[int], set[int]]
StartPython = Callable[[str], subprocess.Popen[str]]

# A user's script with no `if __name__` guard, that compiles for a long time and is then interrupted or killed.
SCRIPT = f"""
print("main runs", flush=True)
from lanewise.compiler import Job, Target, WorkerPool
with WorkerPool(2) as pool:
    pool.compile([Job({ADD!r}, Target.nvptx())] * 2, cache=None)
    print("started", flush=True)
    pool.compile([Job({SLOW!r}, Target.nvptx(), str(n)) for n in range(8)], cache=None)
"""


def wait_until_gone(pids: set[int]) -> None:
    """Wait until none of the processes runs; who has no living parent may stay a zombie where nobody reaps."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        listed = subprocess.run(["ps", "-A", "-o", "pid=,stat="], capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in listed.splitlines()]
        if not any(int(pid) in pids and not state.startswith("Z") for pid, state in rows):
            return
        time.sleep(0.02)
    pytest.fail(f"the workers {pids} outlived their parent")


def test_code_comes_back_in_order_and_equals_that_of_this_process() -> None:
    variants = [ADD.replace("@add", f"@add{number}") for number in range(6)]
    codes = compile_guest([Job(ir, GPU) for ir in variants] + [Job(ADD, Target.host())], cache=None)
    assert codes[:-1] == [compile_module(ir, GPU, cache=None).code for ir in variants]
    assert codes[-1] == compile_module(ADD, Target.host(), cache=None).code


def test_no_jobs_need_no_worker(children: Children) -> None:
    before = children(os.getpid())
    with WorkerPool(2) as pool:
        assert pool.compile([]) == []
        assert children(os.getpid()) == before


def test_a_job_that_aborts_llvm_fails_alone_with_llvms_own_words() -> None:
    with WorkerPool(2) as pool:
        jobs = [Job(ADD, GPU), Job(ABORTS, GPU, name="wave.wasm"), Job(ADD, Target.host()), Job(ADD, GPU)]
        first, failed, *others = pool.compile(jobs, cache=None)
        assert all(isinstance(code, bytes) for code in (first, *others))
        assert isinstance(failed, CompileError)
        assert str(failed).startswith("wave.wasm: LLVM gave up: Cannot select: ")
        assert "fsin" in str(failed)
        assert isinstance(pool.compile([Job(ADD, GPU)], cache=None)[0], bytes)


def test_a_mistake_in_the_ir_is_reported_like_in_this_process_and_keeps_the_worker(children: Children) -> None:
    before = children(os.getpid())
    with WorkerPool(1) as pool:
        assert isinstance(pool.compile([Job(ADD, GPU)], cache=None)[0], bytes)
        worker = children(os.getpid()) - before
        (failed,) = pool.compile([Job("define", GPU, name="m")], cache=None)
        with pytest.raises(CompileError) as caught:
            compile_module("define", GPU, name="m", cache=None)
        assert str(failed) == str(caught.value)
        assert children(os.getpid()) - before == worker


def test_compile_guest_raises_the_first_failure_and_notes_the_others() -> None:
    with pytest.raises(CompileError, match=r"^one: LLVM gave up") as caught:
        compile_guest([Job(ADD, GPU), Job(ABORTS, GPU, "one"), Job("?", GPU, "two")], workers=2, cache=None)
    (note,) = caught.value.__notes__
    assert note.startswith("also: two: line 1")


def test_a_time_out_kills_the_worker_and_names_the_job_and_the_seconds(children: Children) -> None:
    before = children(os.getpid())
    with WorkerPool(2) as pool:
        (failed,) = pool.compile([Job(SLOW, GPU, "slow.wasm")], timeout=0.1, cache=None)
        assert str(failed).startswith("slow.wasm: LLVM was stopped after 0.1 s")
        assert isinstance(failed, CompileError)
        assert children(os.getpid()) == before
        assert isinstance(pool.compile([Job(ADD, GPU)], cache=None)[0], bytes)
    assert children(os.getpid()) == before


def test_a_worker_that_was_killed_while_idle_is_replaced(children: Children) -> None:
    before = children(os.getpid())
    with WorkerPool(1) as pool:
        pool.compile([Job(ADD, GPU)], cache=None)
        (worker,) = pool._idle
        assert children(os.getpid()) - before == {worker.process.pid}
        worker.process.kill()
        worker.process.wait(timeout=20)  # `ps` has it as gone while its last threads end
        assert isinstance(pool.compile([Job(ADD, GPU)], cache=None)[0], bytes)


def test_workers_ignore_an_interrupt(children: Children) -> None:
    before = children(os.getpid())
    with WorkerPool(1) as pool:
        pool.compile([Job(ADD, GPU)], cache=None)
        workers_before = children(os.getpid()) - before
        for worker in workers_before:
            os.kill(worker, signal.SIGINT)
        assert isinstance(pool.compile([Job(ADD, GPU)], cache=None)[0], bytes)
        assert children(os.getpid()) - before == workers_before


def test_a_worker_killed_at_work_is_named_by_its_signal() -> None:
    with WorkerPool(1) as pool, ThreadPoolExecutor(1) as thread:
        pool.compile([Job(ADD, GPU)], cache=None)
        (worker,) = pool._idle
        running = thread.submit(pool.compile, [Job(SLOW, GPU, "slow.wasm"), Job(ADD, GPU)], cache=None)
        while worker.over:  # until it has the job
            time.sleep(0.001)
        worker.process.send_signal(signal.SIGKILL)
        failed, code = running.result()
    assert isinstance(failed, CompileError)
    assert str(failed) == "slow.wasm: the compile worker died (signal SIGKILL); it left no message"
    assert isinstance(code, bytes)


def test_no_process_is_left_after_close(children: Children) -> None:
    before = children(os.getpid())
    pool = WorkerPool(3)
    pool.compile([Job(ADD, GPU)] * 3 + [Job(ABORTS, GPU)], cache=None)
    pool.close()
    assert children(os.getpid()) == before


def test_an_interrupt_in_the_parent_ends_the_workers(children: Children, start_python: StartPython) -> None:
    process = start_python(SCRIPT)
    assert [process.stdout.readline() for _ in range(2)] == ["main runs\n", "started\n"]
    pids = children(process.pid)
    assert len(pids) == 2
    process.send_signal(signal.SIGINT)
    rest, complaint = process.communicate(timeout=60)
    assert rest == ""
    assert complaint.rstrip().endswith("KeyboardInterrupt")
    wait_until_gone(pids)


def test_workers_end_with_a_parent_that_was_killed_even_in_the_middle_of_a_compile(
    children: Children, start_python: StartPython
) -> None:
    process = start_python(SCRIPT)
    assert [process.stdout.readline() for _ in range(2)] == ["main runs\n", "started\n"]
    pids = children(process.pid)
    assert len(pids) == 2
    time.sleep(0.3)  # so that LLVM is busy, and nobody reads the pipe
    process.kill()
    process.wait()
    wait_until_gone(pids)


def test_a_script_without_a_main_guard_runs_once(start_python: StartPython) -> None:
    process = start_python(
        "print('main runs')\nfrom lanewise.compiler import Job, Target, compile_guest\n"
        f"print(len(compile_guest([Job({ADD!r}, Target.nvptx())] * 2, cache=None)))\n"
    )
    said, complaint = process.communicate(timeout=60)
    assert (process.returncode, said, complaint) == (0, "main runs\n2\n", "")


def test_results_are_cached_like_those_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Cache(tmp_path / "code", 1 << 20)
    codes = compile_guest([Job(ADD, GPU)], cache=store)
    assert compile_module(ADD, GPU, cache=store).cached
    monkeypatch.setattr(workers, "_Worker", None)  # none is needed for what is cached
    with WorkerPool(1) as pool:
        assert pool.compile([Job(ADD, GPU)], cache=store) == codes


def test_what_was_finished_before_an_interrupt_is_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: Children
) -> None:
    before = children(os.getpid())
    store = Cache(tmp_path / "code", 1 << 20)
    wait = workers._wait
    finished: list[workers._Worker] = []

    def interrupted_after_the_first(busy: list[workers._Worker]) -> list[workers._Worker]:
        if finished:
            raise KeyboardInterrupt
        finished.extend(wait(busy))
        return list(finished)

    monkeypatch.setattr(workers, "_wait", interrupted_after_the_first)
    with WorkerPool(1) as pool:
        with pytest.raises(KeyboardInterrupt):
            pool.compile([Job(ADD, GPU), Job(SLOW, GPU)], cache=store)
        assert children(os.getpid()) == before
    assert compile_module(ADD, GPU, cache=store).cached


def test_a_dump_is_written_by_the_worker(tmp_path: Path) -> None:
    store = Cache(tmp_path / "code", 1 << 20)
    compile_guest([Job(ADD, GPU)], cache=store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANEWISE_DUMP", str(tmp_path / "dump"))
        compile_guest([Job(ADD, GPU, "guest")], workers=1, cache=store)
    assert (tmp_path / "dump" / "guest.ptx").read_bytes() == compile_module(ADD, GPU, cache=None).code


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 and later, where threads run
def test_a_forked_child_leaves_its_parents_workers_alone() -> None:
    compile_guest([Job(ADD, GPU)], cache=None)
    shared = workers._shared_pool()
    child = os.fork()
    if child == 0:
        shared.close()
        try:
            shared.compile([Job(ADD, GPU)], cache=None)
        except CompileError:
            os._exit(0 if workers._shared_pool() is not shared else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert workers._shared_pool() is shared
    assert compile_guest([Job(ADD, GPU)], cache=None)


def test_a_pool_without_workers_is_refused() -> None:
    with pytest.raises(ValueError, match="1 worker or more, not 0"):
        WorkerPool(0)


def test_python_without_an_interpreter_path_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with WorkerPool(1) as pool, pytest.raises(CompileError, match=r"sys\.executable names none"):
        pool.compile([Job(ADD, GPU)], cache=None)
