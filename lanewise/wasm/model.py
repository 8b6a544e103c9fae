"""What a WebAssembly module says, as plain data; function bodies stay bytes, `instructions` reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from lanewise.wasm.names import Names, read_names
from lanewise.wasm.opcodes import OPS, Op

FEATURES = frozenset(row.feature for row in OPS.values()) | {"multi-memory", "extended-constants"}
"""Every feature that Lanewise knows; a row of the opcode table names the one it belongs to."""

WEBASSEMBLY_2 = FEATURES - {"threads", "tail-calls", "exceptions", "multi-memory", "extended-constants"}
"""The features of WebAssembly 2.0 and none of the later ones."""

PAGE = 65536
"""Bytes in a page of linear memory."""


@dataclass(frozen=True)
class FuncType:
    """Parameters and results of a function, a block or a tag; value types are the words of `opcodes.row`."""

    params: tuple[str, ...]
    results: tuple[str, ...]

    def __str__(self) -> str:
        return f"({', '.join(self.params)}) -> ({', '.join(self.results)})"


@dataclass(frozen=True)
class Limits:
    """How small and how large a table (in entries) or a memory (in pages) can be; None is no bound."""

    minimum: int
    maximum: int | None


@dataclass(frozen=True)
class TableType:
    """A table of references."""

    element: str
    limits: Limits


@dataclass(frozen=True)
class MemoryType:
    """A linear memory."""

    limits: Limits
    shared: bool = False


@dataclass(frozen=True)
class GlobalType:
    """A global variable or constant."""

    value: str
    mutable: bool


@dataclass(frozen=True)
class TagType:
    """A kind of exception; the parameters of the type are what it carries."""

    type: FuncType


ExternType = FuncType | TableType | MemoryType | GlobalType | TagType


@dataclass(frozen=True)
class Import:
    """Something that the module wants to be given; `kind` is "function", "table", "memory", "global" or "tag"."""

    module: str
    name: str
    kind: str
    type: ExternType
    offset: int = 0
    """Where the module says so."""


@dataclass(frozen=True)
class Export:
    """Something that the module gives; `index` is into the index space of `kind`."""

    name: str
    kind: str
    index: int
    offset: int = 0


class Instruction(NamedTuple):
    """One instruction of a body or a constant expression; `offset` is into the bytes of the module."""

    offset: int
    op: Op
    immediates: tuple[Any, ...]


Expression = tuple[Instruction, ...]
"""A constant expression without the `end` that closes it."""


@dataclass
class Function:
    """A function with a body: `start` to `end` are its bytes, the declarations of its locals included."""

    type: FuncType
    start: int
    end: int
    provided: str = ""
    """The function of the device's kernel that stands in for an import: there is no body then."""


@dataclass(frozen=True)
class Global:
    """A global that the module defines."""

    type: GlobalType
    init: Expression
    offset: int = 0


@dataclass(frozen=True)
class Element:
    """References for a table; `mode` is "active", "passive" or "declarative"; only active ones have a table."""

    mode: str
    type: str
    table: int
    offset: Expression
    items: tuple[Expression, ...]
    position: int = 0
    """Where the segment begins in the module; `offset` is where its references go in the table."""


@dataclass(frozen=True)
class Data:
    """Bytes for a memory: those from `start` to `end` of the module; `mode` is "active" or "passive"."""

    mode: str
    memory: int
    offset: Expression
    start: int
    end: int


@dataclass(frozen=True)
class CustomSection:
    """A section that the specification gives no meaning; `start` to `end` are the bytes after its name."""

    name: str
    start: int
    end: int


@dataclass
class Module:
    """A decoded module. Lists named after a kind hold the whole index space, what is imported first."""

    data: bytes
    features: frozenset[str] = FEATURES
    types: list[FuncType] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    functions: list[FuncType] = field(default_factory=list)
    tables: list[TableType] = field(default_factory=list)
    memories: list[MemoryType] = field(default_factory=list)
    globals: list[GlobalType] = field(default_factory=list)
    tags: list[TagType] = field(default_factory=list)
    bodies: list[Function] = field(default_factory=list)
    defined_globals: list[Global] = field(default_factory=list)
    exports: list[Export] = field(default_factory=list)
    start: int | None = None
    start_offset: int = 0
    elements: list[Element] = field(default_factory=list)
    data_segments: list[Data] = field(default_factory=list)
    data_count: int | None = None
    """What the data count section says; None where there is none."""
    declared: set[int] = field(default_factory=set)
    """Functions that `ref.func` may name in a body: they appear in exports, elements or globals."""
    customs: list[CustomSection] = field(default_factory=list)
    imported_functions: int = 0
    imported_tables: int = 0
    imported_memories: int = 0
    imported_globals: int = 0
    imported_tags: int = 0

    @cached_property
    def names(self) -> Names:
        """What the name section says; empty where there is none or where it cannot be read."""
        found = [section for section in self.customs if section.name == "name"]
        return read_names(self.data, found[0].start, found[0].end) if found else Names()

    def function_name(self, index: int) -> str:
        """Name a function for people: by the name section, else by export or import, else as "func 12"."""
        return self.names.functions.get(index) or self._outside_names.get(index) or f"func {index}"

    @cached_property
    def _outside_names(self) -> dict[int, str]:
        functions = (entry for entry in self.imports if entry.kind == "function")
        found = {index: f"{entry.module}.{entry.name}" for index, entry in enumerate(functions)}
        for export in self.exports:
            if export.kind == "function":
                found.setdefault(export.index, export.name)
        return found
