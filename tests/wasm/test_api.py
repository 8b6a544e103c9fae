"""Modules as people hold them: what they say about themselves, and what they answer to mistakes."""

import pickle
import subprocess
import sys

import pytest
from programs import assemble

import lanewise as lw
from lanewise.wasm import describe
from lanewise.wasm.model import FuncType, GlobalType, Limits, MemoryType

SHOP = """
(module $shop
  (import "env" "log" (func $log (param i32)))
  (import "env" "rate" (global f64))
  (memory (export "memory") 2 16)
  (global (export "count") (mut i32) (i32.const 0))
  (func $add (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
  (func (export "price") (param f64) (result f64) (f64.mul (local.get 0) (global.get 0)))
  (func $hidden (call $log (i32.const 1)))
)
"""


@pytest.fixture(scope="module")
def shop():
    return lw.load(assemble(SHOP))


def one_sentence(error: pytest.ExceptionInfo[BaseException]) -> str:
    message = str(error.value)
    assert message
    assert "\n" not in message
    return message


def test_a_module_is_loaded_from_a_path_or_from_bytes(tmp_path):
    binary = assemble(SHOP)
    path = tmp_path / "shop.wasm"
    path.write_bytes(binary)
    for source in (binary, bytearray(binary), memoryview(binary), path, str(path)):
        assert "add" in lw.load(source).exports
    assert lw.load(path).name == "shop.wasm"


def test_exports_are_described_by_name(shop):
    assert list(shop.exports) == ["memory", "count", "add", "price"]
    assert shop.exports["add"].kind == "function"
    assert shop.exports["add"].type == FuncType(("i32", "i32"), ("i32",))
    assert shop.exports["count"].type == GlobalType("i32", mutable=True)
    assert str(shop.exports["memory"]) == "memory: memory of 2 pages (128 KiB), 16 at most"


def test_imports_and_memories_are_described(shop):
    log, rate = shop.imports
    assert (log.module, log.name, log.kind, log.type) == ("env", "log", "function", FuncType(("i32",), ()))
    assert str(rate) == "env.rate: constant f64"
    assert shop.memories == (MemoryType(Limits(2, 16)),)


def test_a_terminal_shows_name_size_exports_and_imports(shop):
    lines = repr(shop).splitlines()
    assert lines[0].startswith("WebAssembly module shop: ")
    assert "3 functions" in lines[0]
    assert "  export  add       (i32, i32) -> (i32)" in lines
    assert "  import  env.rate  constant f64" in lines


def test_memory_that_is_not_exported_is_shown_too():
    assert "inside  memory 0  memory of 16 pages (1 MiB)" in repr(lw.load(assemble("(module (memory 16))")))


def test_a_notebook_shows_a_table_in_which_names_are_text():
    html = lw.load(assemble('(module (func (export "<b>&") (param i64)))'))._repr_html_()
    assert "<table>" in html
    assert "&lt;b&gt;&amp;" in html
    assert "<b>" not in html
    assert "(i64) -&gt; ()" in html


def test_names_that_strangers_chose_do_not_steer_the_terminal():
    shown = repr(lw.load(assemble('(module (func (export "a\\1b[31m\\0ab")) (func (export "")))')))
    assert "\x1b" not in shown
    assert r"'a\x1b[31m\nb'" in shown
    assert "''" in shown


def test_long_lists_are_cut():
    many = "".join(f'(func (export "f{at}"))' for at in range(100))
    lines = repr(lw.load(assemble(f"(module {many})"))).splitlines()
    assert len(lines) == 1 + describe.SHOWN
    assert f"and {100 - describe.SHOWN + 1} more" in lines[-1]


def test_a_function_is_disassembled_by_name_or_by_index(shop):
    assert "i32.add" in shop.disassemble("add")
    assert "f64.mul" not in shop.disassemble("add")
    assert shop.disassemble(1) == shop.disassemble("add")
    assert "call $log" in shop.disassemble("hidden")
    assert "f64.mul" in shop.disassemble()


@pytest.mark.parametrize(
    ("which", "words"), [("ad", "did you mean 'add'"), (99, "the module has 4"), (-1, "from 0 on")]
)
def test_disassembling_what_is_not_there_is_explained(shop, which, words):
    with pytest.raises(lw.ArgumentError) as error:
        shop.disassemble(which)
    assert words in one_sentence(error)


