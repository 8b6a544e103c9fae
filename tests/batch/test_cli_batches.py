"""Batches of `gpu-run`: output in the order of lanes, JSON Lines, files, the summary, and runs that end early."""

import base64
import json
import os
import signal
import subprocess
import sys

import pytest
from fake_engine import ENVIRONMENT, Fake, ended

import lanewise as lw
from lanewise.cli.gpu_run import command


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.wasm").write_bytes(b"\0asm")
    return tmp_path


def speaking(lane):
    return ended(lane, stdout=b"out %d" % lane, stderr=b"err %d\n" % lane)


def test_output_is_in_the_order_of_lanes_and_on_lines_of_their_own(monkeypatch, capfd):
    Fake(monkeypatch, speaking, order=[3, 0, 2, 1])
    assert command(["--lanes", "4", "--quiet", "app.wasm"]) == 0
    out, err = capfd.readouterr()
    assert out == "out 0\nout 1\nout 2\nout 3\n"
    assert err == "err 0\nerr 1\nerr 2\nerr 3\n"


def test_a_lane_that_writes_nothing_adds_no_line(monkeypatch, capfd):
    Fake(monkeypatch, lambda lane: ended(lane, stdout=b"" if lane == 1 else b"x"))
    command(["--lanes", "3", "--quiet", "app.wasm"])
    assert capfd.readouterr() == ("x\nx\n", "")


def test_output_comes_as_soon_as_its_turn_has_come(monkeypatch, capfd):
    seen = []

    def how(lane):
        seen.append(capfd.readouterr().out)
        return speaking(lane)

    Fake(monkeypatch, how, order=[1, 0, 2])
    command(["--lanes", "3", "--quiet", "app.wasm"])
    assert seen == ["", "", "out 0\nout 1\n"]


def test_json_lines_hold_how_each_lane_ended(monkeypatch, capfd):
    outcomes = {
        0: ended(0, 0, stdout="grüße\n".encode(), seconds=0.25),
        1: ended(1, trap="unreachable in f (+0x1)", stdout=b"\xff\0", stderr=b"oh\n"),
        2: ended(2, 3),
    }
    Fake(monkeypatch, outcomes.get, order=[2, 1, 0])
    assert command(["--lanes", "3", "--json", "--quiet", "app.wasm"]) == 1
    out, err = capfd.readouterr()
    assert err == ""
    assert [json.loads(line) for line in out.splitlines()] == [
        {"lane": 0, "exit_code": 0, "trap": None, "seconds": 0.25, "stdout": "grüße\n", "stderr": ""},
        {
            "lane": 1,
            "exit_code": None,
            "trap": "unreachable in f (+0x1)",
            "seconds": 0.001,
            "stdout_base64": base64.b64encode(b"\xff\0").decode(),
            "stderr": "oh\n",
        },
        {"lane": 2, "exit_code": 3, "trap": None, "seconds": 0.001, "stdout": "", "stderr": ""},
    ]


