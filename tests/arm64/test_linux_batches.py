"""`gpu-run` and `lanewise.run` with programs of Linux: one lane as in a shell, and batches as with WebAssembly."""

import base64
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from pathlib import Path
from types import SimpleNamespace

import pytest

import lanewise as lw
from lanewise.arm64.cpu import ParallelCPU
from lanewise.arm64.linux import run_linux
from lanewise.arm64.linux.serving import Serving
from lanewise.batch import backlog, linux_run
from lanewise.cli.gpu_run import command

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(lw.__file__).parents[1])}
REAL = "from lanewise.cli.gpu_run import main; main()"


@pytest.fixture(scope="module", autouse=True)
def compiled(build):
    """What runs all lanes, which the time of no test should go into."""
    run_linux(build("bare"))


@pytest.fixture
def few(monkeypatch):
    """Few lanes at once, so that there are many waves."""
    monkeypatch.setattr(linux_run, "_CPU_LANES", 4)


def run(capfd, *words):
    """The status of a command, its output, and its standard error."""
    status = command([str(word) for word in words])
    out, err = capfd.readouterr()
    return status, out, err


def started(*words, **more):
    """A command in a process of its own."""
    return subprocess.Popen([sys.executable, "-c", REAL, *map(str, words)], env=ENVIRONMENT, **more)


# --- one lane ---------------------------------------------------------------------------------------------------------


def test_a_program_runs_as_in_a_shell(build, capfd):
    status, out, err = run(capfd, "--env", "NAME=me", build("hello"), "one", "{lane}")
    assert (status, err) == (3, "3 arguments\n")
    assert out == "hello me\n0: hello\n1: one\n2: {lane}\n"


@pytest.mark.parametrize(
    ("how", "status", "message"),
    [
        ("exit", 44, ""),
        ("return", 42, ""),
        ("segfault", 139, "gpu-run: SIGSEGV at 0x{pc:x} in {function}: memory out of range at 0x0\n"),
        ("illegal", 132, "gpu-run: SIGILL at 0x{pc:x} in {function}: undefined instruction\n"),
        ("trap", 133, "gpu-run: SIGTRAP at 0x{pc:x} in {function}: brk\n"),
        ("abort", 134, "gpu-run: SIGABRT\n"),
        ("kill", 143, "gpu-run: SIGTERM\n"),
    ],
)
def test_a_signal_is_128_more(build, capfd, how, status, message):
    there = run_linux(build("endings"), argv=["endings", how])[0]
    assert bool(there.function) == (there.exit_code is None)
    found, _, err = run(capfd, build("endings"), how)
    assert (found, err) == (status, message.format(pc=there.pc, function=there.function))


