"""Calls about time. Clocks are those of the host; the time that a program has used is what it has run, at 1 GHz."""

from __future__ import annotations

import errno
import time

from lanewise.arm64.linux.calls import call, integer
from lanewise.arm64.linux.process import Process
from lanewise.arm64.linux.stack import CLOCK_TICKS
from lanewise.host.reply import failure

_SECOND = 1_000_000_000
_REAL, _MONOTONIC, _BOOT = (0, 5), (1, 4, 6), (7,)
_USED = (2, 3)
_CHILDREN, _WHOSE = -1, (-1, 0, 1)
_USAGE_BYTES = 144
_RESOLUTION = 1
_ABSOLUTE = 1


def now_of(p: Process, clock: int) -> int:
    """What time it is on a clock, in nanoseconds."""
    number = integer(clock)
    if number in _REAL:
        return time.time_ns()
    if number in _MONOTONIC:
        return time.monotonic_ns()
    if number in _BOOT:
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    if number in _USED:
        return p.cycles
    raise failure(errno.EINVAL)


@call(113)
def clock_gettime(p: Process, clock: int, address: int) -> int:
    """What time it is."""
    p.memory.write_words(address, "<qq", *divmod(now_of(p, clock), _SECOND))
    return 0


@call(114)
def clock_getres(p: Process, clock: int, address: int) -> int:
    """How exact a clock is."""
    now_of(p, clock)
    if address:
        p.memory.write_words(address, "<qq", 0, _RESOLUTION)
    return 0


@call(169)
def gettimeofday(p: Process, address: int, zone: int) -> int:
    """What time it is, in microseconds."""
    if address:
        seconds, nanoseconds = divmod(time.time_ns(), _SECOND)
        p.memory.write_words(address, "<qq", seconds, nanoseconds // 1000)
    if zone:
        p.memory.write_words(zone, "<ii", 0, 0)
    return 0


def nanoseconds_at(p: Process, address: int) -> int:
    """How long to wait, which is there; EINVAL for what is no time."""
    seconds, nanoseconds = p.memory.words(address, "<qq")
    if seconds < 0 or not 0 <= nanoseconds < _SECOND:
        raise failure(errno.EINVAL)
    return seconds * _SECOND + nanoseconds


def wait(p: Process, address: int, since: int = 0) -> int:
    """Let the answer wait for so long; or until then, less the time that it is by that clock."""
    p.wake = time.monotonic() + (nanoseconds_at(p, address) - since) / 1e9
    return 0


class Patience:
    """How long a call waits at most, which its program finds at a place of its memory, and the rest of it there then.

    What is over at once is left as it is.
    """

    def __init__(self, p: Process, address: int) -> None:
        self._process, self._address = p, address
        self._nanoseconds = nanoseconds_at(p, address)
        self._since = time.monotonic_ns()

    @classmethod
    def at(cls, p: Process, address: int) -> Patience | None:
        """None for one that waits for ever, if there is no such place."""
        return cls(p, address) if address else None

    @property
    def seconds(self) -> float:
        """How long it is in all."""
        return self._nanoseconds / 1e9

    def wait(self) -> None:
        """Let the answer wait until the time is over."""
        self._process.wake = self._since / 1e9 + self.seconds
        self.over()

    def over(self) -> None:
        """Say that nothing is left."""
        self._write(0)

    def tell(self) -> None:
        """Say how much is left."""
        self._write(max(0, self._nanoseconds - (time.monotonic_ns() - self._since)))

    def _write(self, left: int) -> None:
        if self._nanoseconds:
            self._process.memory.write_words(self._address, "<qq", *divmod(left, _SECOND))


@call(101)
def nanosleep(p: Process, wanted: int) -> int:
    """Wait."""
    return wait(p, wanted)


@call(115)
def clock_nanosleep(p: Process, clock: int, flags: int, wanted: int) -> int:
    """Wait for so long, or until then."""
    now = now_of(p, clock)
    return wait(p, wanted, now if flags & _ABSOLUTE else 0)


@call(153)
def times(p: Process, address: int) -> int:
    """The time that the program has used, in ticks."""
    if address:
        p.memory.write_words(address, "<qqqq", p.cycles * CLOCK_TICKS // _SECOND, 0, 0, 0)
    return time.monotonic_ns() * CLOCK_TICKS // _SECOND


@call(165)
def getrusage(p: Process, who: int, address: int) -> int:
    """What the program has used: time, and of memory what lies below the end of its heap; it has no children."""
    if integer(who) not in _WHOSE:
        raise failure(errno.EINVAL)
    if integer(who) == _CHILDREN:
        p.memory.write(address, bytes(_USAGE_BYTES))
        return 0
    microseconds = p.cycles // 1000
    kilobytes = (p.heap.brk - p.memory.start) // 1024
    p.memory.write_words(address, "<18q", *divmod(microseconds, 1_000_000), 0, 0, kilobytes, *[0] * 13)
    return 0
