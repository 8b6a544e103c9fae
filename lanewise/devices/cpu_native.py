"""The CPU runtime as native code in this process: compiled once, then taken from the cache.

It comes in two parts, because most kernels need only the first: the core runs a worker's share of a launch and ends
threads that trap; the scheduler runs groups as fibers.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from lanewise import lang
from lanewise.compiler import Cache, Library, Target, compile_module, default_cache, load_object
from lanewise.devices import cpu_scheduler, fibers
from lanewise.devices.cpu_reset import TOUCHED, lw_reset_memory
from lanewise.devices.cpu_signals import SIGACTION_BYTES, install_handlers
from lanewise.lang.abi_host import RUNTIME_IMPORTS, RuntimeAbi
from lanewise.lang.functions import DeviceFunction
from lanewise.lang.program import lower_library

_MONOTONIC = 6 if sys.platform == "darwin" else 1

_CORE_GLUE = f"""
@lw_table = internal global {cpu_scheduler.WorkerTable.llvm} zeroinitializer, align 16
@lw_old_actions = internal global [128 x [{SIGACTION_BYTES} x i8]] zeroinitializer, align 16

define dso_local ptr @lw_worker_table() nounwind {{
  ret ptr @lw_table
}}
define dso_local ptr @lw_old_action(i32 %signal) nounwind {{
  %p = getelementptr [128 x [{SIGACTION_BYTES} x i8]], ptr @lw_old_actions, i64 0, i32 %signal
  ret ptr %p
}}
define dso_local i64 @lw_time_ns() nounwind {{
  %time = alloca [2 x i64], align 8
  %status = call i32 @clock_gettime(i32 {_MONOTONIC}, ptr %time)
  %seconds = load i64, ptr %time
  %rest_at = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest_at
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  ret i64 %sum
}}
declare i32 @clock_gettime(i32, ptr)
define dso_local i32 @lw_chain(i32 %number, ptr %info, ptr %context) nounwind {{
  %action = call ptr @lw_old_action(i32 %number)
  %handler = load ptr, ptr %action
  %word = ptrtoint ptr %handler to i64
  %real = icmp ugt i64 %word, 1
  br i1 %real, label %run, label %none
run:
  call void %handler(i32 %number, ptr %info, ptr %context)
  ret i32 1
none:
  ret i32 0
}}
define dso_local i32 @lw_call_host(i64 %callback, i64 %function, i64 %values) nounwind {{
  %target = inttoptr i64 %callback to ptr
  %code = call i32 %target(i64 %function, i64 %values)
  ret i32 %code
}}
"""
_CORE_NAMES = ("lw_worker_table", "lw_old_action", "lw_time_ns", "lw_call_host", "lw_chain", *fibers.NAMES)

_SCHEDULER_GLUE = """
declare void @lw_fiber()
define dso_local i64 @lw_fiber_address() nounwind {
  ret i64 ptrtoint (ptr @lw_fiber to i64)
}
define dso_local i64 @lw_lane_done_address() nounwind {
  ret i64 ptrtoint (ptr @lw_lane_done to i64)
}
"""
_SCHEDULER_NAMES = ("lw_fiber_address", "lw_lane_done_address")


_GUEST_IMPORTS = ("lw_guest_trap", "lw_guest_enter", "lw_guest_host", "lw_time_ns", "lw_reset_memory", "lw_call_host")


class Runtime:
    """The loaded runtime: how to start a worker's share of a launch, and the functions that kernels import."""

    def __init__(self) -> None:
        # Run once a launch or for a trap: not worth optimising, while everybody's first kernel waits for it.
        functions = (*cpu_scheduler.CORE, lw_reset_memory)
        core = _load("core", functions, _CORE_NAMES, lambda: fibers.fiber_ir() + _CORE_GLUE, level=0)
        self._core = core
        pointer = ctypes.c_void_p
        self.run = ctypes.CFUNCTYPE(ctypes.c_uint32, pointer, pointer, pointer, pointer)(core.address("lw_run"))
        table = ctypes.CFUNCTYPE(pointer)(core.address("lw_worker_table"))()
        assert table is not None
        self._table = table
        self._lock = threading.Lock()
        self._scheduler: Library | None = None
        self._slots: dict[int, int] = {}
        self._untouched = mmap.mmap(-1, mmap.PAGESIZE)
        self._open_pagemap()
        install_handlers(
            core.address("lw_on_signal"), ctypes.CFUNCTYPE(pointer, ctypes.c_int)(core.address("lw_old_action"))
        )

    def _scheduler_library(self) -> Library:
        """The part that runs groups, loaded once: kernels point into it."""
        with self._lock:
            if self._scheduler is None:
                imports = {name: self._core.address(name) for name in fibers.NAMES}
                self._scheduler = _load(
                    "scheduler",
                    (*cpu_scheduler.SCHEDULER, *cpu_scheduler.GUEST_GROUPS),
                    _SCHEDULER_NAMES,
                    lambda: _SCHEDULER_GLUE,
                    imports,
                )
            return self._scheduler

    def imports(self, groups: bool) -> Mapping[str, int]:
        """Addresses of what a kernel imports; the scheduler's only for kernels whose groups run as fibers."""
        scheduled = {function.name for function in cpu_scheduler.SCHEDULER}
        found = {name: self._core.address(name) for name in RUNTIME_IMPORTS if name not in scheduled}
        if groups:
            library = self._scheduler_library()
            found |= {name: library.address(name) for name in RUNTIME_IMPORTS if name in scheduled}
        return found

    def guest_imports(self, groups: bool = False) -> Mapping[str, int]:
        """Addresses of what compiled guest programs import; the scheduler's where lanes wait for each other."""
        found = {name: self._core.address(name) for name in _GUEST_IMPORTS}
        if groups:
            library = self._scheduler_library()
            names = ["lw_run_groups", *(function.name for function in cpu_scheduler.GUEST_GROUPS)]
            found |= {name: library.address(name) for name in names}
        return found

    @property
    def guest_entry(self) -> int:
        """What a launch enters to call one guest function."""
        return self._core.address("lw_guest_call")

    def register(self, worker: int) -> None:
        """Tell the signal handlers that the calling thread is this worker."""
        with self._lock:
            table = _at(self._table, cpu_scheduler.WorkerTable.dtype)
            slot = next(slot for slot in range(cpu_scheduler.MAX_WORKERS) if slot not in self._slots)
            self._slots[slot] = worker
            table["entries"]["worker"][slot] = worker
            table["entries"]["thread"][slot] = threading.get_ident()
            table["count"] = max(int(table["count"]), slot + 1)

    def forget_workers(self) -> None:
        """Forget all workers, whose threads are not in this process."""
        self._lock = threading.Lock()
        self._slots.clear()
        _at(self._table, cpu_scheduler.WorkerTable.dtype)["count"] = 0
        inherited = int(_at(self._table, cpu_scheduler.WorkerTable.dtype)["pagemap"])
        with suppress(OSError):  # the parent's tells of the parent's memory
            if os.readlink(f"/proc/self/fd/{inherited}").endswith("pagemap"):
                os.close(inherited)
        self._open_pagemap()

    def check_pagemap(self) -> None:
        """Open the file that tells which pages were touched anew, if it no longer does.

        A program may have closed all files that it does not know, and opened others with their numbers.
        """
        table = _at(self._table, cpu_scheduler.WorkerTable.dtype)
        if table["pagemap"] >= 0 and not self._tells(int(table["pagemap"])):
            self._open_pagemap()

    def _open_pagemap(self) -> None:
        table = _at(self._table, cpu_scheduler.WorkerTable.dtype)
        table["page_bits"] = mmap.PAGESIZE.bit_length() - 1
        table["pagemap"] = -1  # without it more is cleared than need be
        with suppress(OSError):
            opened = os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC)
            if self._tells(opened):
                table["pagemap"] = opened
            else:
                os.close(opened)

    def _tells(self, descriptor: int) -> bool:
        """Whether a file knows of a page that was touched and of one that was not."""
        untouched = ctypes.addressof(ctypes.c_char.from_buffer(self._untouched))
        try:
            words = [os.pread(descriptor, 8, page // mmap.PAGESIZE * 8) for page in (self._table, untouched)]
        except OSError:
            return False
        touched = [int.from_bytes(word, sys.byteorder) & TOUCHED != 0 for word in words]
        return all(len(word) == 8 for word in words) and touched == [True, False]

    def unregister(self, worker: int) -> None:
        """Forget a worker whose thread ends."""
        with self._lock:
            table = _at(self._table, cpu_scheduler.WorkerTable.dtype)
            for slot in [slot for slot, known in self._slots.items() if known == worker]:
                table["entries"]["thread"][slot] = 0
                del self._slots[slot]


def _load(
    part: str,
    functions: Sequence[DeviceFunction],
    glue_names: Sequence[str],
    glue: Callable[[], str],
    imports: Mapping[str, int] | None = None,
    level: int = 3,
) -> Library:
    """One part of the runtime, from the cache by the sources it is made of, so that it need not be lowered again."""
    cache, target = default_cache(), Target.host()
    key = Cache.key_of("cpu runtime", part, target.key, _sources())
    code = cache.get(key)
    names = [function.name for function in functions]
    if code is None:
        # The library declares what the glue defines; one module must not do both.
        lines = lower_library(functions, RuntimeAbi()).splitlines()
        defined = [f"@{name}(" for name in glue_names]
        kept = [line for line in lines if not (line.startswith("declare") and any(name in line for name in defined))]
        code = compile_module(
            "\n".join([glue(), *kept]), target, name=f"cpu_runtime_{part}", level=level, cache=None
        ).code
        cache.put(key, code)
    return load_object(code, [*names, *glue_names], imports or {})


@functools.cache
def _sources() -> str:
    """Size and time of every file that the runtime's code depends on, as Python tells its own compiled files apart."""
    folder, language = Path(__file__).parent, Path(str(lang.__file__)).parent
    files = [
        *sorted(language.glob("*.py")),
        *(folder / f"{name}.py" for name in ("cpu_scheduler", "cpu_reset", "fibers", "cpu_native")),
    ]
    facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return repr(facts)


def _at(address: int, dtype: np.dtype[Any]) -> Any:
    """A structure in native memory, to read and write by field."""
    memory: Any = (ctypes.c_char * dtype.itemsize).from_address(address)
    return np.frombuffer(memory, dtype)[0]


_runtime: Runtime | None = None
_lock = threading.Lock()


def runtime() -> Runtime:
    """The process's one runtime; code that was loaded points into it, so it is made once and kept for good."""
    global _runtime
    if _runtime is None:
        with _lock:
            _runtime = _runtime or Runtime()
    return _runtime


def _after_fork() -> None:
    """A forked child has none of the worker threads; its own register themselves anew."""
    global _lock
    _lock = threading.Lock()
    if _runtime is not None:
        _runtime.forget_workers()


os.register_at_fork(after_in_child=_after_fork)
