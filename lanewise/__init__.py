"""Lanewise runs whole programs on thousands of GPU threads, or on every core of a CPU."""

from lanewise.devices import Device, DeviceArray, Launch, device
from lanewise.devices.registry import launcher
from lanewise.errors import (
    ArgumentError,
    CompileError,
    DeviceError,
    DeviceLostError,
    LanewiseError,
    LangError,
    LangWarning,
    NoDeviceError,
    OutOfMemoryError,
    TrapError,
)
from lanewise.lang import functions
from lanewise.version import __version__

functions.launcher = launcher

__all__ = [
    "ArgumentError",
    "CompileError",
    "Device",
    "DeviceArray",
    "DeviceError",
    "DeviceLostError",
    "LanewiseError",
    "LangError",
    "LangWarning",
    "Launch",
    "NoDeviceError",
    "OutOfMemoryError",
    "TrapError",
    "__version__",
    "device",
]
