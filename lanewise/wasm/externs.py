"""What instances export and import: functions, memories, tables, globals and tags of a store."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lanewise.devices.cpu import CpuDevice
from lanewise.errors import ArgumentError, shown
from lanewise.wasm import state
from lanewise.wasm.describe import shown_name, type_words
from lanewise.wasm.model import PAGE, FuncType, GlobalType, Limits, MemoryType, TableType, TagType
from lanewise.wasm.values import pack_bits, to_host, unpack_bits

if TYPE_CHECKING:
    from lanewise.wasm.store import Store


class Function:
    """A function of an instance, to be called with Python numbers."""

    kind = "function"

    def __init__(self, store: Store, reference: int, type_: FuncType, name: str) -> None:
        self.store = store
        self.reference = reference
        self.number: int | None = reference >> 32
        self.type = type_
        self.name = name

    def __call__(self, *args: Any) -> Any:
        """Call it: numbers in, a number, None or a tuple of numbers out; a trap raises WasmTrap."""
        if len(args) != len(self.type.params):
            raise ArgumentError(
                f"{self.name} takes {len(self.type.params)} argument{'' if len(self.type.params) == 1 else 's'}, "
                f"{len(args)} given; its type is {self.type}"
            )
        bits = [
            to_host.bits_of(self.store, kind, value, f"argument {at + 1} of {self.name}")
            for at, (kind, value) in enumerate(zip(self.type.params, args, strict=True))
        ]
        results = self.store.call(self, bits)
        values = [to_host.value_of(self.store, kind, one) for kind, one in zip(self.type.results, results, strict=True)]
        if not values:
            return None
        return values[0] if len(values) == 1 else tuple(values)

    def call_bits(self, args: Sequence[Any]) -> list[Any]:
        """Call it with bit patterns, unsigned; of references None or what the host knows them by."""
        bits = [
            to_host.reference_bits(self.store, kind, value) if kind.endswith("ref") else int(value)
            for kind, value in zip(self.type.params, args, strict=True)
        ]
        results = self.store.call(self, bits)
        return [
            to_host.reference_value(self.store, kind, one) if kind.endswith("ref") else one
            for kind, one in zip(self.type.results, results, strict=True)
        ]

    def __repr__(self) -> str:
        return f"<function {shown_name(self.name)} {self.type}>"


class _Record:
    """Something whose cells lie in the state of the instance that defines it."""

    def __init__(self, store: Store, record: int, number: int | None) -> None:
        self.store = store
        self.record = record
        self.number = number
        """The instance that it belongs to; None if it is the host's."""

    def _cell(self, number: int) -> int:
        return self.store.read_cell(self.record, number)


