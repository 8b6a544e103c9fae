"""Exported functions as NumPy functions: called once per element, a lane each, on the device of choice."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lanewise.devices import Device, DeviceArray
from lanewise.devices.cpu import CpuDevice
from lanewise.errors import ArgumentError, LaneError, LinkError, WasmException, WasmTrap
from lanewise.wasm import model, traps
from lanewise.wasm.array_values import DTYPES, as_array
from lanewise.wasm.divergence import Divergence
from lanewise.wasm.lane_words import ITEM_BYTES
from lanewise.wasm.opcodes import OPS
from lanewise.wasm.placement import parse_placement
from lanewise.wasm.places import function_at

if TYPE_CHECKING:
    from lanewise.wasm.module import Module

_SHOWN = 5
"""How many lanes an error names."""

Array = np.ndarray[Any, Any]


class VectorFunction:
    """An exported function that takes and gives arrays: see `Module.func`."""

    def __init__(
        self, module: Module, name: str, index: int, device: Device, errors: Literal["raise", "mask"], runner: Any
    ) -> None:
        self.module = module
        self.name = name
        self.type = module.model.functions[index]
        self.device = device
        self.errors = errors
        self._runner = runner

    def __call__(self, *args: Any) -> Any:
        """Call the function for each element of the arguments, which are broadcast against each other.

        Gives an array, a tuple of arrays for a function with several results, or None for one without. If all
        arguments are single numbers, so are the results. With device arrays as arguments, results stay on the device.
        """
        given, shape, arrays = self._prepared(args)
        on_device = any(isinstance(arg, DeviceArray) for arg in args)
        results, status = self._runner.run(given, shape, on_device)
        trapped = None if status is None else status.reshape(shape)
        if self.errors == "mask" and results:  # without results there is nothing that a mask could be on
            mask = np.zeros(shape, bool) if trapped is None else trapped != 0
            for array in arrays:
                if isinstance(array, np.ma.MaskedArray):
                    mask |= np.ma.getmaskarray(array)
            return _together([_masked(result, mask) for result in results])
        found = _together([one[()] if isinstance(one, np.ndarray) and not shape else one for one in results])
        if trapped is not None and trapped.any():
            raise self._error(trapped, found, given)
        return found

    def tune(self, *args: Any, placements: Sequence[str] | None = None) -> dict[str, float]:
        """Find where lanes live best on a GPU: call the function in each placement, and remember which is the fastest.

        Later calls use it, in other processes, too. By default those are tried that are the best for some program.
        Gives the seconds of each; none on a CPU, and for functions that need no memory.
        """
        if placements is not None and (isinstance(placements, str) or not isinstance(placements, Iterable)):
            raise ArgumentError("placements is a list of placements, such as ['flat/8/all', 'interleaved/32/all']")
        places = None if placements is None else [parse_placement(place) for place in placements]
        given, shape, _ = self._prepared(args)
        found: dict[str, float] = self._runner.tune(given, shape, places)
        return found

    @property
    def placement(self) -> str:
        """Where lanes live on a GPU, such as "interleaved/32/all"; empty on a CPU."""
        return str(self._runner.placement)

    @property
    def divergence(self) -> Divergence:
        """How far the lanes of a warp were in step in all calls so far, for functions made with stats=True on a GPU."""
        found: Divergence = self._runner.divergence
        return found

    def explain(self) -> str:
        """Why they live there, in a few lines."""
        return "\n".join(self._runner.explain())

    def _prepared(self, args: tuple[Any, ...]) -> tuple[list[Any], tuple[int, ...], list[Any]]:
        """Arguments as lanes read them, the shape that they have in common, and the arrays that they came from."""
        params = self.type.params
        if len(args) != len(params):
            raise ArgumentError(
                f"{self.name} takes {len(params)} argument{'' if len(params) == 1 else 's'}, "
                f"{len(args)} given; its type is {self.type}"
            )
        whats = [f"argument {at + 1} of {self.name}" for at in range(len(args))]
        arrays = [
            _checked(arg, kind, self.device, what)
            if isinstance(arg, DeviceArray)
            else as_array(arg, kind, what, masked=self.errors == "mask")
            for arg, kind, what in zip(args, params, whats, strict=True)
        ]
        shape = _common_shape(self.name, arrays)
        return [_spread(array, shape, what) for array, what in zip(arrays, whats, strict=True)], shape, arrays

    def _run_again(self, given: list[Any], lane: int, kind: str) -> WasmTrap | None:
        """Run one lane once more, on a CPU, where a trap tells the calls that it was in."""
        from lanewise.wasm.store import Store  # each way to run a module brings its own engine

        hosts = [array.get() if isinstance(array, DeviceArray) else array for array in given]
        values = [array.reshape(-1)[lane].item() if array.shape else array.item() for array in hosts]
        # Code that is not optimised has every call in it; only what was interrupted may run for ever.
        timeout = self._runner._timeout if kind == traps.KINDS[traps.INTERRUPTED] else None
        store = Store("cpu", fuel=self._runner.fuel, timeout=timeout, level=0)
        alone = _alone(self.module.model, self.name)
        imports: dict[str, dict[str, Any]] = {}
        for wanted in alone.imports:
            imports.setdefault(wanted.module, {})[wanted.name] = _never_called
        try:
            store.instantiate(alone, imports).exports[self.name](*values)
        except WasmTrap as trap:
            trap.lane = lane
            return trap
        except WasmException as thrown:
            uncaught = WasmTrap(traps.KINDS[traps.UNCAUGHT], lane=lane)
            uncaught.__cause__ = thrown
            return uncaught
        return None

    def _error(self, status: Array, found: Any, given: list[Any]) -> LaneError:
        lanes = np.flatnonzero(status)
        words = status.reshape(-1)[lanes]
        places = [int(word) >> 32 for word in words[:_SHOWN]]
        functions = [function_at(self.module.model, place) for place in places]
        kinds = [traps.KINDS[number] for number in (words & np.uint64(0xFFFFFFFF)).tolist()]
        shown = []
        for lane, kind, name, place in zip(lanes, kinds, functions, places, strict=False):
            index = np.unravel_index(lane, status.shape) if status.ndim > 1 else ()
            where = f" (index {', '.join(map(str, index))})" if index else ""
            shown.append(f"lane {lane}{where}: {kind}" + (f" in {name} (+{place:#x})" if name else ""))
        why = dict(zip(lanes.tolist(), kinds, strict=True))

        def again(lane: int) -> WasmTrap | None:
            number = _lane_number(lane)
            if number not in why:
                exists = 0 <= number < status.size
                what = "did not trap" if exists else f"does not exist: there are {status.size:,}, from 0 on"
                raise ArgumentError(f"lane {lane} {what}; `lanes` of the error says which trapped")
            return self._run_again(given, number, why[number])

        more = f"; and {len(lanes) - _SHOWN:,} more" if len(lanes) > _SHOWN else ""
        count = f"{len(lanes):,} of {status.size:,} lanes trapped"
        hint = 'errors="mask" gives what the others returned'
        return LaneError(
            f"{self.name}: {count}: {'; '.join(shown)}{more} ({hint})",
            lanes=lanes,
            kinds=kinds,
            results=found,
            function=functions[0],
            offset=places[0],
            again=again,
        )

    def __repr__(self) -> str:
        return f"<vectorised {self.name} {self.type} on {self.device.name}>"


def _lane_number(lane: Any) -> int:
    try:
        return operator.index(lane)
    except TypeError:
        raise ArgumentError(f"a lane is a number, not {lane!r}") from None


def _never_called(*args: Any) -> Any:
    """For imports of a module whose functions run over arrays: those that do never call one."""
    raise LinkError("vectorised functions have nothing to give for imports")


_ZEROS = {kind: model.Instruction(0, op, (0,)) for op in OPS.values() if op.rule == "const" for kind in op.results} | {
    kind: model.Instruction(0, op, (kind,))
    for op in OPS.values()
    if op.rule == "ref.null"
    for kind in ("funcref", "externref", "exnref")
}


def _alone(module: model.Module, name: str) -> model.Module:
    """A module that has what it imports for its own, all zero, but for functions; and nothing but one export.

    That is as good to vectorised functions, which touch nothing of an instance if there are imports at all.
    """
    if not module.imports:
        return module
    own = [model.Global(kind, (_ZEROS[kind.value],)) for kind in module.globals[: module.imported_globals]]
    return replace(
        module,
        data=module.data + f"alone: {name}".encode(),  # compiled code is known by the bytes of its module
        exports=[one for one in module.exports if one.name == name],
        imports=[one for one in module.imports if one.kind == "function"],
        defined_globals=own + module.defined_globals,
        imported_tables=0,
        imported_memories=0,
        imported_globals=0,
        imported_tags=0,
    )


def _together(results: list[Any]) -> Any:
    """Results as a function gives them: nothing, one, or a tuple."""
    return None if not results else results[0] if len(results) == 1 else tuple(results)


def _common_shape(name: str, arrays: list[Any]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise ArgumentError(f"{name}: the shapes {shapes} cannot be broadcast together") from None


def _spread(array: Any, shape: tuple[int, ...], what: str) -> Any:
    """An argument as lanes read it: element after element from aligned memory, or one value for all of them."""
    if isinstance(array, DeviceArray):
        if array.shape and array.shape != shape:
            raise ArgumentError(f"{what} has the shape {array.shape}, not {shape}; device arrays are not broadcast")
        return array
    plain = np.asarray(array)
    return np.require(plain if not plain.ndim else np.broadcast_to(plain, shape), requirements=["C", "A"])


def _checked(array: DeviceArray, kind: str, device: Device, what: str) -> DeviceArray:
    """A device array that lanes can read in place."""
    array.check_alive(what)
    dtype = DTYPES[kind]
    if array.dtype != dtype and not (dtype.kind == "i" and array.dtype == np.dtype(f"u{dtype.itemsize}")):
        raise ArgumentError(f"{what} holds {array.dtype}; {kind} takes {dtype} from a device array")
    if array.device is not device:
        raise ArgumentError(f"{what} lives on {array.device.name}, the function runs on {device.name}")
    return array


def _masked(result: Any, mask: Array) -> Any:
    """A result with the lanes masked that have none."""
    return np.ma.MaskedArray(result.get() if isinstance(result, DeviceArray) else result, mask=mask.copy())


def runner_for(module: Module, index: int, device: Device, name: str, **choices: Any) -> Any:
    """What runs a function over arrays on a device; it can be shared by all who want the same."""
    kind = module.model.functions[index]
    for one in (*kind.params, *kind.results):
        if one not in ITEM_BYTES:
            raise ArgumentError(
                f"{name} has the type {kind}; arrays hold i32, i64, f32 and f64, so call it on an instance: "
                f"instantiate().exports[{name!r}]"
            )
    if index < module.model.imported_functions:
        raise LinkError(f"{name} is imported by the module, so there is nothing to run")
    if isinstance(device, CpuDevice):
        from lanewise.wasm.cpu_lanes import CpuLanes

        return CpuLanes(module, index, device, **choices)
    if device.name.startswith("cuda"):
        from lanewise.devices.cuda import CudaDevice
        from lanewise.wasm.cuda_lanes import CudaLanes

        assert isinstance(device, CudaDevice)
        return CudaLanes(module, index, device, **choices)
    raise ArgumentError(f"functions run on cpu or cuda, not on {device.name}")


__all__ = ["DTYPES", "VectorFunction", "runner_for"]
