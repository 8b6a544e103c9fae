"""What programs can import: the functions of the device's kernel, by the names that guests know them by."""

from __future__ import annotations

import functools

from lanewise.kernel.library import GPU, THREADS, WASI
from lanewise.lang.functions import DeviceFunction
from lanewise.lang.types import VOID
from lanewise.wasm.model import FuncType
from lanewise.wasm.provided import Service, Services

_VALUES = {"u32": "i32", "i32": "i32", "u64": "i64", "i64": "i64", "f32": "f32", "f64": "f64"}


@functools.cache
def services() -> Services:
    """All there is."""
    return {
        "wasi_snapshot_preview1": {name: _service(function) for name, function in WASI.items()},
        "wasi": {name: _service(function) for name, function in THREADS.items()},
        "gpu": {name: _service(function) for name, function in GPU.items()},
    }


def _service(function: DeviceFunction) -> Service:
    """A function as guests see it: without the lane's own structure, which comes first."""
    _, *parameters = function.parameters.values()
    results = () if function.result is VOID else (_VALUES[str(function.result)],)
    return Service(function.name, FuncType(tuple(_VALUES[str(one)] for one in parameters), results))
