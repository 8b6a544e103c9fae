"""Checks in loops, put in once the code is optimised: before, a call marks each round, which stands in nobody's way.

A check is a way out of its loop that nobody can foresee, so neither LLVM nor the GPU's assembler would unroll the loop.
So loops come with a marker, `@lw.round`, of which LLVM knows only that it must run as often as it would have: unrolling
copies it, and a loop that disappears takes it along. Then what is left of the markers becomes checks, one on every way
around, less those in loops that are known to be short: these are charged for when they begin. In the same way
`@lw.called` marks that a function was called that loops or recurses, for calls without end.

A module with markers defines what they become, and names it in `@llvm.compiler.used`, so that it is there in the end.
All of it has the function's own count, `%lw.rounds`, as the first parameter: `@lw.due` and `@lw.not_due` count a round
and say whether it is time to look, `@lw.look_again` looks and `@lw.check_round` does both, with the parameters of the
marker behind the first; `@lw.charge` adds to the count. `@lw.check_call`, which has no count, is what a call becomes.

Where a module wants its steps counted (see `tallies`) the count is one of steps, to which `@lw.due` adds nothing, with
the number of those behind it that were handed on; and `@lw.check_call` has it, too. `@lw.pass` is a round that is no
step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lanewise.compiler import tallies
from lanewise.compiler.loops import Flow, ShortLoop, comes_back, short_loops

MARKERS = ("@lw.round(", "@lw.pass(")
CALLED = "@lw.called("
CHECK = "@lw.check_round"

_FUNCTION = re.compile(r"^define [^\n]*\{\n.*?^\}", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(r"define [^\n]*\{\n(?:[^\s:;]+:[^\n]*\n)?")
"""A function's first line, and the label of its first block where that has one."""
_CALL = re.compile(r"^[^\n]*\bcall void @lw\.(?:round|pass)\((?P<given>[^\n]*?)\)[^\n)]*\n", re.MULTILINE)
_CALLED = re.compile(rf"^[^\n]*\bcall void {re.escape(CALLED)}(?P<given>[^\n]*?)\)[^\n)]*\n", re.MULTILINE)
_PROMISES = re.compile(r"\bptr [^,%]*(?=%)")
"""What LLVM has found out of a marker's argument, which need not hold for what the check does with it."""
_OF_ARGUMENTS = re.compile(r"\b(?:readonly|readnone|writeonly) (?=[^,\n]*%)")
_OF_DEFINED = re.compile(r"^attributes #\d+ = [^\n]*", re.MULTILINE)
_OF_MEMORY = re.compile(r"(?<=[{ ])memory\((?!none\))[^)]*\) ")
"""The same of functions, which with checks in them write what markers do not: the lane's counts."""
_VALUE = re.compile(r'%(?:[-\w$.]+|"[^"]*")')
_ALL = (*MARKERS, CALLED, *tallies.MARKERS)
_OF_MARKERS = re.compile(
    rf"^(?:declare [^\n]*(?:{'|'.join(map(re.escape, _ALL))})|@llvm\.compiler\.used = )[^\n]*\n", re.MULTILINE
)


def has_markers(ir: str) -> bool:
    """Whether loops of a module in LLVM's text are marked."""
    return MARKERS[0] in ir


def place_checks(ir: str) -> str:
    """The module with checks in place of markers, and with none where every way around comes to another one."""
    counts = tallies.counts(ir)
    checked = _OF_MARKERS.sub("", _FUNCTION.sub(lambda found: _in_function(found[0], counts), ir))
    return _OF_ARGUMENTS.sub("", _OF_DEFINED.sub(lambda found: _OF_MEMORY.sub("", found[0]), checked))


