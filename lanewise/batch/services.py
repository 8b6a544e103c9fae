"""What programs can import: the functions of the device's kernel, by the names that guests know them by."""

from __future__ import annotations

import functools

from lanewise.kernel.code import signatures
from lanewise.wasm.model import FuncType
from lanewise.wasm.provided import Service, Services


@functools.cache
def services() -> Services:
    """All there is."""
    return {
        module: {
            name: Service(symbol, FuncType(tuple(parameters), tuple(results)))
            for name, (symbol, parameters, results) in functions.items()
        }
        for module, functions in signatures().items()
    }
