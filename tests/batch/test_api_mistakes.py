"""`lanewise.run` and `lanewise.stream`: every wrong argument is refused in one sentence, before anything runs."""

import re
from pathlib import Path

import numpy as np
import pytest
from fake_engine import Fake

import lanewise as lw

PROGRAM = b"\0asm the engine is a fake one"
HALF = "\ud800"
"""Half of a pair, which stands for no character."""
HUGE = 10**5000
"""Python does not write so many digits."""


def refused(monkeypatch, sentence: str, **given: object) -> None:
    """Both functions refuse it, and nothing has run."""
    fake = Fake(monkeypatch)
    for function in (lw.run, lw.stream):
        with pytest.raises(lw.ArgumentError, match=re.escape(sentence)) as caught:
            function(PROGRAM, **given)
        assert "\n" not in str(caught.value)
    assert fake.runs == []


@pytest.mark.parametrize("name", ["state", "input"])
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([2**32], "holds 4294967296, which does not fit 32 bits; write whole numbers from -2147483648 to 4294967295"),
        ([2**40], "holds 1099511627776, which does not fit 32 bits"),
        ([0, -(2**31) - 1], "holds -2147483649, which does not fit 32 bits"),
        ([2**63], "holds 9223372036854775808, which does not fit 32 bits"),
        ([-1, 2**63], "holds 9223372036854775808, which does not fit 32 bits"),
        ([[1], [2**70]], "holds 1180591620717411303424, which does not fit 32 bits"),
        ([HUGE], "holds int of very many digits, which does not fit 32 bits"),
        ([np.int64(2**40)], "holds 1099511627776, which does not fit 32 bits"),
        ([0.5, 1e300], "holds 1e+300, which does not fit 32 bits; write floats up to 3.4e38"),
        ([-1e39], "holds -1e+39, which does not fit 32 bits"),
        ([1, "a"], "holds 'a'; lanes share 32-bit numbers, such as [1, 2, 3]"),
        ([1, None], "holds None; lanes share 32-bit numbers"),
        ([1j], "holds 1j; lanes share 32-bit numbers"),
        ({"a": 1}, "holds {'a': 1}; lanes share 32-bit numbers"),
        (b"abcd", "holds b'abcd'; lanes share 32-bit numbers"),
        ([1, [2]], "is [1, [2]]; it is an array of 32-bit numbers or a list of them, all rows of one length"),
        (np.zeros(2), "holds float64; lanes share 32-bit numbers (int32, uint32, float32)"),
    ],
)
def test_words_that_do_not_fit_are_refused(monkeypatch, name, words, sentence):
    refused(monkeypatch, f"{name} {sentence}", **{name: words})


@pytest.mark.parametrize(
    ("words", "dtype", "held"),
    [
        ([-(2**31), 2**31 - 1], np.int32, [-(2**31), 2**31 - 1]),
        ([2**32 - 1, -1], np.int32, [-1, -1]),  # the same bits
        ([True, 2], np.int32, [1, 2]),
        ([1, 2.5], np.float32, [1.0, 2.5]),
        ([2**40, 0.5], np.float32, [2.0**40, 0.5]),
        ([1e20, 3e38], np.float32, [float(np.float32(1e20)), float(np.float32(3e38))]),
        ([float("inf"), -float("inf"), 1e-60], np.float32, [float("inf"), -float("inf"), 0.0]),
        ([[1, 2], [3, 4]], np.int32, [[1, 2], [3, 4]]),
        ([], np.float32, []),
        (np.array([2**32 - 1], np.uint32), np.uint32, [2**32 - 1]),
        (np.array([1], ">i4"), np.int32, [1]),
    ],
)
def test_words_that_fit_reach_the_engine(monkeypatch, words, dtype, held):
    fake = Fake(monkeypatch)
    lw.run(PROGRAM, state=words, input=words)
    for found in (fake.task.buffers.state, fake.task.buffers.input):
        assert (found.dtype, found.tolist()) == (dtype, held)


@pytest.mark.parametrize(
    "args",
    [None, 5, (one for one in ["a"]), {"a": 1}, {"a"}, bytearray(b"a"), np.array("a")],
    ids=lambda one: type(one).__name__,
)
def test_args_that_are_no_list_are_refused(monkeypatch, args):
    kind = type(args).__name__
    sentence = f"args is a list of arguments, a list of such lists or a function of the lane, not {kind}; write args=["
    refused(monkeypatch, sentence, args=args)


def test_one_path_as_args_is_refused(monkeypatch):
    refused(monkeypatch, f"write args=[{Path('a')!r}]", args=Path("a"))


def test_args_can_be_an_array(monkeypatch):
    fake = Fake(monkeypatch)
    lw.run(PROGRAM, args=np.array(["a", "b"]))
    assert fake.arguments() == [b"program.wasm", b"a", b"b"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"args": [HALF]}, r"args: '\ud800' has half a character in it, which cannot be encoded; write whole"),
        ({"args": [["a"], ["b", HALF]]}, r"args: '\ud800' has half a character in it"),
        ({"args": [Path(HALF)]}, "has half a character in it"),
        ({"stdin": HALF}, r"stdin: '\ud800' has half a character in it, which cannot be encoded; write whole"),
        ({"stdin": ["a", HALF]}, r"stdin: '\ud800' has half a character in it"),
        ({"env": {"A": HALF}}, r"env: 'A': '\ud800' is no variable; both are text that can be encoded"),
        ({"env": {HALF: "A"}}, r"env: '\ud800': 'A' is no variable; both are text that can be encoded"),
        ({"dirs": {HALF: "."}}, r"dirs: '\ud800' is no name for a directory"),
        ({"dirs": HALF}, r"dirs: there is no directory '\ud800'"),
    ],
)
def test_text_that_cannot_be_encoded_is_refused(monkeypatch, given, sentence):
    refused(monkeypatch, sentence, **given)


