"""Output that lanes have handed over and nobody has dealt with yet: while it is much, lanes that write wait."""

from __future__ import annotations

import threading

_MOST_BYTES = 128 * 2**20


class Backlog:
    """The bytes of one run. Lanes add to it on their threads, one thread takes outcomes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = 0
        self._in_hand = 0
        self.held = 0
        """What whoever takes outcomes holds back, for lanes before them have not ended."""

    @property
    def full(self) -> bool:
        """Whether lanes should wait before they write more."""
        return self._waiting + self._in_hand + self.held > _MOST_BYTES

    def add(self, count: int) -> None:
        """A lane has handed over so many bytes."""
        with self._lock:
            self._waiting += count

    def take(self, count: int) -> None:
        """They are part of an outcome now, which somebody is about to deal with."""
        with self._lock:
            self._waiting -= count
            self._in_hand += count

    def done(self) -> None:
        """All outcomes so far have been dealt with, or are held."""
        self._in_hand = 0

    @property
    def idle(self) -> bool:
        """Whether nobody deals with outcomes at the moment."""
        return not self._in_hand