def _in_function(text: str, counts: bool) -> str:
    if not any(marker in text for marker in _ALL):
        return text
    head = _HEAD.match(text)
    assert head is not None
    flow = Flow(text)
    short = [loop for loop in short_loops(flow) if _can_check_before(flow, loop)]
    ways = [list(ahead) for ahead in flow.ways]
    charges: dict[int, int] = {}
    for loop in short:
        ways[loop.latch] = [to for to in ways[loop.latch] if to != loop.head]
        if not counts:
            charges[loop.before] = charges.get(loop.before, 0) + loop.rounds
    calls: dict[int, str] = {}
    """For each block where there may be a check, what the marker was given."""
    for number, block in enumerate(flow.blocks):
        if (call := _CALL.search(block)) is not None:
            for place in _places(number, short, ways):
                calls.setdefault(place, _PROMISES.sub("ptr ", call["given"]))
    stops = _stops(ways, calls)
    count = "ptr %lw.rounds, " if counts else ""
    blocks = [_CALL.sub("", block) for block in (tallies.tallied(flow) if counts else flow.blocks)]
    for number, block in enumerate(blocks):
        if CALLED in block:
            anyway = _counted_anyway(number, flow, ways, stops)
            blocks[number] = _CALLED.sub("", block) if anyway else _with_call_checks(block, count)
    if not stops and not counts:
        return "".join(blocks)
    for number, rounds in charges.items():
        blocks[number] = _at_end(flow, blocks[number], f"@lw.charge(ptr %lw.rounds, i32 {rounds})")
    for number in stops:
        blocks[number] = _checked(flow, number, blocks[number], calls[number])
    size = "[2 x i32]" if counts else "i32"
    begin = f"  %lw.rounds = alloca {size}\n  store {size} zeroinitializer, ptr %lw.rounds\n"
    whole = "".join(blocks)
    return head[0] + begin + whole[head.end() :]


def _with_call_checks(block: str, count: str) -> str:
    """A block with checks in place of the markers of calls."""
    return _CALLED.sub(
        lambda marker: f"  call void @lw.check_call({count}{_PROMISES.sub('ptr ', marker['given'])})\n", block
    )


def _counted_anyway(number: int, flow: Flow, ways: list[list[int]], stops: set[int]) -> bool:
    """Whether a block that calls are counted in is in loops, which count rounds, and whose function counts its own."""
    return comes_back(number, flow.ways, lambda _: True) and not (
        number not in stops and comes_back(number, ways, lambda to: to not in stops)
    )


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


def _checked(flow: Flow, number: int, block: str, given: str) -> str:
    """A block with a check at its end.

    If it ends in a test for what ends the lane, such as an address out of bounds, the test is for both: a round then
    has one more comparison, but no more branches than it had.
    """
    test = flow.last_test(block)
    for bad, good, joined in (("yes", "no", "or"), ("no", "yes", "and")):
        if test is None or not _ends_lane(flow, test[bad]) or " = phi " in flow.text(test[good]):
            continue
        mine = f"lw.{number}"
        way = {bad: f"%{mine}.slow", good: f"%{test[good]}"}
        stop = {bad: f"%{test[bad]}", good: f"%{mine}.look"}
        due = "due" if bad == "yes" else "not_due"
        return f"""{block[: test.start()]}  %{mine}.due = call i1 @lw.{due}(ptr %lw.rounds)
  %{mine}.both = {joined} i1 {test["flag"]}, %{mine}.due
  br i1 %{mine}.both, label {way["yes"]}, label {way["no"]}{test["notes"]}
{mine}.slow:
  br i1 {test["flag"]}, label {stop["yes"]}, label {stop["no"]}
{mine}.look:
  call void @lw.look_again(ptr %lw.rounds, {given})
  br label %{test[good]}
{block[test.end() :]}"""
    return _at_end(flow, block, f"{CHECK}(ptr %lw.rounds, {given})")


def _ends_lane(flow: Flow, label: str) -> bool:
    text = flow.text(label)
    return " = phi " not in text and re.search(r"^ *unreachable\b", text, re.MULTILINE) is not None


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
