"""A module as people hold it: loaded from a file or from bytes, checked, and ready to be run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from lanewise.devices import Device
from lanewise.errors import ArgumentError
from lanewise.wasm import model
from lanewise.wasm.decode import decode
from lanewise.wasm.instance import Instance
from lanewise.wasm.store import Store
from lanewise.wasm.validate import validate
from lanewise.wasm.vectors import VectorFunction


class Module:
    """A valid WebAssembly module."""

    def __init__(self, checked: model.Module, name: str) -> None:
        self.model = checked
        self.name = name

    @staticmethod
    def load(source: str | Path | bytes, features: frozenset[str] | None = None) -> Module:
        """Read and check a module: a path, or its bytes."""
        if isinstance(source, bytes | bytearray | memoryview):
            data, name = bytes(source), "module"
        else:
            path = Path(source)
            try:
                data, name = path.read_bytes(), path.name
            except OSError as error:
                raise ArgumentError(f"{str(path)!r} cannot be read: {error.strerror}") from None
        decoded = decode(data, model.FEATURES if features is None else features)
        validate(decoded)
        return Module(decoded, name)

    def func(
        self, name: str, *, device: Device | str = "auto", errors: Literal["raise", "mask"] = "raise", **choices: Any
    ) -> VectorFunction:
        """Give an exported function as a NumPy function: called once per element, one lane each, on fresh instances.

        Lanes that trap raise an error that names them, or are masked in the result with errors="mask".
        """
        return VectorFunction(self, name, device, errors, **choices)

    def instantiate(self, imports: Mapping[str, Any] | None = None, *, device: Device | str = "auto", **choices: Any) -> Instance:
        """Make an instance that keeps its state between calls, in a store of its own."""
        return Store(device, **choices).instantiate(self, imports)
