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
from lanewise.host.paths import MOST_LINKS, Place, link_content, walk
from lanewise.host.reply import failure

_ALWAYS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
"""No link is followed that the walk did not see, nobody waits for a pipe, and no file may become our terminal."""
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

Parts = tuple[bytes, ...]


class Inside(NamedTuple):
    """A path within a directory that was given."""

    root: int
    path: bytes
    mount: Parts
    """Where programs have the directory."""


class Between(NamedTuple):
    """A directory above those that were given."""

    names: Parts
    """What is in it."""
    whole: bytes


def _parts(path: bytes) -> Parts:
    return tuple(part for part in path.split(b"/") if part not in (b"", b"."))


def last_part(path: bytes) -> bytes:
    """The last name of a path, which may be `.` or `..`."""
    return path.rstrip(b"/").rpartition(b"/")[2]


def _whole(parts: Parts) -> bytes:
    return b"/" + b"/".join(parts)


def _name(given: object) -> Parts:
    """The path that programs have for a directory."""
    if not isinstance(given, str):
        raise ArgumentError(f"the directory {given!r} is a {type(given).__name__}; what programs call it is a text")
    try:
        parts = _parts(os.fsencode(given))
    except UnicodeError:
        raise ArgumentError(f"the directory {given!r} has characters that no path has") from None
    if not given.startswith("/") or b".." in parts or "\0" in given:
        raise ArgumentError(f"the directory {given!r} is to begin with a slash, and to have no .. in it")
    return parts


