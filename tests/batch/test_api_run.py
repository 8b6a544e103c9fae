"""`lanewise.run` and `lanewise.stream`: what Python code can give, what it gets back, and how runs are ended."""

import gc
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from engine_runs import program
from fake_engine import Fake, ended

import lanewise as lw

PROGRAM = b"\0asm the engine is a fake one"


def test_a_program_runs_once_by_default(monkeypatch, tmp_path):
    (tmp_path / "app.wasm").write_bytes(PROGRAM)
    fake = Fake(monkeypatch, lambda lane: ended(lane, stdout=b"hi\n"))
    result = lw.run(tmp_path / "app.wasm", args=["a", tmp_path])
    assert (fake.task.program, fake.task.name, fake.task.lanes, fake.task.streaming) == (PROGRAM, "app.wasm", 1, False)
    assert fake.arguments() == [b"app.wasm", b"a", str(tmp_path).encode()]
    assert fake.stdin() == b""
    assert result.ok
    assert result.stdout == [b"hi\n"]


def test_results_are_arrays_and_lists_by_lane(monkeypatch):
    outcomes = {
        0: ended(0, 0, stdout=b"zero", seconds=0.5),
        1: ended(1, 3, stderr=b"\xff"),
        2: ended(2, trap="unreachable in f (+0x1)", stdout=b"so far"),
    }
    Fake(monkeypatch, outcomes.get, order=[2, 0, 1])
    result = lw.run(PROGRAM, lanes=3)
    assert len(result) == 3
    assert result.exit_codes.dtype == np.int64
    assert result.exit_codes.tolist() == [0, 3, -1]
    assert result.seconds.tolist() == [0.5, 0.001, 0.001]
    assert result.stdout == [b"zero", b"", b"so far"]
    assert result.stdout.text == ["zero", "", "so far"]
    assert result.stderr.text == ["", "\ufffd", ""]
    assert result.traps == [None, None, "unreachable in f (+0x1)"]
    assert not result.ok
    assert result.failed.tolist() == [1, 2]
    assert (result.stopped, result.device) == (None, "fake")


def test_exit_codes_of_32_bits_keep_their_value(monkeypatch):
    Fake(monkeypatch, lambda lane: ended(lane, 0xFFFFFFFF))
    assert lw.run(PROGRAM).exit_codes.tolist() == [0xFFFFFFFF]


def test_lanes_know_their_number(monkeypatch):
    fake = Fake(monkeypatch)
    lw.run(PROGRAM, lanes=np.int64(3), args=["--seed", "{lane}", "{{lane}}"])
    assert fake.arguments(2) == [b"program.wasm", b"--seed", b"2", b"{lane}"]
    assert not fake.task.inputs.same_arguments


@pytest.mark.parametrize("args", [lambda lane: ["x", f"{lane}{{lane}}"], [["x", "0{lane}"], ["x", "1{lane}"]]])
def test_arguments_can_be_given_per_lane(monkeypatch, args):
    fake = Fake(monkeypatch)
    lw.run(PROGRAM, lanes=2, args=args)
    assert fake.arguments(1) == [b"program.wasm", b"x", b"1{lane}"]


@pytest.mark.parametrize("stdin", [["a", b"b"], lambda lane: "ab"[lane]])
def test_input_can_be_given_per_lane(monkeypatch, stdin):
    fake = Fake(monkeypatch)
    lw.run(PROGRAM, lanes=2, stdin=stdin)
    assert [fake.stdin(0), fake.stdin(1)] == [b"a", b"b"]


def test_input_can_be_the_same_for_all(monkeypatch):
    fake = Fake(monkeypatch)
    lw.run(PROGRAM, lanes=2, stdin="grüße")
    assert [fake.stdin(0), fake.stdin(1)] == ["grüße".encode()] * 2


def test_lists_say_how_many_lanes_there_are(monkeypatch):
    fake = Fake(monkeypatch)
    lw.run(PROGRAM, stdin=["a", "b", "c"])
    assert fake.task.lanes == 3


def test_directories_environment_and_limits_reach_the_engine(monkeypatch, tmp_path):
    fake = Fake(monkeypatch)
    lw.run(
        PROGRAM,
        dirs={"/in": tmp_path},
        env={"A": "1"},
        device=lw.device("cpu"),
        seed=7,
        fuel=1000,
        timeout="2m",
        memory="16M",
        stack=65536,
        output_limit=None,
        fail_fast=True,
    )
    task = fake.task
    assert task.directories == [(tmp_path, "/in")]
    assert task.environment == {"A": "1"}
    assert (task.device, task.seed, task.fail_fast) == ("cpu", 7, True)
    assert task.limits == type(task.limits)(memory=16 << 20, stack=65536, fuel=1000, timeout=120.0, output=None)