def test_a_path_that_is_not_there_names_the_one_that_is(tmp_path):
    (tmp_path / "options.wasm").write_bytes(assemble("(module)"))
    with pytest.raises(lw.ArgumentError) as error:
        lw.load(tmp_path / "option.wasm")
    assert f"there is no file {str(tmp_path / 'option.wasm')!r}; did you mean" in one_sentence(error)


def test_a_directory_is_not_a_module(tmp_path):
    with pytest.raises(lw.ArgumentError) as error:
        lw.load(tmp_path)
    assert "is a directory; give the path of a .wasm file" in one_sentence(error)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("no/such/folder/app.wasm", "there is no file"),
        ("nul\0byte", "cannot be read"),
        ("x" * 5000, "cannot be read: File name too long"),
        ("(module (func))", "text format; translate it with wat2wasm"),
        (17, "from a path or from bytes, not from int"),
        (None, "not from NoneType"),
    ],
)
def test_what_cannot_be_loaded_is_one_sentence(source, words):
    with pytest.raises(lw.ArgumentError) as error:
        lw.load(source)
    assert words in one_sentence(error)


def test_an_open_file_is_told_to_be_read(tmp_path):
    (tmp_path / "a.wasm").write_bytes(assemble("(module)"))
    with (tmp_path / "a.wasm").open("rb") as file, pytest.raises(lw.ArgumentError, match=r"read\(\)"):
        lw.load(file)


def test_a_broken_file_is_named_with_the_byte(tmp_path):
    path = tmp_path / "half.wasm"
    path.write_bytes(assemble(SHOP)[:40])
    with pytest.raises(lw.MalformedError) as error:
        lw.load(path)
    assert one_sentence(error).startswith("half.wasm: ")
    assert f"at byte {error.value.offset:#x}" in str(error.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda module: module.func("pric"),
            "exports no function 'pric'; did you mean 'price'? (it exports the functions add, price)",
        ),
        (lambda module: module.func("zzz"), "it exports the functions add, price"),
        (lambda module: module.func("memory"), "'memory' is a memory, not a function"),
        (lambda module: module.func("hidden"), "exports no function 'hidden'"),
        (lambda module: module.func("add", errors="ignore"), """errors is "raise" or "mask", not 'ignore'"""),
        (
            lambda module: module.func("add", fuel=0),
            "fuel is 0; it is a number of steps from 1 to 9,223,372,036,854,775,807, or None",
        ),
        (lambda module: module.func("add", fuel=1.5), "fuel is 1.5"),
        (lambda module: module.instantiate(fuel=True), "fuel is True"),
        (lambda module: module.func("add", device="null"), "cpu or cuda, not on null"),
        (lambda module: module.instantiate(device="null"), "cpu or cuda, not on null"),
    ],
)
def test_a_wrong_request_is_answered_in_one_sentence(shop, call, words):
    with pytest.raises(lw.ArgumentError) as error:
        call(shop)
    assert words in one_sentence(error)


def test_devices_that_are_not_there_are_named(shop):
    with pytest.raises(lw.NoDeviceError, match="there is no device 'gpu'"):
        shop.func("add", device="gpu")
    with pytest.raises(lw.NoDeviceError, match="a device has a name, not 3"):
        shop.instantiate(device=3)


def test_an_unknown_choice_is_refused_as_python_does(shop):
    compiling = "and for compiling level, layout, checks, alignment, meter, fixed_memory, meeting, marks, stats$"
    taken = f"takes no 'error'; it takes device, errors, fuel, timeout, placement, {compiling}"
    with pytest.raises(TypeError, match=taken):
        shop.func("add", error="mask")
    with pytest.raises(TypeError, match=f"takes no 'gas'; it takes imports, device, fuel, timeout, {compiling}"):
        shop.instantiate(gas=1)


def test_every_error_of_the_engine_is_a_lanewise_error():
    for error in (
        lw.MalformedError,
        lw.InvalidError,
        lw.UnsupportedError,
        lw.LinkError,
        lw.WasmTrap,
        lw.LaneError,
        lw.WasmException,
    ):
        assert issubclass(error, lw.WasmError)
        assert issubclass(error, lw.LanewiseError)


def test_importing_the_package_does_not_import_the_engine():
    show = "import sys, lanewise; print(any(name.startswith('lanewise.wasm') for name in sys.modules), lanewise.load)"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("False <function load")


def test_descriptions_are_plain_values(shop):
    assert pickle.loads(pickle.dumps(shop.imports)) == shop.imports
    assert {shop.exports["add"]: 1}[shop.exports["add"]] == 1