def test_json_of_one_lane_has_no_summary(monkeypatch, capfd):
    fake = Fake(monkeypatch, speaking)
    assert command(["--json", "app.wasm"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["stdout"] == "out 0"
    assert err == ""
    assert fake.stdin() is None


def test_each_lane_has_two_files(monkeypatch, capfd, here):
    Fake(monkeypatch, lambda lane: ended(lane, stdout=b"no newline %d" % lane), order=[1, 0])
    (here / "out").mkdir()
    (here / "out" / "0.err").write_bytes(b"of the run before")
    assert command(["--lanes", "2", "--output-dir", "out", "--quiet", "app.wasm"]) == 0
    assert capfd.readouterr() == ("", "")
    files = {path.name: path.read_bytes() for path in (here / "out").iterdir()}
    assert files == {"0.out": b"no newline 0", "0.err": b"", "1.out": b"no newline 1", "1.err": b""}


def test_output_files_are_named_after_input_files(monkeypatch, here):
    for name in ("a.json", "sub/a.json"):
        (here / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "data" / name).write_bytes(b"")
    Fake(monkeypatch, speaking)
    assert command(["--each-file", "data/**/*.json", "--output-dir", "new/out", "--quiet", "app.wasm", "{}"]) == 0
    found = sorted(str(path.relative_to(here / "new" / "out")) for path in (here / "new").rglob("*.*"))
    assert found == ["a.json.err", "a.json.out", "sub/a.json.err", "sub/a.json.out"]


def test_output_files_never_leave_their_directory(monkeypatch, capfd, here):
    (here / "data" / "sub").mkdir(parents=True)
    Fake(monkeypatch, speaking)
    assert command(["--each-file", "data/*/../../*.wasm", "--output-dir", "out", "app.wasm", "{}"]) == 2
    assert "write the glob without .." in capfd.readouterr().err
    assert not (here / "out").exists()


def test_json_beside_files_leaves_the_output_to_them(monkeypatch, capfd, here):
    Fake(monkeypatch, speaking)
    command(["--each-file", "*.wasm", "--json", "--output-dir", "out", "--quiet", "app.wasm", "{}"])
    record = json.loads(capfd.readouterr().out)
    assert record == {"lane": 0, "file": "app.wasm", "exit_code": 0, "trap": None, "seconds": 0.001}
    assert (here / "out" / "app.wasm.out").read_bytes() == b"out 0"


def test_files_that_cannot_be_written_end_the_run(monkeypatch, capfd, here):
    (here / "out").mkdir()
    (here / "out" / "1.out").mkdir()
    fake = Fake(monkeypatch, speaking)
    assert command(["--lanes", "3", "--output-dir", "out", "--quiet", "app.wasm"]) == 3
    assert capfd.readouterr().err == "gpu-run: 'out/1.out' cannot be written: Is a directory\n"
    assert fake.runs[0].asked_to_stop
    assert sorted(path.name for path in (here / "out").iterdir()) == ["0.err", "0.out", "1.out"]


def test_the_summary_says_how_fast_and_how_lanes_failed(monkeypatch, capfd):
    def how(lane):
        if lane % 5 == 3:
            return ended(lane, trap="unreachable in f (+0x51)\n    calls")
        return ended(lane, 7 if lane == 4 else 0, seconds=lane / 10)

    Fake(monkeypatch, how, order=list(reversed(range(20))))
    assert command(["--lanes", "20", "app.wasm"]) == 1
    lines = capfd.readouterr().err.splitlines()
    assert lines[0].startswith("20 lanes in ")
    assert lines[0].endswith(" lanes/s, on fake")
    assert lines[1:4] == [
        "  15 ok",
        "   4 trap: unreachable, first lane 3 in f (+0x51)",
        "   1 exit code 7, lane 4",
    ]
    assert lines[4].startswith("slowest: lane 19 1.9 s, lane 17 1.7 s, ")
    assert lines[4].count("lane") == 10
    assert len(lines) == 5


def test_where_lanes_lived_is_explained_behind_the_summary(monkeypatch, capfd):
    Fake(monkeypatch, ended)
    assert command(["--lanes", "3", "--explain", "app.wasm"]) == 0
    assert capfd.readouterr().err.splitlines()[-1] == "placement: none"


def test_a_summary_names_files(monkeypatch, capfd):
    Fake(monkeypatch, lambda lane: ended(lane, 1))
    assert command(["--each-file", "*.wasm", "app.wasm", "{}"]) == 1
    assert "  1 exit code 1, lane 0 (app.wasm)\n" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("stopped", "status"),
    [
        ("interrupted", 130),
        ("time-out after 5 s", 124),
        ("a lane failed", 1),
        ("the device failed: it is on fire", 3),
    ],
)
def test_a_run_that_ended_early_writes_what_there_is_and_names_the_rest(monkeypatch, capfd, stopped, status):
    def how(lane):
        if lane == 3:
            return ended(lane, trap="interrupted", stdout=b"half")
        return speaking(lane)

    Fake(monkeypatch, how, order=[5, 0, 3, 1], stopped=stopped)
    assert command(["--lanes", "8", "--quiet", "app.wasm"]) == status
    out, err = capfd.readouterr()
    assert out == "out 0\nout 1\nhalf\nout 5\n"
    assert err.splitlines()[-1] == f"gpu-run: {stopped}; 3 of 8 lanes ended, 5 did not: lanes 2-4, 6-7"


def test_an_error_in_the_middle_has_status_3_and_loses_nothing(monkeypatch, capfd):
    Fake(monkeypatch, speaking, order=[2, 0], error=lw.DeviceLostError("the device is gone"))
    assert command(["--lanes", "3", "--quiet", "app.wasm"]) == 3
    out, err = capfd.readouterr()
    assert out == "out 0\nout 2\n"
    assert err.splitlines()[-1] == "gpu-run: the device is gone; 2 of 3 lanes ended, 1 did not: lane 1"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_stop_the_run_and_what_is_finished_is_written(monkeypatch, capfd, number, status):
    def how(lane):
        if lane == 2:
            os.kill(os.getpid(), number)
        return speaking(lane)

    before = signal.getsignal(number)
    fake = Fake(monkeypatch, how)
    assert command(["--lanes", "100", "--quiet", "app.wasm"]) == status
    assert fake.runs[0].asked_to_stop == 1
    assert capfd.readouterr().out == "out 0\nout 1\nout 2\n"
    assert signal.getsignal(number) == before


def test_the_end_of_a_terminal_is_not_heard_by_who_was_told_to_ignore_it(monkeypatch, capfd):
    def how(lane):
        if lane == 2:
            os.kill(os.getpid(), signal.SIGHUP)
        return speaking(lane)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        fake = Fake(monkeypatch, how)
        assert command(["--lanes", "5", "--quiet", "app.wasm"]) == 0
        assert fake.runs[0].asked_to_stop == 0
    finally:
        signal.signal(signal.SIGHUP, before)


FAKED = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from fake_engine import FakeRun, ended
from lanewise.batch import running
running.start = lambda task, module=None: FakeRun(task, lambda lane: ended(lane, stdout=b"x" * 50), None)
from lanewise.cli.gpu_run import main
main()
"""


def faked_process(*words, **more):
    command = [sys.executable, "-W", "error", "-c", FAKED, os.path.dirname(__file__), *words]
    return subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE, **more)


def test_a_reader_that_leaves_ends_the_run_quietly():
    process = faked_process("--lanes", "100000", "app.wasm", stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"x" * 50 + b"\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 128 + signal.SIGPIPE
    process.stderr.close()


def test_a_disk_that_is_full_is_said():
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "wb") as full:
        process = faked_process("--lanes", "3", "app.wasm", stdout=full)
        assert process.communicate(timeout=60)[1] == b"gpu-run: output cannot be written: No space left on device\n"
    assert process.returncode == 3


def test_output_that_nobody_can_get_is_a_failure():
    code = f"{sys.executable} -c '{FAKED}' {os.path.dirname(__file__)} --lanes 3 app.wasm"

    def status(closed):
        return subprocess.run(["sh", "-c", code + closed], env=ENVIRONMENT, timeout=60, check=False).returncode

    assert (status(" >&- 2>&-"), status(" >&- 2>/dev/null"), status(" >/dev/null 2>&-")) == (3, 3, 0)


def test_lines_can_come_from_a_pipe(monkeypatch, capfd):
    process = faked_process("--each-line", "-", "app.wasm", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, err = process.communicate(b"a\nb\n", timeout=60)
    assert out == (b"x" * 50 + b"\n") * 2
    assert err.startswith(b"2 lanes in ")
    assert process.returncode == 0
