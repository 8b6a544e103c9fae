"""Signals on worker threads of the CPU device: faults in device code and cancelled launches end the launch alone."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable

from lanewise.devices.cpu_scheduler import CANCEL_SIGNAL

SIGACTION_BYTES = 160
"""Room for struct sigaction on every system."""

_FAULTS = (signal.SIGSEGV, signal.SIGBUS)
_SS_DISABLE = 2


def install_handlers(handler: int, old_action: Callable[[int], int | None]) -> None:
    """Have a native function handle faults and cancellations; `old_action` says where the handler before is kept."""
    libc = ctypes.CDLL(None, use_errno=True)
    for number in (*_FAULTS, CANCEL_SIGNAL):
        action = (ctypes.c_char * SIGACTION_BYTES)()
        ctypes.c_void_p.from_buffer(action, 0).value = handler
        flags_at, flags = (12, 0x50) if sys.platform == "darwin" else (136, 0x48000004)
        # SA_SIGINFO; on Linux the handler has a stack of its own (SA_ONSTACK), since a fault may be an overflown fiber.
        # A handler that does not return must not leave its signal blocked (SA_NODEFER).
        ctypes.c_uint32.from_buffer(action, flags_at).value = flags
        libc.sigaction(int(number), action, ctypes.c_void_p(old_action(int(number))))


class SignalStack:
    """Memory that signal handlers of the calling thread run on; keep it as long as the thread."""

    BYTES = 64 * 1024

    def __init__(self) -> None:
        self._memory = ctypes.create_string_buffer(self.BYTES)
        self._set(0)

    def release(self) -> None:
        """Let handlers run on the thread's ordinary stack again, before this memory goes."""
        self._set(_SS_DISABLE)

    def _set(self, flags: int) -> None:
        if sys.platform == "darwin":
            return  # leaving a handler for good confuses macOS's bookkeeping of such stacks
        stack = _StackT(ctypes.addressof(self._memory), flags, self.BYTES)
        ctypes.CDLL(None).sigaltstack(ctypes.byref(stack), None)


class _StackT(ctypes.Structure):
    """stack_t as Linux lays it out."""

    _fields_ = [("sp", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]
