"""`gpu-run` as people run it: a process of its own, the real engine, a small program; and `lanewise.run` likewise."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from fake_engine import ENVIRONMENT
from small_guest import small_guest

import lanewise as lw

MAIN = "from lanewise.cli.gpu_run import main; main()"


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    place = tmp_path_factory.mktemp("guests")
    (place / "app.wasm").write_bytes(small_guest())
    (place / "in.txt").write_bytes(b"one\ntwo\nthree")
    (place / "data").mkdir()
    for name in ("b", "a"):
        (place / "data" / f"{name}.txt").write_text(f"this is {name}\n")
    return place


@pytest.fixture
def gpu_run(here, device_option):
    """Run `gpu-run` with these words on one device; gives status, output and errors."""

    def run(*words: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
        command = [sys.executable, "-W", "error", "-c", MAIN, *device_option, *words]
        done = subprocess.run(
            command, cwd=here, env=ENVIRONMENT, input=stdin, capture_output=True, timeout=120, check=False
        )
        assert b"Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr.decode()

    return run


@pytest.fixture
def device_option(device):
    return "--device", device.name


def test_a_program_has_its_arguments_its_input_and_its_status(gpu_run):
    assert gpu_run("app.wasm", "say", "{lane} {}") == (0, b"{lane} {}\n", "")
    assert gpu_run("app.wasm", "copy", stdin=b"through\n\0and through") == (0, b"through\n\0and through", "")
    assert gpu_run("app.wasm", "moan", "ouch") == (0, b"", "ouch")
    assert gpu_run("app.wasm", "x", "7") == (7, b"", "")


def test_a_cache_that_cannot_be_used_is_told_of_in_a_sentence(here):
    environment = {**ENVIRONMENT, "LANEWISE_CACHE_DIR": "/proc/none"}
    command = [sys.executable, "-c", MAIN, "--device", "cpu", "app.wasm", "say", "hello"]
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, b"hello\n")
    assert done.stderr.startswith(b"gpu-run: the cache of compiled code '/proc/none")
    assert done.stderr.count(b"\n") == 1


def test_one_lane_that_was_asked_for_is_a_batch(gpu_run):
    status, out, err = gpu_run("--lanes", "1", "app.wasm", "x", "7", stdin=b"which nobody reads")
    assert (status, out) == (1, b"")
    assert "1 exit code 7, lane 0" in err


def test_a_trap_names_its_place(gpu_run):
    status, out, err = gpu_run("app.wasm", "odd", "3")
    assert (status, out) == (134, b"3")
    assert err.startswith("gpu-run: trap: unreachable in ")
    assert "(+0x" in err


def test_lanes_speak_in_their_order(gpu_run):
    status, out, err = gpu_run("--lanes", "300", "app.wasm", "say", "lane {lane}")
    assert status == 0
    assert out.decode().splitlines() == [f"lane {lane}" for lane in range(300)]
    assert err.startswith("300 lanes in ")


def test_lanes_that_trap_are_counted_and_lose_nothing(gpu_run):
    status, out, err = gpu_run("--lanes", "40", "app.wasm", "odd", "{lane}")
    assert status == 1
    assert out.decode().splitlines() == [str(lane) for lane in range(40)]
    assert "  20 ok\n  20 trap: unreachable, first lane 1 in " in err


def test_a_lane_per_line(gpu_run):
    assert gpu_run("--quiet", "--each-line", "in.txt", "app.wasm", "copy") == (0, b"one\ntwo\nthree\n", "")
    assert gpu_run("--quiet", "--each-line", "-", "app.wasm", "say", "<{}>", stdin=b"x\ny") == (0, b"<x>\n<y>\n", "")


def test_a_lane_per_file(gpu_run):
    assert gpu_run("--quiet", "--each-file", "data/*.txt", "app.wasm", "file", "{}") == (
        0,
        b"this is a\nthis is b\n",
        "",
    )


def test_a_file_per_lane_on_standard_input(gpu_run):
    expected = (0, b"this is a\nthis is b\n", "")
    assert gpu_run("--quiet", "--each-file", "data/*.txt", "--stdin", "{}", "app.wasm", "copy") == expected


def test_links_to_files_lead_as_far_as_the_directories_that_are_given(gpu_run, here):
    (here / "links").mkdir(exist_ok=True)
    if not (here / "links" / "c.txt").is_symlink():
        (here / "links" / "c.txt").symlink_to("../data/a.txt")
    words = ("--each-file", "links/*.txt", lines_program(here), "{}")
    status, out, _ = gpu_run("--quiet", "--dir", ".", *words)
    assert (status, out) == (0, b"links/c.txt: 1 lines, 10 bytes, the longest line has 9\n")
    status, out, err = gpu_run("--quiet", *words)
    assert (status, out, err) == (1, b"", "lines: links/c.txt cannot be read\n")


@pytest.mark.parametrize("words", [["--each-file", "./data/*", "{}"], ["--dir", "./data", "./data/a.txt"]])
def test_paths_may_begin_with_a_dot_as_their_directory_does(gpu_run, here, words):
    status, out, _ = gpu_run("--quiet", *words[:2], lines_program(here), *words[2:])
    assert (status, out.splitlines()[0]) == (0, b"./data/a.txt: 1 lines, 10 bytes, the longest line has 9")


GUESTS = Path(__file__).resolve().parents[2] / "examples" / "guests"


@pytest.mark.parametrize(
    ("guest", "words", "hint"),
    [
        ("parallel_map", [], "state of the GPU vocabulary, and has none; write --state FILE.npy"),
        (
            "parallel_reduce",
            [],
            "state and input of the GPU vocabulary, and has none; write --state FILE.npy and --input ",
        ),
        (
            "parallel_reduce",
            ["--state", "words.npy"],
            "input of the GPU vocabulary, and has none; write --input FILE.npy",
        ),
        ("parallel_map", ["--state", "words.npy"], ""),  # which is there, and too short
    ],
)
@pytest.mark.parametrize("lanes", [[], ["--lanes", "9"]])
def test_a_program_that_lacks_a_buffer_gets_a_hint_once(gpu_run, here, guest, words, hint, lanes):
    np.save(here / "words.npy", np.zeros(0, np.int32))
    status, _, err = gpu_run(*lanes, *words, str(GUESTS / f"{guest}.wasm"))
    assert status == (1 if lanes else 134)
    assert "trap: index out of range" in err
    assert err.count("gpu-run: the program uses ") == bool(hint)
    assert hint in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--state", "words.npy", "--state-out", "new.npy"], "state would have no use; leave it out"),
        (["--input", "words.npy", "--output", "new.npy"], "input and output would have no use; leave them out"),
        (["--picture", "new.png", "--size", "2x2"], "picture would have no use; leave it out"),
    ],
)
def test_buffers_for_a_program_that_knows_of_none_are_refused(gpu_run, here, words, said):
    np.save(here / "words.npy", np.zeros(4, np.int32))
    status, out, err = gpu_run(*words, "app.wasm", "say", "hello")
    sentence = f"gpu-run: the program imports nothing from the module gpu, so that {said}\n"
    assert (status, out, err) == (2, b"", sentence)
    assert not list(here.glob("new.*"))


def lines_program(here):
    """A program of C, whose library finds the directory that a path is in."""
    examples = Path(__file__).resolve().parents[2] / "examples"
    (here / "lines.wasm").write_bytes((examples / "programs" / "lines.wasm").read_bytes())
    return "lines.wasm"


def test_a_lane_that_is_cut_off_tells_how_long_it_ran(gpu_run):
    gpu_run("app.wasm", "say", "it is compiled now, which counts")
    _, out, _ = gpu_run("--timeout", "3", "--json", "--lanes", "4", "app.wasm", "loop", "{lane}")
    records = list(map(json.loads, out.splitlines()))
    assert [record["trap"] for record in records] == [None, "timed out", None, "timed out"]
    assert all(0 < record["seconds"] < 60 for record in records if record["trap"])


def test_json_lines(gpu_run):
    status, out, _ = gpu_run("--json", "--lanes", "2", "app.wasm", "odd", "{lane}")
    first, second = map(json.loads, out.splitlines())
    assert status == 1
    assert (first["exit_code"], first["trap"], first["stdout"]) == (0, None, "0")
    assert (second["exit_code"], second["stdout"], second["stderr"]) == (None, "1", "")
    assert second["trap"].startswith("unreachable in ")


def test_a_time_out_ends_the_run_and_names_the_lanes(gpu_run):
    gpu_run("app.wasm", "say", "it is compiled now, which counts")
    started = time.monotonic()
    status, out, err = gpu_run("--timeout", "3", "--lanes", "4", "app.wasm", "loop", "{lane}")
    assert status == 124
    assert out.decode().splitlines() == ["0", "1", "2", "3"]
    assert err.splitlines()[-1] == "gpu-run: time-out after 3 s; 2 of 4 lanes ended, 2 did not: lanes 1, 3"
    assert time.monotonic() - started < 30


def test_fuel_and_output_are_limited(gpu_run):
    status, _, err = gpu_run("--fuel", "1000", "app.wasm", "loop", "1")
    assert status == 134
    assert "out of fuel" in err
    status, out, err = gpu_run("--lanes", "2", "--output-limit", "100K", "--json", "app.wasm", "talk")
    assert status == 1
    for line in out.splitlines():
        assert len(json.loads(line)["stdout"]) <= 100 << 10
    assert "2 trap: " in err


def test_fail_fast_ends_the_run(gpu_run):
    status, _, err = gpu_run("--fail-fast", "--lanes", "4000000", "app.wasm", "odd", "{lane}")  # more than run at once
    assert status == 1
    assert "gpu-run: a lane failed; " in err


@pytest.mark.parametrize("words", [["app.wasm", "loop", "1"], ["--lanes", "4", "app.wasm", "loop", "{lane}"]])
def test_ctrl_c_ends_the_run_and_what_is_finished_is_there(here, device_option, words):
    command = [sys.executable, "-c", MAIN, *device_option, *words]
    process = subprocess.Popen(command, cwd=here, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.read(1) in b"01"  # it runs
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert time.monotonic() - asked < 10
    if "--lanes" in words:
        assert out.split() == [b"1", b"2", b"3"]
        assert b"gpu-run: interrupted; 2 of 4 lanes ended, 2 did not: lanes 1, 3\n" in err
    else:
        assert err == b""


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"", "empty"), (b"\x7fELF", "ELF"), (b"(module)", "text"), (b"\0asm\1\0\0\0\xff", "")],
)
def test_what_is_no_program_is_one_sentence(gpu_run, here, content, sentence):
    (here / "bad.wasm").write_bytes(content)
    status, out, err = gpu_run("bad.wasm")
    assert (status, out) == (2, b"")
    assert err.startswith("gpu-run: ")
    assert err.count("\n") == 1
    assert sentence in err


@pytest.mark.parametrize(
    ("named", "default", "sentence"),
    [
        ("gpu", "cpu", "there is no device 'gpu'; write auto, cpu, cuda or cuda:1"),
        ("auto", "gpu", "there is no device 'gpu', which LANEWISE_DEVICE names; write auto, cpu, cuda or cuda:1"),
        ("null", "cpu", "programs run on the devices cpu and cuda, not on null; write auto, cpu, cuda or cuda:1"),
    ],
)
def test_a_device_that_is_not_there_is_one_sentence(here, named, default, sentence):
    command = [sys.executable, "-c", MAIN, "--device", named, "app.wasm"]
    environment = {**ENVIRONMENT, "LANEWISE_DEVICE": default}
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"gpu-run: {sentence}\n")


def test_python_gets_arrays_and_lists(device, here):
    result = lw.run(here / "app.wasm", lanes=6, args=["odd", "{lane}"], device=device)
    assert result.exit_codes.tolist() == [0, -1] * 3
    assert result.stdout.text == [str(lane) for lane in range(6)]
    assert all(trap.startswith("unreachable in ") for trap in result.traps[1::2])
    assert result.traps[::2] == [None] * 3
    assert lw.run(here / "app.wasm", args=["copy"], stdin=["a", b"b"], device=device, check=True).stdout == [b"a", b"b"]
    assert lw.run(here / "app.wasm", args=["file", "/in/a.txt"], dirs={"/in": here / "data"}, device=device).ok


def test_python_takes_a_module_that_is_loaded(device, here):
    module = lw.load(here / "app.wasm")
    for _ in range(2):
        assert lw.run(module, args=["say", "hi"], device=device).stdout == [b"hi\n"]


def test_python_gets_lanes_as_they_end_and_can_leave(device, here):
    started = time.monotonic()
    with lw.stream(here / "app.wasm", lanes=4, args=["loop", "{lane}"], device=device) as lanes:
        found = {next(lanes).lane, next(lanes).lane}
    assert found == {0, 2}
    assert lanes.stopped == "interrupted"
    assert time.monotonic() - started < 60


def test_ctrl_c_in_python_ends_the_run_and_the_next_one_works(device, here):
    code = f"""
import _thread, threading, lanewise as lw
threading.Timer(1.0, _thread.interrupt_main).start()
try:
    lw.run("app.wasm", args=["loop", "1"], device={device.name!r})
except KeyboardInterrupt:
    print(lw.run("app.wasm", args=["say", "again"], device={device.name!r}).stdout.text)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=here,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout == "['again\\n']\n", done.stderr
