"""When the device itself fails: what lanes had done is kept, the others are named, and the next run works."""

import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from engine_runs import numbers, program, run, run_all, small_waves, task_of, words

import lanewise as lw
from lanewise.batch import cpu_engine
from lanewise.batch.cuda_engine import CudaWaves
from lanewise.batch.cuda_wave import CudaWave
from lanewise.batch.engine import Run
from lanewise.batch.service import HostService
from lanewise.kernel.lane_io import LANE_ENDED, LaneRecord

SAYING = program("(call $say (call $argument))", numbered=True)


def failing(monkeypatch, device, method: str, turn: int) -> None:
    """Have a method of the backend, or of its waves, fail as a lost device does, the so-many-th time it is called."""
    kinds = (cpu_engine.CpuWaves, cpu_engine.CpuWave) if device.name == "cpu" else (CudaWaves, CudaWave)
    kind, calls = kinds[not hasattr(kinds[0], method)], []
    real = getattr(kind, method)

    def fails(self, *arguments):
        calls.append(method)
        if len(calls) == turn:
            raise lw.DeviceLostError("the device is gone for this test")
        return real(self, *arguments)

    monkeypatch.setattr(kind, method, fails)


@pytest.mark.parametrize(("method", "turn", "waves"), [("start", 1, 0), ("start", 2, 1), ("start", 3, 2)])
def test_a_device_that_fails_between_waves_leaves_the_waves_before(method, turn, waves, device, monkeypatch):
    size = small_waves(monkeypatch, device)
    failing(monkeypatch, device, method, turn)
    ended = run(SAYING, device, 3 * size, numbers())
    assert ended.stopped == "the device failed: the device is gone for this test"
    assert [one.lane for one in ended.outcomes] == list(range(waves * size))
    for lane, one in enumerate(ended.outcomes):
        if device.name == "cpu" or one.kind is None:  # on a GPU a wave begins before the one before is over
            assert (one.exit_code, words(one.stdout)) == (0, [lane])
        else:
            assert one.kind == "device lost"
    monkeypatch.undo()
    assert run_all(SAYING, device, 5, numbers()).codes == [0] * 5


@pytest.mark.parametrize("method", ["wait", "look", "traps"])
def test_a_device_that_fails_while_lanes_run_is_no_error_of_the_program(method, device, monkeypatch):
    failing(monkeypatch, device, method, 1)
    ended = run(SAYING, device, 6, numbers())
    assert ended.stopped == "the device failed: the device is gone for this test"
    assert [one.lane for one in ended.outcomes] == list(range(6))
    for one in ended.outcomes:
        assert (one.exit_code, one.kind) in ((0, None), (None, "device lost"))
    monkeypatch.undo()
    assert run_all(SAYING, device, 5, numbers()).codes == [0] * 5


class TwoWaves:
    """A device with two waves of two lanes, of which one has ended in each; a look at the second finds it gone."""

    def __init__(self):
        self.started = 0
        self.device_name, self.placement, self.native = "a device", "", None

    def next_wave(self, left):
        return 2

    def start(self, first, count, service):
        self.started += 1
        records = np.zeros(count, LaneRecord.dtype)
        records["state"][0] = LANE_ENDED
        fails = self.started == 2
        gone = lw.DeviceLostError("the device is gone for this test")
        return SimpleNamespace(
            over=False,
            look=lambda: records,
            traps=lambda: _raise(gone) if fails else np.zeros(count, np.uint64),
            console=lambda: np.zeros(0, np.uint8),
        )

    def wait(self, seconds):
        pass

    def forget_copies(self):
        return False

    stop = close = lambda self: None


def _raise(error):
    raise error


def test_lanes_of_other_waves_have_ended_though_a_look_at_one_finds_the_device_gone(monkeypatch):
    running = Run(task_of(SAYING, lw.device("cpu"), 4, numbers()))
    running._backend.close()
    monkeypatch.setattr(running, "_backend", TwoWaves())
    outcomes = sorted(running.outcomes(), key=lambda one: one.lane)
    assert [(one.lane, one.kind) for one in outcomes] == [
        (0, None), (1, "device lost"), (2, "device lost"), (3, "device lost"),
    ]  # fmt: skip
    assert running.stopped == "the device failed: the device is gone for this test"


def test_a_wave_that_finds_no_memory_beside_others_is_started_later(monkeypatch):
    running = Run(task_of(SAYING, lw.device("cpu"), 4, numbers()))
    running._backend.close()
    tries = []

    class Scarce(TwoWaves):
        def start(self, first, count, service):
            tries.append(first)
            if len(tries) == 2:
                raise lw.OutOfMemoryError("none is free for this test")
            records = np.zeros(count, LaneRecord.dtype)
            records["state"] = LANE_ENDED
            nothing = np.zeros(count, np.uint64)
            return SimpleNamespace(
                over=len(tries) > 1, look=lambda: records, traps=lambda: nothing, console=lambda: np.zeros(0, np.uint8)
            )

        def wait(self, seconds):
            for wave in running._open:
                wave.wave.over = len(tries) > 1

        def results(self):
            return None

    monkeypatch.setattr(running, "_backend", Scarce())
    assert sorted(one.lane for one in running.outcomes()) == [0, 1, 2, 3]
    assert (tries, running.stopped) == ([0, 2, 2], None)


def test_a_host_that_fails_is_an_error_and_the_next_run_works(device, monkeypatch, tmp_path):
    def fails(self, *arguments):
        raise RuntimeError("the host has a mistake")

    opening = program(
        """(drop (call $path_open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0) (i64.const 2)
          (i64.const 0) (i32.const 0) (i32.const 304)))""",
        "path_open",
    )
    monkeypatch.setattr(HostService, "serve", fails)
    with pytest.raises(RuntimeError, match="the host has a mistake"):
        run(opening, device, 4, directories=[(tmp_path, "/")])
    monkeypatch.undo()
    assert run_all(opening, device, 4, directories=[(tmp_path, "/")]).codes == [0] * 4


