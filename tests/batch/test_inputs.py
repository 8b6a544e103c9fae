"""What lanes get: arguments with `{lane}` and `{}` filled in, lines of files, and amounts as people write them."""

import os
import threading

import pytest
from hypothesis import given, settings, strategies

from lanewise.batch import amounts
from lanewise.batch.inputs import FileInputs, GivenInputs, LineInputs, SameInput, Template
from lanewise.batch.lines import Lines, read_whole, without_newline
from lanewise.batch.spec import Task
from lanewise.batch.wave import RunFacts, lane_order, run_record
from lanewise.errors import ArgumentError, LanewiseError


def filled(argument, *, lane=True, item=True):
    template = Template("app", [argument], lane=lane, item=item)
    return template.fill(12, b"a b")[1]


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("plain", b"plain"),
        ("{lane}", b"12"),
        ("{}", b"a b"),
        ("--seed={lane}-{lane}:{}.", b"--seed=12-12:a b."),
        ("{{lane}}", b"{lane}"),
        ("{{}}", b"{}"),
        ('{"seed": {lane}}', b'{"seed": 12}'),
        ('{"a": {{}}, "b": [{}]}', b'{"a": {}, "b": [a b]}'),
        ("{name} {0} { } {{x}} }{ {lan", b"{name} {0} { } {{x}} }{ {lan"),
        (b"\xff{lane}", b"\xff12"),
    ],
)
def test_braces_are_filled_in_and_all_else_is_left_alone(argument, expected):
    assert filled(argument) == expected


def test_what_has_no_meaning_is_not_touched():
    assert filled("{} {{}} {lane}", item=False) == b"{} {{}} 12"
    assert filled("{} {{}} {lane} {{lane}}", lane=False, item=False) == b"{} {{}} {lane} {{lane}}"


MEANINGS = {"{lane}": "12", "{}": "a b", "{{lane}}": "{lane}", "{{}}": "{}", "{": "{", "}}": "}}", "lane": "lane"}


@settings(deadline=None)
@given(strategies.lists(strategies.sampled_from(sorted(MEANINGS))))
def test_each_word_is_filled_in_by_itself(words):
    assert filled(" ".join(words)) == " ".join(MEANINGS[word] for word in words).encode()


def test_arguments_that_are_the_same_are_made_once():
    template = Template("app", ["x", "{y}"], lane=True, item=True)
    assert template.same
    assert template.fill(1) is template.fill(2)
    assert SameInput(template, None).same_arguments
    assert not SameInput(Template("app", ["{lane}"], lane=True, item=False), b"").same_arguments


def test_an_argument_cannot_hold_a_byte_0():
    with pytest.raises(ArgumentError, match="has a byte 0 in it"):
        Template("app", ["a\0b"], lane=False, item=False)


def lines_of(tmp_path, content):
    (tmp_path / "in").write_bytes(content)
    return Lines.of(str(tmp_path / "in"))


@settings(deadline=None)
@given(strategies.binary(max_size=200))
def test_lines_are_those_of_the_file(tmp_path_factory, content):
    lines = lines_of(tmp_path_factory.mktemp("lines"), content)
    found = [lines[index] for index in range(len(lines))]
    assert b"".join(found) == content
    assert found == [line for line in content.replace(b"\n", b"\n\0split").split(b"\0split") if line]


def test_a_file_in_many_chunks_has_the_same_lines(tmp_path, monkeypatch):
    monkeypatch.setattr("lanewise.batch.lines._CHUNK", 7)
    content = b"".join(b"line %d\n" % number for number in range(50)) + b"\0"
    lines = lines_of(tmp_path, content)
    assert len(lines) == 51
    assert lines[49] == b"line 49\n"
    assert lines.with_zero_byte() == 50
    assert lines_of(tmp_path, b"a\nb").with_zero_byte() is None


def test_lines_of_the_standard_input_begin_where_the_shell_has_left_it(tmp_path):
    (tmp_path / "in").write_bytes(b"read by the shell\nfor us\n")
    saved, file = os.dup(0), os.open(tmp_path / "in", os.O_RDONLY)
    try:
        os.lseek(file, 18, os.SEEK_SET)
        os.dup2(file, 0)
        lines = Lines.of("-")
    finally:
        os.dup2(saved, 0)
        os.close(saved)
        os.close(file)
    assert [lines[index] for index in range(len(lines))] == [b"for us\n"]


def test_a_pipe_is_read_to_its_end(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"one\ntwo\n",))
    writer.start()
    lines = Lines.of(str(tmp_path / "pipe"))
    writer.join()
    assert [lines[0], lines[1]] == [b"one\n", b"two\n"]


def test_a_file_that_shrinks_during_the_run_is_noticed(tmp_path):
    lines = lines_of(tmp_path, b"one\ntwo\n")
    os.truncate(tmp_path / "in", 5)
    assert lines[0] == b"one\n"
    with pytest.raises(LanewiseError, match="line 2 is not in the inputs file any more"):
        lines[1]


def test_a_line_is_given_with_and_without_its_newline(tmp_path):
    inputs = LineInputs(Template("app", ["{}"], lane=True, item=True), lines_of(tmp_path, b"one\r\ntwo"))
    assert (inputs.stdin(0), inputs.arguments(0)) == (b"one\r\n", [b"app", b"one"])
    assert (inputs.stdin(1), inputs.arguments(1)) == (b"two", [b"app", b"two"])
    assert without_newline(b"x\r") == b"x\r"


def test_a_path_that_is_no_text_reaches_its_lane():
    inputs = FileInputs(Template("app", ["{}"], lane=True, item=True), [os.fsdecode(b"\xff.json")], b"all")
    assert (inputs.stdin(0), inputs.arguments(0)) == (b"all", [b"app", b"\xff.json"])


def test_a_function_is_asked_once_for_what_a_lane_reads_and_the_longest_begin_first():
    asked = []

    def stdin(lane):
        asked.append(lane)
        return b"x" * (lane % 3)

    inputs = GivenInputs(lambda lane: [b"app"], stdin, same_arguments=True)
    task = Task(b"", "app", 5, inputs)
    facts = RunFacts(task, [])
    kept = []
    run_record(task, facts, 0, 5, lambda array: kept.append(array) or array.ctypes.data)
    assert lane_order(task, range(5), facts.input_sizes).tolist() == [2, 1, 4, 0, 3]
    assert asked == [0, 1, 2, 3, 4]


def test_what_all_lanes_read_must_be_there(tmp_path):
    with pytest.raises(LanewiseError, match="cannot be read: Is a directory"):
        read_whole(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("4096", 4096), ("64K", 65536), ("64kib", 65536), ("16 MB", 16 << 20), ("1g", 1 << 30)]
)
def test_sizes(text, size):
    assert amounts.size(text) == size


@pytest.mark.parametrize("text", ["", "K", "-1", "1.5G", "64X", "1e3", "\uff16\uff14"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ArgumentError, match="is not a size"):
        amounts.size(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("5", 5), ("0.5", 0.5), (".5", 0.5), ("5s", 5), ("500ms", 0.5), ("2m", 120), ("1H", 3600)]
)
def test_durations(text, seconds):
    assert amounts.seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-1", "inf", "nan", "5 days", "1e3", "9999999999999"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ArgumentError, match="is not a time to wait"):
        amounts.seconds(text)
