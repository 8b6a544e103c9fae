"""How lanes of a program of Linux ended, in words, and what whoever runs it should know in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from lanewise.arm64.linux.call_names import shown_call
from lanewise.arm64.linux.loading import STACK_PART
from lanewise.arm64.linux.process import Process
from lanewise.arm64.linux.result import Outcome, signal_name
from lanewise.arm64.linux.wave import Wave
from lanewise.arm64.machine import REASONS, RUNNING
from lanewise.batch.report import count_of
from lanewise.batch.spec import LaneOutcome

_KINDS = {REASONS[RUNNING]: "out of fuel", "output limit": "output limit reached"}
"""Reasons that programs of WebAssembly know, too, in the words that they have for them."""
_MOST_NAMED = 16
_MOST_LOOKS = 16
"""Lanes whose stack pointers are looked at when they have failed: each is read from the device."""
MORE_MEMORY = "(--memory, or memory= in Python)"
"""What gives lanes more of it."""


def described(found: Outcome) -> tuple[str | None, str | None]:
    """What a lane was ended by in a word or two, and in a sentence; none if it ended by itself."""
    if found.exit_code is not None:
        return None, None
    if found.signal is not None:
        return signal_name(found.signal), str(found)
    kind = _KINDS.get(found.reason, found.reason)
    return kind, f"{kind} {found.place}"


class Remarks:
    """Calls that are not offered, lanes that failed after memory was refused to them or off their stacks, and those
    that a signal ended which they had set a function for.
    """

    def __init__(self, lanes: int) -> None:
        self._alone = lanes == 1
        self._unknown = Counter[int]()
        self._functions = Counter[int]()
        self._refused = 0
        self._stack = 0
        self._looks = _MOST_LOOKS

    def look(self, wave: Wave, number: int, found: Outcome) -> None:
        """A lane has ended: if that was by a fault, look where its stack pointer is. Few are looked at."""
        if found.signal is not None and found.reason in REASONS and self._looks and not self._stack:
            self._looks -= 1
            if wave.is_off_its_stack(number):
                self._stack = wave.layout.top - wave.layout.stack

    def add(self, outcome: LaneOutcome, unknown: Mapping[int, int], process: Process) -> None:
        """A lane has ended."""
        self._unknown.update(unknown)
        self._refused += process.heap.refused and not outcome.ok
        if outcome.signal is not None and process.signals.has_function(outcome.signal):
            self._functions[outcome.signal] += 1

    def lines(self) -> list[str]:
        """Each remark is a sentence."""
        found = []
        if self._unknown:
            numbers = sorted(self._unknown)
            named = ", ".join(f"{shown_call(one)} {_times(self._unknown[one])}" for one in numbers[:_MOST_NAMED])
            more = f" and {len(numbers) - _MOST_NAMED:,} others" if len(numbers) > _MOST_NAMED else ""
            found.append(f"the program made calls of the system that are not offered: {named}{more}; they gave ENOSYS")
        for signal, count in sorted(self._functions.items()):
            who = "the program, which" if self._alone else f"{count_of(count, 'lane')} that"
            found.append(
                f"{signal_name(signal)} ended {who} had set a function for it; functions for signals are never called"
            )
        if self._refused:
            who = "the program" if self._alone else f"{count_of(self._refused, 'lane')} that failed"
            found.append(f"{who} wanted more memory than there was; give lanes more {MORE_MEMORY}")
        if self._stack:
            who = "the program" if self._alone else "a lane"
            found.append(
                f"{who} failed with its stack pointer outside of the stack's {self._stack:,} bytes; if it needs more, "
                f"give lanes more memory {MORE_MEMORY}, of which the stack has one part in {STACK_PART}"
            )
        return found


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
