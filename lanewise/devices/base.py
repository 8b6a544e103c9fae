"""What every device offers: memory, copies, loading and launching kernels. The devices are short files behind it."""

from __future__ import annotations

import math
import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanewise.devices.arrays import DeviceArray
from lanewise.devices.foreign import ForeignArray
from lanewise.errors import ArgumentError
from lanewise.lang.functions import Kernel
from lanewise.lang.types import Type, as_type
from lanewise.settings import DEFAULT_GROUP_SIZE, MAX_GROUP_SIZE, WARP_SIZE


@dataclass(frozen=True)
class Properties:
    """What a device is and how much of it there is."""

    name: str
    cores: int
    """CPU cores, or multiprocessors of a GPU."""
    resident_threads: int
    """How many threads run or stand ready at the same time; more are run in turns."""
    memory_bytes: int
    warp_size: int = WARP_SIZE
    max_group_size: int = MAX_GROUP_SIZE
    details: tuple[tuple[str, str], ...] = ()


class Buffer:
    """Device memory with an owner; freed when nobody refers to it any more, or by `free`."""

    def __init__(self, device: Device, address: int, nbytes: int, release: Any = None, owner: Any = None) -> None:
        self.device = device
        self.address = address
        self.nbytes = nbytes
        self.owner = owner
        self.freed = False
        self._finalizer = weakref.finalize(self, release, address) if release is not None else None
        if self._finalizer is not None:
            self._finalizer.atexit = False

    def free(self) -> None:
        """Give the memory back now; using it afterwards is an error that says so."""
        self.freed = True
        self.owner = None
        if self._finalizer is not None:
            self._finalizer()


class Launch(ABC):
    """A launch under way. Errors of its threads are raised by `wait`, or by the next call that waits for the device."""

    @abstractmethod
    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all threads are done; False if the time ran out first."""

    def wait_quietly(self) -> None:
        """Wait as `wait` does, but rather a little too long than with a core that is busy waiting."""
        self.wait()

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether all threads are done."""