class Mounts:
    """Directories of the host by the paths that programs know them by."""

    def __init__(self, directories: Mapping[str, str | Path]) -> None:
        if not isinstance(directories, Mapping):
            raise ArgumentError(
                f"dirs is a {type(directories).__name__}; it is a dictionary: the path that programs have, the one here"
            )
        allow_many_files()
        self._roots: dict[Parts, int] = {}
        self.first = b"/"
        """Where programs begin: in the first directory."""
        try:
            for number, (name, host) in enumerate(directories.items()):
                parts = _name(name)
                if parts in self._roots:
                    raise ArgumentError(f"the directory {name!r} is given twice; give it once")
                if not isinstance(host, str | os.PathLike):
                    raise ArgumentError(f"the directory {name!r} is a {type(host).__name__}; give the path of one here")
                self._roots[parts] = open_root(Path(host))
                if number == 0:
                    self.first = _whole(parts)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the directories."""
        while self._roots:
            os.close(self._roots.popitem()[1])

    def find(self, here: bytes, path: bytes, follow: bool) -> Inside | Between:
        """Where a path leads, from a directory on if it is relative; ENOENT if that is in no directory.

        A `..` leads back from where the names before it have led, which may be elsewhere if there are symbolic links
        among them: so those are walked. Other names are left to the walk of whoever asks, unless there are several
        directories: then a link may lead from one to another, and links are resolved here, the last name's if it is to
        be followed.
        """
        if not path:
            raise failure(errno.ENOENT)
        parts, itself = _parts(path), last_part(path) in (b".", b"..")
        at = () if path.startswith(b"/") else _parts(here)
        if len(self._roots) > 1:
            at = self._without_links(at, parts, follow or itself)
        else:
            for part in parts:
                at = self._real(at)[:-1] if part == b".." else (*at, part)
        mount = self._enclosing(at)
        if mount is None:
            names = tuple(sorted({one[len(at)] for one in self._roots if one[: len(at)] == at and len(one) > len(at)}))
            if not names:
                raise failure(errno.ENOENT)
            return Between(names, _whole(at))
        rest = b"/".join(at[len(mount) :])
        if rest and itself:
            rest += b"/."  # the directory itself, not a name that could be removed
        elif rest and path.endswith(b"/"):
            rest += b"/"
        return Inside(self._roots[mount], rest or b".", mount)

    def _without_links(self, at: Parts, parts: Parts, follow: bool) -> Parts:
        """Where names lead from a directory on, whichever of those that were given they lead through.

        Somebody may put a link where there was none before whoever asks gets there: it leads nowhere else than in the
        directory that it is in.
        """
        rest, links = list(reversed(parts)), 0
        while rest:
            part = rest.pop()
            if part == b"..":
                at = self._real(at)[:-1]
                continue
            at = (*at, part)
            target = self._link(at) if rest or follow else None
            if target is None:
                continue
            links += 1
            if links > MOST_LINKS:
                raise failure(errno.ELOOP)
            if target.startswith(b"/"):
                raise failure(errno.EPERM)
            at = at[:-1]
            rest.extend(reversed(_parts(target)))
        return at

    def _link(self, parts: Parts) -> bytes | None:
        """The content of the symbolic link that is there; None if there is none."""
        mount = self._enclosing(parts)
        if mount is None or any(one[: len(parts)] == parts for one in self._roots):
            return None
        with walk(self._roots[mount], b"/".join(parts[len(mount) :])) as place:
            return link_content(place.directory, place.name)

    def _real(self, parts: Parts) -> Parts:
        """The way to a directory without symbolic links; ENOENT or ENOTDIR if it is none."""
        mount = self._enclosing(parts)
        if mount is None:
            if not any(one[: len(parts)] == parts for one in self._roots):
                raise failure(errno.ENOENT)
            return parts
        if mount == parts:
            return parts
        with walk(self._roots[mount], b"/".join(parts[len(mount) :]) + b"/") as place:
            return (*mount, *place.way)

    def _enclosing(self, parts: Parts) -> Parts | None:
        """The directory that was given in which these names are, or none."""
        for count in range(len(parts), -1, -1):
            if parts[:count] in self._roots:
                return parts[:count]
        return None

    def directory(self, here: bytes, path: bytes) -> bytes:
        """The absolute path of a directory, without symbolic links; ENOTDIR if it is something else."""
        found = self.find(here, path, follow=True)
        if isinstance(found, Between):
            return found.whole
        with walk(found.root, found.path.rstrip(b"/") + b"/") as place:
            return _whole((*found.mount, *place.way))

    @contextmanager
    def place(
        self, here: bytes, path: bytes, *, follow: bool = False, keep_slash: bool = False, above: int = errno.EACCES
    ) -> Iterator[Place]:
        """A name in an open directory, for what changes directories; `above` those that were given it is an error."""
        found = self.find(here, path, follow or (path.endswith(b"/") and not keep_slash))
        if isinstance(found, Between):
            raise failure(above)
        with walk(found.root, found.path, follow=follow, keep_slash=keep_slash) as place:
            yield place

    @contextmanager
    def held(self, here: bytes, path: bytes, *, follow: bool) -> Iterator[bytes]:
        """A path of the host that leads to what a path leads to, whatever has its name meanwhile.

        It is not opened to be read or written, which its owner may have forbidden himself.
        """
        with self.place(here, path, follow=follow) as place:
            descriptor = os.open(place.name, os.O_PATH | _ALWAYS, dir_fd=place.directory)
        try:
            kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
            if kind not in (stat.S_IFREG, stat.S_IFDIR) and (follow or kind != stat.S_IFLNK):
                raise failure(errno.EACCES)
            yield b"/proc/self/fd/%d" % descriptor
        finally:
            os.close(descriptor)

    def is_above(self, here: bytes, path: bytes) -> bool:
        """Whether a path leads to a directory above those that were given."""
        return isinstance(self.find(here, path, follow=True), Between)

    def status(self, here: bytes, path: bytes, follow: bool) -> Status:
        """What there is to say of a path."""
        found = self.find(here, path, follow or path.endswith(b"/"))
        if isinstance(found, Between):
            return DIRECTORY
        with walk(found.root, found.path, follow=follow) as place:
            return Status.of(os.stat(place.name, dir_fd=place.directory, follow_symlinks=False))

    def open(self, here: bytes, path: bytes, flags: int, mode: int) -> Opened:
        """Open a file or a directory, with flags of the host."""
        follow = not flags & os.O_NOFOLLOW and flags & (os.O_CREAT | os.O_EXCL) != os.O_CREAT | os.O_EXCL
        found = self.find(here, path, follow or (path.endswith(b"/") and not flags & os.O_CREAT))
        if isinstance(found, Between):
            if flags & _ACCESS != os.O_RDONLY:
                raise failure(errno.EISDIR)
            return Directory(found.whole, None, found.names)
        with walk(found.root, found.path, follow=follow, keep_slash=bool(flags & os.O_CREAT)) as place:
            if place.slash:
                raise failure(errno.EISDIR)
            descriptor = os.open(place.name, flags | _ALWAYS, mode, dir_fd=place.directory)
            way = (*found.mount, *place.way, *(() if place.itself else (place.name,)))
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            return Directory(_whole(way), descriptor)
        # Devices and pipes of the host are not what a directory was given for.
        if not stat.S_ISREG(kind) and not (flags & os.O_PATH and stat.S_ISLNK(kind)):
            os.close(descriptor)
            raise failure(errno.EACCES)
        return HostFile(descriptor, flags & (_ACCESS | os.O_APPEND))
