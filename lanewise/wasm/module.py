"""A module as people hold it: loaded from a file or from bytes, checked, and ready to be run."""

from __future__ import annotations

from pathlib import Path

from lanewise.errors import ArgumentError
from lanewise.wasm import model
from lanewise.wasm.decode import decode
from lanewise.wasm.validate import validate


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
