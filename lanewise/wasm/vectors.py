"""Exported functions as NumPy functions: called once per element, a lane each, on the device of choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lanewise.devices import Device, DeviceArray
from lanewise.devices import device as find_device
from lanewise.devices.cpu import CpuDevice
from lanewise.errors import ArgumentError, LinkError, WasmTrap
from lanewise.wasm import traps
from lanewise.wasm.lanes import ITEM_BYTES
from lanewise.wasm.places import function_at

if TYPE_CHECKING:
    from lanewise.wasm.module import Module

DTYPES = {"i32": np.dtype(np.int32), "i64": np.dtype(np.int64), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
_SHOWN = 5
"""How many lanes an error names."""


class LaneError(WasmTrap):
    """Some lanes of a vectorised call trapped; `lanes` says which, `kinds` why, `results` is what the others gave."""

    def __init__(self, message: str, lanes: np.ndarray[Any, Any], kinds: list[str], results: Any) -> None:
        Exception.__init__(self, message)
        self.lanes = lanes
        self.kinds = kinds
        self.kind = kinds[0]
        self.results = results


class VectorFunction:
    """An exported function that takes and gives arrays."""

    def __init__(
        self, module: Module, name: str, device: Device | str, errors: Literal["raise", "mask"], **choices: Any
    ) -> None:
        self.module = module
        self.name = name
        self.index = _exported(module, name)
        self.type = module.model.functions[self.index]
        self.errors = errors
        self.device = find_device(device) if isinstance(device, str) else device
        self._choices = choices
        for kind in (*self.type.params, *self.type.results):
            if kind not in ITEM_BYTES:
                raise ArgumentError(
                    f"{name} has the type {self.type}; arrays hold i32, i64, f32 and f64, so call it on an instance: "
                    "instantiate().exports"
                )
        if self.index < module.model.imported_functions:
            raise LinkError(f"{name} is imported by the module, so there is nothing to run")
        self._runner = _runner(self)

    def __call__(self, *args: Any) -> Any:
        """Call the function for each element of the arguments, which are broadcast against each other."""
        if len(args) != len(self.type.params):
            raise ArgumentError(
                f"{self.name} takes {len(self.type.params)} arguments, {len(args)} were given; its type is {self.type}"
            )
        on_device = any(isinstance(arg, DeviceArray) for arg in args)
        arrays = [
            arg if isinstance(arg, DeviceArray) else _as_array(arg, kind, f"argument {at + 1} of {self.name}")
            for at, (arg, kind) in enumerate(zip(args, self.type.params, strict=True))
        ]
        shape = _common_shape(self.name, arrays)
        given = [
            _on_device(array, shape, kind, self.device, f"argument {at + 1} of {self.name}")
            if isinstance(array, DeviceArray)
            else array if array.size == 1 and array.ndim == 0
            else np.ascontiguousarray(np.broadcast_to(array, shape))
            for at, (array, kind) in enumerate(zip(arrays, self.type.params, strict=True))
        ]
        results, status = self._runner.run(given, shape, on_device)
        found: Any = tuple(results) if len(results) != 1 else results[0]
        if not results:
            found = None
        if status is not None and np.any(status):
            return self._report(status.reshape(shape), results, found)
        if self.errors == "mask" and not on_device:
            found = _masked(results, np.zeros(shape, bool))
        return found[()] if isinstance(found, np.ndarray) and not shape and not np.ma.isMaskedArray(found) else found

    def _report(self, status: np.ndarray[Any, Any], results: list[Any], found: Any) -> Any:
        if self.errors == "mask":
            return _masked([r.get() if isinstance(r, DeviceArray) else r for r in results], status != 0)
        lanes = np.flatnonzero(status)
        words = status.reshape(-1)[lanes]
        kinds = [traps.KINDS[int(word) & 0xFFFFFFFF] for word in words]
        shown = []
        for lane, word, kind in list(zip(lanes, words, kinds, strict=True))[:_SHOWN]:
            place = int(word) >> 32
            name = function_at(self.module.model, place)
            shown.append(f"lane {lane}: {kind}" + (f" in {name} (+{place:#x})" if name else ""))
        more = f"; and {len(lanes) - _SHOWN:,} more" if len(lanes) > _SHOWN else ""
        count = f"{len(lanes):,} of {status.size:,} lanes trapped"
        hint = 'errors="mask" gives what the others returned'
        raise LaneError(f"{self.name}: {count}: {'; '.join(shown)}{more} ({hint})", lanes, kinds, found)

    def __repr__(self) -> str:
        return f"<vectorised {self.name} {self.type} on {self.device.name}>"


def _exported(module: Module, name: str) -> int:
    import difflib

    functions = {export.name: export.index for export in module.model.exports if export.kind == "function"}
    if name in functions:
        return functions[name]
    near = difflib.get_close_matches(name, functions, 1)
    known = f"did you mean {near[0]!r}?" if near else f"it exports {', '.join(functions) or 'none'}"
    raise ArgumentError(f"the module exports no function {name!r}; {known}")


def _as_array(value: Any, kind: str, what: str) -> np.ndarray[Any, Any]:
    """A host value as an array of a WebAssembly type, if nothing of it is lost."""
    dtype = DTYPES[kind]
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"{what} is no array of numbers: {error}") from None
    if array.dtype == dtype:
        return array
    if array.dtype.kind not in "iufb" or (array.dtype.kind == "f" and dtype.kind == "i"):
        raise ArgumentError(f"{what} holds {array.dtype}; {kind} takes {'whole ' if dtype.kind == 'i' else ''}numbers")
    if dtype.kind == "i" and array.size:
        bits = dtype.itemsize * 8
        low, high = int(array.min()), int(array.max())
        if low < -(1 << (bits - 1)) or high >= 1 << bits:
            raise ArgumentError(f"{what} holds {low if low < 0 else high}, which does not fit {kind}")
        if high >= 1 << (bits - 1):
            return array.astype(np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
    return array.astype(dtype)


def _common_shape(name: str, arrays: list[Any]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise ArgumentError(f"{name}: the shapes {shapes} cannot be broadcast together") from None


def _on_device(array: DeviceArray, shape: tuple[int, ...], kind: str, device: Device, what: str) -> DeviceArray:
    if array.dtype != DTYPES[kind] and array.dtype != np.dtype(f"u{DTYPES[kind].itemsize}"):
        raise ArgumentError(f"{what} holds {array.dtype}; {kind} takes {DTYPES[kind]} from a device array")
    if array.shape != shape:
        raise ArgumentError(f"{what} has the shape {array.shape}, not {shape}; device arrays are not broadcast")
    if array.buffer.device is not device:
        raise ArgumentError(f"{what} lives on {array.buffer.device.name}, the function runs on {device.name}")
    return array


def _masked(results: list[Any], mask: np.ndarray[Any, Any]) -> Any:
    made = [np.ma.MaskedArray(result, mask=mask) for result in results]
    return None if not made else made[0] if len(made) == 1 else tuple(made)


def _runner(function: VectorFunction) -> Any:
    if isinstance(function.device, CpuDevice):
        from lanewise.wasm.cpu_lanes import CpuLanes

        return CpuLanes(function.module, function.index, function.device, **function._choices)
    if function.device.name.startswith("cuda"):
        from lanewise.wasm.cuda_lanes import CudaLanes

        return CudaLanes(function.module, function.index, function.device, **function._choices)
    raise ArgumentError(f"functions run on cpu or cuda, not on {function.device.name}")
