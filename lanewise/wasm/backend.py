"""What a store needs of a device: memory that guests use, compiled code, and calls into it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanewise.errors import LinkError
from lanewise.wasm.build import Build
from lanewise.wasm.model import FuncType, Module


@dataclass(frozen=True)
class Block:
    """Memory of the device; it lives as long as this object."""

    address: int
    nbytes: int
    owner: Any = None


@dataclass(frozen=True)
class Outcome:
    """How a call ended: the values that it left, and if it trapped where it was."""

    values: bytes
    trapped: bool
    trace: tuple[int, ...] = ()
    """CPU: return addresses of the calls that the trap was in, the innermost first."""


HostCall = Callable[[int, int], int]
"""Calls a host function: its number, the address of its arguments; gives 0, or 1 if it failed."""


class Backend(ABC):
    """A device as a place for instances. Addresses are numbers that guests and this object understand."""

    build: Build
    """How modules are compiled for it."""
    timeout: float | None = None
    """Seconds that a call may take."""

    @abstractmethod
    def alloc(self, nbytes: int) -> Block:
        """Memory filled with zeros."""

    @abstractmethod
    def alloc_linear(self, minimum: int, maximum: int) -> tuple[Block, int]:
        """A linear memory of `minimum` bytes that can grow in place; gives also how far."""

    @abstractmethod
    def alloc_table(self, minimum: int, maximum: int) -> tuple[Block, int]:
        """Room for a table of `minimum` entries that can grow in place; gives also how far."""

    @abstractmethod
    def view(self, address: int, nbytes: int, owner: Any) -> np.ndarray[Any, Any]:
        """Bytes of the device's memory: in place on a CPU, as a copy elsewhere; a view keeps `owner` alive."""

    @abstractmethod
    def read(self, address: int, nbytes: int) -> bytes:
        """Bytes of the device's memory."""

    @abstractmethod
    def write(self, address: int, data: bytes) -> None:
        """Set bytes of the device's memory."""

    @abstractmethod
    def load(self, module: Module, throws: bool, tails: bool, fixed: bool) -> Any:
        """Compile a module; `throws` and `tails` say what calls in it may come back with.

        `fixed` says that nobody can make its memories larger.
        """

    @abstractmethod
    def link(self, loaded: Sequence[Any]) -> None:
        """Have modules call each other."""

    @abstractmethod
    def table_of(self, loaded: Any) -> bytes:
        """The function table of a module, its unused first entry left out; it changes with `link` and `improve`."""

    def improve(self, loaded: Any) -> bool:
        """Go over to a better build of a module if one has become ready."""
        return False

    @abstractmethod
    def call(self, loaded: Any, state: int, shared: int, entry: int, values: bytes) -> Outcome:
        """Call the function at an entry of the store's function table, with arguments as it takes them."""

    @property
    def stop_word(self) -> int:
        """Where guests look whether they are to stop; 0 if they need not."""
        return 0

    def place_of(self, loaded: Any, address: int) -> tuple[int, int] | None:
        """The function, by index, and the byte of its module that a return address of its code leads to."""
        return None

    def host_entry(self, kind: FuncType, call: HostCall) -> tuple[bytes, int]:
        """An entry of the function table for functions of the host of this type, and the address that it calls back."""
        raise LinkError("functions written in Python run on the CPU device only; give a WebAssembly function instead")