@pytest.mark.parametrize("given", [{"args": lambda lane: [HALF]}, {"stdin": lambda lane: HALF}], ids=["args", "stdin"])
def test_functions_that_give_what_cannot_be_encoded_are_refused(monkeypatch, given):
    fake = Fake(monkeypatch)
    lw.run(PROGRAM, **given)
    with pytest.raises(lw.ArgumentError, match="has half a character in it"):
        fake.arguments(), fake.stdin()


def test_bytes_of_names_of_files_can_be_given_as_text(monkeypatch):
    fake = Fake(monkeypatch)
    lw.run(PROGRAM, args=["\udcff"], env={"A": "\udcff"})  # as os.listdir gives them
    assert fake.arguments() == [b"program.wasm", b"\xff"]


@pytest.mark.parametrize(
    ("dirs", "sentence"),
    [
        (5, "dirs is 5; it is a directory, a list of them, or {name: directory}"),
        ((one for one in ["."]), "dirs is <generator"),
        (b"", "dirs is b''; it is a directory"),
        ({"x": 5}, "dirs is {'x': 5}; it is a directory, a list of them, or {name: directory}"),
        ({"x": 0}, "dirs is {'x': 0}; it is a directory"),
        ({"x": None}, "dirs is {'x': None}; it is a directory"),
        ({"x": "a\0b"}, r"dirs: there is no directory 'a\x00b'"),
        ({5: "."}, "dirs: 5 is no name for a directory; write text that is not empty and has no byte 0"),
        ({"a\0b": "."}, r"dirs: 'a\x00b' is no name for a directory; write text that is not empty and has no byte 0"),
        ({"": "."}, "dirs: '' is no name for a directory; write text that is not empty and has no byte 0"),
    ],
)
def test_dirs_that_are_no_directories_with_names_are_refused(monkeypatch, dirs, sentence):
    refused(monkeypatch, sentence, dirs=dirs)


@pytest.mark.parametrize(
    ("placement", "sentence"),
    [
        (5, "placement is 5; it is text such as 'flat/8/all', or None"),
        (b"flat/8/all", "placement is b'flat/8/all'; it is text such as 'flat/8/all', or None"),
        ("flat", "placement: 'flat' is no placement; write LAYOUT/LANES/RESIDENT"),
        ("flat/8/" + "9" * 5000, "placement: "),
    ],
    ids=["number", "bytes", "layout", "digits"],
)
def test_what_is_no_placement_is_refused(monkeypatch, placement, sentence):
    refused(monkeypatch, sentence, placement=placement)


@pytest.mark.parametrize(
    "timeout",
    [True, np.True_, b"5", 0.0, -1, 1e300, 10**400, [5], np.array([5.0]), float("inf")],
    ids=lambda one: type(one).__name__,
)
def test_what_is_no_time_is_refused(monkeypatch, timeout):
    refused(monkeypatch, f"timeout is {timeout!r}"[:200], timeout=timeout)


@pytest.mark.parametrize("timeout", [1e-9, 5e-324, 0.1, 3, np.float32(0.5), np.int64(2), 1e8 + 0.1])
def test_times_keep_their_value(monkeypatch, timeout):
    fake = Fake(monkeypatch)
    lw.run(PROGRAM, timeout=timeout)
    assert fake.task.limits.timeout == timeout


@pytest.mark.parametrize("value", ["no", None, 1, [True]])
def test_what_is_neither_true_nor_false_is_refused(monkeypatch, value):
    refused(monkeypatch, f"fail_fast is {value!r}; it is True or False", fail_fast=value)
    fake = Fake(monkeypatch)
    with pytest.raises(lw.ArgumentError, match=re.escape(f"check is {value!r}; it is True or False")):
        lw.run(PROGRAM, check=value)
    assert fake.runs == []


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"lanes": HUGE}, "lanes is int of very many digits; it is a whole number from 1"),
        ({"lanes": np.array([1, 2])}, "lanes is array([1, 2]); it is a whole number"),
        ({"seed": int}, "seed is <class 'int'>; it is a whole number"),
        ({"memory": "9" * 5000}, "memory: "),
        ({"timeout": HUGE}, "timeout is int of very many digits; it is seconds above 0"),
        ({"group": True}, "group is True; it is a power of two up to 256"),
        ({"group": np.array([1, 2])}, "group is array([1, 2]); it is a power of two up to 256"),
        ({"picture": 5}, "picture is 5; it is a width and a height"),
        ({"stdin": np.array("a")}, "stdin is text, bytes, a list or a function of the lane, not ndarray"),
    ],
    ids=lambda one: "" if isinstance(one, str) else next(iter(one)),
)
def test_numbers_and_arrays_where_others_belong_are_refused(monkeypatch, given, sentence):
    refused(monkeypatch, sentence, **given)


def test_only_a_run_that_sees_all_lanes_checks_them(monkeypatch):
    fake = Fake(monkeypatch)
    sentence = "check is for lanewise.run, which sees all lanes; of a stream look at outcome.ok of each lane"
    with pytest.raises(lw.ArgumentError, match=f"^{re.escape(sentence)}$"):
        lw.stream(PROGRAM, check=True)
    assert fake.runs == []
