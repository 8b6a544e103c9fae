"""Arrays of other libraries, used in place: NumPy, `__cuda_array_interface__` (CuPy, PyTorch, Numba) and DLPack."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanewise.errors import ArgumentError

_DLPACK_CPU, _DLPACK_CUDA, _DLPACK_CUDA_HOST, _DLPACK_CUDA_MANAGED = 1, 2, 3, 13
_LEGACY_STREAM = 1
_DLPACK_KINDS = {0: "i", 1: "u", 2: "f", 6: "?"}


@dataclass(frozen=True)
class ForeignArray:
    """Where another library keeps its elements, with what keeps them alive."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    on_cuda: bool
    cuda_index: int | None
    """Which GPU, where the library says so; None if it does not."""
    contiguous: bool
    readonly: bool
    owner: Any
    stream: int | None = None
    """The CUDA stream that the library may still be writing the elements on; None if they are ready."""

    @property
    def nbytes(self) -> int:
        """How many bytes the elements take."""
        return math.prod(self.shape) * self.dtype.itemsize

    @staticmethod
    def of(value: Any, stream: int | None = None) -> ForeignArray | None:
        """Describe a foreign array, or None if it is none; `stream` is the CUDA stream that will read it."""
        if isinstance(value, np.ndarray):
            flags = value.flags
            return ForeignArray(
                value.ctypes.data, value.shape, value.dtype, False, None, flags.c_contiguous, not flags.writeable, value
            )
        interface = getattr(value, "__cuda_array_interface__", None)
        if interface is not None:
            return _from_cuda_interface(value, interface)
        if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
            return _from_dlpack(value, stream)
        return None


def _from_cuda_interface(value: Any, interface: dict[str, Any]) -> ForeignArray:
    shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
    address, readonly = interface["data"]
    strides = interface.get("strides")
    contiguous = strides is None or tuple(strides) == _row_major(shape, dtype.itemsize)
    # Version 3 names the stream, if any; before that, work was on the default stream.
    stream = interface.get("stream", None if interface.get("version", 0) >= 3 else _LEGACY_STREAM)
    return ForeignArray(address or 0, shape, dtype, True, None, contiguous, bool(readonly), value, stream)


def _row_major(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides = []
    for size in reversed(shape):
        strides.append(itemsize)
        itemsize *= size
    return tuple(reversed(strides))


class _DLTensor(ctypes.Structure):
    """The head of a DLPack tensor, as its specification lays it out."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def _from_dlpack(value: Any, stream: int | None) -> ForeignArray:
    device_type, device_id = value.__dlpack_device__()
    if device_type not in (_DLPACK_CPU, _DLPACK_CUDA, _DLPACK_CUDA_HOST, _DLPACK_CUDA_MANAGED):
        raise ArgumentError(f"a DLPack array on a device of kind {int(device_type)} cannot be used here")
    # The capsule stays unconsumed: its own destructor releases the tensor when it is dropped.
    capsule = value.__dlpack__() if device_type == _DLPACK_CPU else value.__dlpack__(stream=stream)
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DLTensor.from_address(get_pointer(capsule, b"dltensor"))
    if tensor.lanes != 1 or tensor.code not in _DLPACK_KINDS:
        raise ArgumentError("a DLPack array of vectors or of unusual elements cannot be used here")
    kind = _DLPACK_KINDS[tensor.code]
    dtype = np.dtype("?") if kind == "?" else np.dtype(f"{kind}{tensor.bits // 8}")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else None
    contiguous = strides is None or math.prod(shape) == 0 or _same_strides(strides, _row_major(shape, 1), shape)
    on_cuda = device_type != _DLPACK_CPU
    address = (tensor.data or 0) + tensor.byte_offset
    return ForeignArray(
        address, shape, dtype, on_cuda, device_id if on_cuda else None, contiguous, False, (value, capsule)
    )


def _same_strides(found: tuple[int, ...], wanted: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return all(a == b for a, b, size in zip(found, wanted, shape, strict=True) if size > 1)
