"""Runs a case under wasmtime, whose behaviour is the measure: how the program ended, what it wrote, what it left."""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import wasmtime
from cases import PROGRAMS, Case, Link
from wasmtime import _ffi as ffi

TRAPS = {
    wasmtime.TrapCode.STACK_OVERFLOW: "call stack exhausted",
    wasmtime.TrapCode.MEMORY_OUT_OF_BOUNDS: "out of bounds memory access",
    wasmtime.TrapCode.UNREACHABLE: "unreachable",
}
"""The words of the specification for the traps that the programs end in."""

FAILURES = {
    "Pointer out of bounds": "out of bounds pointer",
    "Invalid enum value": "invalid argument of a system call",
    "exit with invalid exit status outside of [0..126)": "exit code of 126 or more",
}
"""Calls of WASI at which wasmtime ends the program: its words and ours."""

OUTSIDE = b"nothing for guests"

Tree = dict[str, bytes | Link | None]
"""What is below a folder: the bytes of files, None for folders, where links lead."""


@dataclass(frozen=True)
class Outcome:
    """How one run of a program went."""

    ended: int | str
    """The exit code, or the words of the trap."""
    stdout: bytes
    stderr: bytes
    tree: Tree


def prepare(case: Case, folder: Path) -> Path:
    """Make the files of a case in `folder/root`, which the program gets; `folder/outside` it must never see."""
    root = folder / "root"
    root.mkdir(parents=True)
    (folder / "outside").write_bytes(OUTSIDE)
    for name, content in case.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir()
        elif isinstance(content, Link):
            path.symlink_to(content.target)
        else:
            path.write_bytes(content)
    return root


def tree_of(root: Path) -> Tree:
    """What is below a folder now."""
    tree: Tree = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            tree[name] = Link(os.readlink(path))
        else:
            tree[name] = None if path.is_dir() else path.read_bytes()
    return tree


@functools.cache
def _engine() -> wasmtime.Engine:
    config = wasmtime.Config()
    config.cranelift_opt_level = "none"  # the programs are short
    config.wasm_threads = True
    config.shared_memory = True
    return wasmtime.Engine(config)


@functools.cache
def _module(program: str) -> wasmtime.Module:
    return wasmtime.Module.from_file(_engine(), str(PROGRAMS / f"{program}.wasm"))


def run(case: Case, folder: Path) -> Outcome:
    """Run a case with its files in `folder`, which must not exist."""
    root = prepare(case, folder)
    (folder / "stdin").write_bytes(case.stdin)
    streams = [folder / "stdout", folder / "stderr"]
    if case.threads is not None:  # each thread opens the files anew, which may not cut off what is there
        for path in streams:
            os.mkfifo(path)
    else:
        for path in streams:
            path.touch()
    readers = [os.open(path, os.O_RDONLY | os.O_NONBLOCK) for path in streams]

    def store() -> wasmtime.Store:
        config = wasmtime.WasiConfig()
        config.argv = [f"{case.program}.wasm", *case.args]
        config.env = list(case.env.items())
        config.stdin_file = folder / "stdin"
        config.stdout_file, config.stderr_file = map(str, streams)
        config.preopen_dir(str(root), case.guest)
        made = wasmtime.Store(_engine())
        made.set_wasi(config)
        return made

    linker = wasmtime.Linker(_engine())
    linker.define_wasi()
    threads = _Threads(linker, store, case) if case.threads is not None else None
    main = store()
    try:
        instance = linker.instantiate(main, _module(case.program))
        start = instance.exports(main)["_start"]
        assert isinstance(start, wasmtime.Func)
        start(main)
        ended: int | str = 0
    except wasmtime.ExitTrap as trap:
        ended = trap.code
    except wasmtime.Trap as trap:
        ended = TRAPS.get(trap.trap_code, trap.message)
    except wasmtime.WasmtimeError as error:
        ended = next((ours for theirs, ours in FAILURES.items() if theirs in str(error)), str(error))
    if threads is not None:
        threads.join()
    stdout, stderr = (_read(reader) for reader in readers)
    return Outcome(ended, stdout, stderr, tree_of(root))


def _read(reader: int) -> bytes:
    with open(reader, "rb") as stream:
        return stream.read() or b""


class _SharedMemory(wasmtime.SharedMemory):
    """A memory that threads share. The package's own class (50.0) has an error in this method."""

    def _as_extern(self) -> ffi.wasmtime_extern_t:
        return ffi.wasmtime_extern_t(
            ffi.WASMTIME_EXTERN_SHAREDMEMORY, ffi.wasmtime_extern_union(sharedmemory=self.ptr())
        )


class _Threads:
    """wasi-threads, which wasmtime's Python package is without: an instance and a thread of Python for each.

    A guest that spawns beyond `case.threads` gets an error, as it does in Lanewise.
    """

    def __init__(self, linker: wasmtime.Linker, store: Callable[[], wasmtime.Store], case: Case) -> None:
        self._linker = linker
        self._store = store
        self._case = case
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._all: list[threading.Thread] = []
        self._running = 0
        module = _module(case.program)
        (memory,) = (imported.type for imported in module.imports if isinstance(imported.type, wasmtime.MemoryType))
        linker.define(store(), "env", "memory", _SharedMemory(_engine(), memory))
        i32 = wasmtime.ValType.i32()
        linker.define_func("wasi", "thread-spawn", wasmtime.FuncType([i32], [i32]), self._spawn)

    def _spawn(self, argument: int) -> int:
        with self._lock:
            if self._running >= (self._case.threads or 0):
                return -6  # EAGAIN
            self._running += 1
            number = next(self._ids)
            thread = threading.Thread(target=self._run, args=(number, argument), daemon=True)
            self._all.append(thread)
        thread.start()
        return number

    def _run(self, number: int, argument: int) -> None:
        store = self._store()
        start = self._linker.instantiate(store, _module(self._case.program)).exports(store)["wasi_thread_start"]
        assert isinstance(start, wasmtime.Func)
        start(store, number, argument)
        with self._lock:
            self._running -= 1

    def join(self) -> None:
        for thread in self._all:
            thread.join(10)
            assert not thread.is_alive(), "a thread of the guest is stuck"