def test_input_is_read_when_it_is_asked_for(build):
    process = started(build("talks"), "poll", stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    lines = process.stdout
    assert lines.readline() == b"terminals 00, 0 columns\n"
    assert lines.readline() == b"poll 0\n"
    process.stdin.write(b"one\n")
    assert [lines.readline(), lines.readline()] == [b"poll 1\n", b"you said one\n"]
    process.stdin.write(b"two\n")
    assert lines.readline() == b"you said two\n"
    process.stdin.close()
    assert lines.readline() == b"over\n"
    assert process.wait(60) == 5
    lines.close()


def test_input_from_a_file_is_a_file_and_read_on_by_others(build, qemu, tmp_path):
    (tmp_path / "input").write_bytes(b"".join(b"line %d\n" % number for number in range(2000)))
    with open(tmp_path / "input", "rb", buffering=0) as file:
        process = started(build("seeks"), stdin=file, stdout=subprocess.PIPE)
        out = process.communicate(timeout=60)[0]
        assert file.tell() == 1
    assert (process.returncode, out, b"") == qemu(build("seeks"), ["seeks"], stdin=tmp_path / "input")


def test_input_from_a_pipe_stays_one(build, qemu):
    process = started(build("seeks"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out = process.communicate(b"some words\n", timeout=60)[0]
    assert (process.returncode, out, b"") == qemu(build("seeks"), ["seeks"], stdin=b"some words\n")


def test_no_time_is_left_when_nothing_came_from_outside(build):
    calls = ["=0", "=2000000", "=1", "72;1;$16;0;0;$;0", "64;1;$;16"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(build("raw"), *calls, **pipes) as process:
        assert (process.stdout.read(), process.stderr.read()) == (bytes(16), b"0\n16\n")


def test_each_lane_moves_by_itself_in_what_all_are_given(build, capfd, qemu, few, tmp_path):
    (tmp_path / "input").write_bytes(b"one\ntwo\nthree\n")
    wanted = qemu(build("seeks"), ["seeks"], stdin=tmp_path / "input")[1].decode()
    for words in (("--stdin", tmp_path / "input", "--lanes", 6), ("--each-file", tmp_path / "input*", "--stdin", "{}")):
        status, out, _ = run(capfd, "--quiet", *words, build("seeks"))
        assert (status, out) == (0, wanted * (6 if "--lanes" in words else 1))


def test_a_file_whose_name_is_not_utf_8(build, capfd, tmp_path):
    (tmp_path / "b\udcff.txt").write_text("x")
    _, out, _ = run(capfd, "--json", "--each-file", tmp_path / "*.txt", build("opens"), "{}")
    found = base64.b64decode(json.loads(out)["stdout_base64"])
    assert found.endswith(b"b\xff.txt: opened found readable writable\n")


def test_a_terminal_is_one_to_the_program(build):
    here, there = pty.openpty()
    termios.tcsetwinsize(there, (50, 123))
    process = started(build("talks"), stdin=there, stdout=there)
    os.close(there)
    with open(here, "rb", buffering=0) as terminal:
        assert terminal.readline() == b"terminals 11, 123 columns\r\n"
        os.write(here, b"one\n\4")
        answers = b""
        while b"over" not in answers:
            answers += os.read(here, 1000)
        assert b"you said one\r\n" in answers
        assert process.wait(60) == 5


def test_who_has_gone_gets_no_more(build):
    reader, writer = os.pipe()
    os.close(reader)
    process = started(build("writes"), "x", 2, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (process.communicate(timeout=60)[1], process.returncode) == (b"", 128 + signal.SIGPIPE)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_it_while_it_waits(build, number, status):
    process = started(build("talks"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline().startswith(b"terminals")
    process.send_signal(number)
    assert (process.communicate(timeout=60)[1], process.returncode) == (b"", status)


def test_time_fuel_and_output_are_limited(build, capfd):
    status, _, err = run(capfd, "--timeout", "200ms", build("endings"), "loop")
    assert (status, err) == (124, "gpu-run: time-out after 0.2 s\n")
    status, _, err = run(capfd, "--timeout", "200ms", build("writes"), "x", 0, 100_000)
    assert (status, err) == (124, "gpu-run: time-out after 0.2 s\n")
    status, _, err = run(capfd, "--fuel", "50_000", build("endings"), "loop")
    assert status == 134
    assert re.fullmatch(r"gpu-run: trap: out of fuel at 0x[0-9a-f]+ in main\+0x[0-9a-f]+\n", err)
    status, out, err = run(capfd, "--output-limit", 100_000, build("writes"), "x", 9)
    assert (status, len(out)) == (134, 100_000)
    assert err.startswith("gpu-run: trap: output limit reached at 0x")


def test_calls_that_are_not_offered_are_told_of_by_name_and_number_once_each(build, capfd):
    begin = "the program made calls of the system that are not offered: "
    message = f"gpu-run: {begin}socket (198) 3 times, clone (220) once, 999 once, 1000 once; they gave ENOSYS\n"
    assert run(capfd, build("unknown"))[2] == message
    many = f"{begin}socket (198) 60 times, clone (220) 20 times, 999 20 times, 1000 20 times; they gave ENOSYS"
    assert run(capfd, "--quiet", "--lanes", 20, build("unknown"))[2] == f"gpu-run: {many}\n"
    two = lw.run(build("unknown"), lanes=2, device="cpu").remarks
    assert two == (f"{begin}socket (198) 6 times, clone (220) twice, 999 twice, 1000 twice; they gave ENOSYS",)
    assert run(capfd, "--timeout", "1s", build("unknown"), "on")[2] == f"gpu-run: time-out after 1 s\n{message}"


def test_who_fails_for_want_of_memory_is_told_what_to_do(build, capfd):
    more = "gpu-run: the program wanted more memory than there was; give lanes more (--memory, or memory= in Python)\n"
    assert run(capfd, build("wants"), 20 << 20) == (1, "not there\n", more)
    assert run(capfd, "--memory", "64M", build("wants"), 20 << 20) == (0, "there\n", "")


def test_who_ends_by_a_signal_that_it_had_a_function_for_is_told_why(build, capfd):
    wanted = "had set a function for it; functions for signals are never called\n"
    assert (
        run(capfd, build("handles"), 10)[2] == f"gpu-run: SIGUSR1\ngpu-run: SIGUSR1 ended the program, which {wanted}"
    )
    assert run(capfd, "--lanes", 3, build("handles"), 10)[2].endswith(f"gpu-run: SIGUSR1 ended 3 lanes that {wanted}")
    assert run(capfd, build("handles"), 12) == (140, "", "gpu-run: SIGUSR2\n")


def test_memory_may_be_more_than_a_module_can_have(build, capfd):
    if lw.device("cpu").properties.memory_bytes < 6 << 30:
        pytest.skip("this machine has no 6 GiB of memory")
    assert run(capfd, "--memory", "6G", build("wants"), 5 << 30) == (0, "there\n", "")


def test_who_fails_off_its_stack_is_told_what_to_do(build, capfd):
    status, _, err = run(capfd, build("deep"), 100_000)
    assert status > 128
    assert err.endswith(
        "gpu-run: the program failed with its stack pointer outside of the stack's 2,097,152 bytes; if it needs more, "
        "give lanes more memory (--memory, or memory= in Python), of which the stack has one part in 8\n"
    )
    assert run(capfd, "--memory", "64M", build("deep"), 5000) == (0, "done\n", "")
    assert "stack pointer" not in run(capfd, build("endings"), "segfault")[2]
    assert "a lane failed with its stack pointer" in run(capfd, "--lanes", 20, build("deep"), 100_000)[2]


# --- batches ----------------------------------------------------------------------------------------------------------


def test_lanes_beyond_those_at_once_come_later_and_in_order(build, capfd, few):
    status, out, err = run(capfd, "--lanes", 11, "--env", "NAME=x", build("hello"), "{lane}")
    assert status == 1
    assert out == "".join(f"hello x\n0: hello\n1: {lane}\n" for lane in range(11))
    assert err.startswith("2 arguments\n" * 11 + "11 lanes in ")
    assert "11 exit code 2, first lane 0\n" in err
    assert re.search(r"\n(most instructions: lane \d+ [\d,]+, |each lane ran [\d,]+ instructions\n)", err)


def test_no_wave_sees_what_another_left(build, few, device):
    result = lw.run(build("dirties"), lanes=10, device=device)
    assert result.stdout.text == ["0 0 0 0\n"] * 10
    assert result.ok


def test_a_line_for_each_lane(build, capfd, few, tmp_path):
    (tmp_path / "lines.txt").write_text("a\nb c\n\nd e f\ng h\nlast")
    status, out, _ = run(capfd, "--quiet", "--each-line", tmp_path / "lines.txt", build("lines"))
    assert (status, out.splitlines()[::2]) == (0, ["1 1 2", "1 2 4", "1 0 1", "1 3 6", "1 2 4", "1 1 4"])


def test_a_file_for_each_lane(build, capfd, few, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for number in range(6):
        (tmp_path / "data" / f"{number}.txt").write_text("x")
    status, out, _ = run(capfd, "--quiet", "--each-file", "data/*.txt", build("opens"), "{}", "/data/{lane}.txt")
    all_of_it = "opened found readable writable"
    wanted = [f"{one}{n}.txt: {all_of_it}" for n in range(6) for one in ("data/", "/data/")]
    assert (status, out.splitlines()) == (0, wanted)
    status, out, _ = run(capfd, "--quiet", "--each-file", "data/*.txt", "--stdin", "{}", build("lines"))
    assert (status, out) == (0, "1 1 1\nx\n" * 6)


@pytest.mark.parametrize(
    ("directory", "way"),
    [(".", "file"), (".", "/file"), ("..::up", "up/here/file"), (".::/in", "/in/file"), ("../here", "../here/file")],
)
def test_names_of_directories(build, capfd, tmp_path, monkeypatch, directory, way):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "file").write_text("x")
    monkeypatch.chdir(tmp_path / "here")
    assert run(capfd, "--dir", directory, build("opens"), way)[1] == f"{way}: opened found readable writable\n"


def test_json_and_files(build, capfd, few, tmp_path):
    ways = tmp_path / "ways"
    ways.write_text("exit\nsegfault\nreturn\nkill\nabort\n")
    status, out, err = run(capfd, "--json", "--each-line", ways, build("endings"), "{}")
    records = [json.loads(line) for line in out.splitlines()]
    assert status == 1
    assert [one["exit_code"] for one in records] == [44, None, 42, None, None]
    assert [one["trap"] and one["trap"].split()[0] for one in records] == [None, "SIGSEGV", None, "SIGTERM", "SIGABRT"]
    assert [one["signal"] for one in records] == [None, 11, None, 15, 6]
    assert records[0]["stdout"] == "to exit"
    assert all(one["instructions"] > 100 for one in records)
    assert "1 trap: SIGSEGV, lane 1 (line 2) at 0x" in err
    outputs = tmp_path / "out"
    assert run(capfd, "--output-dir", outputs, "--quiet", "--each-line", ways, build("endings"), "{}")[1:] == ("", "")
    assert [(outputs / f"{lane}.out").read_text() for lane in (0, 2)] == ["to exit", "to return"]


def test_the_first_failure_can_end_a_batch(build, capfd, few, tmp_path):
    ways = tmp_path / "ways"
    ways.write_text("loop\n" * 3 + "exit\n" + "return\n" * 8)
    status, _, err = run(capfd, "--fail-fast", "--each-line", ways, build("endings"), "{}")
    assert status == 1
    assert "gpu-run: a lane failed; 1 of 12 lanes ended, 11 did not: lanes 0-2, 4-11\n" in err


def test_what_was_written_before_the_time_was_over_comes_out(build, capfd, few):
    status, out, err = run(capfd, "--timeout", "1s", "--lanes", 6, build("writes"), "{lane}", 1, 60_000)
    assert status == 124
    assert [line[0] for line in out.split()] == ["0", "1", "2", "3"]
    assert "gpu-run: time-out after 1 s; 0 of 6 lanes ended, 6 did not: lanes 0-5\n" in err


def test_lanes_that_write_much_wait_for_those_before_them(build, capfd, monkeypatch):
    """Lane 0 writes last and longest: the output of others would be held until then, and is not written before."""
    monkeypatch.setattr(backlog, "_MOST_BYTES", 1 << 20)
    most = []
    real = linux_run.KeptOutput.take

    def counted(self, data):
        real(self, data)
        most.append(self._backlog._waiting + self._backlog.held)

    monkeypatch.setattr(linux_run.KeptOutput, "take", counted)
    pieces = [str(8), *[str(40)] * 5]
    result = lw.run(build("writes"), args=[["abcdef"[lane], pieces[lane], "1"] for lane in range(6)], device="cpu")
    assert [(one[:1], len(one)) for one in result.stdout] == [
        (b"abcdef"[lane : lane + 1], int(pieces[lane]) * 65536) for lane in range(6)
    ]
    # Whoever is first may write all that it has; the others stop where the limit is, by a piece each.
    assert max(most) <= (1 << 20) + 40 * 65536 + 6 * 65536


def test_a_device_that_fails_leaves_what_was_done(build, capfd, few, monkeypatch):
    real, calls = ParallelCPU.begin_anew, []

    def fails(self):
        calls.append(1)
        if len(calls) == 2:
            raise lw.DeviceLostError("the device is gone for this test")
        real(self)

    monkeypatch.setattr(ParallelCPU, "begin_anew", fails)
    status, out, err = run(capfd, "--lanes", 12, "--env", "NAME=x", build("hello"), "{lane}")
    assert status == 3
    assert out.count("hello x\n") == 8
    assert (
        "gpu-run: the device failed: the device is gone for this test; 8 of 12 lanes ended, 4 did not: lanes 8-11"
        in err
    )


def test_who_ended_in_the_round_in_which_the_device_failed_is_told_of(build, monkeypatch):
    real = Serving._serve

    def fails(self):
        real(self)
        if any(process.ending for process in self._processes):
            raise lw.DeviceLostError("gone")

    monkeypatch.setattr(Serving, "_serve", fails)
    result = lw.run(build("endings"), args=[["loop"], ["exit"]], device="cpu")
    assert (result.exit_codes.tolist(), result.traps) == ([-1, 44], ["device lost", None])
    assert result.stopped == "the device failed: gone"


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--threads", "3", "{hello}"], "hello is a program of Linux, to which threads can mean nothing; leave it out"),
        (
            ["--stats", "--placement", "flat/8/all", "{hello}"],
            "hello is a program of Linux, to which placement and stats can mean nothing; leave them out",
        ),
        (["--picture", "x.png", "--size", "8x8", "{hello}"], "to which picture can mean nothing; leave it out"),
        (["--memory", "64K", "{hello}"], "for its heap; give lanes more memory (--memory; in Python memory=, "),
        (
            ["--stack", "1M", "{hello}"],
            "to which stack can mean nothing; leave it out; its stack is a part of its memory",
        ),
        (["text.c"], "; static AArch64 programs of Linux run, too: build one with aarch64-linux-gnu-gcc -static"),
        (["script"], "; static AArch64 programs of Linux run, too: build one with aarch64-linux-gnu-gcc -static"),
        (["--lanes", "0", "{hello}"], "--lanes: '0' is not a whole number from 1"),
        (["--device", "null", "{hello}"], "the device null runs nothing; write cpu or cuda"),
        (
            ["--dir", ".::a", "--dir", ".::/a", "{hello}"],
            "two directories are '/a' to the program; give one another name",
        ),
        (["--each-file", "*.md", "{hello}", "{}"], "--each-file '*.md' matches no file"),
        (["{dynamic}"], "is linked dynamically; link it with -static"),
        (["cut.elf"], "cut.elf is cut short"),
        (
            ["other.elf"],
            "other.elf is for another machine (X86_64, 64 bits, little-endian); a static AArch64 program of ",
        ),
        (["hello.elf"], "there is no program 'hello.elf'"),
    ],
)
def test_a_mistake_is_one_sentence_and_status_2(build, capfd, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    content = build("hello").read_bytes()
    (tmp_path / "cut.elf").write_bytes(content[:3000])
    (tmp_path / "other.elf").write_bytes(content[:18] + b"\x3e" + content[19:])
    (tmp_path / "text.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "script").write_text("#!/bin/sh\n")
    places = {"hello": build("hello"), "dynamic": build("hello", "-fPIE")}
    status, out, err = run(capfd, *(word.format(**places) if word != "{}" else word for word in words))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("gpu-run: ")
    assert message in err


def test_lanes_that_no_device_has_memory_for_are_refused_with_the_option_to_set():
    small = SimpleNamespace(name="small", properties=SimpleNamespace(memory_bytes=1 << 20))
    with pytest.raises(lw.ArgumentError, match=r"small has 1,048,576; give them less \(--memory; in Python memory=, "):
        linux_run._lanes_at_once(small, 2 << 20, 1)


# --- from Python ------------------------------------------------------------------------------------------------------


def test_from_python(build, device, tmp_path):
    result = lw.run(build("lines"), stdin=["one\n", b"two words\nx\n"], device=device, timeout="1m", check=True)
    assert result.stdout.text == ["1 1 4\none\n", "2 3 12\ntwo words\n"]
    (tmp_path / "file").write_text("x")
    found = lw.run(build("opens").read_bytes(), args=["/in/file"], dirs={"/in": tmp_path}, device=device)
    assert found.stdout.text == ["/in/file: opened found readable writable\n"]
    assert found.name == "program"
    with pytest.raises(lw.BatchError, match="lane 1 ended with SIGABRT, lane 2 ended with exit code 42"):
        lw.run(build("endings"), args=[["exit"], ["abort"], ["return"]], device=device, check=True)


def test_lanes_come_as_they_end(build, device):
    ways = [["loop"], ["segfault"], ["exit"]]
    with lw.stream(build("endings"), args=ways, device=device) as lanes:
        outcomes = sorted([next(lanes), next(lanes)], key=lambda one: one.lane)
    assert [(one.lane, one.exit_code, one.signal) for one in outcomes] == [(1, None, 11), (2, 44, None)]
    assert lanes.stopped == "interrupted"


def test_a_seed_makes_random_numbers_the_same(build, few, device):
    once, again, other = (lw.run(build("random"), lanes=6, seed=seed, device=device).stdout for seed in (1, 1, 2))
    assert once == again
    assert len({*once, *other}) == 12
