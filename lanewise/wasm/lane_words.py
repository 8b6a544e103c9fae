"""What the host tells a lane program and must know of it; apart from the compiler, which cached code does without."""

from __future__ import annotations

from dataclasses import dataclass

ITEM_BYTES = {"i32": 4, "i64": 8, "f32": 4, "f64": 8}
"""Types that arrays can hold."""

# What a run is told, in words of 8 bytes; the pointers to arguments and results follow.
COUNT = 0  # elements
NEXT = 1  # CPU: the first element that no worker has taken
CHUNK = 2  # CPU: elements that a worker takes at a time
STATUS = 3  # pointer to a word per element: trap and place, 0 while there is none
SLOTS = 4  # how many slots there are
SLOT = 5  # CPU: the first slot that no worker has taken
STATES = 6  # pointer to the states of the slots
MEMORY = 7  # pointer to their memories
PROGRESS = 8  # GPU: pointer to the number of the next element; null if each slot has the element of its number alone
STACK = 9  # GPU: bytes of stack that checks allow
FUEL = 10  # steps that an element may take
STOP = 11  # pointer to a word that asks all lanes to stop
DATA = 12  # pointer to the bytes of the module
ELEMENTS = 13  # pointer to the references of its element segments
INDICES = 14  # pointer to the numbers of the elements to run, null for all of them
LANES_IO = 15  # programs: pointer to what the kernel keeps of each slot's lane
RUN_IO = 16  # programs: pointer to what it keeps of the run
TEAMS = 17  # programs with threads: pointer to the Team of each lane
SPREAD = 18  # GPU: threads for each slot, as a logarithm; all but the first ones of a warp do nothing
UNITS = 19  # GPU: pointer to a u32 for the slots of each warp: how many of them run; null if no other launch has them
ARRAYS = 20


@dataclass(frozen=True)
class LaneFacts:
    """What the host must know of a lane program to run it."""

    plain: bool
    can_trap: bool
    can_stop: bool
    cells: int
    arena_bytes: int
    memories: list[int]
    tables: list[int]


ENTERED = "g_enter"
"""CPU: the function that a chunk of elements is entered by; see `cpu_scheduler.FAULT_PLACE`."""
PIECE = "g_piece{}"
"""In each piece of a program that is compiled in pieces, a symbol that tells where in memory the piece is."""
ENTRY = "g_lanes"
"""The symbol that a launch starts."""
LANE_GROUP = 256
"""Threads in a group, and so the most registers that a thread can have."""
MOST_PAGES = 65536
"""Pages of a memory that is as large as one can be."""
GROW_PAGES = 64
"""How many pages a memory of a slot can grow by."""
GROW_ENTRIES = 1024
"""How many entries a table of a slot can grow by."""
UNLIMITED = 2**63 - 1
"""Fuel that nobody uses up."""
