"""Which parts of a lane's memory its program has: what it asked for with brk and with mmap.

Both come from the room between program and stack: brk from below, mmap from above. There is no protection: pages are
only handed out and taken back. Memory that nobody has had yet is 0 anyway; other is set to 0 when it is handed out.
"""

from __future__ import annotations

import errno

from lanewise.arm64.linux.elf import PAGE
from lanewise.arm64.linux.memory import MOST_MOVED, LaneMemory
from lanewise.host.reply import failure


def pages(count: int) -> int:
    """Bytes in whole pages."""
    return -(-count // PAGE) * PAGE


class Heap:
    """The room from the end of the program to the beginning of the stack's."""

    def __init__(self, memory: LaneMemory, low: int, high: int) -> None:
        self._memory = memory
        self._low, self._high = low, high
        self.brk = low
        self._highest_brk = low
        """Nothing from here up to `_lowest_map` was ever handed out."""
        self._lowest_map = high
        self.refused = False
        """Whether more was wanted than there is."""
        self._maps: list[tuple[int, int]] = []
        """First byte and the one behind, in order, none touching another."""

    def move_brk(self, wanted: int) -> int:
        """Move the end of the heap, if that can be; where it is then."""
        limit = self._maps[0][0] if self._maps else self._high
        if self._low <= wanted <= limit:
            if wanted > self.brk:
                self._clear(self.brk, wanted)
            self.brk = wanted
            self._highest_brk = max(self._highest_brk, wanted)
        else:
            self.refused = self.refused or wanted > limit
        return self.brk

    def map(self, count: int) -> int:
        """Pages from anywhere, as high as there is room; ENOMEM if there is none."""
        size = pages(count)
        end = self._high
        for first, behind in reversed(self._maps):
            if end - behind >= size:
                break
            end = first
        if end - size < pages(self.brk):
            self.refused = True
            raise failure(errno.ENOMEM)
        self._take(end - size, end)
        return end - size

    def map_at(self, address: int, count: int, replace: bool) -> int:
        """Pages at an address, in the place of what is there; EEXIST if that shall stay, ENOMEM if it is no room."""
        end = address + pages(count)
        if address % PAGE:
            raise failure(errno.EINVAL)
        if address < self._memory.start or end > self._memory.end:
            raise failure(errno.ENOMEM)
        if not replace and (address < pages(self.brk) or self.overlaps(address, end) or end > self._high):
            raise failure(errno.EEXIST)
        first, behind = max(address, pages(self.brk)), min(end, self._high)
        if first < behind:
            self.unmap(first, behind - first)
            self._take(first, behind)
        # What is over the program itself, its heap or its stack belongs to those already.
        for low, high in ((address, min(end, first)), (max(address, behind), end)):
            self._write_zeros(low, high)
        return address

    def unmap(self, address: int, count: int) -> None:
        """Take pages back, those that there are."""
        if address % PAGE or not count:
            raise failure(errno.EINVAL)
        end = address + pages(count)
        left = []
        for first, behind in self._maps:
            left += [(first, min(behind, address)), (max(first, end), behind)] if first < end else [(first, behind)]
        self._maps = [(first, behind) for first, behind in left if first < behind]

    def remap(self, old: int, old_count: int, count: int, may_move: bool) -> int:
        """Make a mapping larger or smaller, elsewhere if need be and allowed."""
        old_end, end = old + pages(old_count), old + pages(count)
        if old % PAGE or not count:
            raise failure(errno.EINVAL)
        if not any(first <= old and old_end <= behind for first, behind in self._maps):
            raise failure(errno.EFAULT)
        if end <= old_end:
            if end < old_end:
                self.unmap(end, old_end - end)
            return old
        if end <= self._high and not self.overlaps(old_end, end):
            self._take(old_end, end)
            return old
        if not may_move:
            raise failure(errno.ENOMEM)
        new = self.map(count)
        for at in range(0, old_end - old, MOST_MOVED):
            data = self._memory.read(old + at, min(MOST_MOVED, old_end - old - at))
            if data != bytes(len(data)):  # what nobody has used stays so
                self._memory.write(new + at, data)
        self.unmap(old, old_end - old)
        return new

    def overlaps(self, first: int, end: int) -> bool:
        """Whether any of these pages are handed out by mmap."""
        return any(one < end and first < behind for one, behind in self._maps)

    def _take(self, first: int, end: int) -> None:
        self._clear(first, end)
        self._lowest_map = min(self._lowest_map, first)
        merged: list[tuple[int, int]] = []
        for one, behind in sorted([*self._maps, (first, end)]):
            if merged and merged[-1][1] == one:
                merged[-1] = merged[-1][0], behind
            else:
                merged.append((one, behind))
        self._maps = merged

    def clear(self, address: int, count: int) -> None:
        """Set pages to 0, whatever they are."""
        end = address + pages(count)
        first, behind = max(address, self._low), min(end, self._high)
        if first < behind:
            self._clear(first, behind)
        for low, high in ((address, min(end, first)), (max(address, behind), end)):
            self._write_zeros(low, high)

    def _clear(self, first: int, end: int) -> None:
        """Set to 0 what somebody may have had before."""
        for low, high in ((first, min(end, self._highest_brk)), (max(first, self._lowest_map), end)):
            if high - low >= MOST_MOVED:
                self._memory.clear(low, high - low)
            else:
                self._write_zeros(low, high)

    def _write_zeros(self, first: int, end: int) -> None:
        for at in range(first, end, MOST_MOVED):
            self._memory.write(at, bytes(min(MOST_MOVED, end - at)))
