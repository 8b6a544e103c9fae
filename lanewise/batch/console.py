"""What lanes have written: gathered on the device in a chain of records a lane, or handed over at once."""

from __future__ import annotations

import struct
import threading
from typing import Any

import numpy as np

from lanewise.batch.backlog import Backlog
from lanewise.kernel.lane_io import ConsoleRecord

_HEAD = struct.Struct("<QQ")
_SIZE_BITS = 48
assert _HEAD.size == ConsoleRecord.size


class Outputs:
    """Output that lanes of a wave have handed over: what they could not gather on the device any more."""

    def __init__(self, backlog: Backlog) -> None:
        self.backlog = backlog
        self._parts: dict[tuple[int, int], list[bytes]] = {}
        self._lock = threading.Lock()

    def add(self, lane: int, stream: int, data: bytes) -> None:
        """Keep what a lane wrote behind what it wrote before."""
        with self._lock:
            self._parts.setdefault((lane, stream), []).append(data)
        self.backlog.add(len(data))

    def take(self, lane: int, console: np.ndarray[Any, Any], last: int) -> tuple[bytes, bytes]:
        """Standard output and error of a lane whose last record in the console begins before byte `last`.

        What is gathered was written first: once something had no room there, nothing of the wave had.
        """
        out, err = gathered(console, last)
        with self._lock:
            more = [b"".join(self._parts.pop((lane, stream), ())) for stream in (1, 2)]
        self.backlog.take(sum(map(len, more)))
        return out + more[0], err + more[1]


def gathered(console: np.ndarray[Any, Any], last: int) -> tuple[bytes, bytes]:
    """What the chain of records that ends there holds: standard output and error."""
    if not last:
        return b"", b""
    parts: tuple[list[bytes], list[bytes]] = ([], [])
    records: Any = memoryview(console)  # type: ignore[arg-type]
    while last:
        at = last - 1
        last, size = _HEAD.unpack_from(records, at)
        start = at + _HEAD.size
        parts[(size >> _SIZE_BITS) - 1].append(bytes(records[start : start + (size & (1 << _SIZE_BITS) - 1)]))
    return b"".join(reversed(parts[0])), b"".join(reversed(parts[1]))
