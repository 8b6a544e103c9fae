"""An event that Ctrl-C can interrupt at any point.

`threading.Event` holds a lock while it is looked at. An exception of a signal handler may come between taking that lock
and the lines that would give it back; whoever looks at the event next then waits for ever, and a run that was to be
ended never is.
"""

from __future__ import annotations

import contextlib
import threading


class Latch:
    """What can be set once, and waited for."""

    def __init__(self) -> None:
        self._is_set = False
        self._gate = threading.Lock()
        self._gate.acquire()

    def is_set(self) -> bool:
        """Whether it has been set."""
        return self._is_set

    def set(self) -> None:
        """Let everybody go on who waits for it."""
        self._is_set = True
        self._open()

    def wait(self, seconds: float) -> bool:
        """Wait until it is set, for so long at most; says whether it is.

        Where an exception comes between the two lines that pass the gate, it stays closed. Who waits there by then
        waits for as long as it said, so waits are short; who comes later looks first whether it is set.
        """
        if not self._is_set and self._gate.acquire(timeout=seconds):
            self._open()
        return self._is_set

    def _open(self) -> None:
        with contextlib.suppress(RuntimeError):  # it is open
            self._gate.release()
