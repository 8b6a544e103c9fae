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

from lanewise.compiler.loops import Flow, short_loops

MARKER = "@lw.round("
CHECK = "@lw.check_round"

_FUNCTION = re.compile(r"^define [^\n]*\{\n.*?^\}", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(r"define [^\n]*\{\n(?:[^\s:;]+:[^\n]*\n)?")
"""A function's first line, and the label of its first block where that has one."""
_CALL = re.compile(rf"^[^\n]*\bcall void {re.escape(MARKER)}(?P<given>[^\n]*?)\)[^\n)]*\n", re.MULTILINE)
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
    markers = [number for number, block in enumerate(flow.blocks) if MARKER in block]
    ways = [list(ahead) for ahead in flow.ways]
    charges: dict[int, int] = {}
    for loop in short_loops(flow):
        ways[loop.latch] = [to for to in ways[loop.latch] if to != loop.head]
        charges[loop.before] = charges.get(loop.before, 0) + loop.rounds
    stops = _stops(ways, markers)
    if not stops:
        return "".join(_CALL.sub("", block) for block in flow.blocks)
    blocks = [_with_check(block, number in stops) for number, block in enumerate(flow.blocks)]
    for number, rounds in charges.items():
        start = flow.end_of(blocks[number])
        charge = f"  call void @lw.charge(ptr %lw.rounds, i32 {rounds})\n"
        blocks[number] = blocks[number][:start] + charge + blocks[number][start:]
    count = "  %lw.rounds = alloca i32\n  store i32 0, ptr %lw.rounds\n"
    whole = "".join(blocks)
    return head[0] + count + whole[head.end() :]


def _with_check(block: str, check: bool) -> str:
    """A block with a check for its first marker, or none, and without the others."""
    first = _CALL.search(block) if check else None
    if first is None:
        return _CALL.sub("", block)
    call = f"  call void {CHECK}(ptr %lw.rounds, {first['given']})\n"
    return block[: first.start()] + call + _CALL.sub("", block[first.end() :])


def _stops(ways: list[list[int]], markers: list[int]) -> set[int]:
    """The fewest of these blocks, as far as one look at each finds them, that every way around one of them has one of.

    A block stays if there is a way from it to itself past no other that stays. One that goes leaves all ways around
    with another one, and none that goes later can be the last on such a way: it would stay.
    """
    stops = set(markers)
    for block in markers:
        seen = {block}
        reached = [block]
        while reached:
            ahead = ways[reached.pop()]
            if block in ahead:
                break
            fresh = [to for to in ahead if to not in seen and to not in stops]
            seen.update(fresh)
            reached += fresh
        else:
            stops.discard(block)
    return stops
