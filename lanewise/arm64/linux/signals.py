"""What signals do to a program: they end it, do nothing, or wait while they are blocked. Functions are never called."""

from __future__ import annotations

MOST_SIGNALS = 64
SIGKILL, SIGSTOP = 9, 19
"""What nobody can block or ignore."""
ACTION_BYTES = 32
SET_BYTES = 8
_IGNORE = 1
_IGNORED = {17, 18, 23, 28}
"""Signals that do nothing unless somebody wants them: CHLD, CONT, URG, WINCH."""


def bit_of(signal: int) -> int:
    """A signal as a set has it."""
    return 1 << signal - 1


_UNBLOCKED = bit_of(SIGKILL) | bit_of(SIGSTOP)


class Signals:
    """What a program wants to happen when signals come, which are its own alone, and which of them wait."""

    def __init__(self) -> None:
        self.stack = 0, 2, 0
        """Of functions: address, flags (2: none), bytes."""
        self.mask = 0
        self.waiting = 0
        """Signals that have come and are blocked."""
        self._actions: dict[int, bytes] = {}

    def action(self, signal: int) -> bytes:
        """What a signal is to do."""
        return self._actions.get(signal, bytes(ACTION_BYTES))

    def set_action(self, signal: int, action: bytes) -> None:
        """Say what it is to do; it has not come if that is nothing."""
        self._actions[signal] = action
        if not self._ends(signal):
            self.waiting &= ~bit_of(signal)

    def _ends(self, signal: int) -> bool:
        action = self._wanted(signal)
        return action != _IGNORE and (action != 0 or signal not in _IGNORED)

    def has_function(self, signal: int) -> bool:
        """Whether the program wants a function called when it comes."""
        return self._wanted(signal) > _IGNORE

    def _wanted(self, signal: int) -> int:
        return int.from_bytes(self.action(signal)[:8], "little")

    def come(self, signal: int) -> bool:
        """One has come; whether it ends the program. What is blocked waits, even if it would do nothing by now."""
        if self.mask & bit_of(signal):
            self.waiting |= bit_of(signal)
            return False
        return self._ends(signal)

    def block(self, mask: int) -> int | None:
        """Have these wait from now on, and no others; the signal among those that waited which ends the program."""
        self.mask = mask & ~_UNBLOCKED
        let, self.waiting = self.waiting & ~self.mask, self.waiting & self.mask
        return next((one for one in range(1, MOST_SIGNALS + 1) if let & bit_of(one) and self._ends(one)), None)

    def take(self, wanted: int) -> int | None:
        """The first of some signals that waits, which does not any more."""
        found = self.waiting & wanted
        self.waiting &= ~(found & -found)
        return (found & -found).bit_length() or None
