"""What is no program, or asks for what nobody gives, is refused in one sentence before anything runs."""

import re

import pytest
from engine_runs import assembled, imports, run_all, task_of

import lanewise as lw
from lanewise.batch.engine import Run

START = '(func (export "_start"))'
SPAWN = '(import "wasi" "thread-spawn" (func (param i32) (result i32)))'
SHARED = '(import "env" "memory" (memory 1 1 shared))'
THREAD = '(func (export "wasi_thread_start") (param i32 i32))'
WASIP1 = "build for wasm32-wasip1 (Rust: --target wasm32-wasip1; C: clang --target=wasm32-wasi, or wasi-sdk)"
BUILD = "Build an executable, not a library or an object file; lanewise.load(...).func calls single functions"
NOT_HERE = "and there is no such module here, only wasi_snapshot_preview1, wasi, gpu"


def importing(module: str, name: str, kind: str = "(func)") -> str:
    return f'(module (import "{module}" "{name}" {kind}) {START})'


REFUSED = {
    "unknown module": (importing("env", "log"), f"the program imports env.log, {NOT_HERE}"),
    "misspelt": (
        importing("wasi_snapshot_preview1", "fd_wirte"),
        "the program imports wasi_snapshot_preview1.fd_wirte, which does not exist; did you mean 'fd_write'? "
        "(wasi_snapshot_preview1 has args_sizes_get, args_get, environ_sizes_get, environ_get, clock_res_get, "
        "clock_time_get, random_get, proc_exit, proc_raise, sched_yield, sock_accept, sock_recv and 34 more)",
    ),
    "misspelt vocabulary": (
        importing("gpu", "thread_idd"),
        "the program imports gpu.thread_idd, which does not exist; did you mean 'thread_id'? (gpu has "
        "thread_id, thread_count, local_id, group_id, threadgroup_size, threadgroup_barrier, memory_barrier, time_ns, "
        "time, read_state, write_state, read_state_f32 and 43 more)",
    ),
    "wrong type": (
        importing("wasi_snapshot_preview1", "fd_write", "(func (param i32 i32) (result i32))"),
        "the program imports wasi_snapshot_preview1.fd_write as (i32, i32) -> (i32), "
        "it is (i32, i32, i32, i32) -> (i32)",
    ),
    "wrong type of the vocabulary": (
        importing("gpu", "thread_id", "(func (param i32) (result i64))"),
        "the program imports gpu.thread_id as (i32) -> (i64), it is () -> (i32)",
    ),
    "wasm-bindgen": (
        importing("wbg", "__wbindgen_throw"),
        f"the program imports wbg.__wbindgen_throw, {NOT_HERE}. "
        f"wbg.__wbindgen_throw is the JavaScript glue of wasm-bindgen; {WASIP1}, without wasm-bindgen",
    ),
    "Emscripten": (
        importing("env", "emscripten_memcpy_js"),
        f"the program imports env.emscripten_memcpy_js, {NOT_HERE}. env.emscripten_memcpy_js is what Emscripten's "
        f"JavaScript gives; build with -sSTANDALONE_WASM -sPURE_WASI, or {WASIP1}",
    ),
    "WASI preview 0": (
        importing("wasi_unstable", "fd_write"),
        f"the program imports wasi_unstable.fd_write, {NOT_HERE}. wasi_unstable.fd_write is WASI preview 0, which "
        f"ended in 2019; {WASIP1}",
    ),
    "WASI 0.2": (
        importing("wasi:cli/stdout@0.2.0", "get-stdout"),
        f"the program imports wasi:cli/stdout@0.2.0.get-stdout, {NOT_HERE}. wasi:cli/stdout@0.2.0 is an interface of "
        f"WASI 0.2 or later; {WASIP1}",
    ),
    "a global": (
        importing("env", "g", "(global i32)"),
        "the program imports the global env.g, and nothing gives it one",
    ),
    "a table": (
        importing("env", "t", "(table 1 funcref)"),
        "the program imports the table env.t, and nothing gives it one",
    ),
    "a library": (
        '(module (func (export "_initialize")) (func (export "add")))',
        "the module is no program: it exports no function _start or main; the functions it exports: _initialize, add. "
        f"{BUILD}",
    ),
    "nothing": (
        "(module)",
        f"the module is no program: it exports no function _start or main; the functions it exports: none. {BUILD}",
    ),
    "an entry with a parameter": (
        '(module (func (export "_start") (param i32)))',
        "the program's _start is (i32) -> (); it must take nothing and return nothing or an i32",
    ),
    "an entry with another result": (
        '(module (func (export "main") (result f64) (f64.const 1)))',
        "the program's main is () -> (f64); it must take nothing and return nothing or an i32",
    ),
    "threads without shared memory": (
        f"(module {SPAWN} (memory 1) {THREAD} {START})",
        "the program starts threads but imports no shared memory for them: link with --import-memory",
    ),
    "threads without an entry": (
        f"(module {SHARED} {SPAWN} {START})",
        "the program starts threads but exports no wasi_thread_start of type (i32, i32) -> ()",
    ),
    "threads with another entry": (
        f'(module {SHARED} {SPAWN} {START} (func (export "wasi_thread_start") (param i32)))',
        "the program starts threads but exports no wasi_thread_start of type (i32, i32) -> ()",
    ),
    "threads and groups": (
        f'(module {SHARED} (import "gpu" "threadgroup_barrier" (func)) {SPAWN} {THREAD} {START})',
        "the program both starts threads and has lanes wait for each other; it can do one of them",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_program_that_cannot_run_is_refused_in_a_sentence(what, device):
    text, message = REFUSED[what]
    with pytest.raises(lw.LinkError, match=f"^{re.escape(message)}$"):
        Run(task_of(assembled(text), device))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty; was it written to the end?"),
        (b"\0asm\x0d\0\1\0rest", "this is a component (WASI 0.2, wasm32-wasip2); Lanewise runs core modules"),
        (b"(module)", "this is the text format; translate it with wat2wasm or wasm-tools parse"),
        (b"\x7fELF\2\1\1\0", "this is an ELF file, a program or library in machine code"),
    ],
)
def test_what_is_no_module_is_recognised(data, message, device):
    with pytest.raises(lw.WasmError, match=re.escape(message)):
        Run(task_of(data, device))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('(module (func (export "_start")))', 0),
        ('(module (func (export "main") (result i32) (i32.const 5)))', 5),
        ('(module (func (export "main") (param i32 i32) (result i32) (i32.add (local.get 0) (i32.const 6))))', 6),
        ('(module (func (export "main") (result i32) (i32.const 5)) (func (export "_start")))', 0),
        ('(module (import "env" "memory" (memory 1)) (func (export "_start") (i32.store (i32.const 8) (i32.const 1))))',
         0),
        ('(module (import "env" "memory" (memory 1 1 shared)) (func (export "_start")))', 0),
        ('(module (memory 1) (func $first (i32.store (i32.const 0) (i32.const 3))) (start $first)'
         ' (func (export "main") (result i32) (i32.load (i32.const 0))))', 3),
    ],
)  # fmt: skip
def test_programs_of_every_form_run(text, code, device):
    assert run_all(assembled(text), device, 3).codes == [code] * 3


