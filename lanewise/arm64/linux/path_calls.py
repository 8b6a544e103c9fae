"""Calls that name files by paths: each finds its way within the directories that were given."""

from __future__ import annotations

import errno
import os
import stat

from lanewise.arm64.linux.calls import call, integer, long
from lanewise.arm64.linux.mounts import last_part
from lanewise.arm64.linux.open_flags import host_flags
from lanewise.arm64.linux.opened import OnlyPath, Opened
from lanewise.arm64.linux.process import AT_FDCWD, Process
from lanewise.arm64.linux.status import Status, as_statfs
from lanewise.host.reply import failure

_CLOEXEC, _PATH, _TMPFILE = 0o2000000, 0o10000000, 0o20000000
_DIRECTORY = 0o40000
_WITH_PATH = _DIRECTORY | 0o100000 | _CLOEXEC | _PATH
"""Flags that mean something where only a path is wanted: a directory, no link, and these two."""
_NOFOLLOW, _REMOVEDIR, _FOLLOW, _EMPTY_PATH = 0x100, 0x200, 0x400, 0x1000
_NOREPLACE = 1
_NOT_REMOVED = {b".": errno.EINVAL, b"..": errno.ENOTEMPTY}
"""What Linux says to who would remove a directory by a name that is not its own."""
_NOT_MADE = stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFDIR
_SELF = b"/proc/self/exe"


@call(56)
def openat(p: Process, directory: int, path: int, flags: int, mode: int) -> int:
    """Open a file, a directory, or one of the devices."""
    name = p.path(path)
    if flags & _PATH:
        flags &= _WITH_PATH
    found: Opened | None = p.device(name)
    if found is None:
        if flags & _TMPFILE:
            raise failure(errno.EOPNOTSUPP)
        base = p.base(integer(directory), name)
        found = p.mounts.open(base, name, host_flags(flags), mode & 0o777 & ~p.umask)
    elif isinstance(found, OnlyPath) or (flags & _PATH and found.users):
        raise failure(errno.EACCES)
    elif flags & _DIRECTORY and not found.path:
        raise failure(errno.ENOTDIR)
    else:
        found = found.anew(host_flags(flags))
    opened = OnlyPath(found, host_flags(flags)) if flags & _PATH else found
    return p.put(opened, close_on_exec=bool(flags & _CLOEXEC))


def _status(p: Process, directory: int, path: int, flags: int) -> Status:
    name = p.path(path) if path else b""
    if not name and flags & _EMPTY_PATH:
        number = integer(directory)
        return p.mounts.status(p.here, b".", True) if number == -100 else p.stands_for(number).status()
    found = p.device(name)
    if found is not None:
        return found.status()
    return p.mounts.status(p.base(integer(directory), name), name, not flags & _NOFOLLOW)


@call(79)
def newfstatat(p: Process, directory: int, path: int, address: int, flags: int) -> int:
    """What there is to say of a path."""
    p.memory.write(address, _status(p, directory, path, flags).as_stat())
    return 0


@call(291)
def statx(p: Process, directory: int, path: int, flags: int, mask: int, address: int) -> int:
    """The same, in a newer layout."""
    p.memory.write(address, _status(p, directory, path, flags).as_statx())
    return 0


@call(43)
def statfs(p: Process, path: int, address: int) -> int:
    """What there is to say of where a file is kept."""
    name, found = p.path(path), None
    if p.device(name) is None and not p.mounts.is_above(p.here, name):
        with p.mounts.held(p.here, name, follow=True) as held:
            found = os.statvfs(held)
    p.memory.write(address, as_statfs(found))
    return 0


@call(48)
def faccessat(p: Process, directory: int, path: int, mode: int) -> int:
    """Whether a path may be read, written, run; or is there at all."""
    return faccessat2(p, directory, path, mode, 0)


@call(439)
def faccessat2(p: Process, directory: int, path: int, mode: int, flags: int) -> int:
    """The same, with flags."""
    found = _status(p, directory, path, flags)
    name, wanted = p.path(path), integer(mode)
    if not wanted or not name or p.device(name) is not None:
        return 0
    if found.device == found.inode == 1:  # above the directories that were given
        if wanted & os.W_OK:
            raise failure(errno.EACCES)
        return 0
    with p.mounts.place(p.base(integer(directory), name), name, follow=not flags & _NOFOLLOW) as place:
        if not os.access(place.name, wanted, dir_fd=place.directory, follow_symlinks=False):
            raise failure(errno.EACCES)
    return 0


@call(78)
def readlinkat(p: Process, directory: int, path: int, address: int, count: int) -> int:
    """What is in a symbolic link. Where the host keeps its files is not for programs to know."""
    name = p.path(path)
    if integer(count) <= 0:
        raise failure(errno.EINVAL)
    if not name and integer(directory) != AT_FDCWD:
        found = p.stands_for(integer(directory)).descriptor
        if found is None:
            raise failure(errno.ENOENT)
        content = os.readlink(b"", dir_fd=found)  # which is of what was opened by its path alone
    elif name == _SELF:
        content = p.name if p.name.startswith(b"/") else b"/" + p.name
    else:
        base = p.base(integer(directory), name)
        if p.device(name) is not None:
            raise failure(errno.EINVAL)
        with p.mounts.place(base, name) as place:
            content = os.readlink(place.name, dir_fd=place.directory)
    if name != _SELF and content.startswith(b"/"):
        raise failure(errno.EACCES)
    p.memory.write(address, content[: integer(count)])
    return min(len(content), integer(count))


