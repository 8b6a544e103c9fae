"""The directories that programs are given, and where a path leads among them.

Nothing else of the host is there. Within a directory the walk of `lanewise.host.paths` finds the way, which cannot lead
out of it whatever links and renames there are; here it is only decided which directory a path is in.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lanewise.arm64.linux.opened import Directory, HostFile, Opened
from lanewise.arm64.linux.status import DIRECTORY, Status
from lanewise.errors import ArgumentError
from lanewise.host.files import allow_many_files, open_root
from lanewise.host.paths import Place, walk
from lanewise.host.reply import failure

_ALWAYS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
"""No link is followed that the walk did not see, nobody waits for a pipe, and no file may become our terminal."""
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

Parts = tuple[bytes, ...]


class Inside(NamedTuple):
    """A path within a directory that was given."""

    root: int
    path: bytes
    whole: bytes
    """The absolute path."""


class Between(NamedTuple):
    """A directory above those that were given."""

    names: Parts
    """What is in it."""
    whole: bytes


def _parts(path: bytes) -> Parts:
    return tuple(part for part in path.split(b"/") if part not in (b"", b"."))


class Mounts:
    """Directories of the host by the paths that programs know them by."""

    def __init__(self, directories: Mapping[str, str | Path]) -> None:
        allow_many_files()
        self._roots: dict[Parts, int] = {}
        self.first = b"/"
        """Where programs begin: in the first directory."""
        try:
            for number, (name, host) in enumerate(directories.items()):
                parts = _parts(os.fsencode(name))
                if not name.startswith("/") or b".." in parts:
                    raise ArgumentError(f"the directory {name!r} is to begin with a slash, and to have no .. in it")
                self._roots[parts] = open_root(Path(host))
                if number == 0:
                    self.first = b"/" + b"/".join(parts)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the directories."""
        while self._roots:
            os.close(self._roots.popitem()[1])

    def find(self, here: bytes, path: bytes) -> Inside | Between:
        """Where a path leads, from a directory on if it is relative; ENOENT if that is in no directory."""
        if not path:
            raise failure(errno.ENOENT)
        whole = path if path.startswith(b"/") else here + b"/" + path
        at, rest = self._enclosing(())
        depth = 0
        for part in _parts(whole):
            if part == b"..":
                if rest and depth > 0:
                    rest.append(part)
                    depth -= 1
                else:
                    at, rest = self._enclosing(at[:-1])
                    depth = len(rest or ())
                continue
            name = (*at, *(rest or ()), part)
            if name in self._roots:
                at, rest, depth = name, [], 0
            elif rest is None:
                at = name
            else:
                rest.append(part)
                depth += 1
        if rest is None:
            names = tuple(sorted({one[len(at)] for one in self._roots if one[: len(at)] == at and len(one) > len(at)}))
            if not names:
                raise failure(errno.ENOENT)
            return Between(names, b"/" + b"/".join(at))
        absolute = b"/" + b"/".join((*at, *rest))
        slash = b"/" if rest and path.endswith((b"/", b"/.")) else b""
        return Inside(self._roots[at], b"/".join(rest) + slash if rest else b".", absolute)

    def _enclosing(self, parts: Parts) -> tuple[Parts, list[bytes] | None]:
        """The directory that was given in which these names are, and those of them within it; or none."""
        for count in range(len(parts), -1, -1):
            if parts[:count] in self._roots:
                return parts[:count], list(parts[count:])
        return parts, None

    @contextmanager
    def place(self, here: bytes, path: bytes, *, follow: bool = False, keep_slash: bool = False) -> Iterator[Place]:
        """A name in an open directory, for what changes directories; EACCES above those that were given."""
        found = self.find(here, path)
        if isinstance(found, Between):
            raise failure(errno.EACCES)
        with walk(found.root, found.path, follow=follow, keep_slash=keep_slash) as place:
            yield place

    def status(self, here: bytes, path: bytes, follow: bool) -> Status:
        """What there is to say of a path."""
        found = self.find(here, path)
        if isinstance(found, Between):
            return DIRECTORY
        with walk(found.root, found.path, follow=follow) as place:
            return Status.of(os.stat(place.name, dir_fd=place.directory, follow_symlinks=False))

    def open(self, here: bytes, path: bytes, flags: int, mode: int) -> Opened:
        """Open a file or a directory, with flags of the host."""
        found = self.find(here, path)
        if isinstance(found, Between):
            if flags & _ACCESS != os.O_RDONLY:
                raise failure(errno.EISDIR)
            return Directory(found.whole, None, found.names)
        follow = not flags & os.O_NOFOLLOW and flags & (os.O_CREAT | os.O_EXCL) != os.O_CREAT | os.O_EXCL
        with walk(found.root, found.path, follow=follow, keep_slash=bool(flags & os.O_CREAT)) as place:
            if place.slash:
                raise failure(errno.EISDIR)
            descriptor = os.open(place.name, flags | _ALWAYS, mode, dir_fd=place.directory)
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            return Directory(found.whole, descriptor)
        if not stat.S_ISREG(kind):  # devices and pipes of the host are not what a directory was given for
            os.close(descriptor)
            raise failure(errno.EACCES)
        return HostFile(descriptor, flags & (_ACCESS | os.O_APPEND))
