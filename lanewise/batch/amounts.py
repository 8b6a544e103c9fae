"""Sizes and durations as people write them (64K, 16M, 1G; 5, 0.5, 500ms, 2m), and which amounts make sense."""

from __future__ import annotations

import re

from lanewise.errors import ArgumentError
from lanewise.settings import MAX_THREADS, shortened, whole_number

LANES = range(1, MAX_THREADS + 1)
SEEDS = range(2**64)
FUEL = range(1, 2**63)
MEMORY = range(1 << 16, (1 << 40) + 1)
"""Bytes of a lane's memory: a page of WebAssembly to what a program of Linux may have."""
MOST_LINEAR = 1 << 32
"""Bytes of linear memory: all that 32 bits can address."""
STACK = range(1 << 8, (1 << 30) + 1)
OUTPUT = range(1, (1 << 40) + 1)
THREADS = range(64)
"""Threads that a lane may start."""
GROUPS = tuple(1 << bit for bit in range(9))
"""Lanes of a group: a power of two."""
WORDS = range(1 << 32)
"""Words of a buffer."""
PICTURE = range(1, 16385)
"""Pixels of a side."""
BATCH_OUTPUT = 16 << 20
"""What a lane of a batch may write unless it is said otherwise: its output is held in memory until its turn comes."""

_SIZE = re.compile(r"(\d+) ?(?:([KMGT])(?:i?B)?|B)?", re.IGNORECASE | re.ASCII)
_DURATION = re.compile(r"(\d+\.?\d*|\.\d+) ?(ms|s|m|h)?", re.IGNORECASE | re.ASCII)
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST = 10 * 365 * 86400.0
"""Beyond this a duration is a slip of the finger, and clocks of the system may not take it."""


def size(text: str) -> int:
    """A number of bytes: 4096, 64K, 16M, 1G; units are powers of 1024, as memory has them."""
    found = _SIZE.fullmatch(text.strip())
    number = whole_number(found[1]) if found else None
    if not found or number is None:
        raise ArgumentError(
            f"{shortened(text)!r} is not a size; write a number of bytes, or one with K, M or G behind it"
        )
    return number * _UNITS.get((found[2] or "").upper(), 1)


def seconds(text: str) -> float:
    """A duration: 5, 0.5, 5s, 500ms, 2m, 1h."""
    found = _DURATION.fullmatch(text.strip())
    amount = float(found[1]) * _SECONDS[(found[2] or "s").lower()] if found else 0.0
    if not 0 < amount <= _LONGEST:
        raise ArgumentError(
            f"{shortened(text)!r} is not a time to wait; write seconds above 0, or such as 500ms, 5s, 2m"
        )
    return amount
