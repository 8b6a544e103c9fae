"""Which devices there are, which one `auto` takes, and how `kernel[threads](...)` finds its device."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from lanewise import settings
from lanewise.devices.arrays import DeviceArray
from lanewise.devices.base import Device, Launch
from lanewise.devices.shapes import parse_shape
from lanewise.errors import ArgumentError, LanewiseError, NoDeviceError
from lanewise.lang.functions import Kernel

_devices: dict[str, Device] = {}
_lock = threading.Lock()
_NAMES = "write auto, cpu, cuda, cuda:1 or null, which compiles and runs nothing"
_NAMES_FOR_PROGRAMS = "write auto, cpu, cuda or cuda:1"


def device(name: str = "auto") -> Device:
    """The device of this name: `auto` (a GPU if there is one, else the CPU), `cpu`, `cuda`, `cuda:1` or `null`.

    Asking twice gives the same object; after a fault on a GPU, asking again gives a new one that works.
    """
    return _named(name, _NAMES)


def device_for_programs(name: str) -> Device:
    """The same for whole programs, which `null` does not run."""
    return _named(name, _NAMES_FOR_PROGRAMS)


def _named(name: str, names: str) -> Device:
    """The device of a name; `names` says which to write instead of what is none."""
    if not isinstance(name, str):
        raise NoDeviceError(f"a device has a name, not {name!r}; {names}")
    where = ""
    if name == "auto":
        name = settings.default_device()
        where = ", which LANEWISE_DEVICE names"
    if name == "auto":
        return _auto()
    kind, _, digits = name.partition(":")
    index = settings.whole_number(digits or "0")
    if kind not in _KINDS or index is None or (digits and kind != "cuda"):
        raise NoDeviceError(f"there is no device {settings.shortened(name)!r}{where}; {names}")
    if kind == "cuda":
        name = f"cuda:{index}"
    with _lock:
        found = _devices.get(name)
        if found is None or getattr(found, "lost", False):
            found = _KINDS[kind](index)
            _devices[name] = found
        return found


def _cpu(index: int) -> Device:
    from lanewise.devices.cpu import CpuDevice  # brings LLVM with it, which `import lanewise` must not

    return CpuDevice()


def _cuda(index: int) -> Device:
    from lanewise.devices.cuda import CudaDevice  # needs the optional cuda-bindings

    return CudaDevice(index)


def _null(index: int) -> Device:
    from lanewise.devices.null import NullDevice

    return NullDevice()


_KINDS: dict[str, Callable[[int], Device]] = {"cpu": _cpu, "cuda": _cuda, "null": _null}


_GPU_FILES = ("/dev/nvidiactl", "/dev/dxg")
"""Linux: what there is where NVIDIA's driver is at work, the second in Windows' subsystem."""


def _auto() -> Device:
    if sys.platform == "linux" and not any(map(os.path.exists, _GPU_FILES)):
        return device("cpu")  # found out without loading NVIDIA's libraries, which takes a while
    try:
        return device("cuda")
    except NoDeviceError:
        return device("cpu")


def launcher(kernel: Kernel, shape: Any) -> Callable[..., Launch]:
    """What `kernel[shape]` gives: call it with the arguments to launch on the device where its arrays live."""
    threads, group_size = parse_shape(kernel, shape)

    def launch(*args: Any, **named: Any) -> Launch:
        if named:
            raise ArgumentError(f"pass the arguments of kernel {kernel.name} by position: {kernel.signature_text}")
        try:
            return device_of(kernel, args).launch(kernel, threads, group_size, args)
        except LanewiseError as error:
            # The message says it all; frames of the compiler would only bury it.
            raise error.with_traceback(None) from None

    return launch


def device_of(kernel: Kernel, args: Sequence[Any]) -> Device:
    """The device that the first array argument lives on; the default device where there is none."""
    for arg in args:
        if type(arg) is DeviceArray:
            return arg.buffer.device
    for arg in args:
        if getattr(arg, "__cuda_array_interface__", None) is not None:
            return device("cuda")
        if hasattr(arg, "__array_interface__"):
            return device("cpu")
    return device()
