"""Memory of lanes on a device that is far: what calls will read is fetched for all lanes at once before they are
served, and what they write is sent at once when all are.

Nothing depends on how good the guess is: what was not fetched is read when it is asked for.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Sequence

from lanewise.arm64.linux.memory import MOST_MOVED, STRING_STEP, LaneMemory
from lanewise.arm64.linux.signals import ACTION_BYTES, SET_BYTES
from lanewise.arm64.runners import Runner

_PART = 16
_MOST_PARTS = 64
_MOST_AT_ONCE = 256 << 20
"""Bytes that are fetched for one round, and bytes that wait to be sent."""
_PATH, _TIME, _SIGNALS, _DESCRIPTORS = STRING_STEP, 16, SET_BYTES, 128
_READS = {
    **dict.fromkeys((33, 34, 35, 48, 53, 54, 56, 78, 79, 291, 439), ((1, _PATH),)),
    **dict.fromkeys((37, 38, 276), ((1, _PATH), (3, _PATH))), 36: ((0, _PATH), (2, _PATH)),
    **dict.fromkeys((43, 45, 49), ((0, _PATH),)), 88: ((1, _PATH), (2, 2 * _TIME)),
    71: ((2, 8),), 285: ((1, 8), (3, 8)),
    72: ((1, _DESCRIPTORS), (2, _DESCRIPTORS), (3, _DESCRIPTORS), (4, _TIME), (5, 16)), 73: ((2, _TIME), (3, _SIGNALS)),
    98: ((0, 4), (3, _TIME)), 101: ((0, _TIME),), 115: ((2, _TIME),),
    132: ((0, 24),), 133: ((0, _SIGNALS),), 134: ((1, ACTION_BYTES),), 135: ((1, _SIGNALS),),
    137: ((0, _SIGNALS), (2, _TIME)),
}  # fmt: skip
"""Calls by their numbers, with the arguments that are addresses that they read from, and how many bytes."""
_COUNTED = {**dict.fromkeys((64, 68), (1, 2, 1)), **dict.fromkeys((65, 66, 69, 70), (1, 2, _PART)), 73: (0, 1, 8)}
"""The same where another argument says how many there are, and of how many bytes each."""
_GATHERING = frozenset((66, 70))
"""Calls that write what the parts lead to that they read."""


class FarMemory(LaneMemory):
    """The memory of one lane. What it wrote is seen by itself at once, and by the device after `Ahead.send`."""

    def __init__(self, ahead: Ahead, place: int, start: int, size: int) -> None:
        super().__init__(ahead.runner, place, start, size)
        self._ahead = ahead
        self.fetched: list[tuple[int, bytes]] = []
        self.waiting: list[tuple[int, bytes]] = []

    def span(self, address: int, count: int) -> tuple[int, int]:
        """The part of this memory that there is, as an address of the device and a count."""
        first, end = max(address, self.start), min(address + count, self.end)
        return self._bias + first, max(0, end - first)

    def read(self, address: int, count: int) -> bytes:
        if not count:
            return b""
        self.check(address, count)
        for first, content in self.fetched:
            if first <= address and address + count <= first + len(content):
                found = content[address - first : address - first + count]
                break
        else:
            found = super().read(address, count)
        for first, data in self.waiting:
            if first < address + count and address < first + len(data):
                found = _laid_over(found, data, first - address)
        return found

    def write(self, address: int, data: bytes) -> None:
        if data:
            self.check(address, len(data))
            self.note_write(address, len(data))
            self.waiting.append((address, data))
            self._ahead.note(self, len(data))

    def clear(self, address: int, count: int) -> None:
        self._ahead.send()
        self.fetched = []
        super().clear(address, count)

    def take_waiting(self) -> list[tuple[int, bytes]]:
        """What is to be sent, in pieces that do not overlap; nothing that was fetched counts any more."""
        pieces = _laid_out(self.waiting)
        self.waiting, self.fetched = [], []
        return [(self._bias + address, data) for address, data in pieces]


def _laid_over(under: bytes, data: bytes, at: int) -> bytes:
    """Bytes with others over them, which begin there and may reach beyond on both sides."""
    first, end = max(at, 0), min(at + len(data), len(under))
    return under[:first] + data[first - at : end - at] + under[end:]


def _laid_out(writes: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Pieces that do not overlap, in order: of what was written to a byte, the last."""
    starts: list[int] = []
    pieces: list[bytes] = []
    for address, data in writes:
        end = address + len(data)
        first = bisect_left(starts, address)
        behind = bisect_left(starts, end)
        left, right = [], []
        if first and starts[first - 1] + len(pieces[first - 1]) > address:
            first -= 1
            left = [(starts[first], pieces[first][: address - starts[first]])]
        if behind > first and starts[behind - 1] + len(pieces[behind - 1]) > end:
            right = [(end, pieces[behind - 1][end - starts[behind - 1] :])]
        placed = [*left, (address, data), *right]
        starts[first:behind] = [at for at, _ in placed]
        pieces[first:behind] = [piece for _, piece in placed]
    return list(zip(starts, pieces, strict=True))


class Ahead:
    """What the lanes of a wave share: what is fetched before a round of serving, and what is sent after it."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self._writers: dict[int, FarMemory] = {}
        self._waiting = 0

    def note(self, memory: FarMemory, count: int) -> None:
        """A lane has written so much."""
        self._writers[id(memory)] = memory
        self._waiting += count
        if self._waiting > _MOST_AT_ONCE:
            self.send()

    def fetch(self, calls: Sequence[tuple[FarMemory, int, Sequence[int]]]) -> None:
        """Fetch what calls will read: the memory of each, its number, and its arguments."""
        wanted = []
        for memory, number, words in calls:
            wanted += [(memory, words[register], count) for register, count in _READS.get(number, ())]
            if number in _COUNTED:
                register, counted, each = _COUNTED[number]
                wanted.append((memory, words[register], min(words[counted] * each, MOST_MOVED)))
        self._fetch(wanted)
        gathering = [
            (memory, *part)
            for memory, number, words in calls
            if number in _GATHERING
            for part in _parts(memory, words[1], words[2])
        ]
        self._fetch(gathering)

    def _fetch(self, wanted: Sequence[tuple[FarMemory, int, int]]) -> None:
        kept, spans, room = [], [], _MOST_AT_ONCE
        for memory, address, count in wanted:
            place, there = memory.span(address, count)
            if there and there <= room:
                kept.append((memory, max(address, memory.start)))
                spans.append((place, there))
                room -= there
        if not spans:
            return
        for (memory, address), content in zip(kept, self.runner.read_all(spans), strict=True):
            memory.fetched.append((address, content))

    def send(self) -> None:
        """Send all that was written, and forget what was fetched of those lanes."""
        self.runner.write_all([piece for memory in self._writers.values() for piece in memory.take_waiting()])
        self._writers.clear()
        self._waiting = 0


def _parts(memory: FarMemory, address: int, count: int) -> list[tuple[int, int]]:
    """Addresses and lengths of the pieces of what is written at once, as far as they were fetched."""
    count = min(count, _MOST_PARTS)
    for first, content in memory.fetched:
        if first == address:
            return list(struct.iter_unpack("<QQ", content[: len(content) // _PART * _PART]))[:count]
    return []
