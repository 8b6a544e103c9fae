"""Calls about what files have besides their content: modes, owners and times."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lanewise.arm64.linux.calls import call, integer
from lanewise.arm64.linux.opened import Opened
from lanewise.arm64.linux.process import AT_FDCWD, Process
from lanewise.host.filestat import set_times
from lanewise.host.reply import failure
from lanewise.kernel.wasi_numbers import FST_ATIM, FST_ATIM_NOW, FST_MTIM, FST_MTIM_NOW

_MODE = 0o1777
"""Bits of modes that programs set: not those by which whoever runs a file on the host becomes its owner."""
_NOFOLLOW, _EMPTY_PATH = 0x100, 0x1000
_UTIME_NOW, _UTIME_OMIT = 0x3FFFFFFF, 0x3FFFFFFE
_SECOND = 1_000_000_000


def _descriptor(p: Process, fd: int) -> int:
    """The host's descriptor of a file or directory; EPERM if it is neither, or above those that were given."""
    return _of_host(p.opened(integer(fd)))


def _of_host(opened: Opened) -> int:
    if opened.descriptor is None:
        raise failure(errno.EPERM)
    return opened.descriptor


@call(52)
def fchmod(p: Process, fd: int, mode: int) -> int:
    """Who may do what with what is open."""
    os.fchmod(_descriptor(p, fd), mode & _MODE)
    return 0


@call(53)
def fchmodat(p: Process, directory: int, path: int, mode: int) -> int:
    """Who may do what with a file."""
    name = p.path(path)
    with p.mounts.held(p.base(integer(directory), name), name, follow=True) as held:
        os.chmod(held, mode & _MODE)
    return 0


def _id(word: int) -> int:
    """A user or group; -1 for none."""
    number = word & 0xFFFFFFFF
    return -1 if number == 0xFFFFFFFF else number


@call(55)
def fchown(p: Process, fd: int, user: int, group: int) -> int:
    """Whose it is what is open, as far as whoever runs the program may say so."""
    os.fchown(_descriptor(p, fd), _id(user), _id(group))
    return 0


@call(54)
def fchownat(p: Process, directory: int, path: int, user: int, group: int, flags: int) -> int:
    """Whose a file is."""
    _check_flags(flags)
    with _named(p, integer(directory), p.path(path), flags) as held:
        os.chown(held, _id(user), _id(group))
    return 0


def _check_flags(flags: int) -> None:
    if flags & 0xFFFFFFFF & ~(_NOFOLLOW | _EMPTY_PATH):
        raise failure(errno.EINVAL)


@contextmanager
def _named(p: Process, directory: int, name: bytes, flags: int) -> Iterator[bytes]:
    """A path of the host to what is named; by no name, to what is open or to where the program is, if flags say so."""
    if name or not flags & _EMPTY_PATH:
        with p.mounts.held(p.base(directory, name), name, follow=not flags & _NOFOLLOW) as held:
            yield held
    elif directory == AT_FDCWD:
        with p.mounts.held(p.here, b".", follow=True) as held:
            yield held
    else:
        yield b"/proc/self/fd/%d" % _of_host(p.stands_for(directory))


@call(88)
def utimensat(p: Process, directory: int, path: int, times: int, flags: int) -> int:
    """Set the times of a file."""
    words = p.memory.words(times, "<qqqq") if times else (0, _UTIME_NOW, 0, _UTIME_NOW)
    if words[1] == words[3] == _UTIME_OMIT:
        return 0
    if not path and integer(directory) != AT_FDCWD:
        if flags & 0xFFFFFFFF:
            raise failure(errno.EINVAL)
        _set_times(_descriptor(p, directory), None, words)
        return 0
    _check_flags(flags)
    name = p.path(path)
    if not name and flags & _EMPTY_PATH:
        with _named(p, integer(directory), name, flags) as held:
            _set_times(None, held, words)
        return 0
    with p.mounts.place(p.base(integer(directory), name), name, follow=not flags & _NOFOLLOW) as place:
        _set_times(place.directory, place.name, words)
    return 0


def _set_times(descriptor: int | None, name: bytes | None, words: Sequence[int]) -> None:
    """Set both times, each given by seconds and nanoseconds, to what is said there."""
    access, change = words[0] * _SECOND + words[1], words[2] * _SECOND + words[3]
    wanted = _time_flag(words[1], FST_ATIM, FST_ATIM_NOW) | _time_flag(words[3], FST_MTIM, FST_MTIM_NOW)
    set_times(descriptor, name, access, change, wanted)


def _time_flag(nanoseconds: int, given: int, now: int) -> int:
    if nanoseconds == _UTIME_OMIT:
        return 0
    if nanoseconds == _UTIME_NOW:
        return now
    if not 0 <= nanoseconds < _SECOND:
        raise failure(errno.EINVAL)
    return given
