"""Lanewise runs whole programs on thousands of GPU threads, or on every core of a CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanewise.batch.api import run, stream
from lanewise.batch.result import BatchError, BatchResult
from lanewise.batch.spec import LaneOutcome
from lanewise.devices import Device, DeviceArray, Launch, device
from lanewise.devices.registry import launcher
from lanewise.errors import (
    ArgumentError,
    CompileError,
    DeviceError,
    DeviceLostError,
    InvalidError,
    LaneError,
    LanewiseError,
    LangError,
    LangWarning,
    LinkError,
    MalformedError,
    NoDeviceError,
    OutOfMemoryError,
    TrapError,
    UnsupportedError,
    WasmError,
    WasmException,
    WasmTrap,
)
from lanewise.lang import functions
from lanewise.version import __version__

if TYPE_CHECKING:
    from lanewise.arm64.cpu import ParallelCPU
    from lanewise.wasm.module import Module, Source

functions.launcher = launcher


def load(source: Source) -> Module:
    """Load a WebAssembly module from a path or from bytes, and check it."""
    from lanewise.wasm.module import Module  # brings the engine with it, which `import lanewise` need not

    return Module.load(source)


def __getattr__(name: str) -> Any:
    if name == "ParallelCPU":
        from lanewise.arm64.cpu import ParallelCPU  # as above

        return ParallelCPU
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "ArgumentError",
    "BatchError",
    "BatchResult",
    "CompileError",
    "Device",
    "DeviceArray",
    "DeviceError",
    "DeviceLostError",
    "InvalidError",
    "LaneError",
    "LaneOutcome",
    "LanewiseError",
    "LangError",
    "LangWarning",
    "Launch",
    "LinkError",
    "MalformedError",
    "NoDeviceError",
    "OutOfMemoryError",
    "ParallelCPU",
    "TrapError",
    "UnsupportedError",
    "WasmError",
    "WasmException",
    "WasmTrap",
    "__version__",
    "device",
    "load",
    "run",
    "stream",
]
