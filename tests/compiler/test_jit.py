"""Loading object code: exports, imports, symbols of the process, unloading, and a quiet end."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import threading
from collections.abc import Callable

import pytest

from lanewise.compiler import Library, Target, compile_module, load_object
from lanewise.errors import CompileError

StartPython = Callable[[str], subprocess.Popen[str]]

ANSWER = "define i32 @answer() {\n  ret i32 42\n}"


def load(ir: str, *exports: str, **imports: int) -> Library:
    return load_object(compile_module(ir, Target.host(), cache=None).code, exports, imports)


def call(library: Library, name: str) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int32)(library.address(name))())


def test_exports_can_be_called() -> None:
    assert call(load(ANSWER, "answer"), "answer") == 42


def test_libraries_that_export_the_same_name_keep_their_own() -> None:
    first = load(ANSWER, "answer")
    second = load(ANSWER.replace("42", "43"), "answer")
    assert (call(first, "answer"), call(second, "answer")) == (42, 43)


def test_imports_are_linked_by_address() -> None:
    callback = ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: 7)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    library = load(
        "declare i32 @seven()\ndefine i32 @f() {\n  %r = call i32 @seven()\n  ret i32 %r\n}", "f", seven=address
    )
    assert call(library, "f") == 7


@pytest.mark.parametrize(
    "declaration",
    [
        "ptr @memcpy(ptr, ptr, i64)",
        "ptr @memmove(ptr, ptr, i64)",
        "ptr @memset(ptr, i32, i64)",
        "i32 @clock_gettime(i32, ptr)",
        "i32 @sched_yield()",
        "double @fma(double, double, double)",
        "double @fmod(double, double)",
    ],
)
def test_symbols_of_the_process_are_found(declaration: str) -> None:
    name = declaration.partition("@")[2].partition("(")[0]
    library = load(f"declare {declaration}\ndefine ptr @where() {{\n  ret ptr @{name}\n}}", "where")
    assert ctypes.CFUNCTYPE(ctypes.c_void_p)(library.address("where"))()


def test_data_is_exported_too() -> None:
    library = load("@counter = global i32 5", "counter")
    assert ctypes.c_int32.from_address(library.address("counter")).value == 5


def test_a_name_that_is_not_exported_is_named() -> None:
    with pytest.raises(CompileError, match="'question' is not exported; this library exports answer"):
        load(ANSWER, "answer").address("question")


def test_an_export_that_the_object_lacks_is_named() -> None:
    with pytest.raises(CompileError, match=r"cannot be loaded: .*question"):
        load(ANSWER, "question")


def test_a_missing_symbol_is_an_error_that_names_it(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CompileError, match="neither in `imports` nor in this process"):
        load("declare void @nowhere()\ndefine void @f() {\n  call void @nowhere()\n  ret void\n}", "f")
    assert "nowhere" in capfd.readouterr().err


def test_bytes_that_are_no_object_are_refused() -> None:
    with pytest.raises(CompileError, match="cannot be loaded"):
        load_object(b"no object", ["f"])


def test_a_closed_library_has_no_addresses() -> None:
    library = load(ANSWER, "answer")
    library.close()
    library.close()
    with pytest.raises(CompileError, match="was closed"):
        library.address("answer")


def test_threads_may_load_and_unload_at_once() -> None:
    code = compile_module(ANSWER, Target.host(), cache=None).code
    answers: list[int] = []

    def work() -> None:
        for _ in range(20):
            answers.append(call(load_object(code, ["answer"]), "answer"))
            gc.collect(0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [42] * 80


def test_python_ends_quietly_while_a_thread_still_runs_loaded_code(start_python: StartPython) -> None:
    process = start_python(
        """
import ctypes, threading
from lanewise.compiler import Target, compile_module, load_object
ir = "define void @spin() {\\n  br label %l\\nl:\\n  call void asm sideeffect \\"\\", \\"\\"()\\n  br label %l\\n}"
library = load_object(compile_module(ir, Target.host(), cache=None).code, ["spin"])
spin = ctypes.CFUNCTYPE(None)(library.address("spin"))
threading.Thread(target=spin, daemon=True).start()
"""
    )
    _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (0, "")
