"""Where an instance keeps what is not linear memory: numbered 8-byte cells, the same on every device.

A cell of a lane lies `stride` bytes behind the one before it, so that the cells of 32 lanes can be interleaved. Code
refers to cells by number only; nothing here depends on the build.
"""

from __future__ import annotations

from lanewise.wasm.model import Module

# The head of every state. What `SHARED` points to is the state that holds the store's common cells: an instance alone
# is its own.
TRAP = 0  # i32 kind, i32 place
FUEL = 1  # i32: what is left of the current slice
FUEL_LEFT = 2  # i64: what is left beyond the slice
TRAP_STATE = 3  # pointer: the state of the instance that trapped; with many lanes, where a lane's trap is reported
FLOOR = 4  # GPU: the lowest address that the stack may reach
SHARED = 5
UNIT = 5  # GPU, with many lanes: pointer to the count of lanes in its unit, see `gpu_entries`; null if there is none
INSTANCES = 6  # pointer to the states of all instances of the store, by number
MARKS = 6  # with many lanes, in builds with `marks`: which parts of the memory have been stored to, see `marking`
CODE = 7  # pointer to the function table of the store: see CODE_ENTRY
BASE = 8  # i64: what makes a function reference of a function's index: instance number << 32 | first function + 1
STOP = 9  # pointer to a word that says whether the lane has been asked to stop
PENDING = 10  # i64: the exception on its way, 0 if none
EXCEPTIONS = 11  # pointer to the records of exceptions that do not fit a number
EXCEPTIONS_USED = 12  # i64
TAIL = 13  # pointer: GPU: the function that a tail call asks the caller to call
TAIL_STATE = 14  # pointer: its state
MEMORY = 15  # pointer: the base of memory 0, which guest functions get as an argument
DATA = 16  # pointer to the module's bytes: data segments are read in place
ELEMENTS = 17  # pointer to the references of all element segments, one i64 after the other
ROUNDS = 18  # i64: builds with `stats`: rounds of loops, see `divergence`
ROUND_SHARES = 19  # i64: and what of the warp's rounds they are
THROWN = 20  # i64: where in the module an exception was made last
RESULTS = 21
"""Results beyond the first, then arguments of tail calls: as many cells as the module's widest type needs."""

CODE_ENTRY = 32
"""Bytes of an entry of the function table: i64 identity of the type, pointers to the code, to the wrapper that tail
calls go through and to the thunk that takes arguments from memory. Entry 0 is nobody's: a reference of 0 is null."""
ENTRY_TYPE, ENTRY_CODE, ENTRY_TAIL, ENTRY_THUNK = 0, 8, 16, 24

MEMORY_BASE, MEMORY_BYTES, MEMORY_MAXIMUM, MEMORY_RECORD = 0, 1, 2, 3
"""Cells of a memory: pointer, bytes now, bytes at most; the last is how many cells it has."""
TABLE_BASE, TABLE_SIZE, TABLE_MAXIMUM, TABLE_RECORD = 0, 1, 2, 3
EXCEPTION_CELLS = 4096
"""Room for exceptions that carry more than 32 bits and are still referred to."""


def cells_of(kind: str) -> int:
    """How many cells a value takes."""
    return 2 if kind == "v128" else 1


class StateLayout:
    """The numbers of all cells of a module's state."""

    def __init__(self, module: Module) -> None:
        self.widest = max(
            [sum(map(cells_of, kinds)) for kind in module.types for kinds in (kind.params, kind.results)], default=0
        )
        self._next = RESULTS + max(self.widest, 1)
        self.imported_functions = self._take(module.imported_functions)
        self.memories = [
            self._take(1 if index < module.imported_memories else MEMORY_RECORD)
            for index in range(len(module.memories))
        ]
        self.tables = [
            self._take(1 if index < module.imported_tables else TABLE_RECORD) for index in range(len(module.tables))
        ]
        self.globals = [
            self._take(1 if index < module.imported_globals else cells_of(kind.value))
            for index, kind in enumerate(module.globals)
        ]
        self.tags = self._take(len(module.tags))
        # How much of a segment is left: its length until it is dropped, then 0.
        self.data_lengths = self._take(len(module.data_segments))
        self.element_lengths = self._take(len(module.elements))
        starts, at = [], 0
        for segment in module.elements:
            starts.append(at)
            at += len(segment.items)
        self.element_starts = starts
        """Where each segment's items begin among those of all segments."""
        self.count = self._next
        """How many cells there are in all."""

    def _take(self, count: int) -> int:
        first = self._next
        self._next += count
        return first