class Memory(_Record):
    """A linear memory."""

    kind = "memory"

    def __init__(self, store: Store, record: int, declared: MemoryType, number: int | None = None) -> None:
        super().__init__(store, record, number)
        self.declared = declared

    @property
    def nbytes(self) -> int:
        """How many bytes it has now."""
        return self._cell(state.MEMORY_BYTES)

    @property
    def type(self) -> MemoryType:
        """Its type, the present size as the minimum."""
        return MemoryType(Limits(self.nbytes // PAGE, self.declared.limits.maximum), self.declared.shared)

    @property
    def base(self) -> int:
        """Where it begins on the device."""
        return self._cell(state.MEMORY_BASE)

    def read(self, address: int = 0, nbytes: int | None = None) -> bytes:
        """A copy of bytes, up to the end if there is no number of them."""
        start, count = self._range(address, nbytes)
        return self.store.read_linear(self.base, start, count)

    def write(self, address: int, data: bytes | bytearray | memoryview | np.ndarray[Any, Any]) -> None:
        """Set bytes: those of a bytes-like object or of an array."""
        try:
            raw = data.tobytes() if isinstance(data, np.ndarray) else memoryview(data).tobytes()
        except (TypeError, ValueError):
            hint = "; encode it" if isinstance(data, str) else ""
            raise ArgumentError(f"memory takes bytes or an array, not {type(data).__name__}{hint}") from None
        start, _ = self._range(address, len(raw))
        self.store.write_linear(self.base, start, raw)

    def _range(self, address: int, count: int | None, each: int = 1) -> tuple[int, int]:
        """Where a number of elements lies, and how many bytes they are, as Python's numbers: NumPy's overflow."""
        size, start = self.nbytes, _whole(address)
        nbytes = size - start if count is None else _whole(count) * each
        if start < 0 or nbytes < 0 or start + nbytes > size:
            raise ArgumentError(f"bytes {start:,} to {start + nbytes:,} are not all in a memory of {size:,}")
        return start, nbytes

    def array(self, dtype: Any = np.uint8, address: int = 0, count: int | None = None) -> np.ndarray[Any, Any]:
        """What it holds from an address on, as elements of a type.

        On the CPU it is a view: it stays valid when the memory grows, though it does not grow with it, and keeps the
        memory alive. Elsewhere it is a copy that cannot be written to; `write` can.
        """
        try:
            element = np.dtype(dtype)
        except TypeError:
            raise ArgumentError(f"{shown(dtype)} is no type of NumPy") from None
        if element.hasobject or not element.itemsize:
            raise ArgumentError(f"a memory holds bytes, which are no {element}")
        start, nbytes = self._range(address, count, element.itemsize)
        end = start + nbytes // element.itemsize * element.itemsize
        raw = self.store.linear_array(self.base, self.nbytes, self)
        if self.store.stride != 8 or not isinstance(self.store.device, CpuDevice):
            raw.flags.writeable = False
        return raw[start:end].view(element)

    def grow(self, pages: int) -> int:
        """Add pages of 64 KiB, filled with zeros; gives how many there were."""
        if not isinstance(pages, int | np.integer) or pages < 0:
            raise ArgumentError(f"a memory grows by a whole number of pages, not by {shown(pages)}")
        before = self.nbytes // PAGE
        if not self.store.grow_linear(self.record, int(pages) * PAGE):
            most = self._cell(state.MEMORY_MAXIMUM) // PAGE
            raise ArgumentError(f"the memory has {before:,} pages and can have {most:,}; it cannot grow by {pages:,}")
        return before

    def __len__(self) -> int:
        return self.nbytes

    def __repr__(self) -> str:
        return f"<{type_words(self.type)}>"


def _whole(number: Any) -> int:
    try:
        return operator.index(number)
    except TypeError:
        raise ArgumentError(f"addresses and sizes of a memory are whole numbers, not {shown(number)}") from None


class Table(_Record):
    """A table of references."""

    kind = "table"

    def __init__(self, store: Store, record: int, declared: TableType, number: int | None = None) -> None:
        super().__init__(store, record, number)
        self.declared = declared

    @property
    def type(self) -> TableType:
        """Its type, the present size as the minimum."""
        return TableType(self.declared.element, Limits(len(self), self.declared.limits.maximum))

    def __len__(self) -> int:
        return self._cell(state.TABLE_SIZE)

    def __getitem__(self, index: int) -> Any:
        """A function, what else the reference stands for, or None."""
        if not isinstance(index, int | np.integer) or not 0 <= index < len(self):
            raise ArgumentError(f"the table has {len(self):,} entries; there is no entry {shown(index)}")
        return to_host.reference_value(
            self.store, self.declared.element, self.store.read_cell(self._cell(state.TABLE_BASE), int(index))
        )

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"<{type_words(self.type)}>"


class Global(_Record):
    """A global variable or constant."""

    kind = "global"

    def __init__(self, store: Store, record: int, type_: GlobalType, number: int | None = None) -> None:
        super().__init__(store, record, number)
        self.type = type_

    @property
    def raw(self) -> int:
        """The bits as guests hold them."""
        cells = [self._cell(at) for at in range(state.cells_of(self.type.value))]
        return unpack_bits((self.type.value,), pack_bits(("i64",) * len(cells), cells))[0]

    @property
    def bits(self) -> Any:
        """The bits of a number, or what the host knows a reference by."""
        if self.type.value.endswith("ref"):
            return to_host.reference_value(self.store, self.type.value, self.raw)
        return self.raw

    @property
    def value(self) -> Any:
        """The present value."""
        return to_host.value_of(self.store, self.type.value, self.raw)

    @value.setter
    def value(self, value: Any) -> None:
        if not self.type.mutable:
            raise ArgumentError("this global is a constant; it cannot be set")
        bits = to_host.bits_of(self.store, self.type.value, value, "the global")
        self.store.given(self.number, self.type.value, bits)
        words = np.frombuffer(pack_bits((self.type.value,), [bits]), np.uint64)
        for at, word in enumerate(words):
            self.store.write_cell(self.record, at, int(word))

    def __repr__(self) -> str:
        return f"<global {type_words(self.type)}: {self.value!r}>"


class Tag:
    """A kind of exception."""

    kind = "tag"

    def __init__(self, store: Store, number_in_store: int, type_: TagType, number: int | None = None) -> None:
        self.store = store
        self.number_in_store = number_in_store
        self.number = number
        self.type = type_

    def __repr__(self) -> str:
        return f"<{type_words(self.type)}>"


Extern = Function | Memory | Table | Global | Tag
