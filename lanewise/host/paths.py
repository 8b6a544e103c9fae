"""Where a path leads, walked one name at a time so that it cannot lead out of the directory it starts in.

Every step opens one plain name in a directory that is held open, and follows no link: contents of symbolic links are
read and walked here, and `..` goes back along the way that was come. So whatever others rename or swap in the meantime,
a step only ever leads from a directory into one that is in it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from lanewise.host.reply import failure
from lanewise.kernel.system_numbers import LONGEST_PATH

MOST_LINKS = 40
"""Symbolic links that one path may lead through, as on Linux."""
DIRECTORIES_HELD = 16
"""Directories of a path that are open at once; those before are opened again if `..` leads back to them."""

_STEP = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


class Place(NamedTuple):
    """What a path leads to: a name in an open directory."""

    directory: int
    """The open directory."""
    name: bytes
    """A plain name, of something that may not be there; or `.` for the directory itself."""
    way: tuple[bytes, ...]
    """The names of the directories from the one where the path starts to this one."""
    slash: bool
    """Whether a slash follows the name; only if it was asked to be kept."""

    @property
    def itself(self) -> bool:
        """Whether it is the directory, not something in it."""
        return self.name == b"."


class Trail:
    """The directories that a walk has come through. Each is open, or can be opened again by the names before it."""

    def __init__(self, root: int) -> None:
        self._root = root
        self.names: list[bytes] = []
        self._held: list[int] = []

    @property
    def here(self) -> int:
        """The directory that the walk is in."""
        return self._held[-1] if self._held else self._root

    def enter(self, name: bytes) -> None:
        """Go into a directory; ENOTDIR if it is a file or a symbolic link."""
        self._held.append(os.open(name, _STEP, dir_fd=self.here))
        self.names.append(name)
        if len(self._held) > DIRECTORIES_HELD:
            os.close(self._held.pop(0))

    def leave(self) -> None:
        """Go back to the directory before; EPERM at the first."""
        if not self.names:
            raise failure(errno.EPERM)
        self.names.pop()
        os.close(self._held.pop())
        if self.names and not self._held:
            names, self.names = self.names, []
            for name in names:
                self.enter(name)

    def close(self) -> None:
        """Let go of all directories but the first, which belongs to others."""
        while self._held:
            os.close(self._held.pop())


def check_text(path: bytes) -> None:
    """EILSEQ if it is not UTF-8, as WASI has its paths; to the walk, as to Linux, they are bytes."""
    try:
        path.decode()
    except UnicodeDecodeError:
        raise failure(errno.EILSEQ) from None


def check_path(path: bytes) -> None:
    """Refuse what is no relative path, whatever there is in the file system."""
    if b"\0" in path:
        raise failure(errno.EINVAL)
    if not path:
        raise failure(errno.ENOENT)
    if len(path) > LONGEST_PATH:
        raise failure(errno.ENAMETOOLONG)
    if path.startswith(b"/"):
        raise failure(errno.EPERM)


@contextmanager
def walk(root: int, path: bytes, *, follow: bool = False, keep_slash: bool = False) -> Iterator[Place]:
    """Find the place that a path leads to from an open directory; the directories on the way are open until the end.

    `follow` is about a symbolic link at the end; those before are always followed. A slash at the end means what `/.`
    means: what is before must be a directory, and links to it are followed. With `keep_slash` it is left to the caller.
    """
    check_path(path)
    trail = Trail(root)
    try:
        yield _resolve(trail, path, follow, keep_slash)
    finally:
        trail.close()


def _resolve(trail: Trail, path: bytes, follow: bool, keep_slash: bool) -> Place:
    slash = path.endswith(b"/")
    rest = _parts(path)
    links = 0
    while rest:
        part = rest.pop()
        if part == b".":
            continue
        if part == b"..":
            trail.leave()
            continue
        if rest or (slash and not keep_slash):
            target = _enter(trail, part)
        else:
            target = link_content(trail.here, part) if follow and not slash else None
            if target is None:
                return Place(trail.here, part, tuple(trail.names), slash)
        if target is None:
            continue
        links += 1
        if links > MOST_LINKS:
            raise failure(errno.ELOOP)
        if target.startswith(b"/"):
            raise failure(errno.EPERM)
        if not rest:
            slash = slash or target.endswith(b"/")
        rest.extend(_parts(target))
    return Place(trail.here, b".", tuple(trail.names), False)


def _parts(path: bytes) -> list[bytes]:
    """The names of a path, the last first."""
    return [part for part in path.split(b"/")[::-1] if part]


def _enter(trail: Trail, name: bytes) -> bytes | None:
    """Go into a directory; or the content of the symbolic link that is there instead."""
    try:
        trail.enter(name)
    except NotADirectoryError:
        target = link_content(trail.here, name)
        if target is None:
            raise
        return target
    return None


def link_content(directory: int, name: bytes) -> bytes | None:
    """The content of a symbolic link; None if it is none, or nothing."""
    with suppress(FileNotFoundError):
        try:
            return os.readlink(name, dir_fd=directory)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
    return None
