"""The CPU device under rough handling: many threads, Ctrl-C at any moment, forks, freed arrays, deep stacks."""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import kernels
import numpy as np
import pytest

import lanewise as lw
from lanewise.lang import Ptr, device, f32, f64, i32, kernel, local_id, thread_id, threadgroup_barrier, u32


@pytest.fixture
def cpu():
    return lw.device("cpu")


def run_script(script, tmp_path, stream="stdout"):
    """A program of its own with an empty cache; gives its output."""
    setup = "import sys; sys.path.insert(0, sys.argv[1])\nimport os, signal, threading, time\n"
    setup += "import kernels, numpy as np, lanewise as lw\nfrom lanewise.lang import u32\ncpu = lw.device('cpu')\n"
    command = [sys.executable, "-W", "ignore", "-c", setup + textwrap.dedent(script), str(Path(__file__).parent)]
    environment = {**os.environ, "LANEWISE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return getattr(done, stream)


def test_the_first_launches_may_come_from_many_threads_at_once(tmp_path):
    output = run_script(
        """
        results = []
        def work():
            out = cpu.zeros(128, u32)
            kernels.ids_after_barriers[128](out).wait()
            results.append(int(out.get().sum()))
        threads = [threading.Thread(target=work) for _ in range(16)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(len(results), set(results))
        """,
        tmp_path,
    )
    assert output == "16 {8128}\n"


def test_ctrl_c_at_any_moment_leaves_a_device_that_works(tmp_path):
    output = run_script(
        """
        out = cpu.zeros(1000, u32)
        kernels.store_ids[1000](out).wait()
        main = threading.main_thread().ident
        stop = armed = False
        def interrupt(*_):  # once at a time: the next may come while this script deals with one
            global armed
            if armed:
                armed = False
                raise KeyboardInterrupt
        signal.signal(signal.SIGINT, interrupt)
        def disturb():
            random = np.random.default_rng(5)
            while not stop:
                time.sleep(float(random.uniform(0, 0.003)))
                signal.pthread_kill(main, signal.SIGINT)
        interrupts = 0
        thread = threading.Thread(target=disturb)
        thread.start()
        until = time.monotonic() + 2
        while time.monotonic() < until:
            try:
                armed = True
                while time.monotonic() < until:
                    kernels.store_ids[1000](out)
                    kernels.ids_after_barriers[600](out).wait()
            except KeyboardInterrupt:
                interrupts += 1
        while True:
            try:
                stop = True
                thread.join()
                break
            except KeyboardInterrupt:
                pass
        kernels.store_ids[1000](out).wait()
        print(interrupts > 10, bool((out.get() == np.arange(1000)).all()))
        """,
        tmp_path,
    )
    assert output == "True True\n"


def test_a_forked_child_launches_on_workers_of_its_own(tmp_path):
    output = run_script(
        """
        out = cpu.zeros(100, u32)
        kernels.ids_after_barriers[100](out).wait()
        child = os.fork()
        if child == 0:
            kernels.store_ids[100](out).wait()
            os._exit(0 if (out.get() == np.arange(100)).all() else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        kernels.store_ids[100](out).wait()
        print(int(out.get()[99]))
        """,
        tmp_path,
    )
    assert output == "0\n99\n"


def test_an_array_freed_during_a_launch_keeps_its_memory_until_the_end(cpu):
    flag, x = np.zeros(1, np.uint32), cpu.zeros(1 << 18, u32)
    launch = kernels.wait_then_store[1 << 18](flag, x)
    x.free()
    others = [np.zeros(1 << 18, np.uint32) for _ in range(8)]
    flag[0] = 2
    launch.wait()
    assert not any(other.any() for other in others)


def test_every_waiter_waits_for_the_launch(cpu):
    flag = np.zeros(1, np.uint32)
    out = cpu.zeros(1, u32)
    launch = kernels.wait_then_store[1](flag, out)
    got = []
    threads = [threading.Thread(target=lambda: got.append(out.get())) for _ in range(4)]
    for thread in threads:
        thread.start()
    threads[0].join(timeout=0.1)
    assert not launch.done
    assert not got
    flag[0] = 2
    for thread in threads:
        thread.join()
    assert [int(values[0]) for values in got] == [7] * 4


def test_cancelling_a_queued_launch_ends_those_before_it(cpu):
    out = cpu.zeros(1, u32)
    kernels.forever[1](out)
    last = kernels.store_ids[1](out)
    last.cancel()
    assert last.done
    kernels.store_ids[1](out).wait()


def test_errors_of_several_launches_are_all_raised(cpu):
    odd = cpu.array([1], i32)
    for _ in range(3):
        kernels.need_even[1](odd)
    for _ in range(3):
        with pytest.raises(lw.TrapError):
            cpu.synchronize()
    cpu.synchronize()


@device
def large_leaf(n: u32) -> u32:
    values: u32[8000]
    for i in range(u32(8000)):
        values[i] = i * n
    return values[n % 8000]


@device
def deep(n: u32) -> u32:
    if n == 0:
        return large_leaf(n)
    return deep(n - 1) + large_leaf(n)


@kernel
def deep_with_large_frames(out: Ptr[u32], n: u32):
    threadgroup_barrier()
    out[thread_id()] = deep(n) + local_id()


def test_recursion_leaves_room_for_the_functions_it_calls(cpu):
    out = cpu.zeros(64, u32)
    with pytest.raises(lw.TrapError, match="recursion too deep"):
        deep_with_large_frames[64](out, 100_000).wait()
    deep_with_large_frames[64](out, 1).wait()
    np.testing.assert_array_equal(out.get(), np.arange(64) + 1)


def test_copies_between_buffers_are_checked(cpu):
    small, large = cpu.zeros(4, u32), cpu.zeros(1000, u32)
    with pytest.raises(lw.ArgumentError, match="4,000 bytes do not fit a buffer of 16"):
        cpu.copy(small.buffer, large.buffer, 4000)
    with pytest.raises(lw.ArgumentError, match="lives on null, not on cpu"):
        cpu.copy(small.buffer, lw.device("null").zeros(4, u32).buffer, 16)
    large.free()
    with pytest.raises(lw.ArgumentError, match="was freed"):
        cpu.fill(large.buffer, 0, 16)


def test_single_elements_and_fixed_arrays_go_both_ways(device):
    pair = device.zeros(kernels.Pair)
    pair.set(pair.get())
    assert device.array(np.float32(3)).shape == ()
    rows = device.zeros(10, f32[16])
    assert rows.shape == (10, 16)
    rows.set(np.arange(160, dtype=np.float32).reshape(10, 16))
    np.testing.assert_array_equal(rows.get()[3], np.arange(48, 64))
    assert device.zeros(f64).get() == 0


def test_a_failed_launch_that_nobody_waits_for_is_told_at_the_end(tmp_path):
    script = """
        kernels.need_even[1](np.array([1], np.int32))
        while not cpu._queue._failed: time.sleep(0.01)
    """
    assert "an odd number" in run_script(script, tmp_path, "stderr")
