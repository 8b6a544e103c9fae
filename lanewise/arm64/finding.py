"""From a word to its row in the table, and from some addresses to the blocks that can be reached from there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from lanewise.arm64.encodings import TABLE
from lanewise.arm64.encodings.row import WIDTHS, Row
from lanewise.arm64.machine import Fields
from lanewise.arm64.values import known

_LONGEST = 64
"""Instructions in a block."""
_OFFSETS = {"b": (0, 26), "b.cond": (5, 19), "cbz": (5, 19), "tbz": (5, 14)}
"""Where branches say how many words ahead they go: the lowest bit and how many."""
_CALL, _CALL_BITS, _CALL_SIGN = 0b100101, (1 << 26) - 1, 1 << 25
"""The highest bits of a call, and those that say how many words ahead it goes."""
ENDS = (*_OFFSETS, "br", "svc", "brk", "hlt")
"""Rows behind which a block ends."""


@cache
def _by_mask() -> list[tuple[int, dict[int, Row]]]:
    found: dict[int, dict[int, Row]] = {}
    for row in TABLE:
        found.setdefault(row.mask, {})[row.value] = row
    return list(found.items())


@cache
def row_of(word: int) -> Row | None:
    """The row that a word belongs to; None if it is no instruction."""
    for mask, rows in _by_mask():
        if (row := rows.get(word & mask)) is not None:
            return row
    return None


def fields_of(row: Row, word: int) -> Fields:
    """The fields of a word."""
    fields = {name: known(WIDTHS[name], number) for name, number in row.settled}
    fields |= {field.name: known(field.bits, word >> field.low) for field in row.fields}
    return Fields(fields)


def is_call(row: Row) -> bool:
    """Whether it is a branch that comes back: bl or blr."""
    return dict(row.settled).get({"b": "op", "br": "opc"}.get(row.name, "")) == 1


def is_return(word: int) -> bool:
    """Whether it is a branch back from a call."""
    row = row_of(word)
    return row is not None and row.name == "br" and dict(row.settled).get("opc") == 2


@dataclass
class Block:
    """Instructions that run one after the other."""

    address: int
    words: list[int] = field(default_factory=list)
    jumps: tuple[int, ...] = ()
    """Where it goes on, as far as that is known: without what a call comes back to."""
    back: int | None = None
    """Where a call, or one of the system, comes back to."""
    calls: bool = False

    @property
    def end(self) -> int:
        """The address behind it."""
        return self.address + 4 * len(self.words)


class Code:
    """What lies in memory from an address on."""

    def __init__(self, content: bytes, base: int) -> None:
        self.content, self.base = content, base

    def called(self) -> list[int]:
        """Addresses that some instruction calls, in order: where functions begin."""
        words = np.frombuffer(self.content[: len(self.content) // 4 * 4], "<u4").astype(np.int64)
        at = np.flatnonzero(words >> 26 == _CALL)
        ahead = (words[at] & _CALL_BITS ^ _CALL_SIGN) - _CALL_SIGN
        found = np.unique(at + ahead)
        return [int(self.base + 4 * one) for one in found if 0 <= one < words.size]

    def word(self, address: int) -> int | None:
        """The word there, if it is one of these."""
        at = address - self.base
        if address % 4 or not 0 <= at <= len(self.content) - 4:
            return None
        return int.from_bytes(self.content[at : at + 4], "little")

    def row(self, address: int) -> Row | None:
        """The row of the word there, if there is one."""
        word = self.word(address)
        return None if word is None else row_of(word)

    def _target(self, row: Row, address: int) -> int:
        low, bits = _OFFSETS[row.name]
        word = self.word(address)
        assert word is not None
        ahead = word >> low & (1 << bits) - 1
        return (address + 4 * (ahead - (ahead >> bits - 1 << bits))) & (1 << 64) - 1

    def blocks(self, entries: Iterable[int], calls: bool) -> dict[int, Block]:
        """All blocks that can be reached from some addresses on, by calls if wanted, by where they begin."""
        starts: set[int] = set()
        seen: set[int] = set()
        wanted = list(entries)
        while wanted:
            address = wanted.pop()
            if address in starts or self.row(address) is None:
                continue
            starts.add(address)
            while address not in seen and (row := self.row(address)) is not None:
                seen.add(address)
                if row.name in ENDS:
                    wanted += self._ways(row, address, calls)
                    break
                address += 4
        found: dict[int, Block] = {}
        for start in sorted(starts):
            block = found[start] = self._block(start, starts)
            while block.jumps == (block.end,) and block.end not in starts and self.row(block.end) is not None:
                block = self._block(block.end, starts)  # it was too long for one
                found[block.address] = block
        return found

    def _ways(self, row: Row, address: int, calls: bool) -> list[int]:
        ways = [self._target(row, address)] if row.name in _OFFSETS and (calls or not is_call(row)) else []
        if row.name in ("b.cond", "cbz", "tbz", "svc") or is_call(row):
            ways.append(address + 4)
        return ways

    def _block(self, start: int, starts: set[int]) -> Block:
        block = Block(start)
        while len(block.words) < _LONGEST and (row := self.row(block.end)) is not None:
            at = block.end
            if block.words and at in starts:
                break
            word = self.word(at)
            assert word is not None
            block.words.append(word)
            if row.name in ENDS:
                block.jumps = (self._target(row, at),) if row.name in _OFFSETS else ()
                block.calls = is_call(row)
                if block.calls or row.name == "svc":
                    block.back = at + 4
                elif row.name in ("b.cond", "cbz", "tbz"):
                    block.jumps = (*block.jumps, at + 4)
                return block
        block.jumps = (block.end,)
        return block
