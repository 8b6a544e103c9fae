"""Arrays that live on a device, and their way from and to NumPy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lanewise.errors import ArgumentError
from lanewise.lang.types import Type

if TYPE_CHECKING:
    from lanewise.devices.base import Buffer, Device


class DeviceArray:
    """Elements of one type in device memory. `get` copies to the host, `set` from it; kernels take it as a Ptr."""

    __slots__ = ("__weakref__", "address", "buffer", "dtype", "element", "end", "shape")

    def __init__(self, buffer: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any], element: Type | None) -> None:
        self.buffer = buffer
        self.shape = shape
        self.dtype = dtype
        self.element = element
        self.address = buffer.address
        self.end = buffer.address + buffer.nbytes

    @property
    def device(self) -> Device:
        """Where the array lives."""
        return self.buffer.device

    @property
    def size(self) -> int:
        """How many elements there are."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes the elements take."""
        return self.size * self.dtype.itemsize

    def get(self) -> np.ndarray[Any, Any]:
        """A copy of the elements as a NumPy array; waits for launches that write them."""
        self.check_alive("this array")
        host = np.empty(self.shape, self.dtype)
        self.device.copy_out(host, self.buffer)
        return host

    def set(self, values: Any) -> None:
        """Replace all elements by these values, which must have the same shape."""
        self.check_alive("this array")
        host = np.asarray(values, self.dtype, order="C")
        if host.shape != self.shape:
            raise ArgumentError(f"values have the shape {host.shape}, the array has {self.shape}")
        self.device.copy_in(self.buffer, host)

    def free(self) -> None:
        """Give the memory back now instead of when the array is no longer referred to."""
        self.buffer.free()

    def check_alive(self, what: str) -> None:
        """Raise if the memory was freed."""
        if self.buffer.freed:
            raise ArgumentError(f"{what} was freed; allocate a new one")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        self.check_alive("this array")
        self.device.share(self.address)
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "version": 3,
            "stream": self.device.stream_handle,
        }

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("a device array can only be copied to NumPy")
        host = self.get()
        return host if dtype is None else host.astype(dtype)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single struct or scalar has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        kind = self.element.name if self.element is not None else str(self.dtype)
        return f"<DeviceArray {self.shape} {kind} on {self.device.name}>"
