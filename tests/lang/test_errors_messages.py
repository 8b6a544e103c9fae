"""The whole message of a mistake, and what is refused before any line is read."""

import functools
import importlib.util

import pytest
from misused import half, launched, plain

import lanewise as lw
from lanewise.lang import (
    ON_GPU,
    Ptr,
    device,
    f32,
    grid_range,
    kernel,
    struct,
    thread_id,
    u32,
    warp_reduce_add,
)
from lanewise.lang.abi_host import HostAbi
from lanewise.lang.program import lower_kernel

# --- the whole message ------------------------------------------------------------------------------------------------


def test_the_example_of_the_design_gives_exactly_its_message(tmp_path, monkeypatch):
    source = (
        "from lanewise.lang import Ptr, atomic_add, f32, kernel, struct, thread_id, u32\n"
        "\n"
        "\n"
        "@struct\n"
        "class Histogram:\n"
        "    total: u32\n"
        "    bins: u32[256]\n"
        "\n"
        "\n"
        "@kernel\n"
        "def count(data: Ptr[f32], n: u32, out: Ptr[Histogram]):\n"
        "    # each thread counts one value\n"
        "    i = thread_id()\n"
        "    if i < n:\n"
        "        atomic_add(out.bins[data[i] * 256.0], 1)\n"
        "        atomic_add(out.total, 1)\n"
    )
    monkeypatch.chdir(tmp_path)
    module = imported(tmp_path / "histogram.py", source)
    with pytest.raises(lw.LangError) as caught:
        lower_kernel(module.count, HostAbi())
    assert str(caught.value) == (
        "histogram.py:15:29: error: f32 cannot index an array\n"
        "    15 |         atomic_add(out.bins[data[i] * 256.0], 1)\n"
        "       |                             ^^^^^^^^^^^^^^^\n"
        "    write u32(...) to convert"
    )


def imported(path, source):
    """Write a module and import it."""
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_caret_stands_right_behind_tabs_and_wide_characters(tmp_path):
    source = "from lanewise.lang import *\n\n\n@kernel\ndef größe(ä: u32):\n\tif ä > 1:\n\t\tä = 'ü' + ä\n"
    module = imported(tmp_path / "umlauts.py", source)
    with pytest.raises(lw.LangError) as caught:
        lower_kernel(module.größe, HostAbi())
    assert (caught.value.line, caught.value.column) == (7, 7)
    assert str(caught.value).split("\n")[1:3] == ["     7 | \t\tä = 'ü' + ä", "       | \t\t    ^^^"]


def test_an_expression_over_several_lines_is_marked_on_its_first(tmp_path):
    source = (
        "from lanewise.lang import *\n\n\n@kernel\ndef k(a: u32, b: f32):\n    c = (\n        a\n        + b\n    )\n"
    )
    module = imported(tmp_path / "lines.py", source)
    with pytest.raises(lw.LangError) as caught:
        lower_kernel(module.k, HostAbi())
    assert str(caught.value).split("\n")[1:3] == ["     7 |         a", "       |         ^"]


def test_lines_are_right_behind_odd_line_separators(tmp_path):
    source = "from lanewise.lang import *\n\n\n@kernel\ndef k(a: u32):\n    '''x\x0cy\u2028z'''\n    a = missing\n"
    module = imported(tmp_path / "separators.py", source)
    with pytest.raises(lw.LangError) as caught:
        lower_kernel(module.k, HostAbi())
    assert caught.value.line == 7
    assert "     7 |     a = missing\n" in str(caught.value)


# --- what is refused before any line is read --------------------------------------------------------------------------


def test_source_that_cannot_be_found_is_said_so():
    names = {}
    exec("from lanewise.lang import *\n@kernel\ndef k(p: Ptr[u32]):\n    p[0] = 1\n", names)
    with pytest.raises(
        lw.LanewiseError, match="the source of k cannot be read from <string>; device code must stand in a"
    ):
        lower_kernel(names["k"], HostAbi())


