"""Loops in the text of an optimised function: which of them are known to be short."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

SHORT = 1 << 12
"""Rounds that a loop may have, those of short loops in it included, to count as short."""

_NAME = r'[-\w$.]+|"[^"]*"'
_BLOCK = re.compile(rf"^(?P<label>{_NAME}):", re.MULTILINE)
_WAY = re.compile(rf"\blabel %(?P<to>{_NAME})")
_COUNTER = re.compile(
    rf"^ *(?P<name>%\S+) = phi i(?P<bits>\d+) \[ (?P<x>[^,\s]+), %(?P<from_x>{_NAME}) \], "
    rf"\[ (?P<y>[^,\s]+), %(?P<from_y>{_NAME}) \](?!, \[)",
    re.MULTILINE,
)
_STEP = re.compile(r"^ *(?P<next>%\S+) = add (?:nuw |nsw )*i\d+ (?P<counter>%\S+), (?P<step>-?\d+)\b", re.MULTILINE)
_TEST = re.compile(
    r"^ *(?P<flag>%\S+) = icmp (?:samesign )?(?P<how>\w+) i\d+ (?P<value>%[^,\s]+), (?P<limit>-?\d+)\b", re.MULTILINE
)
_BRANCH = re.compile(
    rf"^ *br i1 (?P<flag>%[^,\s]+), label %(?P<yes>{_NAME}), label %(?P<no>{_NAME})(?P<notes>[^\n]*)\n",
    re.MULTILINE,
)
_LAST = re.compile(r"^ *(?:br|switch|ret|unreachable|indirectbr|invoke|callbr|resume)\b", re.MULTILINE)


class Flow:
    """The blocks of a function, and where each may lead."""

    def __init__(self, text: str) -> None:
        starts = [found.start() for found in _BLOCK.finditer(text)]
        if starts and text.count("\n", 0, starts[0]) == 1:
            starts[0] = 0  # the first block has a label, too
        else:
            starts.insert(0, 0)
        self.blocks = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
        self._numbers = {}
        for number, block in enumerate(self.blocks):
            if (found := _BLOCK.search(block)) is not None:
                self._numbers[found["label"]] = number
        self.ways = [[self.number(found["to"]) for found in _WAY.finditer(block)] for block in self.blocks]
        self.sources: list[list[int]] = [[] for _ in self.blocks]
        """For each block, from where it is entered."""
        for number, ahead in enumerate(self.ways):
            for to in ahead:
                self.sources[to].append(number)

    def number(self, label: str) -> int:
        """The number of a block; only the first one may have no label."""
        return self._numbers.get(label, 0)

    def text(self, label: str) -> str:
        """The text of a block, as it was in the beginning."""
        return self.blocks[self.number(label)]

    def last_test(self, block: str) -> re.Match[str] | None:
        """The conditional branch that a block's text ends in: `flag`, the labels `yes` and `no`, and `notes`."""
        return _BRANCH.search(block)

    def end_of(self, block: str) -> int:
        """Where in a block's text the instruction begins that leads on."""
        *_, last = _LAST.finditer(block)
        return last.start()

    def reach(self, start: int, around: int) -> set[int]:
        """The blocks that a way leads to from one, itself included, past another that it must not enter."""
        seen, reached = {start}, [start]
        while reached:
            fresh = [to for to in self.ways[reached.pop()] if to not in seen and to != around]
            seen.update(fresh)
            reached += fresh
        return seen


def comes_back(start: int, ways: list[list[int]], may_pass: Callable[[int], bool]) -> bool:
    """Whether some way from a block leads to itself through blocks that it may pass."""
    seen, reached = {start}, [start]
    while reached:
        ahead = ways[reached.pop()]
        if start in ahead:
            return True
        fresh = [to for to in ahead if to not in seen and may_pass(to)]
        seen.update(fresh)
        reached += fresh
    return False


