"""Imports that are missing or do not fit: each named in one sentence, with what is there and the nearest name."""

import numpy as np
import pytest
from programs import assemble

import lanewise as lw
from lanewise.wasm import Store

GIVER = """
(module
  (memory (export "memory") 1 4)
  (memory (export "endless") 1)
  (table (export "table") 3 5 funcref)
  (table (export "things") 1 externref)
  (global (export "fixed") i32 (i32.const 3))
  (global (export "moving") (mut i32) (i32.const 4))
  (tag (export "tag") (param i32))
  (func (export "f") (param i32) (result i32) (local.get 0))
)
"""


def wanting(kind: str) -> lw.wasm.Module:
    return lw.load(assemble(f'(module (import "env" "x" {kind}))'))


def message(imports, kind="(func (param i32))") -> str:
    with pytest.raises(lw.LinkError) as error:
        wanting(kind).instantiate(imports, device="cpu")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_nothing_given():
    assert (
        message(None) == "unknown import: env.x, a function of type (i32) -> (); nothing is given: pass imports={...}"
    )
    assert message({}) == message(None)


def test_a_missing_module_is_told_with_the_nearest_and_those_given():
    assert message({"enw": {}, "gpu": {}}).endswith("; did you mean 'enw'? (the modules given are enw, gpu)")
    assert message({"host": {}, "gpu": {}}).endswith("; the modules given are host, gpu")


def test_a_missing_name_is_told_with_the_nearest_and_those_given():
    with pytest.raises(lw.LinkError) as error:
        lw.load(assemble('(module (import "env" "write" (func)))')).instantiate(
            {"env": {"read": print, "writ": print}}, device="cpu"
        )
    assert str(error.value) == (
        "unknown import: env.write, a function of type () -> (); did you mean 'writ'? "
        "(the names in 'env' given are read, writ)"
    )
    assert message({"env": {"alpha": print, "beta": print}}).endswith("; the names in 'env' given are alpha, beta")
    assert message({"env": {}}).endswith("; there are no names in 'env'")


def test_a_hint_follows_the_nearest_name_as_a_sentence():
    with pytest.raises(lw.LinkError) as error:
        lw.load(assemble('(module (import "wasi_snapshot_preview1" "fd_write" (func)))')).instantiate(
            {"wasi_snapshot_preview": {}}, device="cpu"
        )
    assert "? (the modules given are wasi_snapshot_preview). wasi_snapshot_preview1.fd_write is" in str(error.value)


@pytest.mark.parametrize(
    ("imports", "words"),
    [
        ([("env", {})], "imports is a list; give a mapping"),
        ({"env": print}, "imports['env'] is a builtin_function_or_method; give a mapping"),
        ({"env": 3}, "imports['env'] is a int; give a mapping"),
        ({"env": None}, "imports['env'] is None; give a mapping"),
        ({5: {}}, "the modules given are to be strings, not 5: give a mapping"),
        ({"env": {5: print}}, "the names in 'env' given are to be strings, not 5: give a mapping"),
        ({"env": {"x": 3}}, "incompatible import type: env.x is to be a function, not int"),
        ({"env": {"x": None}}, "env.x is to be a function, not NoneType"),
    ],
)
def test_imports_in_another_form_are_told_the_right_one(imports, words):
    assert words in message(imports)


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("(global i32)", 1.5, "env.x: the constant is 1.5; i32 takes a whole number"),
        ("(global i32)", 2**40, "env.x: the constant is 1099511627776, which does not fit i32"),
        ("(global i32)", "3", "env.x is to be a global, not str"),
        ("(global (mut i32))", 3, "env.x is to be a mutable i32, which a number is not"),
        ("(memory 1)", np.zeros(65536, np.uint8), "env.x is to be a memory, not ndarray"),
        ("(table 1 funcref)", [print], "env.x is to be a table, not list"),
    ],
)
def test_values_of_python_that_do_not_fit(kind, given, words):
    assert words in message({"env": {"x": given}}, kind)


