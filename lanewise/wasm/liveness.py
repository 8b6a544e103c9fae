"""Which locals of a function are still read behind its calls: what a call that gives its registers away must keep."""

from __future__ import annotations

from lanewise.wasm.instructions import instructions, locals_of
from lanewise.wasm.model import Function, Instruction, Module

_ENDS = frozenset(
    ("unreachable", "return", "br", "br_table", "return_call", "return_call_indirect", "throw", "throw_ref")
)
"""Instructions that do not go on to the next one."""
_THROW = frozenset(("call", "call_indirect", "throw", "throw_ref"))
"""Instructions that may go where an exception is caught."""


def live_behind_calls(module: Module, function: Function) -> dict[int, list[int]]:
    """For each direct call, by its place in the module, the locals that some way on reads before it sets them."""
    code = list(instructions(module, locals_of(module, function)[1], function.end))
    ways = _ways(code)
    # A set of locals is a number with a bit for each. `live[at]` is what is live before instruction `at`; the last
    # entry stands for the return.
    live = [0] * (len(code) + 1)
    changed = True
    while changed:  # once, and once more for every loop around a loop
        changed = False
        for at in range(len(code) - 1, -1, -1):
            now = _behind(live, ways[at])
            rule = code[at].op.rule
            if rule == "local.get":
                now |= 1 << code[at].immediates[0]
            elif rule in ("local.set", "local.tee"):
                now &= ~(1 << code[at].immediates[0])
            if now != live[at]:
                live[at] = now
                changed = True
    return {one.offset: _bits(_behind(live, ways[at])) for at, one in enumerate(code) if one.op.rule == "call"}


def _behind(live: list[int], ways: list[int]) -> int:
    found = 0
    for way in ways:
        found |= live[way]
    return found


def _bits(number: int) -> list[int]:
    return [at for at in range(number.bit_length()) if number >> at & 1]


def _ways(code: list[Instruction]) -> list[list[int]]:
    """For each instruction those that may follow it."""
    ends, others = _blocks(code)
    open_blocks: list[int] = []
    landings: list[tuple[int, set[int]]] = []
    """Of blocks that catch exceptions, how many blocks are around each, and where it goes with them."""
    found: list[list[int]] = []

    def target(depth: int) -> int:
        if depth >= len(open_blocks):
            return len(code)
        block = open_blocks[-1 - depth]
        return block if code[block].op.rule == "loop" else ends[block]

    for at, one in enumerate(code):
        rule = one.op.rule
        ways = [] if rule in _ENDS else [at + 1]
        if rule in _THROW:
            ways += {landing for _, group in landings for landing in group}
        if rule == "try_table":
            landings.append((len(open_blocks), {target(depth) for _, _, depth in one.immediates[1]}))
        if rule in ("block", "loop", "if", "try_table"):
            open_blocks.append(at)
            if rule == "if":
                ways.append(others[at] + 1 if at in others else ends[at])
        elif rule == "else":
            ways = [ends[open_blocks[-1]]]
        elif rule == "end" and open_blocks:
            open_blocks.pop()
            if landings and landings[-1][0] == len(open_blocks):
                landings.pop()
        elif rule in ("br", "br_if"):
            ways.append(target(one.immediates[0]))
        elif rule == "br_table":
            depths, default = one.immediates[0]
            ways += {target(depth) for depth in (*depths, default)}
        found.append(ways)
    return found


def _blocks(code: list[Instruction]) -> tuple[dict[int, int], dict[int, int]]:
    """Where each block ends, and where each `if` that has one has its `else`."""
    ends: dict[int, int] = {}
    others: dict[int, int] = {}
    open_blocks: list[int] = []
    for at, one in enumerate(code):
        rule = one.op.rule
        if rule in ("block", "loop", "if", "try_table"):
            open_blocks.append(at)
        elif rule == "else":
            others[open_blocks[-1]] = at
        elif rule == "end" and open_blocks:
            ends[open_blocks.pop()] = at
    return ends, others
