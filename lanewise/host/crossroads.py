"""A directory `.` in which there is nothing but the directories that a program was given anyway.

Programs of C find the directory for a path by its name, and the usual library takes the `./` off the names that it is
given, but not off the paths that it looks for: given `./data`, it finds no directory for `./data/file`. Only one called
`.` it asks for any path. So whoever is given a directory by such a name gets this one, too.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence

from lanewise.host.reply import failure

NAME = b"."
_HERE = re.compile(rb"(?:\./+)+")
"""What paths begin with and need not."""
_EVERYTHING = re.compile(rb"(?:\.?/+)*\.?")
"""Names of directories in which any relative path is looked for, so that there is no use for another."""


class Crossroads:
    """Which directory a path leads to, and by which path from there."""

    def __init__(self, names: Sequence[bytes]) -> None:
        relative = {_plain(name).rstrip(b"/"): number for number, name in enumerate(names) if not name.startswith(b"/")}
        self._ways = sorted(relative.items(), key=lambda way: len(way[0]), reverse=True)
        """The longest first: one directory may be within another."""

    def way(self, path: bytes) -> tuple[int, bytes]:
        """The number of the directory and the rest of the path; nothing else is there."""
        plain = _plain(path)
        for name, number in self._ways:
            if plain == name or plain.startswith(name + b"/"):
                return number, plain[len(name) :].lstrip(b"/") or b"."
        raise failure(errno.ENOENT)


def crossroads_for(names: Sequence[bytes]) -> Crossroads | None:
    """What directories of these names need, if they do."""
    needed = any(_HERE.match(name) for name in names) and not any(_EVERYTHING.fullmatch(name) for name in names)
    return Crossroads(names) if needed else None


def _plain(path: bytes) -> bytes:
    found = _HERE.match(path)
    return path[found.end() :] if found else path
