"""Slots on the CPU: the states and memories that lanes run on, and where a fault in one of them was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lanewise.compiler import Library, load_object
from lanewise.devices.cpu_scheduler import FAULT_PLACE
from lanewise.errors import OutOfMemoryError
from lanewise.wasm import lane_words as lanes
from lanewise.wasm import model
from lanewise.wasm.build import Build
from lanewise.wasm.guarded import RESERVED, GuardedMemory
from lanewise.wasm.lane_setup import references_alone
from lanewise.wasm.lane_words import ENTERED, ENTRY, PIECE, LaneFacts
from lanewise.wasm.places import LineTables


def zeros(count: int, dtype: Any) -> np.ndarray[Any, Any]:
    """Memory filled with zeros; only what is written to takes any."""
    try:
        return np.zeros(count, dtype)
    except (MemoryError, ValueError):
        nbytes = count * np.dtype(dtype).itemsize
        raise OutOfMemoryError(f"no memory for {nbytes:,} bytes of tables and state") from None


def make_slots(module: model.Module, build: Build, facts: LaneFacts, words: np.ndarray[Any, Any], workers: int) -> Any:
    """A state and memories for each worker; gives what must be kept while they are used."""
    states = zeros(workers * facts.cells * build.stride, np.uint8)
    owners: list[Any] = [states]
    pointers = []
    scale = build.stride // 8
    for _ in range(workers):
        for most in facts.memories:
            memory = GuardedMemory(0, RESERVED if build.checks == "guard" else most * scale + model.PAGE)
            owners.append(memory)
            pointers.append(memory.address)
        for entries in facts.tables:
            table = zeros(max(1, entries) * scale, np.uint64)
            owners.append(table)
            pointers.append(table.ctypes.data)
    for at, memory_type in enumerate(module.memories):
        step = len(module.memories) + len(module.tables)
        for slot in range(workers):
            owners[1 + slot * step + at].open(memory_type.limits.minimum * model.PAGE * scale)
    data = np.frombuffer(module.data, np.uint8)
    references = np.array(references_alone(module) or [0], np.uint64)
    table_of_pointers = np.array(pointers or [0], np.uint64)
    words[lanes.STATES] = states.ctypes.data
    words[lanes.MEMORY] = table_of_pointers.ctypes.data
    words[lanes.DATA] = data.ctypes.data
    words[lanes.ELEMENTS] = references.ctypes.data
    return owners, data, references, table_of_pointers


def load_lanes(codes: Sequence[bytes], others: Sequence[bytes], imports: Mapping[str, int], plain: bool) -> Library:
    """Load the pieces of a program, with other code that they call."""
    marks = [] if plain else [PIECE.format(number) for number in range(len(codes))]
    return load_object([*codes, *others], [ENTRY, *marks], imports)


def find_places(status: np.ndarray[Any, Any], codes: Sequence[bytes], library: Library, plain: bool = False) -> None:
    """Turn places of faults, which are distances in machine code, into bytes of the module."""
    places = status >> np.uint64(32)
    faults = np.flatnonzero(places & np.uint64(FAULT_PLACE))
    if not len(faults):
        return
    lines = LineTables(codes, "g_")
    names = [] if plain else [PIECE.format(number) for number in range(len(codes))]
    marks = [(name, library.address(name)) for name in names]
    found: dict[int, int] = {}
    for lane in faults.tolist():
        distance = int(places[lane]) & (FAULT_PLACE - 1)
        if distance not in found:
            signed = distance - FAULT_PLACE if distance & (FAULT_PLACE >> 1) else distance
            found[distance] = lines.place_from(ENTERED, signed, marks) or 0
        status[lane] = (int(status[lane]) & 0xFFFFFFFF) | found[distance] << 32
