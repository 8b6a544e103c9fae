"""Checks in loops, put in once the code is optimised: before, a call marks each round, which stands in nobody's way.

A check is a way out of its loop that nobody can foresee, so neither LLVM nor the GPU's assembler would unroll the loop.
So loops come with a marker, `@lw.round`, of which LLVM knows only that it must run as often as it would have: unrolling
copies it, and a loop that disappears takes it along. Then what is left of the markers becomes checks, one on every way
around, less those in loops that are known to be short: these are charged for when they begin.

A module with markers defines `@lw.check_round`, whose parameters are the function's own count and those of the marker,
and `@lw.charge`, which adds to such a count; it names both in `@llvm.compiler.used`, so that they are there in the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lanewise.compiler.loops import Flow, ShortLoop, comes_back, short_loops

MARKER = "@lw.round("
CHECK = "@lw.check_round"

_FUNCTION = re.compile(r"^define [^\n]*\{\n.*?^\}", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(r"define [^\n]*\{\n(?:[^\s:;]+:[^\n]*\n)?")
"""A function's first line, and the label of its first block where that has one."""
_CALL = re.compile(rf"^[^\n]*\bcall void {re.escape(MARKER)}(?P<given>[^\n]*?)\)[^\n)]*\n", re.MULTILINE)
_VALUE = re.compile(r'%(?:[-\w$.]+|"[^"]*")')
_OF_MARKERS = re.compile(rf"^(?:declare [^\n]*{re.escape(MARKER)}|@llvm\.compiler\.used = )[^\n]*\n", re.MULTILINE)


def has_markers(ir: str) -> bool:
    """Whether loops of a module in LLVM's text are marked."""
    return MARKER in ir


def place_checks(ir: str) -> str:
    """The module with checks in place of markers, and with none where every way around comes to another one."""
    return _OF_MARKERS.sub("", _FUNCTION.sub(lambda found: _in_function(found[0]), ir))


def _in_function(text: str) -> str:
    if MARKER not in text:
        return text
    head = _HEAD.match(text)
    assert head is not None
    flow = Flow(text)
    short = [loop for loop in short_loops(flow) if _can_check_before(flow, loop)]
    ways = [list(ahead) for ahead in flow.ways]
    charges: dict[int, int] = {}
    for loop in short:
        ways[loop.latch] = [to for to in ways[loop.latch] if to != loop.head]
        charges[loop.before] = charges.get(loop.before, 0) + loop.rounds
    calls: dict[int, str] = {}
    """For each block where there may be a check, what the marker was given."""
    for number, block in enumerate(flow.blocks):
        if (call := _CALL.search(block)) is not None:
            for place in _places(number, short, ways):
                calls.setdefault(place, call["given"])
    stops = _stops(ways, calls)
    blocks = [_CALL.sub("", block) for block in flow.blocks]
    if not stops:
        return "".join(blocks)
    for number, rounds in charges.items():
        blocks[number] = _at_end(flow, blocks[number], f"@lw.charge(ptr %lw.rounds, i32 {rounds})")
    for number in stops:
        blocks[number] = _at_end(flow, blocks[number], f"{CHECK}(ptr %lw.rounds, {calls[number]})")
    count = "  %lw.rounds = alloca i32\n  store i32 0, ptr %lw.rounds\n"
    whole = "".join(blocks)
    return head[0] + count + whole[head.end() :]


def _can_check_before(flow: Flow, loop: ShortLoop) -> bool:
    """Whether what the markers in a loop are given is known before it begins."""
    blocks = [flow.blocks[number] for number in loop.body]
    names = {name for block in blocks for call in _CALL.finditer(block) for name in _VALUE.findall(call["given"])}
    return not any(re.search(rf"^ *{re.escape(name)} = ", block, re.MULTILINE) for name in names for block in blocks)


def _places(number: int, short: list[ShortLoop], ways: list[list[int]]) -> Iterator[int]:
    """Blocks that all ways around a block come to, but for the next rounds of short loops, which `ways` leaves out.

    A way that leaves a short loop comes back through the block before it; one that stays in it is that of another loop.
    """
    while (around := next((loop for loop in short if number in loop.body), None)) is not None:
        if comes_back(number, ways, lambda to, body=around.body: to in body):  # type: ignore[misc]
            yield number
        number = around.before
    yield number


def _at_end(flow: Flow, block: str, call: str) -> str:
    end = flow.end_of(block)
    return f"{block[:end]}  call void {call}\n{block[end:]}"


def _stops(ways: list[list[int]], markers: Iterable[int]) -> set[int]:
    """The fewest of these blocks, as far as one look at each finds them, that every way around one of them has one of.

    A block stays if there is a way from it to itself past no other that stays. One that goes leaves all ways around
    with another one, and none that goes later can be the last on such a way: it would stay.
    """
    stops = set(markers)
    for block in sorted(stops, reverse=True):  # inner loops first: what they need may do for those around them
        if not comes_back(block, ways, lambda to: to not in stops):
            stops.discard(block)
    return stops
