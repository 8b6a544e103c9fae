"""Calls about signals, which a program can only send to itself."""

from __future__ import annotations

import errno
import os

from lanewise.arm64.linux.calls import call, integer
from lanewise.arm64.linux.opened import WaitsForEver
from lanewise.arm64.linux.process import Process
from lanewise.arm64.linux.signals import ACTION_BYTES, MOST_SIGNALS, SET_BYTES, SIGKILL, SIGSTOP
from lanewise.arm64.linux.time_calls import nanoseconds_at, wait
from lanewise.host.reply import failure

_SIGINFO = "<iiiiiI104x"


@call(129)
def kill(p: Process, target: int, signal: int) -> int:
    """A signal to the program itself; there are no others."""
    if integer(target) not in (p.pid, 0, -1, -p.pid):
        raise failure(errno.ESRCH)
    p.send(integer(signal))
    return 0


@call(130)
def tkill(p: Process, thread: int, signal: int) -> int:
    """The same to its only thread."""
    if integer(thread) <= 0:
        raise failure(errno.EINVAL)
    return kill(p, thread, signal)


@call(131)
def tgkill(p: Process, group: int, thread: int, signal: int) -> int:
    """The same."""
    if integer(group) != p.pid:
        raise failure(errno.EINVAL if integer(group) <= 0 else errno.ESRCH)
    return tkill(p, thread, signal)


@call(134)
def rt_sigaction(p: Process, signal: int, new: int, old: int, size: int) -> int:
    """What a signal is to do."""
    number = integer(signal)
    if size != SET_BYTES or not 0 < number <= MOST_SIGNALS or (new and number in (SIGKILL, SIGSTOP)):
        raise failure(errno.EINVAL)
    before = p.signals.action(number)
    if new:
        p.signals.set_action(number, p.memory.read(new, ACTION_BYTES))
    if old:
        p.memory.write(old, before)
    return 0


@call(135)
def rt_sigprocmask(p: Process, how: int, new: int, old: int, size: int) -> int:
    """Which signals are to wait."""
    if size != SET_BYTES:
        raise failure(errno.EINVAL)
    before = p.signals.mask
    if new:
        p.block(_mask(integer(how), before, *p.memory.words(new, "<Q")))
    if old:
        p.memory.write_words(old, "<Q", before)
    return 0


def _mask(how: int, was: int, wanted: int) -> int:
    if how not in (0, 1, 2):
        raise failure(errno.EINVAL)
    return (was | wanted, was & ~wanted, wanted)[how]


@call(133)
def rt_sigsuspend(p: Process, mask: int, size: int) -> int:
    """Let signals through until one calls a function, which none does: it ends the program, or there is none."""
    if size != SET_BYTES:
        raise failure(errno.EINVAL)
    p.block(*p.memory.words(mask, "<Q"))
    if p.ending is None:
        raise WaitsForEver
    return 0


@call(136)
def rt_sigpending(p: Process, address: int, size: int) -> int:
    """Which signals have come and wait."""
    if size > SET_BYTES:
        raise failure(errno.EINVAL)
    p.memory.write(address, p.signals.waiting.to_bytes(SET_BYTES, "little")[:size])
    return 0


@call(137)
def rt_sigtimedwait(p: Process, wanted: int, info: int, timeout: int, size: int) -> int:
    """Take a signal that waits; none will come while the program waits for it."""
    if size != SET_BYTES:
        raise failure(errno.EINVAL)
    signals = p.memory.words(wanted, "<Q")
    if timeout:
        nanoseconds_at(p, timeout)  # refused before a signal is taken
    found = p.signals.take(*signals)
    if found is None:
        if not timeout:
            raise WaitsForEver
        wait(p, timeout)
        return -errno.EAGAIN
    if info:
        p.memory.write_words(info, _SIGINFO, found, 0, 0, 0, p.pid, os.getuid())
    return found


@call(132)
def sigaltstack(p: Process, new: int, old: int) -> int:
    """Where functions for signals have their stack."""
    before = p.signals.stack
    if new:
        address, flags, count = p.memory.words(new, "<Qi4xQ")
        p.signals.stack = address, flags, count
    if old:
        p.memory.write_words(old, "<Qi4xQ", *before)
    return 0
