"""Places: blocks as a unit has them, once each or once for each way of calls.

On a GPU lanes that part should soon meet again, and the compiler finds where from the ways between blocks. A return
could go anywhere, so that behind it lanes would never meet. So a small program is written with what it calls in the
place of each call, over and over: there a return has one way on, and is checked to take it. All functions are there on
their own besides, for lanes that come from elsewhere: in their midst when a launch begins, or by calls whose target is
not known or that go on for too long, such as those of a function by itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lanewise.arm64.finding import Block, is_return
from lanewise.arm64.units import Unit
from lanewise.compiler.graphs import components

_MOST, _MOST_WORDS = 600, 3000
"""Places from which on calls are no longer written out, nor functions on their own that have as many in common; and
instructions in them. Compilers take the longer the more ways out there are, and each access to memory is one: on busy
cores LLVM took 33 s for 3,600 instructions, and 139 s for 7,300."""


@dataclass
class Place:
    """A block of a unit, or one of its copies."""

    number: int
    block: Block
    ways: dict[int, int] = field(default_factory=dict)
    """Places where it goes on, by their addresses."""
    returns: tuple[int, int] | None = None
    """If it ends in a return: the address that it must go back to, and the place."""

    @property
    def next_places(self) -> list[int]:
        """All places where it may go on."""
        return [*self.ways.values(), *([] if self.returns is None else [self.returns[1]])]


@dataclass
class Plan:
    """All places of a unit, and those where lanes come to an address from elsewhere."""

    places: list[Place]
    entries: dict[int, int]
    own: dict[int, int] = field(default_factory=dict)
    """For the address of each block, where lanes would come to it from elsewhere if it was an entry."""

    def entered_at(self, addresses: Iterable[int]) -> Plan:
        """The same with more entries."""
        entries = self.entries | {address: self.own[address] for address in addresses}
        return Plan(self.places, dict(sorted(entries.items())), self.own)


def lanes_meet(gpu: bool) -> bool:
    """Whether lanes run in step and may part, so that it counts where they meet again."""
    return gpu


def single_places(unit: Unit) -> Plan:
    """Each block once."""
    numbers = {address: number for number, address in enumerate(unit.blocks)}
    places = [
        Place(number, block, {target: numbers[target] for target in block.jumps if target in numbers})
        for number, block in enumerate(unit.blocks.values())
    ]
    return Plan(places, {address: numbers[address] for address in sorted(unit.entries)}, numbers)


def copied_places(unit: Unit) -> Plan:
    """Blocks once for each way of calls that leads to them."""
    copier = _Copier(unit.blocks)
    heads = {target: None for block in unit.blocks.values() if block.calls for target in block.jumps}
    first = next(iter(unit.blocks))  # where the program begins, if that is known
    roots = [copier.root(head) for head in dict.fromkeys((first, *heads)) if head in unit.blocks]
    roots += [copier.root(address) for address in unit.blocks if not copier.has(address)]
    if len(copier) > _MOST:  # most of what they have is the same: each would have it again
        return single_places(unit)
    copier.write_out_calls()
    own: dict[int, int] = {}
    for address in unit.blocks:
        among = [root for root in roots if root.head == address] or roots
        own[address] = next(number for root in among if (number := copier.number(root, address)) is not None)
    entries = sorted(unit.entries | (heads.keys() & unit.blocks.keys()))
    return Plan(copier.finish(), {address: own[address] for address in entries}, own)


@dataclass(eq=False)
class _Context:
    """A function as it is called from one place, or on its own."""

    head: int
    caller: _Context | None = None
    back: int = 0
    """Where it returns to, if there is a caller."""


class _Copier:
    def __init__(self, blocks: Mapping[int, Block]) -> None:
        self._blocks = blocks
        self._numbers: dict[tuple[_Context, int], int] = {}
        self._calls: deque[tuple[_Context, Block]] = deque()
        self._inside: dict[tuple[_Context, int], _Context] = {}
        """What is written in the place of calls, by where these are."""
        self._words = 0
        """Instructions in all places."""

    def __len__(self) -> int:
        """How many places there are."""
        return len(self._numbers)

    def has(self, address: int) -> bool:
        """Whether there is a place for a block."""
        return any(at == address for _, at in self._numbers)

    def number(self, context: _Context, address: int) -> int | None:
        """The place of a block there."""
        return self._numbers.get((context, address))

    def root(self, head: int) -> _Context:
        """A function on its own."""
        context = _Context(head)
        self._place(context, head)
        return context

    def _place(self, context: _Context, head: int) -> None:
        """Make places for what can be reached by jumps."""
        wanted = [head]
        while wanted:
            address = wanted.pop()
            if address not in self._blocks or (context, address) in self._numbers:
                continue
            self._numbers[context, address] = len(self._numbers)
            block = self._blocks[address]
            self._words += len(block.words)
            if block.calls:
                self._calls.append((context, block))
            else:
                wanted += block.jumps
            if block.back is not None and context.caller is None:
                wanted.append(block.back)  # for lanes that come back from elsewhere

    def write_out_calls(self) -> None:
        """Put functions in the place of their calls, those that are near a root first."""
        around = self._that_call_themselves()
        while self._calls and len(self) < _MOST and self._words < _MOST_WORDS:
            context, block = self._calls.popleft()
            for target in block.jumps:
                if target in self._blocks and target not in around and block.back in self._blocks:
                    assert block.back is not None
                    inside = self._inside[context, block.address] = _Context(target, context, block.back)
                    self._place(inside, target)
                    self._place(context, block.back)

    def _that_call_themselves(self) -> set[int]:
        """Functions that are called by what they call."""
        called: dict[int, set[int]] = {}
        for context, block in self._calls:
            called.setdefault(context.head, set()).update(block.jumps)
        found = components(called, lambda head: [target for target in called[head] if target in called])
        return {head for group in found for head in group if len(group) > 1 or head in called[head]}

    def finish(self) -> list[Place]:
        """All places in order."""
        return [
            Place(number, self._blocks[at], *self._ways(context, at)) for (context, at), number in self._numbers.items()
        ]

    def _ways(self, context: _Context, address: int) -> tuple[dict[int, int], tuple[int, int] | None]:
        block = self._blocks[address]
        if block.calls:
            inside = self._inside.get((context, address))
            return {} if inside is None else self._known(inside, block.jumps), None
        if context.caller is not None and is_return(block.words[-1]):
            return {}, (context.back, self._numbers[context.caller, context.back])
        return self._known(context, block.jumps), None

    def _known(self, context: _Context, addresses: Iterable[int]) -> dict[int, int]:
        return {one: self._numbers[context, one] for one in addresses if (context, one) in self._numbers}
