"""The CUDA driver through cuda-bindings, which is optional: found on first use, its errors turned into ours."""

from __future__ import annotations

import functools
import os
from typing import Any

from lanewise.errors import DeviceError, DeviceLostError, NoDeviceError, OutOfMemoryError

_FAULTS = {
    700: "a kernel touched memory that is not its own; check its indices against the sizes of its arrays",
    702: "a kernel ran longer than the driver allows on a GPU that drives a display; launch less work at a time",
    710: "an assertion in device code failed",
    714: "a thread overflowed its stack; recurse less deeply",
    715: "a kernel executed an illegal instruction",
    716: "a kernel read or wrote at an address that does not fit the type; check its pointer casts",
    717: "a kernel used an address outside the memory it names",
    718: "a kernel jumped to an address that is no code",
    719: "a kernel failed on the device",
}
"""Errors after which nothing in the context works any more."""


FORKED = (
    "CUDA was started before this process was forked; start processes with the 'spawn' method, or use the device cpu"
)


def driver() -> Any:
    """The initialised driver API; raises NoDeviceError with one sentence where it cannot be used."""
    api, process = _started()
    if process != os.getpid():
        raise NoDeviceError(FORKED)
    return api


@functools.cache
def _started() -> tuple[Any, int]:
    """The driver API and the process that initialised it: in a forked child it does not work."""
    try:
        from cuda.bindings import driver as api
    except ImportError:
        raise NoDeviceError("CUDA needs the package cuda-bindings; write pip install cuda-bindings") from None
    try:
        (status,) = api.cuInit(0)
    except Exception:  # cuda-bindings raises plain RuntimeError where libcuda is missing
        raise NoDeviceError("no CUDA driver was found; install NVIDIA's driver, or use the device cpu") from None
    if status != api.CUresult.CUDA_SUCCESS:
        raise NoDeviceError(f"CUDA cannot be used here ({status.name}); use the device cpu")
    return api, os.getpid()


def check(result: Any, what: str = "") -> Any:
    """The values of a driver call, or an error that says what failed."""
    status = result[0]
    if status:
        raise error_of(status, what)
    return result[1] if len(result) == 2 else result[1:]


def error_of(status: Any, what: str) -> DeviceError:
    """The error for a failed driver call."""
    code = int(status)
    if code in _FAULTS:
        return DeviceLostError(
            f"{status.name}: {_FAULTS[code]}. "
            "This device object and its arrays are gone; lanewise.device() gives a new one"
        )
    if code == 2:
        return OutOfMemoryError(f"{status.name}: {what or 'the GPU has no memory left'}")
    text = driver().cuGetErrorString(status)[1]
    words = text.decode() if isinstance(text, bytes) else str(text)
    return DeviceError(f"{status.name}: {words}" + (f" ({what})" if what else ""))


def device_count() -> int:
    """How many CUDA devices there are; raises NoDeviceError where CUDA cannot be used or there is none."""
    count = int(check(driver().cuDeviceGetCount()))
    if count == 0:
        raise NoDeviceError("no CUDA device was found; use the device cpu")
    return count
