"""Calls that wait until something that is open is ready."""

from __future__ import annotations

import errno
from functools import reduce
from operator import or_
from select import POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLPRI

from lanewise.arm64.linux.calls import call, integer
from lanewise.arm64.linux.opened import READABLE, WRITABLE, Opened, WouldWait
from lanewise.arm64.linux.process import MOST_FILES, Process
from lanewise.arm64.linux.signals import SET_BYTES
from lanewise.arm64.linux.time_calls import Patience
from lanewise.host.reply import failure

Asked = list[tuple[int, int]]
"""Descriptors, each with what would make it ready, as bits of poll."""
_ALWAYS = POLLERR | POLLHUP | POLLNVAL
"""What poll tells whether it is wanted or not."""
_SETS = READABLE | POLLHUP | POLLERR | POLLNVAL, WRITABLE | POLLERR | POLLNVAL, POLLPRI | POLLNVAL
"""What makes descriptors ready that select is given in its first set, its second and its third."""


def _now(p: Process, asked: Asked) -> list[int]:
    """What each is ready for."""
    found = []
    for fd, wanted in asked:
        if fd < 0:
            found.append(0)
        elif fd in p.files:
            found.append(p.files[fd].opened.ready() & wanted)
        else:
            found.append(POLLNVAL)
    return found


def _in_time(p: Process, asked: Asked, patience: Patience | None, mask: int | None) -> list[int]:
    """The same; if nothing is ready, only what comes from outside changes that in time.

    Who waits has signals blocked by `mask` meanwhile: those that it lets through come before anything else does. Of
    what is ready at once, programs are told first, and signals go on waiting.
    """
    found = _now(p, asked)
    outside = None
    if not any(found):
        _let_through(p, mask)
        if p.ending is not None:
            return found
        outside = _outside(p, asked)
        if outside is not None and outside.comes(None if patience is None else patience.seconds):
            found = _now(p, asked)
    if patience is None:
        if outside is None and not any(found):
            raise WouldWait
    elif any(found):
        patience.tell()
    elif outside is not None:
        patience.over()
    else:
        patience.wait()
    return found


def _let_through(p: Process, mask: int | None) -> None:
    """Have other signals blocked for a moment."""
    if mask is not None:
        before = p.signals.mask
        p.block(mask)
        p.signals.mask = before


def _mask(p: Process, address: int, size: int) -> int | None:
    """The signals that are to be blocked meanwhile, if that is said."""
    if not address:
        return None
    if size != SET_BYTES:
        raise failure(errno.EINVAL)
    return p.memory.words(address, "<Q")[0]


def _outside(p: Process, asked: Asked) -> Opened | None:
    """That among these which somebody outside writes to, if there is one."""
    for fd, wanted in asked:
        if wanted & POLLIN and fd in p.files and p.files[fd].opened.from_outside:
            return p.files[fd].opened
    return None


@call(73)
def ppoll(p: Process, address: int, count: int, timeout: int, signals: int, size: int) -> int:
    """Which descriptors are ready."""
    patience, mask = Patience.at(p, timeout), _mask(p, signals, size)
    if count > MOST_FILES:
        raise failure(errno.EINVAL)
    places = range(address, address + 8 * count, 8)
    asked = [(fd, wanted | _ALWAYS) for fd, wanted in (p.memory.words(at, "<iH") for at in places)]
    found = _in_time(p, asked, patience, mask)
    for at, ready in zip(places, found, strict=True):
        p.memory.write_words(at + 6, "<H", ready)
    return sum(ready != 0 for ready in found)


@call(72)
def pselect6(p: Process, count: int, reads: int, writes: int, others: int, timeout: int, signals: int) -> int:
    """The same, of sets of descriptors."""
    address, size = p.memory.words(signals, "<QQ") if signals else (0, 0)
    patience, mask = Patience.at(p, timeout), _mask(p, address, size)
    if integer(count) < 0:
        raise failure(errno.EINVAL)
    most = min(integer(count), MOST_FILES)
    sets = [(at, counts, _set(p, at, most)) for at, counts in zip((reads, writes, others), _SETS, strict=True) if at]
    asked = []
    for fd in range(most):
        wanted = [counts for _, counts, members in sets if members >> fd & 1]
        if wanted:
            p.stands_for(fd)
            asked.append((fd, reduce(or_, wanted)))
    found = _in_time(p, asked, patience, mask)
    ready = 0
    for at, counts, members in sets:
        told = sum(members & 1 << fd for (fd, _), is_for in zip(asked, found, strict=True) if is_for & counts)
        p.memory.write(at, told.to_bytes(_set_bytes(most), "little"))
        ready += told.bit_count()
    return ready


def _set(p: Process, address: int, most: int) -> int:
    """A set of descriptors below a certain one."""
    return int.from_bytes(p.memory.read(address, _set_bytes(most)), "little") & (1 << most) - 1


def _set_bytes(most: int) -> int:
    return -(-most // 64) * 8
