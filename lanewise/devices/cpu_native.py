"""The CPU runtime as native code in this process: compiled once, kept in the cache, with its signal handlers installed."""

from __future__ import annotations

import ctypes
import functools
import signal
import sys
import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from lanewise.compiler import Target, compile_module, load_object
from lanewise.devices import cpu_scheduler, fibers
from lanewise.lang.abi_host import RUNTIME_IMPORTS, RuntimeAbi
from lanewise.lang.program import lower_library

CANCEL_SIGNAL = signal.SIGRTMIN + 7 if hasattr(signal, "SIGRTMIN") else signal.SIGUSR2
"""Sent to a worker thread to end its launch; nothing else in a Python process uses it by default."""

_FAULTS = (signal.SIGSEGV, signal.SIGBUS)
_MONOTONIC = 6 if sys.platform == "darwin" else 1
_SIGACTION_BYTES = 160
_SS_DISABLE = 2

_GLUE = f"""
@lw_table = internal global {cpu_scheduler.WorkerTable.llvm} zeroinitializer, align 16
@lw_old_actions = internal global [128 x [{_SIGACTION_BYTES} x i8]] zeroinitializer, align 16

define dso_local ptr @lw_worker_table() nounwind {{
  ret ptr @lw_table
}}
define dso_local ptr @lw_old_action(i32 %signal) nounwind {{
  %p = getelementptr [128 x [{_SIGACTION_BYTES} x i8]], ptr @lw_old_actions, i64 0, i32 %signal
  ret ptr %p
}}
define dso_local i64 @lw_fiber_address() nounwind {{
  ret i64 ptrtoint (ptr @lw_fiber to i64)
}}
define dso_local i64 @lw_lane_done_address() nounwind {{
  ret i64 ptrtoint (ptr @lw_lane_done to i64)
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
"""


class Runtime:
    """The loaded runtime: how to start a worker's share of a launch, and the functions that kernels import."""

    def __init__(self) -> None:
        glue_names = ("lw_worker_table", "lw_old_action", "lw_fiber_address", "lw_lane_done_address")
        text = lower_library(cpu_scheduler.EXPORTS, RuntimeAbi())
        # The library declares what the glue and the fiber routines define; one module must not do both.
        kept = [line for line in text.splitlines() if not _declares(line, (*glue_names, *fibers.NAMES))]
        ir = "\n".join([fibers.fiber_ir(), _GLUE, *kept])
        code = compile_module(ir, Target.host(), name="cpu_runtime").code
        names = [function.name for function in cpu_scheduler.EXPORTS]
        self._library = load_object(code, [*names, *glue_names, *fibers.NAMES, "lw_time_ns"])
        self.imports: Mapping[str, int] = MappingProxyType(
            {name: self._library.address(name) for name in RUNTIME_IMPORTS}
        )
        pointer = ctypes.c_void_p
        self.run = ctypes.CFUNCTYPE(ctypes.c_uint32, pointer, pointer, pointer, pointer)(self._library.address("lw_run"))
        table = ctypes.CFUNCTYPE(pointer)(self._library.address("lw_worker_table"))()
        assert table is not None
        self._table = table
        self._old_action = ctypes.CFUNCTYPE(pointer, ctypes.c_int)(self._library.address("lw_old_action"))
        self._lock = threading.Lock()
        self._slots: dict[int, int] = {}
        self._install_handlers()

    def register(self, worker: int) -> None:
        """Tell the signal handlers that the calling thread is this worker."""
        with self._lock:
            table = _at(self._table, cpu_scheduler.WorkerTable.dtype)
            free = [slot for slot in range(cpu_scheduler.MAX_WORKERS) if slot not in self._slots]
            slot = free[0]
            self._slots[slot] = worker
            table["entries"]["worker"][slot] = worker
            table["entries"]["thread"][slot] = threading.get_ident()
            table["count"] = max(int(table["count"]), slot + 1)

    def unregister(self, worker: int) -> None:
        """Forget a worker whose thread ends."""
        with self._lock:
            table = _at(self._table, cpu_scheduler.WorkerTable.dtype)
            for slot in [slot for slot, known in self._slots.items() if known == worker]:
                table["entries"]["thread"][slot] = 0
                del self._slots[slot]

    def _install_handlers(self) -> None:
        """Faults in device code and cancelled launches end the launch; faults elsewhere go where they went before."""
        libc = ctypes.CDLL(None, use_errno=True)
        handler = self._library.address("lw_on_signal")
        for number in (*_FAULTS, CANCEL_SIGNAL):
            action = (ctypes.c_char * _SIGACTION_BYTES)()
            ctypes.c_void_p.from_buffer(action, 0).value = handler
            flags_at, flags = (12, 0x50) if sys.platform == "darwin" else (136, 0x48000004)
            # SA_SIGINFO and SA_NODEFER: the handler does not return, so the signal must not stay blocked. On Linux the
            # handler has a stack of its own (SA_ONSTACK), since a fault may be a fiber's overflown stack.
            ctypes.c_uint32.from_buffer(action, flags_at).value = flags
            libc.sigaction(int(number), action, ctypes.c_void_p(self._old_action(int(number))))


class SignalStack:
    """Memory that signal handlers of the calling thread run on; keep it as long as the thread."""

    BYTES = 64 * 1024

    def __init__(self) -> None:
        self._memory = ctypes.create_string_buffer(self.BYTES)
        if sys.platform == "darwin":
            return  # leaving a handler for good confuses macOS's bookkeeping of such stacks

        self._set(0)

    def release(self) -> None:
        """Let handlers run on the thread's ordinary stack again, before this memory goes."""
        if sys.platform != "darwin":
            self._set(_SS_DISABLE)

    def _set(self, flags: int) -> None:
        stack = _StackT(ctypes.addressof(self._memory), flags, self.BYTES)
        ctypes.CDLL(None).sigaltstack(ctypes.byref(stack), None)


class _StackT(ctypes.Structure):
    """stack_t as Linux lays it out."""

    _fields_ = [("sp", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]


def _declares(line: str, names: tuple[str, ...]) -> bool:
    return line.startswith("declare") and any(f"@{name}(" in line for name in names)


def _at(address: int, dtype: np.dtype[Any]) -> Any:
    """A structure in native memory, to read and write by field."""
    return np.frombuffer((ctypes.c_char * dtype.itemsize).from_address(address), dtype=dtype)[0]


@functools.cache
def runtime() -> Runtime:
    """The process's one runtime."""
    return Runtime()