@pytest.mark.parametrize("given", [3, np.int32(3), np.uint8(3), True + 2])
def test_numbers_are_given_for_constants(given, device):
    text = '(module (import "env" "x" (global i32)) (func (export "get") (result i32) (global.get 0)))'
    assert lw.load(assemble(text)).instantiate({"env": {"x": given}}, device=device).get() == 3


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("(func (param i64))", "f", "env.x is to have type (i64) -> (), not (i32) -> (i32)"),
        ("(func)", "memory", "env.x is to be a function, not a memory"),
        ("(memory 2)", "memory", "env.x is to have 2 at least, it has 1"),
        ("(memory 1 2)", "memory", "env.x is to grow to 2 at most, its bound is 4"),
        ("(memory 1 2)", "endless", "its bound is no bound"),
        ("(memory 1 4 shared)", "memory", "env.x is to be a shared memory"),
        ("(table 1 externref)", "table", "env.x is to be a table of externref, not of funcref"),
        ("(table 4 funcref)", "table", "env.x is to have 4 at least, it has 3"),
        ("(global i64)", "fixed", "env.x is to be a constant i64, not a constant i32"),
        ("(global i32)", "moving", "env.x is to be a constant i32, not a mutable i32"),
        ("(global (mut i32))", "fixed", "env.x is to be a mutable i32, not a constant i32"),
        ("(tag (param i64))", "tag", "env.x is to have type"),
    ],
)
def test_exports_of_others_that_do_not_fit(kind, name, words):
    store = Store("cpu")
    giver = store.instantiate(lw.load(assemble(GIVER)))
    with pytest.raises(lw.LinkError) as error:
        store.instantiate(wanting(kind), {"env": {"x": giver.exports[name]}})
    assert str(error.value).startswith("incompatible import type: ")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("(memory 1)", "memory"), ("(tag (param i32))", "tag"), ("(func (param i32) (result i32))", "f")],
)
def test_exports_of_another_store_are_refused(kind, name):
    giver = lw.load(assemble(GIVER)).instantiate(device="cpu")
    with pytest.raises(
        lw.LinkError, match=r"env\.x belongs to another store; instances that share things are made in one"
    ):
        wanting(kind).instantiate({"env": {"x": giver.exports[name]}}, device="cpu")


def test_instances_of_one_store_share_what_they_export(device):
    store = Store(device)
    giver = store.instantiate(lw.load(assemble(GIVER)))
    text = """(module
      (import "giver" "memory" (memory 1))
      (import "giver" "f" (func $f (param i32) (result i32)))
      (func (export "put") (param i32) (i32.store (i32.const 0) (call $f (local.get 0)))))"""
    user = store.instantiate(lw.load(assemble(text)), {"giver": giver})
    user.put(77)
    assert giver.memory.read(0, 1) == b"M"


@pytest.mark.parametrize(
    ("module", "name", "words"),
    [
        ("wbg", "__wbindgen_throw", "wasm-bindgen"),
        ("env", "emscripten_resize_heap", "Emscripten"),
        ("wasi_unstable", "fd_write", "WASI preview 0"),
        ("wasi_snapshot_preview1", "fd_write", "WASI preview 1"),
        ("wasi_snapshot_preview1", "fd_write", "run a program with lanewise.run or gpu-run"),
        ("wasi", "thread-spawn", "run a program with lanewise.run or gpu-run"),
        ("env", "abort", "env.abort is C's"),
    ],
)
def test_imports_of_known_families_are_explained(module, name, words):
    with pytest.raises(lw.LinkError) as error:
        lw.load(assemble(f'(module (import "{module}" "{name}" (func)))')).instantiate(device="cpu")
    assert words in str(error.value)


@pytest.mark.parametrize("space", ["a\\1b[2J", "wasi:\\1b[2J", "./snippets/\\1b[2J"])
def test_names_of_imports_do_not_steer_the_terminal(space):
    with pytest.raises(lw.LinkError) as error:
        lw.load(assemble(f'(module (import "{space}" "b\\0a" (func)))')).instantiate(device="cpu")
    assert "\x1b" not in str(error.value)
    assert "\n" not in str(error.value)