@call(33)
def mknodat(p: Process, directory: int, path: int, mode: int) -> int:
    """Make an empty file; pipes and devices are not for programs to make."""
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise failure(errno.EPERM if stat.S_IFMT(mode) in _NOT_MADE else errno.EINVAL)
    name = p.path(path)
    with p.mounts.place(p.base(integer(directory), name), name, keep_slash=True, above=errno.EEXIST) as place:
        if place.itself:
            raise failure(errno.EEXIST)
        if place.slash:
            _refuse_existing(place.directory, place.name)
            raise failure(errno.ENOENT)
        os.mknod(place.name, stat.S_IFREG | mode & 0o777 & ~p.umask, dir_fd=place.directory)
    return 0


@call(34)
def mkdirat(p: Process, directory: int, path: int, mode: int) -> int:
    """Make a directory."""
    name = p.path(path)
    with p.mounts.place(p.base(integer(directory), name), name, keep_slash=True, above=errno.EEXIST) as place:
        if place.itself:
            raise failure(errno.EEXIST)
        os.mkdir(place.name, mode & 0o1777 & ~p.umask, dir_fd=place.directory)
    return 0


@call(35)
def unlinkat(p: Process, directory: int, path: int, flags: int) -> int:
    """Remove a file or an empty directory."""
    if integer(flags) & ~_REMOVEDIR:
        raise failure(errno.EINVAL)
    name = p.path(path)
    removes = bool(flags & _REMOVEDIR)
    above = errno.EBUSY if removes else errno.EISDIR
    with p.mounts.place(p.base(integer(directory), name), name, keep_slash=removes, above=above) as place:
        if place.itself:
            raise failure(_NOT_REMOVED.get(last_part(name), above) if removes else above)
        (os.rmdir if removes else os.unlink)(place.name, dir_fd=place.directory)
    return 0


@call(38)
def renameat(p: Process, old_directory: int, old: int, new_directory: int, new: int) -> int:
    """Give a file another name."""
    return renameat2(p, old_directory, old, new_directory, new, 0)


@call(276)
def renameat2(p: Process, old_directory: int, old: int, new_directory: int, new: int, flags: int) -> int:
    """The same, if wanted only where nothing is replaced."""
    source, target = p.path(old), p.path(new)
    if flags & ~_NOREPLACE:
        raise failure(errno.EINVAL)
    old_base, new_base = p.base(integer(old_directory), source), p.base(integer(new_directory), target)
    with (
        p.mounts.place(old_base, source, keep_slash=True, above=errno.EBUSY) as from_,
        p.mounts.place(new_base, target, keep_slash=True, above=errno.EBUSY) as into,
    ):
        if from_.itself or into.itself:
            raise failure(errno.EBUSY)
        if flags & _NOREPLACE:
            _refuse_existing(into.directory, into.name)
        os.rename(
            from_.name + b"/" * from_.slash,
            into.name + b"/" * into.slash,
            src_dir_fd=from_.directory,
            dst_dir_fd=into.directory,
        )
    return 0


def _refuse_existing(directory: int, name: bytes) -> None:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return
    raise failure(errno.EEXIST)


@call(36)
def symlinkat(p: Process, content: int, directory: int, path: int) -> int:
    """Make a symbolic link; an absolute one would mean something else to the host."""
    text, name = p.path(content), p.path(path)
    if text.startswith(b"/"):
        raise failure(errno.EPERM)
    with p.mounts.place(p.base(integer(directory), name), name, above=errno.EEXIST) as place:
        if place.itself:
            raise failure(errno.EEXIST)
        os.symlink(text, place.name, dir_fd=place.directory)
    return 0


@call(37)
def linkat(p: Process, old_directory: int, old: int, new_directory: int, new: int, flags: int) -> int:
    """Give a file one more name; a link by itself, or what it leads to."""
    if integer(flags) & ~(_FOLLOW | _EMPTY_PATH):
        raise failure(errno.EINVAL)
    source, target, follow = p.path(old), p.path(new), bool(flags & _FOLLOW)
    with (
        p.mounts.place(p.base(integer(old_directory), source), source, follow=follow, above=errno.EPERM) as from_,
        p.mounts.place(p.base(integer(new_directory), target), target, above=errno.EEXIST) as into,
    ):
        if from_.itself:
            raise failure(errno.EPERM)
        if into.itself:
            raise failure(errno.EEXIST)
        os.link(from_.name, into.name, src_dir_fd=from_.directory, dst_dir_fd=into.directory, follow_symlinks=False)
    return 0


@call(45)
def truncate(p: Process, path: int, size: int) -> int:
    """Make a file so long."""
    if long(size) < 0:
        raise failure(errno.EINVAL)
    opened = p.mounts.open(p.here, p.path(path), os.O_WRONLY, 0)
    try:
        opened.truncate(size)
    finally:
        opened.close()
    return 0


@call(166)
def umask(p: Process, mask: int) -> int:
    """What others may not do with new files."""
    before, p.umask = p.umask, mask & 0o777
    return before


@call(17)
def getcwd(p: Process, address: int, count: int) -> int:
    """Where the program is."""
    if len(p.here) + 1 > count:
        raise failure(errno.ERANGE)
    p.memory.write(address, p.here + b"\0")
    return len(p.here) + 1


@call(49)
def chdir(p: Process, path: int) -> int:
    """Go elsewhere."""
    p.here = p.mounts.directory(p.here, p.path(path))
    return 0


@call(50)
def fchdir(p: Process, fd: int) -> int:
    """Go to a directory that is open."""
    found = p.stands_for(integer(fd)).path
    if not found:
        raise failure(errno.ENOTDIR)
    p.here = found
    return 0
