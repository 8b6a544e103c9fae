"""Calls about the program itself and the system that it runs on."""

from __future__ import annotations

import errno
import os
import time

from lanewise.arm64.linux.calls import call, integer
from lanewise.arm64.linux.opened import WaitsForEver
from lanewise.arm64.linux.process import MOST_FILES, Ending, Process
from lanewise.arm64.linux.time_calls import now_of, wait
from lanewise.host.reply import failure

_NAMES = (b"Linux", b"lanewise", b"6.1.0", b"#1 SMP", b"aarch64", b"(none)")
_NAME_BYTES = 65
_UNLIMITED = 2**64 - 1
_LIMIT_STACK, _LIMIT_FILES, _LIMITS = 3, 7, 16
_FUTEX_WAIT, _FUTEX_WAKE, _FUTEX_REQUEUE, _FUTEX_CMP_REQUEUE, _FUTEX_WAKE_OP = 0, 1, 3, 4, 5
_FUTEX_WAIT_BITSET, _FUTEX_WAKE_BITSET = 9, 10
_FUTEX_REALTIME = 256
_CLOCK_REALTIME, _CLOCK_MONOTONIC = 0, 1


@call(93, 94)
def exit_group(p: Process, code: int) -> int:
    """The end."""
    p.end(Ending("exit", code=code & 0xFF))
    return 0


@call(172, 178)
def getpid(p: Process) -> int:
    """The number of the program, and of its only thread."""
    return p.pid


@call(173)
def getppid(p: Process) -> int:
    """Who started it."""
    return 1


@call(155, 156)
def getpgid(p: Process, target: int) -> int:
    """Its group and session, in which it is alone."""
    if integer(target) not in (0, p.pid):
        raise failure(errno.ESRCH)
    return p.pid


@call(174)
def getuid(p: Process) -> int:
    """Whose files it can have: those of whoever runs it."""
    return os.getuid()


@call(175)
def geteuid(p: Process) -> int:
    """The same."""
    return os.geteuid()


@call(176)
def getgid(p: Process) -> int:
    """The same of groups."""
    return os.getgid()


@call(177)
def getegid(p: Process) -> int:
    """The same."""
    return os.getegid()


@call(148)
def getresuid(p: Process, real: int, effective: int, saved: int) -> int:
    """The same at once, with whose it was before."""
    return _three(p, (real, effective, saved), os.getresuid())


@call(150)
def getresgid(p: Process, real: int, effective: int, saved: int) -> int:
    """The same of groups."""
    return _three(p, (real, effective, saved), os.getresgid())


def _three(p: Process, addresses: tuple[int, int, int], numbers: tuple[int, int, int]) -> int:
    for address, number in zip(addresses, numbers, strict=True):
        p.memory.write_words(address, "<I", number)
    return 0


@call(158)
def getgroups(p: Process) -> int:
    """No further groups."""
    return 0


@call(96)
def set_tid_address(p: Process, address: int) -> int:
    """Where to say that a thread is over; nobody is left to be told."""
    return p.pid


@call(99, 124, 92)
def nothing(p: Process) -> int:
    """set_robust_list, sched_yield and personality change nothing for a program that is alone."""
    return 0


@call(95, 260)
def no_child(p: Process) -> int:
    """waitid and wait4: there are no other processes to wait for."""
    raise failure(errno.ECHILD)


@call(293, 283)
def not_there(p: Process) -> int:
    """rseq and membarrier, which C libraries ask for and do without."""
    raise failure(errno.ENOSYS)


@call(98)
def futex(p: Process, address: int, operation: int, value: int, timeout: int, other: int, bits: int) -> int:
    """Waiting for other threads, of which there are none: until the time is over, if there is one, or for ever."""
    command = operation & 0x7F
    if command in (_FUTEX_WAIT, _FUTEX_WAIT_BITSET):
        if address % 4 or (command == _FUTEX_WAIT_BITSET and not bits & 0xFFFFFFFF):
            raise failure(errno.EINVAL)
        if p.memory.words(address, "<I")[0] != value & 0xFFFFFFFF:
            raise failure(errno.EAGAIN)
        if not timeout:
            raise WaitsForEver
        clock = _CLOCK_REALTIME if operation & _FUTEX_REALTIME else _CLOCK_MONOTONIC
        wait(p, timeout, now_of(p, clock) if command == _FUTEX_WAIT_BITSET else 0)
        return -errno.ETIMEDOUT
    if command in (_FUTEX_WAKE, _FUTEX_WAKE_BITSET, _FUTEX_REQUEUE, _FUTEX_CMP_REQUEUE, _FUTEX_WAKE_OP):
        return 0
    raise failure(errno.ENOSYS)


@call(160)
def uname(p: Process, address: int) -> int:
    """What system it is."""
    p.memory.write(address, b"".join(name.ljust(_NAME_BYTES, b"\0") for name in _NAMES))
    return 0


def _limit(p: Process, resource: int) -> tuple[int, int]:
    if not 0 <= resource < _LIMITS:
        raise failure(errno.EINVAL)
    found = {_LIMIT_STACK: p.stack_room, _LIMIT_FILES: MOST_FILES}.get(resource, _UNLIMITED)
    return found, found


@call(163)
def getrlimit(p: Process, resource: int, address: int) -> int:
    """How much there is of something."""
    p.memory.write_words(address, "<QQ", *_limit(p, integer(resource)))
    return 0


@call(261)
def prlimit64(p: Process, target: int, resource: int, new: int, old: int) -> int:
    """The same; a limit that a program sets itself is accepted, and nothing comes of it."""
    if integer(target) not in (0, p.pid):
        raise failure(errno.ESRCH)
    limit = _limit(p, integer(resource))
    if old:
        p.memory.write_words(old, "<QQ", *limit)
    return 0


@call(278)
def getrandom(p: Process, address: int, count: int, flags: int) -> int:
    """Random bytes."""
    if integer(flags) & ~7:
        raise failure(errno.EINVAL)
    count = min(count, 1 << 20)
    p.memory.check(address, count)
    p.memory.write(address, p.random(count))
    return count


@call(179)
def sysinfo(p: Process, address: int) -> int:
    """How much memory there is."""
    total = p.memory.end - p.memory.start
    uptime = int(time.clock_gettime(time.CLOCK_BOOTTIME))
    free = max(0, p.memory.end - p.heap.brk)
    p.memory.write_words(address, "<q3Q6QHHIQQI4x", uptime, 0, 0, 0, total, free, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)
    return 0


@call(123)
def sched_getaffinity(p: Process, target: int, count: int, address: int) -> int:
    """One core."""
    if count < 8:
        raise failure(errno.EINVAL)
    p.memory.write_words(address, "<Q", 1)
    return 8


@call(168)
def getcpu(p: Process, core: int, node: int) -> int:
    """The first."""
    for address in (core, node):
        if address:
            p.memory.write_words(address, "<I", 0)
    return 0


@call(167)
def prctl(p: Process, option: int, address: int) -> int:
    """The name of a thread may be set; nothing else."""
    if integer(option) != 15:
        raise failure(errno.EINVAL)
    p.memory.read(address, 1)
    return 0
