"""Mistakes in kernels: plain functions that are refused, each with the text that the caret stands under.

A file of tests has a collection, `mistake = Mistakes()`, registers functions with it as a decorator, and has
`mistake.test()` for its test. Where the text stands in the function's own source is found by the test, so that no line
or column is counted by hand.
"""

import inspect

import pytest

import lanewise as lw
from lanewise.lang import kernel
from lanewise.lang.abi_host import HostAbi
from lanewise.lang.abi_nvptx import NvptxAbi
from lanewise.lang.program import lower_kernel


class Mistakes:
    """The mistakes of one file."""

    def __init__(self):
        self._found = []

    def __call__(self, message, at, hint=""):
        """Register a function as a kernel to be refused; `at` is the text under the caret, or «it» in its context."""

        def register(function):
            self._found.append(pytest.param(function, message, at, hint, id=function.__name__))
            return function

        return register

    def test(self):
        """The test of all that have been registered."""

        @pytest.mark.parametrize("abi", [HostAbi, NvptxAbi])
        @pytest.mark.parametrize(("function", "message", "at", "hint"), self._found)
        def test_each_mistake_is_an_error_with_a_caret_under_it(abi, function, message, at, hint):
            check(abi, function, message, at, hint)

        return test_each_mistake_is_an_error_with_a_caret_under_it


def check(abi, function, message, at, hint):
    """A function is refused as it should be."""
    with pytest.raises(lw.LangError) as caught:
        lower_kernel(kernel(function), abi())
    error = caught.value
    line, column, length = place_of(function, at)
    assert message in error.message
    assert hint in error.hint
    assert bool(hint) == bool(error.hint)
    assert (error.filename, error.line, error.column) == (function.__code__.co_filename, line, column)
    shown = str(error).split("\n")
    source = inspect.getsourcelines(inspect.getmodule(function))[0][line - 1].rstrip()
    assert shown[0].endswith(f":{line}:{column}: error: {error.message}")
    assert shown[1] == f"{line:>6} | {source}"
    assert shown[2] == "       | " + " " * (column - 1) + "^" * length
    assert shown[3:] == ["    " + text for text in error.hint.split("\n") if text]


def place_of(function, at):
    """The line, the column and the length of a text that stands once in the source of a function, behind its name."""
    before, marked, behind = at.partition("«")
    text, _, after = behind.partition("»") if marked else (before, "", "")
    before = before if marked else ""
    source, first = inspect.getsource(function), function.__code__.co_firstlineno
    body = source.index("def " + function.__name__) + len("def " + function.__name__)
    assert source.count(before + text + after, body) == 1, f"{at!r} must stand once in {function.__name__}"
    start = source.index(before + text + after, body) + len(before)
    column = start - (source.rfind("\n", 0, start) + 1)
    return first + source.count("\n", 0, start), column + 1, len(text)
