"""What WASI says of a file: its kind, its filestat, the rights to it, and its times."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import time

from lanewise.host.reply import failure
from lanewise.kernel.system_numbers import SETTLED_NS
from lanewise.kernel.wasi_numbers import (
    BLOCK_DEVICE,
    CHARACTER_DEVICE,
    DIRECTORY,
    FST_ATIM,
    FST_ATIM_NOW,
    FST_MTIM,
    FST_MTIM_NOW,
    REGULAR_FILE,
    RIGHT_FD_FILESTAT_SET_SIZE,
    RIGHT_FD_READ,
    RIGHT_FD_READDIR,
    RIGHT_FD_SEEK,
    RIGHT_FD_WRITE,
    RIGHT_PATH_FILESTAT_SET_SIZE,
    RIGHTS_END,
    SYMBOLIC_LINK,
    UNKNOWN,
)

WORD = 1 << 64
"""One more than the largest word of a request."""
_SECOND = 1_000_000_000
_NOW, _KEEP = (1 << 30) - 1, (1 << 30) - 2
"""In the place of nanoseconds, to the C library: the time of day, and no change."""
_NO_FOLLOW, _NOWHERE = 0x100, -100

_KINDS = {
    stat.S_IFREG: REGULAR_FILE,
    stat.S_IFDIR: DIRECTORY,
    stat.S_IFLNK: SYMBOLIC_LINK,
    stat.S_IFCHR: CHARACTER_DEVICE,
    stat.S_IFBLK: BLOCK_DEVICE,
}
_FILESTAT = struct.Struct("<QQB7xQQQQQ")
_libc = ctypes.CDLL(None, use_errno=True)


def kind_of(mode: int) -> int:
    """The kind of a file by its mode. Pipes and sockets by name have no number of their own."""
    return _KINDS.get(stat.S_IFMT(mode), UNKNOWN)


def encode_filestat(status: os.stat_result) -> bytes:
    """A filestat as guests read it."""
    access, change, creation = status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns
    if min(access, change, creation) < 0 or max(access, change, creation) >= WORD:  # WASI has 584 years from 1970 on
        access, change, creation = (min(max(time, 0), WORD - 1) for time in (access, change, creation))
    kind = kind_of(status.st_mode)
    return _FILESTAT.pack(
        status.st_dev % WORD, status.st_ino, kind, status.st_nlink, status.st_size, access, change, creation
    )


def settled(status: os.stat_result) -> bool:
    """Whether any further change will show in the times of a file or directory."""
    return time.time_ns() - status.st_ctime_ns >= SETTLED_NS


def rights_of(kind: int, *, readable: bool, writable: bool) -> int:
    """The rights that a file comes with, which follow from its kind and from what it was opened for."""
    rights = RIGHTS_END - 1
    if kind == DIRECTORY:
        rights &= ~(RIGHT_FD_SEEK | RIGHT_FD_FILESTAT_SET_SIZE | RIGHT_PATH_FILESTAT_SET_SIZE)
    if not readable:
        rights &= ~(RIGHT_FD_READ | RIGHT_FD_READDIR)
    if not writable:
        rights &= ~RIGHT_FD_WRITE
    return rights


def check_times(flags: int) -> None:
    """EINVAL if a time is to be both a given one and the time of day."""
    both, also = FST_ATIM | FST_ATIM_NOW, FST_MTIM | FST_MTIM_NOW
    if flags & both == both or flags & also == also or flags > both | also:
        raise failure(errno.EINVAL)


def set_times(descriptor: int | None, name: bytes | None, access: int, change: int, flags: int) -> None:
    """Set the times of an open file, or of what has a name in an open directory, be it a symbolic link; or of what a
    whole path leads to, where there is no descriptor.

    Python cannot leave one time as it is, so the C library is asked. The flags must have been checked.
    """
    times = (ctypes.c_int64 * 4)(
        *_time(access, flags & FST_ATIM, flags & FST_ATIM_NOW),
        *_time(change, flags & FST_MTIM, flags & FST_MTIM_NOW),
    )
    if name is None:
        failed = _libc.futimens(descriptor, times)
    elif descriptor is None:
        failed = _libc.utimensat(_NOWHERE, name, times, 0)
    else:
        failed = _libc.utimensat(descriptor, name, times, _NO_FOLLOW)
    if failed:
        raise failure(ctypes.get_errno())


def _time(nanoseconds: int, given: int, now: int) -> tuple[int, int]:
    if given:
        return divmod(nanoseconds, _SECOND)
    return 0, _NOW if now else _KEEP
