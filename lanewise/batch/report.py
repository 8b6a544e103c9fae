"""How a run went, in numbers and in words: counted lane by lane, in memory that does not grow with the lanes."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lanewise.batch.running import CUT_OFF
from lanewise.batch.spec import LaneOutcome

_SLOWEST = 10
_MOST_ENDS = 16
"""Ways to end that are told apart: a program may well exit with a million different codes."""
_MOST_RANGES = 6
_OTHER = "in other ways"


@dataclass
class Ends:
    """Lanes that failed in the same way; `lane` is the lowest of them and `detail` where it trapped, if known."""

    words: str
    count: int
    lane: int
    detail: str
    kind: str | None = None
    """What they were ended by; None if they ended by themselves."""


class Tally:
    """Counts of how lanes ended, the slowest of them, and which have not ended."""

    def __init__(self, lanes: int, label: Callable[[int], str] = lambda lane: "") -> None:
        """`label` says what a lane worked on, such as its file; empty if there is nothing to say."""
        self.lanes = lanes
        self.ended = 0
        """Lanes that ended by themselves or by a trap of their own."""
        self.ok = 0
        self._label = label
        self._failed: dict[str, Ends] = {}
        self._most: list[tuple[float, int]] = []
        """The ten lanes that did most, with how much, and their numbers negated."""
        self._least = math.inf
        self.counted = False
        """Whether lanes are compared by their instructions, not by their seconds: where they take turns, those say
        nothing about one of them."""
        self._all_below = 0
        self._above: set[int] = set()
        """Lanes that ended: all below `_all_below`, and those here, which came before their turn."""

    def add(self, outcome: LaneOutcome) -> None:
        """Count a lane. One that was cut off by the end of the run has not ended."""
        if outcome.kind in CUT_OFF:
            return
        self.ended += 1
        self._mark(outcome.lane)
        if outcome.exit_code == 0:
            self.ok += 1
        else:
            self._count_failure(outcome)
        self.counted = outcome.instructions is not None
        did = outcome.seconds if outcome.instructions is None else outcome.instructions
        self._least = min(self._least, did)
        if len(self._most) < _SLOWEST:
            heapq.heappush(self._most, (did, -outcome.lane))
        elif did > self._most[0][0]:
            heapq.heapreplace(self._most, (did, -outcome.lane))

    @property
    def unfinished(self) -> int:
        """How many lanes have not ended."""
        return self.lanes - self.ended

    @property
    def failures(self) -> list[Ends]:
        """The ways in which lanes failed, the most frequent first; those that are not told apart come last."""
        return sorted(self._failed.values(), key=lambda ends: (ends.words == _OTHER, -ends.count, ends.lane))

    @property
    def slowest(self) -> list[tuple[int, float]]:
        """Up to ten lanes with their seconds or instructions, the slowest first."""
        return [(-negated, did) for did, negated in sorted(self._most, reverse=True)]

    @property
    def alike(self) -> bool:
        """Whether all lanes took as long as each other."""
        return not self._most or max(self._most)[0] == self._least

    def unfinished_lanes(self) -> Iterator[range]:
        """The lanes that have not ended, as ranges."""
        begin = self._all_below
        for lane in sorted(self._above):
            if lane > begin:
                yield range(begin, lane)
            begin = lane + 1
        if begin < self.lanes:
            yield range(begin, self.lanes)

    def name(self, lane: int) -> str:
        """A lane in a sentence: its number, and what it worked on."""
        label = as_one_line(self._label(lane))
        return f"lane {lane} ({label})" if label else f"lane {lane}"

    def _mark(self, lane: int) -> None:
        if lane != self._all_below:
            self._above.add(lane)
            return
        self._all_below += 1
        while self._all_below in self._above:
            self._above.remove(self._all_below)
            self._all_below += 1

    def _count_failure(self, outcome: LaneOutcome) -> None:
        if outcome.exit_code is None:
            words = f"trap: {outcome.kind}"
            detail = first_line(outcome.trap).removeprefix(outcome.kind or "").strip()
        else:
            words, detail = f"exit code {outcome.exit_code}", ""
        if words not in self._failed and len(self._failed) >= _MOST_ENDS:
            words = _OTHER
        ends = self._failed.get(words)
        if ends is None:
            ends = self._failed[words] = Ends(words, 0, outcome.lane, detail, outcome.kind)
        elif outcome.lane < ends.lane:
            ends.lane, ends.detail = outcome.lane, detail
        ends.count += 1


def summary(tally: Tally, seconds: float, device: str, placement: str) -> list[str]:
    """The lines that end a batch: how fast it was, how lanes failed if any did, which were the slowest."""
    rate = f", {tally.ended / seconds:,.0f} lanes/s" if seconds > 0 else ""
    where = f"{device} ({placement})" if placement else device
    lines = [f"{count_of(tally.ended, 'lane')} in {duration(seconds)}{rate}, on {where}"]
    if tally.ok < tally.ended:
        width = len(f"{max(tally.ok, *(ends.count for ends in tally.failures)):,}")
        lines.append(f"  {tally.ok:>{width},} ok")
        for ends in tally.failures:
            first = "first " if ends.count > 1 else ""
            where_in = f" {ends.detail}" if ends.detail else ""
            lines.append(f"  {ends.count:>{width},} {ends.words}, {first}{tally.name(ends.lane)}{where_in}")
    if tally.ended > _SLOWEST:
        lines.append(_slowest(tally))
    return lines


def _slowest(tally: Tally) -> str:
    """Lanes that took longest, or ran most instructions; not ten times the same."""
    (_, most), *_ = tally.slowest
    if not tally.counted:
        return "slowest: " + ", ".join(f"{tally.name(lane)} {duration(taken)}" for lane, taken in tally.slowest)
    if tally.alike:
        return f"each lane ran {count_of(int(most), 'instruction')}"
    return "most instructions: " + ", ".join(f"{tally.name(lane)} {int(count):,}" for lane, count in tally.slowest)


def unfinished_sentence(tally: Tally) -> str:
    """How far a run came that was ended early, with the lanes that did not end by number."""
    if tally.lanes == 1:
        return "the lane had not ended"
    ranges = list(tally.unfinished_lanes())
    named = ", ".join(_range(one) for one in ranges[:_MOST_RANGES])
    more = sum(len(one) for one in ranges[_MOST_RANGES:])
    if more:
        named += f" and {more:,} more"
    lanes = "lane" if tally.unfinished == 1 else "lanes"
    return f"{tally.ended:,} of {tally.lanes:,} lanes ended, {tally.unfinished:,} did not: {lanes} {named}"


def duration(seconds: float) -> str:
    """Seconds as people read them: 12 us, 3.4 ms, 1.25 s, 2 min 5 s."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} us"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s"


def count_of(count: int, noun: str) -> str:
    """A count with its noun: 1 lane, 10,240 lanes."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def first_line(trap: str | None) -> str:
    """What a trap says in one line; the calls it was in are on the lines after."""
    return (trap or "").partition("\n")[0]


def as_one_line(name: str) -> str:
    """A name in a sentence: as it is, but quoted and escaped where a terminal would do something else than show it."""
    return name if name.isprintable() else repr(name)


def _range(lanes: range) -> str:
    return str(lanes[0]) if len(lanes) == 1 else f"{lanes[0]}-{lanes[-1]}"
