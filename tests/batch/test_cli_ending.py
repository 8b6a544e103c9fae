"""A run ends when it is told to, whatever it is doing, and says how its lanes went."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import pytest
from fake_engine import ENVIRONMENT, Fake, ended

from lanewise.batch import running
from lanewise.cli import gpu_run
from lanewise.cli.gpu_run import command
from lanewise.compiler import compiling

ROOT = Path(__file__).parents[2]
PI = ROOT / "examples" / "programs" / "pi.wasm"
FAKED = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from fake_engine import FakeRun, ended
from lanewise.batch import running
running.start = lambda task, module=None: FakeRun(task, lambda lane: ended(lane, stdout=b"x" * 2**20), None)
from lanewise.cli.gpu_run import main
main()
"""
REAL = "from lanewise.cli.gpu_run import main; main()"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.wasm").write_bytes(b"\0asm\1\0\0\0")
    return tmp_path


def started(code, *words, **more):
    before = [os.path.dirname(__file__)] if code is FAKED else []
    command = [sys.executable, "-c", code, *before, *words]
    return subprocess.Popen(command, env={**ENVIRONMENT, **more.pop("env", {})}, stderr=subprocess.PIPE, **more)


def test_the_time_to_compile_counts(tmp_path):
    nothing_compiled = {"LANEWISE_CACHE_DIR": str(tmp_path)}
    process = started(REAL, "--timeout", "50ms", str(PI), "1", "10", env=nothing_compiled, stdout=subprocess.PIPE)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error) == (124, b"", b"gpu-run: time-out after 0.05 s; no lane had begun\n")


@pytest.mark.parametrize(("words", "told"), [([], True), (["--quiet"], False)])
def test_a_terminal_is_told_what_is_compiled_before_lanes_begin(here, monkeypatch, capsys, words, told):
    Fake(monkeypatch)
    start, heard = running.start, threading.Event()

    def slow(task, module=None):
        with compiling("all of it"):
            heard.wait(60 if told else 0.1)
        return start(task)

    def tell(lines):
        heard.set()
        real(lines)

    real = gpu_run._tell
    monkeypatch.setattr(running, "start", slow)
    monkeypatch.setattr(gpu_run, "_tell", tell)
    monkeypatch.setattr("lanewise.cli.compiling._PATIENCE", 0.01)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert command([*words, "app.wasm"]) == 0
    said = "gpu-run: compiling all of it; it is kept, so that later runs begin at once\n"
    assert capsys.readouterr().err == (said if told else "")


def test_the_time_to_read_the_input_counts(here):
    process = started(FAKED, "--timeout", "0.5", "--each-line", "-", "app.wasm", stdin=subprocess.PIPE)
    process.stdin.write(b"a line\n")
    process.stdin.flush()  # and no end
    assert process.wait(timeout=60) == 124
    assert process.stderr.read() == b"gpu-run: time-out after 0.5 s; no lane had begun\n"
    process.stdin.close()
    process.stderr.close()


@pytest.mark.parametrize("words", [["--each-line", "-"], ["--lanes", "2", "--stdin", "-"]])
def test_one_ctrl_d_ends_the_input_from_a_terminal(here, words):
    ours, theirs = os.openpty()
    process = started(FAKED, *words, "--quiet", "--json", "app.wasm", stdin=theirs, stdout=subprocess.PIPE)
    os.close(theirs)
    os.write(ours, b"one\ntwo\n\x04")
    try:
        out, error = process.communicate(timeout=60)
    finally:
        process.kill()
        os.close(ours)
    assert (process.returncode, error, out.count(b"\n")) == (0, b"", 2)


def test_a_reader_that_does_not_read_keeps_no_run_from_its_time_out(here):
    process = started(FAKED, "--timeout", "1", "--lanes", "20", "app.wasm", stdout=subprocess.PIPE)
    assert process.wait(timeout=60) == 124
    assert process.stderr.read().endswith(b", and nobody reads the output\n")
    process.stdout.close()
    process.stderr.close()


