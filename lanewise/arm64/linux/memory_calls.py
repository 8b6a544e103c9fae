"""Calls about memory."""

from __future__ import annotations

import errno
import os

from lanewise.arm64.linux.calls import call, integer, long
from lanewise.arm64.linux.elf import PAGE
from lanewise.arm64.linux.heap import pages
from lanewise.arm64.linux.opened import Device, Opened
from lanewise.arm64.linux.process import Process
from lanewise.host.reply import failure

_WRITABLE = 2
_SHARED, _PRIVATE, _SHARED_CHECKED = 1, 2, 3
_KIND, _FIXED, _ANONYMOUS, _NOREPLACE = 0xF, 0x10, 0x20, 0x100000
_MAYMOVE = 1
_DONTNEED = 4
_MSYNC, _MSYNC_NOW = 7, 5
"""Flags of msync, and those two of them that exclude each other."""
_ACCESS = 3
_STEP = 1 << 20
"""Bytes of a file that are on their way at once."""


@call(214)
def brk(p: Process, wanted: int) -> int:
    """Move the end of the heap."""
    return p.heap.move_brk(wanted)


@call(222)
def mmap(p: Process, address: int, count: int, protection: int, flags: int, fd: int, offset: int) -> int:
    """Memory, with the content of a file if wanted. Nothing that is written there comes into the file."""
    if not count or offset % PAGE:
        raise failure(errno.EINVAL)
    kind = flags & _KIND
    if kind not in (_SHARED, _PRIVATE, _SHARED_CHECKED) or (kind == _SHARED_CHECKED and flags & _ANONYMOUS):
        raise failure(errno.EINVAL)
    _check_size(p, count)
    file = None if flags & _ANONYMOUS else _file(p.opened(integer(fd)))
    if not flags & _ANONYMOUS:
        if kind != _PRIVATE and protection & _WRITABLE:
            raise failure(errno.ENODEV)
        if long(offset) < 0 or offset + count >= 1 << 63:
            raise failure(errno.EINVAL)
    if flags & (_FIXED | _NOREPLACE):
        found = p.heap.map_at(address, count, replace=not flags & _NOREPLACE)
    else:
        found = p.heap.map(count)
    if file is not None:
        _fill(p, found, count, file, offset)
    return found


def _fill(p: Process, address: int, count: int, file: Opened, offset: int) -> None:
    """Set memory to what is in a file; what is behind its end stays 0."""
    at = 0
    while at < count:
        data = file.read_at(min(_STEP, count - at), offset + at)
        if not data:
            return
        p.memory.write(address + at, data)
        at += len(data)


def _check_size(p: Process, count: int) -> None:
    """ENOMEM for more than there is in all."""
    if count > p.memory.end - p.memory.start:
        p.heap.refused = True
        raise failure(errno.ENOMEM)


def _file(opened: Opened) -> Opened | None:
    """A file whose content can be in memory; none for the device whose content is 0, ENODEV for all others."""
    if isinstance(opened, Device) and opened.is_zero:
        return None
    if not opened.mappable:
        raise failure(errno.ENODEV)
    if opened.flags & _ACCESS == os.O_WRONLY:
        raise failure(errno.EACCES)
    return opened


@call(215)
def munmap(p: Process, address: int, count: int) -> int:
    """Give memory back."""
    p.heap.unmap(address, count)
    return 0


@call(216)
def mremap(p: Process, old: int, old_count: int, count: int, flags: int) -> int:
    """Make memory larger or smaller."""
    if flags & ~_MAYMOVE:
        raise failure(errno.EINVAL)
    _check_size(p, count)
    return p.heap.remap(old, old_count, count, bool(flags & _MAYMOVE))


@call(226)
def mprotect(p: Process, address: int, count: int) -> int:
    """Protection, of which there is none."""
    if address % PAGE:
        raise failure(errno.EINVAL)
    if address < p.memory.start or address + count > p.memory.end:
        raise failure(errno.ENOMEM)
    return 0


@call(227)
def msync(p: Process, address: int, count: int, flags: int) -> int:
    """Nothing that is written to memory comes into a file."""
    if flags & 0xFFFFFFFF & ~_MSYNC or flags & _MSYNC_NOW == _MSYNC_NOW:
        raise failure(errno.EINVAL)
    return mprotect(p, address, count)


@call(233)
def madvise(p: Process, address: int, count: int, advice: int) -> int:
    """Advice; memory that is not needed is 0 from then on."""
    if address % PAGE:
        raise failure(errno.EINVAL)
    if pages(count) >= 1 << 64:
        raise failure(errno.EINVAL)
    if integer(advice) == _DONTNEED:
        if address < p.memory.start or address + pages(count) > p.memory.end:
            raise failure(errno.ENOMEM)
        p.heap.clear(address, count)
    return 0
