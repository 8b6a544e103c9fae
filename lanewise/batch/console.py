"""What lanes have written, taken from where they gathered it and kept by lane until they end."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from lanewise.kernel.lane_io import ConsoleRecord

_HEAD = struct.Struct("<IIQ")
assert _HEAD.size == ConsoleRecord.size


class Outputs:
    """Output of the lanes of a wave, by their number in it."""

    def __init__(self) -> None:
        self._parts: dict[tuple[int, int], list[bytes]] = {}

    def add(self, lane: int, stream: int, data: bytes) -> None:
        """Keep what a lane wrote behind what it wrote before."""
        self._parts.setdefault((lane, stream), []).append(data)

    def gather(self, console: np.ndarray[Any, Any]) -> int:
        """Take records one behind the other; gives how many bytes were taken: up to one that is being written."""
        records: Any = memoryview(console)  # type: ignore[arg-type]
        at, end = 0, len(records)
        while at + _HEAD.size <= end:
            lane, stream, nbytes = _HEAD.unpack_from(records, at)
            behind = at + _HEAD.size + (nbytes + 7) // 8 * 8
            if lane == 0 or behind > end:
                break
            self.add(lane - 1, stream, bytes(records[at + _HEAD.size : at + _HEAD.size + nbytes]))
            at = behind
        return at

    def take(self, lane: int) -> tuple[bytes, bytes]:
        """Standard output and error of a lane that has ended."""
        return b"".join(self._parts.pop((lane, 1), ())), b"".join(self._parts.pop((lane, 2), ()))
