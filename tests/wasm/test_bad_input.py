"""What people bring by mistake is recognised, and no input costs more time or memory than its size accounts for."""

import gzip
import io
import time
import tracemalloc
import zipfile

import pytest
from raw_modules import (
    CODE,
    ELEMENT,
    FUNCTION,
    HEADER,
    IMPORT,
    MEMORY,
    TABLE,
    TYPE,
    body,
    custom,
    function_type,
    module,
    number,
    one_function,
    section,
    sized,
)

from lanewise.errors import MalformedError, UnsupportedError, WasmError
from lanewise.wasm.decode import decode
from lanewise.wasm.foreign import explain_import
from lanewise.wasm.model import FuncType
from lanewise.wasm.validate import validate


def zipped() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("module.wasm", HEADER)
    return target.getvalue()


@pytest.mark.parametrize(
    ("data", "what", "instead"),
    [
        (b"", "the file is empty", "written to the end"),
        (b"\0asm\x0d\0\x01\0\x00\x01\x00", "component", "build for wasm32-wasip1"),
        (b"(module (func))", "text format", "wat2wasm"),
        (b"\n  ;; a comment\n(; and\nanother ;)\n(module)", "text format", "wat2wasm"),
        (b"(component)", "component in the text format", "wasm32-wasip1"),
        (b"\x7fELF\x02\x01\x01" + b"\0" * 60, "ELF file", "wasm32-wasip1"),
        (b"\x7fELF\x02\x01\x01" + b"\0" * 60, "AArch64", "lanewise.run"),
        (b"MZ\x90\0" + b"\0" * 60, "Windows program", "wasm32-wasip1"),
        (b"\xcf\xfa\xed\xfe" + b"\0" * 60, "Mach-O", "wasm32-wasip1"),
        (b"!<arch>\n", "archive of object files", "link it into a module"),
        (zipped(), "zip archive", "unpack it"),
        (gzip.compress(HEADER, mtime=0), "gzip file", "gunzip"),
        (b"BC\xc0\xde\x35\x14", "LLVM bitcode", "compile and link"),
        (b"<!DOCTYPE html><html>", "web page", "download"),
        (b"import { instantiate } from './glue.js';", "JavaScript", "give the .wasm file"),
        (b"var Module = {};", "JavaScript", "give the .wasm file"),
        (b"\xef\xbb\xbf// glue\n", "JavaScript", "give the .wasm file"),
        (b"#!/bin/sh\n", "script", "wasm32-wasip1"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer", "git lfs pull"),
        (b"\x89PNG\r\n", "no WebAssembly module", ""),
    ],
)
def test_file_of_another_kind_is_named_with_what_to_do_instead(data, what, instead):
    with pytest.raises(MalformedError) as error:
        decode(data)
    message = str(error.value)
    assert what in message
    assert instead in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("space", "name", "words"),
    [
        ("wbg", "__wbg_log_1d3ae0273d8f4f8a", ("wasm-bindgen", "wasm32-wasip1")),
        ("__wbindgen_placeholder__", "__wbindgen_throw", ("wasm-bindgen", "wasm32-wasip1")),
        ("./pkg_bg.js", "__wbindgen_init_externref_table", ("wasm-bindgen",)),
        ("env", "emscripten_resize_heap", ("Emscripten", "STANDALONE_WASM")),
        ("env", "invoke_vii", ("Emscripten",)),
        ("a", "b", ("Emscripten",)),
        ("wasi_unstable", "fd_write", ("preview 0", "wasm32-wasip1")),
        ("wasi_snapshot_preview1", "fd_write", ("WASI preview 1",)),
        ("wasi:cli/environment@0.2.0", "get-environment", ("WASI 0.2", "wasm32-wasip1")),
        ("gojs", "runtime.wasmExit", ("GOOS=wasip1",)),
        ("env", "abort", ("AssemblyScript",)),
        ("./game_bg.js", "__wbg_log_1d3ae0273d8f4f8a", ("wasm-bindgen", "wasm32-wasip1")),
        ("./game_bg.js", "draw", ("wasm-bindgen",)),
        ("./snippets/game-1f2e/inline0.js", "now", ("wasm-bindgen",)),
        ("env", "_abort_js", ("Emscripten", "STANDALONE_WASM")),
        ("env", "_mmap_js", ("Emscripten",)),
        ("env", "setTempRet0", ("Emscripten",)),
        ("env", "__assert_fail", ("Emscripten",)),
        ("wasix_32v1", "fd_dup", ("WASIX", "wasm32-wasip1")),
        ("GOT.func", "puts", ("dynamic linking", "SIDE_MODULE")),
        ("env", "__memory_base", ("dynamic linking",)),
    ],
)
def test_imports_of_known_families_are_explained(space, name, words):
    explanation = explain_import(space, name)
    assert all(word in explanation for word in words)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (FuncType(("i32",) * 4, ()), "AssemblyScript"),
        (FuncType((), ()), "define it, or build for wasm32-wasip1"),
        (FuncType(("i32",), ()), ""),
    ],
)
def test_abort_is_told_apart_by_its_type(kind, words):
    explanation = explain_import("env", "abort", kind)
    assert words in explanation
    assert ("AssemblyScript" in explanation) == (len(kind.params) == 4)
    assert bool(explanation) == bool(words)