@dataclass(frozen=True)
class ShortLoop:
    """A loop that has so many rounds, however it is left, whenever it is entered."""

    before: int
    """The block from which it is entered."""
    head: int
    latch: int
    """The block from which the next round begins, and no other."""
    rounds: int
    body: frozenset[int]
    """The blocks that are passed between two rounds."""


def short_loops(flow: Flow) -> list[ShortLoop]:
    """The loops of a function that a counter ends after a few rounds."""
    steps = {found["next"]: found for block in flow.blocks for found in _STEP.finditer(block)}
    tests = [
        (number, branch, test)
        for number, block in enumerate(flow.blocks)
        if (branch := _BRANCH.search(block)) is not None
        for test in _TEST.finditer(block)
        if test["flag"] == branch["flag"]
    ]
    by_value: dict[str, list[tuple[int, re.Match[str], re.Match[str]]]] = {}
    for number, branch, test in tests:
        by_value.setdefault(test["value"], []).append((number, branch, test))
    found: list[ShortLoop] = []
    for head, block in enumerate(flow.blocks):
        for counter in _COUNTER.finditer(block):
            loop = _counted(flow, head, counter, steps, by_value)
            if loop is not None:
                found.append(loop)
                break
    return _with_inner(found)


def _counted(
    flow: Flow,
    head: int,
    counter: re.Match[str],
    steps: dict[str, re.Match[str]],
    tests: dict[str, list[tuple[int, re.Match[str], re.Match[str]]]],
) -> ShortLoop | None:
    """The loop that a phi with two sources counts, from a constant by a constant, if some test must end it soon."""
    start, before, then, latch = counter["x"], counter["from_x"], counter["y"], counter["from_y"]
    if then not in steps:
        start, before, then, latch = then, latch, start, before
    step = steps.get(then)
    if step is None or step["counter"] != counter["name"] or not re.fullmatch(r"-?\d+", start):
        return None
    back, entry = flow.number(latch), flow.number(before)
    if entry in (body := _body(flow, head, back)):
        return None  # only in code that is never reached
    for value, ahead in ((counter["name"], 0), (then, int(step["step"]))):
        for number, branch, test in tests.get(value, ()):
            if number != head and back in flow.reach(head, number):
                continue  # a round may come past the test
            for way, leaves_if in (("yes", True), ("no", False)):
                out = flow.number(branch[way])
                if out != head and back not in flow.reach(out, head):
                    first = int(start) + ahead
                    rounds = _rounds(first, int(step["step"]), test, int(counter["bits"]), leaves_if)
                    if rounds:
                        return ShortLoop(entry, head, back, rounds, body)
    return None


_HOW: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}


def _rounds(value: int, step: int, test: re.Match[str], bits: int, leaves_if: bool) -> int:
    """After how many rounds a test leaves a loop; 0 if there are too many."""
    how, whole = test["how"], 1 << bits
    compare, offset = _HOW[how[-2:]], whole >> 1 if how[0] == "s" else 0
    limit = (int(test["limit"]) + offset) % whole
    for rounds in range(1, SHORT + 1):
        if compare((value + offset) % whole, limit) == leaves_if:
            return rounds
        value += step
    return 0


def _body(flow: Flow, head: int, latch: int) -> frozenset[int]:
    body, reached = {head, latch}, [latch]
    while reached:
        number = reached.pop()
        if number != head:
            fresh = [source for source in flow.sources[number] if source not in body]
            body.update(fresh)
            reached += fresh
    return frozenset(body)


def _with_inner(found: list[ShortLoop]) -> list[ShortLoop]:
    """Those whose rounds are few with those of the loops in them: an inner one runs in each round of an outer one."""
    totals: list[tuple[ShortLoop, int]] = []
    for loop in sorted(found, key=lambda loop: len(loop.body)):
        within = [(inner, total) for inner, total in totals if inner.body < loop.body]
        inside = sum(total for inner, total in within if not any(inner.body < other.body for other, _ in within))
        total = loop.rounds * (1 + inside)
        if total <= SHORT:
            totals.append((loop, total))
    return [loop for loop, _ in totals]
