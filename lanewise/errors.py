"""Every error that Lanewise raises on purpose; all derive from LanewiseError, so one `except` catches them.

A message says what was wrong, where, and what to do about it.
"""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np


LONGEST_SHOWN = 60
"""Characters of what was given that a message repeats."""


def shown(value: object) -> str:
    """A value as a message repeats it: on one line, and not more of it than fits."""
    if isinstance(value, int) and value.bit_length() > 256:  # Python does not even write very long ones
        return f"a whole number of {value.bit_length():,} bits"
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = LONGEST_SHOWN
    try:
        return " ".join(short.repr(value).split())
    except ValueError:  # such a number is in it
        return f"a {type(value).__name__} that is too long to be shown"


class LanewiseError(Exception):
    """Base of all errors that Lanewise raises on purpose."""


class LangError(LanewiseError):
    """A mistake in device code: carries the position and shows the source line with a caret."""

    def __init__(self, message: str, *, filename: str, line: int, column: int, rendered: str, hint: str = "") -> None:
        super().__init__(rendered)
        self.message = message
        self.hint = hint
        self.filename = filename
        self.line = line
        self.column = column


class LangWarning(UserWarning):
    """Device code that works but wastes the device, such as one thread working while the others wait."""


class CompileError(LanewiseError):
    """LLVM refused, aborted or ran out of time while it compiled a module."""


class DeviceError(LanewiseError):
    """A device cannot do what was asked of it."""


class NoDeviceError(DeviceError):
    """The device that was asked for is not there."""


class DeviceLostError(DeviceError):
    """The device faulted; everything that lived on this device object is gone, a new device object works."""


class OutOfMemoryError(DeviceError):
    """The device has not enough free memory for an allocation."""


class ArgumentError(LanewiseError, ValueError):
    """An argument does not fit; the message names it."""


class TrapError(DeviceError):
    """A thread of a kernel stopped itself: an assertion, an integer division by zero, a recursion too deep."""

    def __init__(self, message: str, *, kernel: str, thread: int, threads: int, filename: str, line: int) -> None:
        super().__init__(message)
        self.kernel = kernel
        self.thread = thread
        self.threads = threads
        self.filename = filename
        self.line = line


class WasmError(LanewiseError):
    """Something is wrong with a WebAssembly module or with how it is used."""


class MalformedError(WasmError):
    """The bytes are not a WebAssembly module; `offset` says where."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} (at byte {offset:#x})")
        self.offset = offset


class InvalidError(MalformedError):
    """The module can be read but breaks a rule of validation; `offset` says where."""


class UnsupportedError(MalformedError):
    """The module uses something that Lanewise does not run; the message names it and what to build instead."""


class LinkError(WasmError):
    """An import is missing or does not fit what is given for it; the message names it."""


class WasmException(WasmError):  # noqa: N818 (the word of the specification)
    """A guest threw an exception that nobody caught: `tag` is its kind if an instance exports it, `values` its load."""

    def __init__(self, message: str, *, tag: object = None, values: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.tag = tag
        self.values = values


class WasmTrap(WasmError):  # noqa: N818 (the word of the specification)
    """A lane ended early: `kind` is the reason in the words of the WebAssembly specification."""

    def __init__(
        self, kind: str, *, lane: int = 0, function: str = "", offset: int = 0, frames: tuple[str, ...] = ()
    ) -> None:
        where = f" in {function} (+{offset:#x})" if function else ""
        super().__init__(f"{kind}{where}" + "".join(f"\n    {frame}" for frame in frames))
        self.kind = kind
        self.lane = lane
        self.function = function
        self.offset = offset
        self.frames = frames


class LaneError(WasmTrap):
    """Some elements of a vectorised call trapped; `lanes` says which, `kinds` why, `results` is what the others gave.

    Lanes are counted along the flattened result. `lane`, `kind`, `function` and `offset` are those of the first.
    """

    def __init__(
        self,
        message: str,
        *,
        lanes: np.ndarray[Any, Any],
        kinds: list[str],
        results: object,
        function: str,
        offset: int,
        again: Callable[[int], WasmTrap | None],
    ) -> None:
        super().__init__(kinds[0], lane=int(lanes[0]), function=function, offset=offset)
        self.args = (message,)
        self.lanes = lanes
        self.kinds = kinds
        self.results = results
        self._again = again

    def trap_of(self, lane: int | None = None) -> WasmTrap | None:
        """The trap of one lane, the first if none is named, with the calls it was in: the lane is run again on a CPU.

        None if it did not trap there: a GPU has less stack.
        """
        return self._again(int(self.lanes[0]) if lane is None else lane)