@pytest.mark.parametrize(
    ("space", "name"), [("env", "log"), ("env", "draw_js"), ("host", "a"), ("spectest", "print_i32"), ("", "")]
)
def test_imports_of_no_known_family_are_left_alone(space, name):
    assert explain_import(space, name) == ""


@pytest.mark.parametrize(
    "data",
    [
        module(section(MEMORY, b"\x04\x01")),
        module(section(MEMORY, b"\x05\x01\x02")),
        module(section(IMPORT, sized(b"env") + sized(b"memory") + b"\x02\x04\x01")),
    ],
)
def test_64_bit_memories_are_named_with_the_target_to_build_for(data):
    with pytest.raises(UnsupportedError, match=r"64-bit memory.*build for wasm32"):
        decode(data)


@pytest.mark.parametrize(
    ("data", "feature"),
    [
        (module(section(TYPE, b"\x5f\x00")), "garbage-collected types"),
        (module(section(TYPE, b"\x4e\x00")), "garbage-collected types"),
        (module(section(TYPE, b"\x60\x01\x6e\x00")), "garbage-collected types"),
        (module(section(TYPE, b"\x60\x01\x64\x70\x00")), "typed function references"),
        (module(section(TABLE, b"\x40\x00\x70\x00\x00\xd0\x70\x0b")), "typed function references"),
        (module(section(TYPE, b"\x5d\x00")), r"stack switching .*does not support"),
        (module(section(TYPE, b"\x60\x01\x68\x00")), r"stack switching .*does not support"),
        (module(section(TYPE, b"\x65\x60\x00\x00")), r"shared types .*does not support"),
        (module(section(TYPE, b"\x60\x01\x65\x6e\x00")), r"shared types .*does not support"),
        (module(section(TABLE, b"\x70\x04\x01")), r"^table .*64-bit table .*32-bit tables; build for wasm32"),
        (module(section(MEMORY, b"\x08\x01\x00")), r"custom page sizes .*does not support"),
        (module(section(MEMORY, b"\x0d\x01\x02\x00")), r"custom page sizes .*does not support"),
    ],
)
def test_types_that_lanewise_does_not_run_are_named(data, feature):
    with pytest.raises(UnsupportedError, match=feature) as error:
        decode(data)
    assert error.value.offset > 8
    assert f"at byte {error.value.offset:#x}" in str(error.value)


def test_instructions_that_switch_stacks_are_named():
    with pytest.raises(UnsupportedError, match=r"stack switching .*does not support"):
        validate(decode(one_function(b"\xe0\x00\x0b")))


# Input that wants to cost more than it should

HUGE = number(2**32 - 1)


@pytest.mark.parametrize(
    "data",
    [
        *[module(bytes([kind]) + sized(HUGE)) for kind in (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 13)],
        module(b"\x01" + HUGE),
        module(section(TYPE, b"\x60" + HUGE)),
        module(section(IMPORT, HUGE)),
        module(section(ELEMENT, b"\x01\x00" + HUGE)),
        module(section(CODE, HUGE)),
        one_function(b"\x0b", local_groups=b"\x01" + HUGE + b"\x7f"),
        one_function(b"\x0e" + HUGE + b"\x0b"),
        one_function(b"\x1c" + HUGE + b"\x0b"),
        one_function(b"\x1f\x40" + HUGE + b"\x0b"),
        module(custom("name", b"\x01" + sized(HUGE))),
        module(custom("name", b"\x02" + sized(b"\x01\x00" + HUGE))),
    ],
)
def test_announced_numbers_reserve_no_memory(data):
    tracemalloc.start()
    try:
        found = decode(data)
        found.function_name(0)
        validate(found)
    except WasmError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 1_000_000


def test_many_functions_with_many_locals_stay_within_a_few_megabytes():
    count = 300
    one = body(b"\x0b", b"\x01" + number(50_000) + b"\x7f")
    data = module(section(TYPE, function_type()), section(FUNCTION, *[b"\0"] * count), section(CODE, *[one] * count))
    tracemalloc.start()
    try:
        validate(decode(data))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000


def test_wide_blocks_and_tables_of_labels_take_time_by_their_size():
    """Blocks of a thousand results within each other, and branches to all of them, are not a square of their size."""
    wide = b"\x60\x00" + number(1000) + b"\x7f" * 1000
    depth, tables = 1000, 100
    labels = b"\x0e" + number(depth) + b"".join(number(at) for at in range(depth)) + b"\x00"
    code = b"\x02\x01" * depth + (b"\x00" + labels) * tables + b"\x0b" * depth + b"\x00\x0b"
    data = module(section(TYPE, function_type(), wide), section(FUNCTION, b"\0"), section(CODE, body(code)))
    start = time.perf_counter()
    validate(decode(data))
    assert time.perf_counter() - start < 5
