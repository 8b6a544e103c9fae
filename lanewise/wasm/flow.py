"""The flow of a function body: which instructions may follow which, and which locals are still wanted behind a call.

For code whose calls do not throw (`Build.rings`): the ways of a `try_table` begin at its head, not at the calls in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from lanewise.wasm.instructions import instructions, locals_of
from lanewise.wasm.model import Function, Instruction, Module

_OPENS = ("block", "loop", "if", "try_table")
_ENDS = ("return", "unreachable", "throw", "throw_ref", "return_call", "return_call_indirect")


class BodyFlow:
    """The instructions of a body with their ways. Places are offsets of instructions in the module."""

    def __init__(self, module: Module, function: Function) -> None:
        _, first = locals_of(module, function)
        self.code = list(instructions(module, first, function.end))
        self._ways = _ways(self.code)

    def calls(self) -> Iterator[tuple[int, list[int], int]]:
        """Calls of functions by their numbers: where each is, where the loops around it begin, and whom it calls."""
        opened: list[int | None] = []
        for offset, op, immediates in self.code:
            if op.rule in _OPENS:
                opened.append(offset if op.rule == "loop" else None)
            elif op.rule == "end" and opened:
                opened.pop()
            elif op.rule == "call":
                yield offset, [loop for loop in opened if loop is not None], immediates[0]

    def wanted_behind(self) -> dict[int, list[int]]:
        """For each call of a function by its number, the locals that are read behind it before they are set again."""
        code, before = self.code, [0] * (len(self.code) + 1)
        """Ahead of each instruction, the locals that are wanted, as bits."""
        changed = True
        while changed:
            changed = False
            for at in range(len(code) - 1, -1, -1):
                wanted = 0
                for way in self._ways[at]:
                    wanted |= before[way]
                rule = code[at].op.rule
                if rule in ("local.set", "local.tee"):
                    wanted &= ~(1 << code[at].immediates[0])
                elif rule == "local.get":
                    wanted |= 1 << code[at].immediates[0]
                if wanted != before[at]:
                    before[at] = wanted
                    changed = True
        return {
            found.offset: [local for local in range(before[at + 1].bit_length()) if before[at + 1] >> local & 1]
            for at, found in enumerate(code)
            if found.op.rule == "call"
        }


def _ways(code: list[Instruction]) -> list[list[int]]:
    """For each instruction the numbers of those that may come next; the number behind the last is the return."""
    behind = len(code)
    ends, others = _pairs(code)
    open_blocks: list[tuple[str, int]] = []
    found: list[list[int]] = []

    def target(depth: int) -> int:
        if depth >= len(open_blocks):
            return behind
        kind, start = open_blocks[-1 - depth]
        return start if kind == "loop" else ends[start]

    for at, (_, op, immediates) in enumerate(code):
        rule = op.rule
        ways = [at + 1]
        if rule in _OPENS:
            if rule == "if":
                ways.append(others.get(at, ends[at] - 1) + 1)
            elif rule == "try_table":
                ways += [target(depth) for _, _, depth in immediates[1]]
            open_blocks.append((rule, at))
        elif rule == "else":
            ways = [ends[open_blocks[-1][1]]]
        elif rule == "end" and open_blocks:
            open_blocks.pop()
        elif rule == "br":
            ways = [target(immediates[0])]
        elif rule == "br_if":
            ways.append(target(immediates[0]))
        elif rule == "br_table":
            depths, default = immediates[0]
            ways = [target(depth) for depth in {*depths, default}]
        elif rule in _ENDS:
            ways = [behind]
        found.append(ways)
    return found


def _pairs(code: list[Instruction]) -> tuple[dict[int, int], dict[int, int]]:
    """For the number of each instruction that opens a block those of its `end` and, if there is one, of its `else`."""
    ends: dict[int, int] = {}
    others: dict[int, int] = {}
    opened: list[int] = []
    for at, found in enumerate(code):
        if found.op.rule in _OPENS:
            opened.append(at)
        elif found.op.rule == "else":
            others[opened[-1]] = at
        elif found.op.rule == "end" and opened:
            ends[opened.pop()] = at
    return ends, others
