"""From the order in which lanes end to the order of their numbers."""

from __future__ import annotations

from lanewise.batch.spec import LaneOutcome


class LaneOrder:
    """Holds outcomes back until those of all lanes before them have come."""

    def __init__(self) -> None:
        self._next = 0
        self._held: dict[int, LaneOutcome] = {}
        self.held_bytes = 0
        """Output of those that are held back."""

    def push(self, outcome: LaneOutcome) -> list[LaneOutcome]:
        """Take one, and give those whose turn has come, in the order of lanes."""
        if outcome.lane != self._next:
            self._held[outcome.lane] = outcome
            self.held_bytes += _size(outcome)
            return []
        ready = [outcome]
        self._next += 1
        while self._held and (following := self._held.pop(self._next, None)) is not None:
            ready.append(following)
            self.held_bytes -= _size(following)
            self._next += 1
        return ready

    def rest(self) -> list[LaneOutcome]:
        """What is left when no more lanes come: those behind a lane that never ended."""
        left = [self._held[lane] for lane in sorted(self._held)]
        self._held.clear()
        self.held_bytes = 0
        return left


def _size(outcome: LaneOutcome) -> int:
    return len(outcome.stdout) + len(outcome.stderr)