def test_a_program_without_memory_can_call_but_has_nothing_to_point_at(device):
    text = f"""(module {imports("sched_yield", "fd_close", "proc_exit", "random_get")}
      (func (export "_start")
        (if (call $sched_yield) (then unreachable))
        (if (i32.ne (call $fd_close (i32.const 9)) (i32.const 8)) (then unreachable))
        (drop (call $random_get (i32.const 0) (i32.const 1)))))"""
    ended = run_all(assembled(text), device, 2)
    assert ended.kinds == ["out of bounds pointer"] * 2


def test_what_is_refused_leaves_nothing_behind(device, tmp_path):
    with pytest.raises(lw.LinkError):
        Run(task_of(assembled(REFUSED["misspelt"][0]), device, directories=[(tmp_path, "/")]))
    assert run_all(assembled(f"(module {START})"), device, 2).codes == [0, 0]


def test_a_directory_that_is_not_there_is_refused(device, tmp_path):
    with pytest.raises(lw.LanewiseError, match="nowhere"):
        Run(task_of(assembled(f"(module {START})"), device, directories=[(tmp_path / "nowhere", "/")]))


def test_a_run_needs_a_lane(device):
    with pytest.raises(lw.ArgumentError, match="a run needs 1 lane or more, not 0"):
        Run(task_of(assembled(f"(module {START})"), device, 0))
