"""Calls that wait until something that is open is ready."""

from __future__ import annotations

import errno
from select import POLLERR, POLLHUP, POLLIN, POLLNVAL

from lanewise.arm64.linux.calls import call
from lanewise.arm64.linux.opened import Opened, WouldWait
from lanewise.arm64.linux.process import MOST_FILES, Process
from lanewise.arm64.linux.time_calls import seconds_of, wait
from lanewise.host.reply import failure

Asked = list[tuple[int, int]]
"""Descriptors, each with what is wanted of it, as bits of poll."""


def _now(p: Process, asked: Asked) -> list[int]:
    """What each is ready for of that which is wanted; and what is told whether it is wanted or not."""
    found = []
    for fd, wanted in asked:
        if fd < 0:
            found.append(0)
        elif fd in p.files:
            found.append(p.files[fd].opened.ready() & (wanted | POLLERR | POLLHUP))
        else:
            found.append(POLLNVAL)
    return found


def _in_time(p: Process, asked: Asked, timeout: int) -> list[int]:
    """The same; if nothing is ready, only what comes from outside changes that in time."""
    found = _now(p, asked)
    if any(found):
        return found
    outside = _outside(p, asked)
    if outside is not None:
        seconds = seconds_of(p, timeout) if timeout else None
        return _now(p, asked) if outside.comes(seconds) else found
    if not timeout:
        raise WouldWait
    wait(p, timeout)
    return found


def _outside(p: Process, asked: Asked) -> Opened | None:
    """That among these which somebody outside writes to, if there is one."""
    for fd, wanted in asked:
        if wanted & POLLIN and fd in p.files and p.files[fd].opened.from_outside:
            return p.files[fd].opened
    return None


@call(73)
def ppoll(p: Process, address: int, count: int, timeout: int) -> int:
    """Which descriptors are ready."""
    if count > MOST_FILES:
        raise failure(errno.EINVAL)
    places = range(address, address + 8 * count, 8)
    asked = [(fd, wanted) for fd, wanted in (p.memory.words(at, "<iH") for at in places)]
    found = _in_time(p, asked, timeout)
    for at, ready in zip(places, found, strict=True):
        p.memory.write_words(at + 6, "<H", ready)
    return sum(ready != 0 for ready in found)
