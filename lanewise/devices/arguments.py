"""The arguments of a launch: checked against the kernel's signature and packed as the device code reads them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lanewise.devices.arrays import DeviceArray
from lanewise.errors import ArgumentError
from lanewise.lang.abi import parameter_offsets
from lanewise.lang.functions import Kernel
from lanewise.lang.types import ArrayType, PointerType, Scalar, StructType, Type, scalar_of_dtype

if TYPE_CHECKING:
    from lanewise.devices.base import Device

_FORMATS = {
    "bool": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "f32": "f", "f64": "d",
}  # fmt: skip


class ArgumentPacker:
    """Checks and packs the arguments of one kernel for one device; made once, used at every launch."""

    def __init__(self, kernel: Kernel, device: Device) -> None:
        self.kernel = kernel
        self.device = device
        kinds = list(kernel.parameters.values())
        self.offsets, self.size = parameter_offsets(kinds)
        letters = []
        at = 0
        for kind, offset in zip(kinds, self.offsets, strict=True):
            letters.append("x" * (offset - at))
            letters.append("Q" if isinstance(kind, PointerType) else _FORMATS[kind.name])
            at = offset + kind.size
        self.layout = struct.Struct("=" + "".join(letters) + "x" * (self.size - at))
        self._checks: list[Callable[[Any], Any]] = [
            self._pointer(name, kind) if isinstance(kind, PointerType) else self._scalar(name, kind)
            for name, kind in kernel.parameters.items()
        ]

    def values(self, args: Sequence[Any]) -> list[Any]:
        """The arguments as numbers, ready to be packed; raises ArgumentError that names what does not fit."""
        checks = self._checks
        if len(args) != len(checks):
            raise ArgumentError(
                f"kernel {self.kernel.name} takes {len(checks)} arguments, {len(args)} were passed: "
                f"it is {self.kernel.signature_text}"
            )
        return [check(arg) for check, arg in zip(checks, args, strict=True)]

    def _where(self, name: str) -> str:
        return f"argument {name} of kernel {self.kernel.name}"

    def _pointer(self, name: str, kind: PointerType) -> Callable[[Any], int]:
        device, element = self.device, kind.element
        dtypes = _fitting_dtypes(element)
        least = element.size

        def check(arg: Any) -> int:
            if type(arg) is DeviceArray:
                buffer = arg.buffer
                if buffer.device is device and not buffer.freed and arg.dtype in dtypes and buffer.nbytes >= least:
                    return arg.address
            return self._odd_pointer(name, kind, arg)

        return check

    def _odd_pointer(self, name: str, kind: PointerType, arg: Any) -> int:
        """The slow path: another library's array, or a mistake to be explained."""
        where = self._where(name)
        if isinstance(arg, DeviceArray):
            arg.check_alive(where)
            if arg.device is not self.device:
                raise ArgumentError(
                    f"{where} lives on {arg.device.name}, the launch is on {self.device.name}; copy it there"
                )
            dtype, address, size = arg.dtype, arg.address, arg.nbytes
        else:
            found = self.device.adopt(arg, where)
            if found is None:
                raise ArgumentError(
                    f"{where} must be an array for {kind}, not {type(arg).__name__}; write device.array(...)"
                )
            dtype, address, size = found.dtype, found.address, found.nbytes
        wanted = _fitting_dtypes(kind.element)
        if dtype not in wanted:
            shown = scalar_of_dtype(dtype)
            raise ArgumentError(f"{where} is {kind}, the array holds {shown or dtype}; convert it and copy it anew")
        if size < kind.element.size and size > 0:
            raise ArgumentError(f"{where} has {size} bytes, one {kind.element} takes {kind.element.size}")
        return address

    def _scalar(self, name: str, kind: Type) -> Callable[[Any], Any]:
        assert isinstance(kind, Scalar)
        where = self._where(name)
        if kind.kind == "bool":

            def check_bool(arg: Any) -> bool:
                if isinstance(arg, bool | np.bool_):
                    return bool(arg)
                raise ArgumentError(f"{where} is a bool, {arg!r} was passed")

            return check_bool
        if kind.is_float:

            def check_float(arg: Any) -> float:
                if isinstance(arg, float | int | np.floating | np.integer) and not isinstance(arg, bool):
                    number = float(arg)
                    if kind.bits == 32 and abs(number) > _LARGEST_F32 and number not in (_INF, -_INF):
                        raise ArgumentError(f"{where} is f32, {arg!r} is too large for it")
                    return number
                raise ArgumentError(f"{where} is {kind}, {_shown(arg)} was passed")

            return check_float
        low, high = kind.min_value, kind.max_value

        def check_int(arg: Any) -> int:
            if type(arg) is int or (isinstance(arg, int | np.integer) and not isinstance(arg, bool)):
                if low <= arg <= high:
                    return int(arg)
                raise ArgumentError(f"{where} is {kind} and holds {low} to {high}, {arg} was passed")
            raise ArgumentError(f"{where} is {kind}, {_shown(arg)} was passed")

        return check_int


_INF = float("inf")
_LARGEST_F32 = float(np.finfo(np.float32).max)


def _shown(arg: Any) -> str:
    return repr(arg) if isinstance(arg, int | float | bool | str | np.generic) else f"a {type(arg).__name__}"


def _fitting_dtypes(element: Type) -> set[np.dtype[Any]]:
    """The dtypes of arrays that a Ptr to this element reads correctly."""
    if isinstance(element, ArrayType):
        inner: Type = element
        while isinstance(inner, ArrayType):
            inner = inner.element
        return {inner.dtype, element.dtype}
    if isinstance(element, StructType | Scalar):
        return {element.dtype}
    return {np.dtype("u8")}