class Device(ABC):
    """A place where kernels run and arrays live."""

    name: str
    properties: Properties
    stream_handle: int | None = None
    """The CUDA stream that launches go to, for libraries that ask; None on a CPU."""

    # --- what a device implements ------------------------------------------------------------------------------------

    @abstractmethod
    def alloc(self, nbytes: int) -> Buffer:
        """Reserve memory; its contents are undefined."""

    @abstractmethod
    def copy_in(self, target: Buffer, source: np.ndarray[Any, Any]) -> None:
        """Copy the bytes of a contiguous host array to the device, in order with launches."""

    @abstractmethod
    def copy_out(self, target: np.ndarray[Any, Any], source: Buffer) -> None:
        """Copy bytes from the device into a contiguous host array; waits for launches before it."""

    @abstractmethod
    def copy(self, target: Buffer, source: Buffer, nbytes: int) -> None:
        """Copy bytes between two buffers of this device, in order with launches."""

    @abstractmethod
    def fill(self, target: Buffer, byte: int, nbytes: int) -> None:
        """Set bytes, in order with launches."""

    @abstractmethod
    def launch(self, kernel: Kernel, threads: int, group_size: int, args: Sequence[Any]) -> Launch:
        """Start a kernel; returns at once."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for all launches and raise what went wrong in them."""

    @abstractmethod
    def prepare(self, kernel: Kernel, group_size: int = DEFAULT_GROUP_SIZE) -> None:
        """Compile and load a kernel before its first launch."""

    def usable(self, buffer: Buffer, nbytes: int) -> int:
        """The address of a buffer of this device that holds at least so many bytes; raises if it is not one."""
        if buffer.device is not self:
            raise ArgumentError(f"the buffer lives on {buffer.device.name}, not on {self.name}")
        if buffer.freed:
            raise ArgumentError("the buffer was freed; allocate a new one")
        if nbytes > buffer.nbytes:
            raise ArgumentError(f"{nbytes:,} bytes do not fit a buffer of {buffer.nbytes:,}")
        return buffer.address

    # --- what users call ---------------------------------------------------------------------------------------------

    def array(self, values: Any, dtype: Any = None) -> DeviceArray:
        """Copy values (a NumPy array or anything it takes) to the device."""
        kind = as_type(dtype) if dtype is not None else None
        host = np.asarray(values, dtype=kind.dtype if kind else dtype, order="C")
        made = self.empty(host.shape, host.dtype if kind is None else kind)
        made.set(host)
        return made

    def empty(self, shape: Any, dtype: Any = None) -> DeviceArray:
        """Reserve an array: `empty(1000, f32)`, `empty((4, 4), "f8")`, or `empty(Particle)` for one struct."""
        shape, host_dtype, element = _shape_and_type(shape, dtype)
        count = math.prod(shape)
        buffer = self.alloc(count * host_dtype.itemsize)
        return DeviceArray(buffer, shape, host_dtype, element)

    def zeros(self, shape: Any, dtype: Any = None) -> DeviceArray:
        """Reserve an array and fill it with zero bytes."""
        made = self.empty(shape, dtype)
        self.fill(made.buffer, 0, made.nbytes)
        return made

    def wrap(self, foreign: Any) -> DeviceArray:
        """Use an array of another library in place, without a copy: it must live on this device and be contiguous."""
        found = self.adopt(foreign, "the array")
        if found is None:
            raise ArgumentError(
                f"{type(foreign).__name__} cannot be used in place: it offers neither __cuda_array_interface__ nor "
                "DLPack nor is it a NumPy array; copy it with device.array(...)"
            )
        return DeviceArray(Buffer(self, found.address, found.nbytes, owner=found), found.shape, found.dtype, None)

    def adopt(self, foreign: Any, what: str) -> ForeignArray | None:
        """Another library's array, checked for use by kernels of this device; None if it is no array."""
        found = ForeignArray.of(foreign, self.stream_handle)
        if found is None:
            return None
        if not found.contiguous:
            raise ArgumentError(f"{what} is not contiguous; pass a contiguous copy of it")
        if found.readonly:
            raise ArgumentError(f"{what} is read-only, and a kernel could write to it; pass a copy")
        self.check_foreign(found, what)
        return found

    def check_foreign(self, found: ForeignArray, what: str) -> None:
        """Raise unless the foreign array's memory is this device's; wait until it is ready."""
        raise ArgumentError(f"{what} belongs to another library, whose arrays {self.name} cannot use; copy it")

    def share(self, address: int) -> None:
        """Note that a CUDA library has been given the memory at this address of an array."""
        raise AttributeError(f"arrays on {self.name} have no CUDA interface; copy them with .get()")

    def threads_to_fill(self, group_size: int = DEFAULT_GROUP_SIZE) -> int:
        """How many threads keep the whole device busy, in whole groups: for kernels that loop with `grid_range`."""
        return max(1, self.properties.resident_threads // group_size) * group_size

    def __repr__(self) -> str:
        return f"<{self.name}: {self.properties.name}>"


def _shape_and_type(shape: Any, dtype: Any) -> tuple[tuple[int, ...], np.dtype[Any], Type | None]:
    if dtype is None:
        element = as_type(shape)
        if element is None:
            raise ArgumentError(f"say what the array holds, such as ({shape!r}, f32)")
        return *_unfold((), element.dtype), element
    if isinstance(dtype, int | tuple) and as_type(shape) is not None:
        shape, dtype = dtype, shape  # zeros(Particle, 100) reads as well as zeros(100, Particle)
    sizes = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if not all(isinstance(size, int | np.integer) and size >= 0 for size in sizes):
        raise ArgumentError(f"a shape is made of whole numbers, not {shape!r}")
    element = as_type(dtype)
    shape, dtype = _unfold(tuple(int(size) for size in sizes), element.dtype if element else np.dtype(dtype))
    return shape, dtype, element


def _unfold(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """NumPy has no arrays of fixed arrays: their sizes become further dimensions."""
    while dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
        shape += inner
    return shape, dtype
