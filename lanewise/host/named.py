"""The requests that name files by paths: each resolves them within a directory, then acts on one plain name there."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import AbstractContextManager

from lanewise.host.filestat import check_times, encode_filestat, set_times
from lanewise.host.handles import OpenDirectory
from lanewise.host.paths import Place, check_text, walk
from lanewise.host.reply import DONE, Reply, Request, failure
from lanewise.kernel import wasi_numbers as wasi
from lanewise.kernel.system_numbers import LONGEST_PATH

_SYNCHRONOUS = wasi.FDFLAG_DSYNC | wasi.FDFLAG_RSYNC | wasi.FDFLAG_SYNC
_FDFLAGS = _SYNCHRONOUS | wasi.FDFLAG_APPEND | wasi.FDFLAG_NONBLOCK
_OFLAGS = wasi.OFLAG_CREAT | wasi.OFLAG_DIRECTORY | wasi.OFLAG_EXCL | wasi.OFLAG_TRUNC

_Start = Callable[[int, bytes], tuple[OpenDirectory, bytes]]
"""Gives the directory that a path starts at, by its handle, and the path from there."""


def open_flags(lookup: int, oflags: int, fdflags: int, rights: int, path: bytes) -> int:
    """The host's flags for what a lane asks for in opening a path."""
    check_text(path)
    if lookup & ~wasi.LOOKUP_SYMLINK_FOLLOW or oflags & ~_OFLAGS or fdflags & ~_FDFLAGS:
        raise failure(errno.EINVAL)
    if oflags & wasi.OFLAG_DIRECTORY and oflags & (wasi.OFLAG_CREAT | wasi.OFLAG_TRUNC):
        raise failure(errno.EINVAL)
    if fdflags & _SYNCHRONOUS:
        raise failure(errno.ENOTSUP)
    if rights & wasi.RIGHT_FD_WRITE:
        flags = os.O_RDWR if rights & wasi.RIGHT_FD_READ else os.O_WRONLY
    else:
        flags = os.O_RDONLY
    if oflags & wasi.OFLAG_CREAT:
        flags |= os.O_CREAT | (os.O_EXCL if oflags & wasi.OFLAG_EXCL else 0)
    if oflags & wasi.OFLAG_TRUNC:
        flags |= os.O_TRUNC
    if oflags & wasi.OFLAG_DIRECTORY:
        flags |= os.O_DIRECTORY
    return flags


def open_place(place: Place, flags: int) -> int:
    """Open what is at a place. A symbolic link is not followed, and ELOOP."""
    try:
        return os.open(place.name, flags, 0o666, dir_fd=place.directory)
    except NotADirectoryError:
        # That is what Linux says of a link that is opened as a directory.
        if _is_link(place):
            raise failure(errno.ELOOP) from None
        raise


def _is_link(place: Place) -> bool:
    try:
        os.readlink(place.name, dir_fd=place.directory)
    except OSError:
        return False
    return True


def request(op: int, asked: Request, start_of: _Start) -> Reply:
    """Do what a lane asks for with paths; ENOSYS if there is no such request."""
    action = _ACTIONS.get(op)
    return action(asked, start_of) if action else Reply(wasi.ENOSYS)


def _walk(
    start: tuple[OpenDirectory, bytes], *, follow: bool = False, keep_slash: bool = False
) -> AbstractContextManager[Place]:
    directory, path = start
    check_text(path)
    return walk(directory.descriptor, path, follow=follow, keep_slash=keep_slash)


def _create_directory(asked: Request, start_of: _Start) -> Reply:
    with _walk(start_of(asked.words[0], asked.data), keep_slash=True) as place:
        if place.itself:
            raise failure(errno.EEXIST)
        os.mkdir(place.name, dir_fd=place.directory)
    return DONE


def _filestat(asked: Request, start_of: _Start) -> Reply:
    with _walk(start_of(asked.words[0], asked.data), follow=_follows(asked.words[1])) as place:
        status = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
    return Reply(wasi.SUCCESS, data=encode_filestat(status))


