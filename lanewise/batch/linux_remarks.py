"""How lanes of a program of Linux ended, in words, and what whoever runs it should know in the end."""

from __future__ import annotations

from lanewise.arm64.linux.result import Outcome, signal_name
from lanewise.arm64.machine import REASONS, RUNNING
from lanewise.batch.report import count_of
from lanewise.batch.spec import LaneOutcome

_KINDS = {REASONS[RUNNING]: "out of fuel", "output limit": "output limit reached"}
"""Reasons that programs of WebAssembly know, too, in the words that they have for them."""
_NAMES = {
    19: "eventfd2", 20: "epoll_create1", 26: "inotify_init1", 72: "pselect6", 74: "signalfd4", 85: "timerfd_create",
    95: "waitid", 97: "unshare", 103: "setitimer", 107: "timer_create", 117: "ptrace", 119: "sched_setscheduler",
    125: "sched_get_priority_max", 197: "shmdt", 198: "socket", 199: "socketpair", 200: "bind", 201: "listen",
    202: "accept", 203: "connect", 220: "clone", 221: "execve", 228: "mlock", 235: "mbind", 242: "accept4",
    260: "wait4", 279: "memfd_create", 281: "execveat", 425: "io_uring_setup", 435: "clone3",
}  # fmt: skip
"""Calls that programs want most often of those that there are none of."""
_MOST_NAMED = 16


def described(found: Outcome) -> tuple[str | None, str | None]:
    """What a lane was ended by in a word or two, and in a sentence; none if it ended by itself."""
    if found.exit_code is not None:
        return None, None
    if found.signal is not None:
        return signal_name(found.signal), str(found)
    kind = _KINDS.get(found.reason, found.reason)
    return kind, f"{kind} at {found.pc:#x}"


class Remarks:
    """Calls that there are none of, and lanes that failed after memory was refused to them."""

    def __init__(self, lanes: int) -> None:
        self._alone = lanes == 1
        self._unknown: set[int] = set()
        self._refused = 0

    def add(self, outcome: LaneOutcome, unknown: tuple[int, ...], refused: bool) -> None:
        """A lane has ended."""
        self._unknown.update(unknown)
        self._refused += refused and not outcome.ok

    def lines(self) -> list[str]:
        """Each remark is a sentence."""
        found = []
        if self._unknown:
            numbers = sorted(self._unknown)
            named = ", ".join(f"{one} ({_NAMES[one]})" if one in _NAMES else str(one) for one in numbers[:_MOST_NAMED])
            more = f" and {len(numbers) - _MOST_NAMED:,} more" if len(numbers) > _MOST_NAMED else ""
            calls = "a call of the system that is" if len(numbers) == 1 else "calls of the system that are"
            found.append(f"the program made {calls} not known, and was told ENOSYS: {named}{more}")
        if self._refused:
            who = "the program" if self._alone else f"{count_of(self._refused, 'lane')} that failed"
            found.append(f"{who} wanted more memory than there was; give lanes more (--memory, or memory= in Python)")
        return found