def test_a_lambda_is_no_kernel():
    with pytest.raises(lw.LanewiseError, match="write it"):
        lower_kernel(kernel(lambda p: None), HostAbi())
    functions = [
        kernel(lambda p: p),
    ]
    with pytest.raises(lw.LanewiseError, match="write it"):
        lower_kernel(functions[0], HostAbi())


def test_an_async_function_is_no_kernel():
    @kernel
    async def later(p: Ptr[u32]):
        p[0] = 1

    with pytest.raises(lw.LanewiseError, match="is not a plain function; write it with `def`"):
        lower_kernel(later, HostAbi())


def test_a_method_is_no_kernel():
    class Holder:
        @kernel
        def method(self, p: Ptr[u32]):
            p[0] = 1

    with pytest.raises(lw.LangError, match="parameter self has no type"):
        lower_kernel(Holder.method, HostAbi())


@pytest.mark.parametrize("decorate", [kernel, device, kernel(reassociate=True), device(reassociate=True)])
@pytest.mark.parametrize("wrong", [5, print, staticmethod(plain), launched, half])
def test_only_plain_functions_are_decorated(decorate, wrong):
    with pytest.raises(lw.LanewiseError, match="goes before a plain function"):
        decorate(wrong)


def test_a_function_that_another_decorator_changed_is_refused():
    def logged(function):
        @functools.wraps(function)
        def inner(*args):
            return function(*args)

        return inner

    with pytest.raises(lw.LanewiseError, match="not what another decorator made of it"):

        @kernel
        @logged
        def wrapped(p: Ptr[u32]):
            p[0] = 1


def test_device_code_called_from_python_says_where_it_belongs():
    with pytest.raises(lw.LanewiseError, match="half is device code; call it from a @kernel or @device function"):
        half(1.0)
    with pytest.raises(lw.LanewiseError, match="say how many threads run launched"):
        launched(1)
    with pytest.raises(lw.LanewiseError, match="thread_id is device code"):
        thread_id()
    with pytest.raises(lw.LanewiseError, match="grid_range is device code"):
        grid_range(4)
    with pytest.raises(lw.LanewiseError, match="warp_reduce_add is device code"):
        warp_reduce_add(4)
    with pytest.raises(lw.LanewiseError, match="ON_GPU has a value in device code only"):
        bool(ON_GPU)


@pytest.mark.parametrize("wrong", [int, None, "f32", tuple[f32, f32], 5])
def test_a_pointer_to_no_device_type_is_refused(wrong):
    with pytest.raises(lw.LanewiseError, match="an element is a type of device code"):
        Ptr[wrong]


@pytest.mark.parametrize("wrong", [0, -1, True, 2.0, "3"])
def test_an_array_without_a_whole_positive_length_is_refused(wrong):
    with pytest.raises(lw.LanewiseError, match="a fixed array needs a positive whole number"):
        u32[wrong]


def test_structs_that_cannot_be_are_refused():
    with pytest.raises(lw.LanewiseError, match="struct Empty has no fields"):

        @struct
        class Empty:
            pass

    with pytest.raises(lw.LanewiseError, match="field x is <class 'int'>; a field is a scalar"):

        @struct
        class Whole:
            x: int

    with pytest.raises(lw.LanewiseError, match="field x has a default"):

        @struct
        class Defaulted:
            x: u32 = 5

    with pytest.raises(lw.LanewiseError, match="a field's type cannot be told: name 'Node' is not defined"):

        @struct
        class Node:
            next: "Ptr[Node]"


def test_nesting_too_deep_is_an_error_and_not_a_crash(tmp_path):
    source = "from lanewise.lang import *\n\n\n@kernel\ndef k(a: u32):\n    a = " + " + ".join(["a"] * 900) + "\n"
    module = imported(tmp_path / "deep.py", source)
    with pytest.raises(lw.LangError, match="k is nested too deep"):
        lower_kernel(module.k, HostAbi())