def _set_times(asked: Request, start_of: _Start) -> Reply:
    handle, lookup, access, change, flags = asked.words[:5]
    check_times(flags)
    with _walk(start_of(handle, asked.data), follow=_follows(lookup)) as place:
        set_times(place.directory, place.name, access, change, flags)
    return DONE


def _link(asked: Request, start_of: _Start) -> Reply:
    old_path, new_path = _split(asked.data, asked.words[3])
    old, new = start_of(asked.words[0], old_path), start_of(asked.words[2], new_path)
    check_text(old_path)
    check_text(new_path)
    if asked.words[1]:
        raise failure(errno.EINVAL)
    with _walk(old) as source, _walk(new) as target:
        if target.itself:
            raise failure(errno.EEXIST)
        if source.itself:
            raise failure(errno.EPERM)
        os.link(
            source.name,
            target.name,
            src_dir_fd=source.directory,
            dst_dir_fd=target.directory,
            follow_symlinks=False,
        )
    return DONE


def _readlink(asked: Request, start_of: _Start) -> Reply:
    with _walk(start_of(asked.words[0], asked.data)) as place:
        content = os.readlink(place.name, dir_fd=place.directory)
    check_text(content)
    if content.startswith(b"/"):  # where the host keeps its files is not for lanes to know
        raise failure(errno.EPERM)
    return Reply(wasi.SUCCESS, data=content[: min(asked.words[1], asked.room)])


def _remove_directory(asked: Request, start_of: _Start) -> Reply:
    with _walk(start_of(asked.words[0], asked.data), keep_slash=True) as place:
        if place.itself:
            raise failure(errno.EINVAL)
        os.rmdir(place.name, dir_fd=place.directory)
    return DONE


def _rename(asked: Request, start_of: _Start) -> Reply:
    old_path, new_path = _split(asked.data, asked.words[2])
    old, new = start_of(asked.words[0], old_path), start_of(asked.words[1], new_path)
    with _walk(old, keep_slash=True) as source, _walk(new, keep_slash=True) as target:
        if source.itself or target.itself:
            raise failure(errno.EBUSY)
        # With a slash it must be a directory. The system sees to that, and follows no link for it.
        os.rename(
            source.name + b"/" * source.slash,
            target.name + b"/" * target.slash,
            src_dir_fd=source.directory,
            dst_dir_fd=target.directory,
        )
    return DONE


def _symlink(asked: Request, start_of: _Start) -> Reply:
    content, path = _split(asked.data, asked.words[1])
    start = start_of(asked.words[0], path)
    check_text(content)
    if b"\0" in content:
        raise failure(errno.EINVAL)
    if content.startswith(b"/"):
        raise failure(errno.EPERM)
    if len(content) > LONGEST_PATH:
        raise failure(errno.ENAMETOOLONG)
    with _walk(start) as place:
        if place.itself:
            raise failure(errno.EEXIST)
        os.symlink(content, place.name, dir_fd=place.directory)
    return DONE


def _unlink(asked: Request, start_of: _Start) -> Reply:
    with _walk(start_of(asked.words[0], asked.data)) as place:
        if place.itself:
            raise failure(errno.EISDIR)
        os.unlink(place.name, dir_fd=place.directory)
    return DONE


def _follows(lookup: int) -> bool:
    if lookup & ~wasi.LOOKUP_SYMLINK_FOLLOW:
        raise failure(errno.EINVAL)
    return bool(lookup)


def _split(data: bytes, length: int) -> tuple[bytes, bytes]:
    """Two texts that came as one, of which the first is so long."""
    if length > len(data):
        raise failure(errno.EINVAL)
    return data[:length], data[length:]


_ACTIONS: dict[int, Callable[[Request, _Start], Reply]] = {
    wasi.REQUEST_CREATE_DIRECTORY: _create_directory,
    wasi.REQUEST_PATH_FILESTAT: _filestat,
    wasi.REQUEST_PATH_SET_TIMES: _set_times,
    wasi.REQUEST_LINK: _link,
    wasi.REQUEST_READLINK: _readlink,
    wasi.REQUEST_REMOVE_DIRECTORY: _remove_directory,
    wasi.REQUEST_RENAME: _rename,
    wasi.REQUEST_SYMLINK: _symlink,
    wasi.REQUEST_UNLINK: _unlink,
}
