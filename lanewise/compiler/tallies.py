"""Steps that are counted once the code is optimised: markers become sums, which functions hand on where others ask.

`@lw.round` and `@lw.step` stand for a step each. A function sums its steps up in `%lw.rounds`, which are two registers:
steps since the lane last looked, and how many of them were handed on. They are not added one by one but as many at once
as lie side by side: unrolling copies markers, so that their number stays right. A call, a return, or whatever else must
not come before the sum is handed on, has a marker ahead of it, `@lw.give`; what calls are part of the function by then
need none. `@lw.finish` hands on and settles, `@lw.ended` ends the lane.

A module that wants that defines what they become: `@lw.charge`, `@lw.hand_on`, `@lw.settle` and `@lw.end_counted`, with
`%lw.rounds` as the first parameter and those of the marker behind it. Who looks takes what was not handed on along:
each way around a loop comes to one who does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lanewise.compiler.loops import Flow

MARKERS = ("@lw.step(", "@lw.give(", "@lw.finish(", "@lw.ended(")
"""Besides those of rounds, which are steps, too, where steps are counted."""

_STEPS = ("@lw.round(", "@lw.step(")
_BECOMES = {"@lw.give(": "@lw.hand_on(", "@lw.finish(": "@lw.settle(", "@lw.ended(": "@lw.end_counted("}
_LINE = re.compile(r"^ *(?:%\S+ = )?(?:(?:tail|musttail|notail) )?call [^\n]*\n|^ *ret\b[^\n]*\n", re.MULTILINE)
_CALLEE = re.compile(r"(?P<name>[@%][-\w$.]+)\((?P<given>[^\n]*)")
_PROMISES = re.compile(r"\bptr [^,%]*(?=%)")
"""What LLVM has found out of a marker's argument, which need not hold for what becomes of it."""


def counts(ir: str) -> bool:
    """Whether a module has its steps counted."""
    return "define internal void @lw.hand_on(" in ir


class _Event(NamedTuple):
    """A line of a block that matters to those who count."""

    start: int
    end: int
    kind: str
    """A marker, or `call` or `ret`: what asks for the sum."""
    given: str


def _events(block: str) -> Iterator[_Event]:
    for line in _LINE.finditer(block):
        text = line[0].lstrip()
        if text.startswith("ret"):
            yield _Event(line.start(), line.end(), "ret", "")
            continue
        callee = None if " asm " in text else _CALLEE.search(text)
        if callee is None:
            continue
        name = f"{callee['name']}("
        if name in MARKERS or name in _STEPS:
            given = callee["given"][: callee["given"].index(")")]
            yield _Event(line.start(), line.end(), name, _PROMISES.sub("ptr ", given))
        elif not name.startswith(("@lw.", "@llvm.")):  # helpers ask nobody who counts
            yield _Event(line.start(), line.end(), "call", "")


def tallied(flow: Flow) -> list[str]:
    """The blocks of a function with sums in place of its markers."""
    events = [list(_events(block)) for block in flow.blocks]
    asked = _asked(flow, events)
    return [
        _with_sums(block, events[number], any(asked[to] for to in flow.ways[number]))
        for number, block in enumerate(flow.blocks)
    ]


def _asked(flow: Flow, events: list[list[_Event]]) -> list[bool]:
    """For each block, whether some way from its beginning comes to one who asks before the sum is handed on."""
    first = [next((event.kind for event in some if event.kind not in _STEPS), "") for some in events]
    asked = [kind in ("call", "ret") for kind in first]
    waiting = [number for number, there in enumerate(asked) if there]
    while waiting:
        for source in flow.sources[waiting.pop()]:
            if not first[source] and not asked[source]:
                asked[source] = True
                waiting.append(source)
    return asked


def _with_sums(block: str, events: list[_Event], asked_behind: bool) -> str:
    """A block with its markers replaced: steps up to the next event are one sum, where the first of them was."""
    text, at = "", 0
    steps: list[_Event] = []

    def sum_up() -> str:
        sum_ = f"  call void @lw.charge(ptr %lw.rounds, i32 {len(steps)})\n"
        done, before = "", at
        for step in steps:
            done += block[before : step.start] + (sum_ if step is steps[0] else "")
            before = step.end
        return done

    for number, event in enumerate(events):
        if event.kind in _STEPS:
            steps.append(event)
            continue
        if steps:
            text, at, steps = text + sum_up(), steps[-1].end, []
        if event.kind in _BECOMES:
            text, at = text + block[at : event.start], event.end
            behind = next((later.kind for later in events[number + 1 :] if later.kind not in _STEPS), "")
            if event.kind != "@lw.give(" or behind in ("call", "ret") or (not behind and asked_behind):
                text += f"  call void {_BECOMES[event.kind]}ptr %lw.rounds, {event.given})\n"
    if steps:
        text, at = text + sum_up(), steps[-1].end
    return text + block[at:]