def test_words_into_the_same_stalled_pipe_keep_no_run_from_its_end(here):
    words = [sys.executable, "-c", FAKED, os.path.dirname(__file__), "--timeout", "1", "--lanes", "20", "app.wasm"]
    process = subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.wait(timeout=60) == 124
    process.stdout.close()


def test_a_slow_reader_gets_all_that_is_finished(here):
    process = started(FAKED, "--timeout", "1", "--lanes", "4", "--quiet", "app.wasm", stdout=subprocess.PIPE)
    size = 0
    while data := os.read(process.stdout.fileno(), 2**16):
        size += len(data)
        time.sleep(0.05)
    assert (process.wait(timeout=60), size) == (0, 4 * (2**20 + 1))
    process.stdout.close()
    process.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_reader_that_does_not_read_keeps_no_run_from_a_signal(here, number):
    process = started(FAKED, "--lanes", "20", "app.wasm", stdout=subprocess.PIPE)
    assert process.stdout.read(10) == b"x" * 10  # it writes
    process.send_signal(number)
    assert process.wait(timeout=60) == 128 + number
    process.stdout.close()
    process.stderr.close()


@pytest.mark.parametrize("words", [["--json"], ["--output-dir", "out"], ["--json", "--output-dir", "out"], []])
def test_the_status_of_a_single_program_is_its_own_wherever_its_output_goes(here, words, monkeypatch, capfd):
    Fake(monkeypatch, lambda lane: ended(lane, 3))
    assert command([*words, "app.wasm"]) == 3
    Fake(monkeypatch, lambda lane: ended(lane, trap="unreachable in f (+0x51)"))
    assert command([*words, "app.wasm"]) == 134
    assert capfd.readouterr().err == "gpu-run: trap: unreachable in f (+0x51)\n"


def test_a_file_that_cannot_be_read_is_found_before_anything_runs(here, monkeypatch, capfd):
    (here / "files").mkdir()
    (here / "files" / "a").write_bytes(b"fine")
    (here / "files" / "b").symlink_to("/proc/self/mem")  # which opens, and cannot be read at 0
    fake = Fake(monkeypatch, ended)
    assert command(["--each-file", "files/*", "--stdin", "{}", "app.wasm"]) == 2
    assert capfd.readouterr().err.startswith("gpu-run: 'files/b' cannot be read: ")
    assert not fake.runs


@pytest.mark.parametrize(
    ("words", "status"),
    [(["--lanes", "2", "app.wasm"], 0), (["--lanes", "2", "--explain", "app.wasm"], 0), (["none.wasm"], 2)],
)
def test_words_that_nobody_can_read_change_no_status(here, words, status):
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", FAKED, os.path.dirname(__file__), *words],
            env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=full, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == status


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["--json"], [], ["--help"]])
def test_output_that_a_full_disk_takes_in_part_is_no_success(here, words, unbuffered):
    room = 1000 if words == ["--help"] else 3 << 19  # less than a lane writes, more than another does

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    with open(here / "out", "wb") as out:
        command = [*words, "--lanes", "2", "--quiet", "app.wasm"]
        process = started(FAKED, *command, env={"PYTHONUNBUFFERED": unbuffered}, stdout=out, preexec_fn=limit)
        _, error = process.communicate(timeout=60)
    assert (here / "out").stat().st_size == room
    assert (process.returncode, error) == (3, b"gpu-run: output cannot be written: File too large\n")


IMPORTING = """
import os, signal, sys
class CtrlC:
    def find_spec(self, name, *more):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, CtrlC())
import {module}
{module}.{function}()
"""


@pytest.mark.parametrize("command", ["gpu-run", "lanewise"])
@pytest.mark.parametrize(("heard", "status"), [(True, -signal.SIGINT), (False, 0)])
def test_ctrl_c_is_silent_from_the_beginning(command, heard, status):
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts[command].partition(":")
    code = IMPORTING.format(module=module, function=function)
    handler = signal.default_int_handler if heard else signal.SIG_IGN
    before = signal.signal(signal.SIGINT, handler)  # a process that is started takes over what is ignored
    try:
        process = started(code, "--version", stdout=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (status, b"")
    assert out.startswith(b"" if heard else command.encode())