def test_directories_in_a_list_go_by_their_own_names(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    for dirs in (["data"], "data", [Path("data")]):
        fake = Fake(monkeypatch)
        lw.run(PROGRAM, dirs=dirs)
        assert fake.task.directories == [(Path("data"), "data")]
        assert fake.task.limits.output == 16 << 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lanes": 0}, "lanes is 0; it is a whole number from 1 to 4294967295"),
        ({"lanes": True}, "lanes is True; it is a whole number"),
        ({"lanes": 2.0}, "lanes is 2.0; it is a whole number"),
        ({"lanes": 2, "stdin": ["a"]}, "it is not clear how many lanes there are: lanes says 2 and stdin says 1"),
        ({"stdin": []}, "stdin has no entries, so there is no lane to run"),
        ({"stdin": [1]}, "what a lane reads is text or bytes, not int"),
        ({"args": "x"}, r"args is a list of arguments, one after the other; write args=\['x'\]"),
        ({"args": ["x", 3]}, r"an argument is text, bytes or a path, not int; write str\(3\)"),
        ({"args": ["a\0b"]}, "has a byte 0 in it, which no argument can hold"),
        ({"dirs": ["/nowhere/at/all"]}, "dirs: there is no directory '/nowhere/at/all'"),
        ({"env": {"A=": "1"}}, "env: 'A=': '1' is no variable"),
        ({"env": {"A": 1}}, "env: 'A': 1 is no variable"),
        ({"timeout": 0}, "timeout is 0; it is seconds above 0"),
        ({"timeout": float("nan")}, "timeout is nan; it is seconds above 0"),
        ({"memory": "8T"}, "memory is 8796093022208; it is a whole number from 65536 to 1099511627776"),
        ({"memory": "lots"}, "memory: 'lots' is not a size"),
        ({"fuel": 0}, "fuel is 0; it is a whole number from 1"),
        ({"seed": -1}, "seed is -1; it is a whole number from 0"),
    ],
)
def test_a_mistake_is_said_by_name(monkeypatch, options, message):
    fake = Fake(monkeypatch)
    with pytest.raises(lw.ArgumentError, match=message):
        lw.run(PROGRAM, **options)
    assert fake.runs == []


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("nowhere.wasm", "there is no program 'nowhere.wasm'"),
        (".", "'.' is a directory; give the path of a .wasm file"),
        (3, "a program is a path, bytes or a module, not int"),
    ],
)
def test_a_program_that_is_none_is_refused(monkeypatch, program, message):
    Fake(monkeypatch)
    with pytest.raises(lw.ArgumentError, match=message):
        lw.run(program)


def test_an_unknown_option_is_refused():
    for function in (lw.run, lw.stream):
        with pytest.raises(TypeError, match="lans"):
            function(PROGRAM, lans=3)


def test_check_names_the_lanes_that_failed(monkeypatch):
    Fake(monkeypatch, lambda lane: ended(lane, 1) if lane % 2 else ended(lane))
    with pytest.raises(lw.BatchError) as caught:
        lw.run(PROGRAM, lanes=14, check=True)
    expected = ", ".join(f"lane {lane} ended with exit code 1" for lane in (1, 3, 5, 7, 9))
    assert str(caught.value) == f"program.wasm: 7 of 14 lanes failed: {expected} and 2 more"
    assert caught.value.lanes.tolist() == [1, 3, 5, 7, 9, 11, 13]
    assert caught.value.result.exit_codes.sum() == 7
    Fake(monkeypatch)
    assert lw.run(PROGRAM, lanes=14, check=True).ok


def test_lanes_that_never_ran_are_told_from_those_that_did(monkeypatch):
    Fake(monkeypatch, lambda lane: ended(lane, 1), order=[1], stopped="a lane failed")
    result = lw.run(PROGRAM, lanes=3, fail_fast=True)
    assert result.traps == ["not run", None, "not run"]
    assert result.exit_codes.tolist() == [-1, 1, -1]
    assert np.isnan(result.seconds).tolist() == [True, False, True]
    assert result.stopped == "a lane failed"
    said = (
        r"3 of 3 lanes failed \(a lane failed\): lane 0 was not run, lane 1 ended with exit code 1, lane 2 was not run"
    )
    with pytest.raises(lw.BatchError, match=said):
        result.check()


def test_lanes_that_were_cut_off_are_said_to_be(monkeypatch):
    Fake(monkeypatch, lambda lane: ended(lane, trap="timed out"), stopped="time-out after 5 s")
    with pytest.raises(lw.BatchError, match=r"lane 0 was cut off \(timed out\)"):
        lw.run(PROGRAM, lanes=1, check=True)


