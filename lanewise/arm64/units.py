"""Which blocks become one function: those of a function of the program, or all of a small program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from lanewise.arm64.finding import Block, Code

_SMALL = 200
"""Blocks that are one unit, whatever functions they are in: so registers stay in registers across calls."""
_SMALL_ON_GPU = 300
"""The same on a GPU, where lanes that have left a unit do not meet others that are still in it."""
_LARGEST = 400
"""Blocks in a unit. Compilers take longer for a large function than for two that are half as large."""


@dataclass
class Unit:
    """Blocks that are translated together, and those of them that lanes may come to from elsewhere."""

    number: int
    blocks: dict[int, Block] = field(default_factory=dict)
    entries: set[int] = field(default_factory=set)

    @property
    def size(self) -> int:
        """How many instructions it has."""
        return sum(len(block.words) for block in self.blocks.values())


def find_units(code: Code, entries: Iterable[int], calls: bool, gpu: bool) -> list[Unit]:
    """Units of all that can be reached from some addresses on, by calls if wanted. No block is in two of them.

    If there are few blocks, there is one unit.
    """
    given = list(entries)
    blocks = code.blocks(given, calls)
    return _shared_out(blocks, given, _SMALL_ON_GPU if gpu else _SMALL)


def _shared_out(blocks: dict[int, Block], given: list[int], small: int) -> list[Unit]:
    whole = len(blocks) <= small
    heads = {} if whole else {target: None for block in blocks.values() if block.calls for target in block.jumps}
    wanted = [address for address in (*given, *heads, *blocks) if address in blocks]
    units: list[Unit] = []
    owner: dict[int, Unit] = {}
    for head in wanted:
        if head in owner:
            continue
        if not units or not whole:
            units.append(Unit(len(units)))
        unit = units[-1]
        reached = [head]
        while reached and (whole or len(unit.blocks) < _LARGEST):
            address = reached.pop()
            if address in owner or address not in blocks or (address in heads and address != head):
                continue
            block = unit.blocks[address] = blocks[address]
            owner[address] = unit
            reached += block.jumps if whole or not block.calls else ()
            reached += () if block.back is None else (block.back,)
    for address in given:
        if address in owner:
            owner[address].entries.add(address)
    for address, block in blocks.items():
        for target in block.jumps:
            if target in owner and (owner[target] is not owner[address] or target <= address):
                owner[target].entries.add(target)
        if block.back in owner and block.back is not None:
            owner[block.back].entries.add(block.back)
    return units