# --- real faults -----------------------------------------------------------------------------------------------------

SETUP = """
import sys, time
sys.path[:0] = sys.argv[1:3]
import kernels, numpy as np
import lanewise as lw
from lanewise.lang import u32
from engine_runs import numbers, program, words
from lanewise.batch.engine import Run
from engine_runs import task_of

dev = lw.device("cuda")
out = dev.zeros(4, u32)
kernels.wild[1](out, 1).wait()  # loaded while nothing runs

def fault(beside=False):
    # Beside a program that runs: on the stream that copies use, for its own one is busy.
    engine = dev._engine
    kept = engine._stream
    if beside:
        engine._stream = engine._side_stream
    try:
        launch = kernels.wild[1](out, 2**45)
    finally:
        engine._stream = kept
    return launch

saying = program("(call $say (call $argument))", numbered=True)
looping = program('''(local $number i32)
    (local.set $number (call $argument))
    (call $say (local.get $number))
    (if (i32.ge_u (local.get $number) (i32.const 90)) (then (loop $ever (br $ever))))''', numbered=True)
"""


@pytest.fixture(scope="module")
def cuda():
    try:
        return lw.device("cuda")
    except lw.NoDeviceError as absent:
        pytest.skip(str(absent))


def script(text: str) -> list[str]:
    """Run a program of its own, since a fault breaks CUDA for the whole process; gives the lines that it prints."""
    here = Path(__file__).parent
    command = [sys.executable, "-c", SETUP + textwrap.dedent(text), str(here.parent / "devices"), str(here)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_fault_while_lanes_run_keeps_what_they_did_and_names_the_others(cuda):
    lines = script("""
        running = Run(task_of(looping, dev, 96, numbers()))
        outcomes = {}
        for one in running.outcomes():
            outcomes[one.lane] = one
            if len(outcomes) == 90:
                fault(beside=True)
        print(running.stopped.partition(":")[0])
        print(sorted(outcomes) == list(range(96)))
        print(all(outcomes[lane].ok and words(outcomes[lane].stdout) == [lane] for lane in range(90)))
        print({(outcomes[lane].exit_code, outcomes[lane].kind) for lane in range(90, 96)})
    """)
    assert lines == ["the device failed", "True", "True", "{(None, 'device lost')}"]


def test_the_run_behind_a_fault_works_in_the_same_process(cuda):
    lines = script("""
        try:
            fault().wait()
        except lw.DeviceLostError:
            print("lost")
        for turn in range(2):
            result = lw.run(saying, lanes=300, args=["{lane}"], device="cuda")
            print(result.ok, result.stopped, [words(one) for one in result.stdout] == [[n] for n in range(300)])
        print(type(lw.device("cuda")._engine).__name__)
        result = lw.run(looping, lanes=96, args=["{lane}"], device="cuda", timeout=1)
        print(result.stopped, int((result.exit_codes == 0).sum()))
    """)
    assert lines == ["lost", "True None True", "True None True", "RemoteEngine", "time-out after 1 s", "90"]


def test_files_work_behind_a_fault(cuda, tmp_path):
    (tmp_path / "f").write_bytes(b"abcdefgh" * 1000)
    lines = script(f"""
        try:
            fault().wait()
        except lw.DeviceLostError:
            print("lost")
        copying = program('''
            (i32.store8 (i32.const 256) (i32.const 102))
            (if (call $path_open (i32.const 3) (i32.const 0) (i32.const 256) (i32.const 1) (i32.const 0) (i64.const 2)
                  (i64.const 0) (i32.const 0) (i32.const 260)) (then unreachable))
            (loop $next
              (i32.store (i32.const 264) (i32.const 4096))
              (i32.store (i32.const 268) (i32.const 4096))
              (drop (call $fd_read (i32.load (i32.const 260)) (i32.const 264) (i32.const 1) (i32.const 272)))
              (if (i32.load (i32.const 272)) (then
                (call $say_at (i32.const 1) (i32.const 4096) (i32.load (i32.const 272)))
                (br $next))))''', "path_open", "fd_read")
        result = lw.run(copying, lanes=50, device="cuda", dirs={{"/": {str(tmp_path)!r}}})
        print(result.ok, set(result.stdout) == {{b"abcdefgh" * 1000}})
    """)
    assert lines == ["lost", "True True"]


def test_a_fault_before_a_run_that_was_made_ready_is_told(cuda):
    lines = script("""
        running = Run(task_of(saying, dev, 10, numbers()))
        try:
            fault().wait()
        except lw.DeviceLostError:
            print("lost")
        print(list(running.outcomes()))
        print(running.stopped.partition(":")[0])
        print(lw.run(saying, lanes=3, args=["{lane}"], device="cuda").ok)
    """)
    assert lines == ["lost", "[]", "the device failed", "True"]


def test_faults_in_a_row_each_cost_one_run(cuda):
    lines = script("""
        for turn in range(2):
            running = Run(task_of(looping, dev, 96, numbers()))
            told = 0
            for one in running.outcomes():
                told += 1
                if told == 90:
                    if turn == 0:
                        fault(beside=True)
                    else:
                        dev._engine._process.kill()  # the process that drives the GPU now
            print(told, running.stopped.partition(":")[0])
            dev = lw.device("cuda")
        print(lw.run(saying, lanes=3, args=["{lane}"], device="cuda").ok)
    """)
    assert lines == ["96 the device failed"] * 2 + ["True"]