def test_a_result_shows_itself_as_a_table(monkeypatch):
    Fake(monkeypatch, lambda lane: ended(lane, stdout=b"<line %d>\nmore" % lane))
    result = lw.run(PROGRAM, lanes=12)
    title, headings, *rows = repr(result).splitlines()
    assert title.startswith("program.wasm: 12 lanes, all ok, ")
    assert headings.split() == ["lane", "ended", "with", "took", "wrote"]
    assert rows[0].split() == ["0", "exit", "code", "0", "1", "ms", "<line", "0>"]
    assert rows[-1] == "  ... 2 more"
    assert len(rows) == 11
    shown = result._repr_html_()
    assert "&lt;line 9&gt;" in shown
    assert "... 2 more" in shown


def test_a_table_shows_the_lanes_that_failed(monkeypatch):
    Fake(monkeypatch, lambda lane: ended(lane, trap="unreachable in f (+0x1)") if lane == 99 else ended(lane))
    rows = repr(lw.run(PROGRAM, lanes=100)).splitlines()
    assert "1 failed" in rows[0]
    assert rows[2].startswith("  99    unreachable in f (+0x1)")


def test_a_stream_gives_lanes_as_they_end(monkeypatch):
    Fake(monkeypatch, order=[2, 0, 1])
    with lw.stream(PROGRAM, lanes=3) as lanes:
        assert lanes.device == "fake"
        assert [outcome.lane for outcome in lanes] == [2, 0, 1]
        assert lanes.stopped is None


def test_mistakes_are_raised_before_the_first_lane():
    with pytest.raises(lw.ArgumentError):
        lw.stream(PROGRAM, lanes=0)


def test_closing_a_stream_ends_the_run(monkeypatch):
    fake = Fake(monkeypatch)
    lanes = lw.stream(PROGRAM, lanes=1000)
    assert next(lanes).lane == 0
    lanes.close()
    assert list(lanes) == []
    assert lanes.stopped == "interrupted"
    assert fake.runs[0].asked_to_stop


def test_a_stream_that_nobody_holds_any_more_ends_the_run(monkeypatch):
    fake = Fake(monkeypatch)
    for outcome in lw.stream(PROGRAM, lanes=1000):
        if outcome.lane == 2:
            break
    gc.collect()
    assert fake.runs[0].asked_to_stop


def test_a_keyboard_interrupt_ends_the_run_and_is_passed_on(monkeypatch):
    def how(lane):
        if lane == 3:
            raise KeyboardInterrupt
        return ended(lane)

    fake = Fake(monkeypatch, how)
    with pytest.raises(KeyboardInterrupt):
        lw.run(PROGRAM, lanes=1000)
    assert fake.runs[0].asked_to_stop


def test_an_environment_that_is_no_dictionary_is_refused():
    with pytest.raises(lw.ArgumentError, match=r"env: \['A'\] is no dictionary of names and values"):
        lw.run(b"\0asm\1\0\0\0", env=["A"])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"stdin": (word for word in "ab")}, "stdin is text, bytes, a list or a function of the lane, not generator"),
        ({"stdin": 5}, "stdin is text, bytes, a list or a function of the lane, not int"),
        ({"args": lambda lane: lane}, "args gives 0 for a lane; it gives a list of arguments, such as ['0']"),
        ({"args": [["a"], "b"]}, "an argument is text, bytes or a path, not list; give either one list"),
        ({"dirs": [("a", "b")]}, "dirs is [('a', 'b')]; it is a directory, a list of them, or {name: directory}"),
    ],
)
def test_what_cannot_be_given_is_refused_in_a_sentence(given, sentence):
    with pytest.raises(lw.ArgumentError, match=re.escape(sentence)):
        lw.run(program("(call $say (i32.const 1))"), device="cpu", **given)


def test_what_is_no_module_is_called_by_its_name(tmp_path):
    (tmp_path / "notes.txt").write_text("these are notes")
    with pytest.raises(lw.MalformedError, match=r"^notes\.txt: magic header not detected"):
        lw.run(tmp_path / "notes.txt")


ENDLESS_SCRIPT = """
import sys
import lanewise as lw
outcomes = iter(lw.stream(sys.argv[1], lanes=8, device="cpu"))
lane = next(outcomes).lane
print("over", flush=True)
"""


def test_a_script_that_is_over_does_not_wait_for_lanes_of_a_stream(tmp_path):
    first_ends = "(if (call $thread_id) (then (loop $for_ever (br $for_ever))))"
    (tmp_path / "endless.wasm").write_bytes(program(first_ends, "thread_id"))
    script = [sys.executable, "-c", ENDLESS_SCRIPT, str(tmp_path / "endless.wasm")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "over\n", "")
