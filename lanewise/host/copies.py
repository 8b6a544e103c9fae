"""Copies of files where lanes can read them, made once for all lanes."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable

from lanewise.host.filestat import encode_filestat, settled

LARGEST_COPY = 16 << 20
"""Bytes of content; larger files are read piece by piece."""

_Version = tuple[int, int, int, int, int]


class _Copy:
    """One version of a file; the lock is held while the copy is made."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.address: int | None = None


class Copies:
    """The copies of a run. Many threads may ask for them at once."""

    def __init__(self, place: Callable[[bytes], int]) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._copies: dict[_Version, _Copy] = {}

    def forget(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._copies.clear()

    def address(self, descriptor: int, status: os.stat_result) -> int:
        """The address of a copy of an open file as `status` describes it; 0 if there can be none."""
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_COPY or not settled(status):
            return 0
        with self._lock:
            copy = self._copies.setdefault(_version(status), _Copy())
        with copy.lock:
            if copy.address is None:
                content = _read(descriptor, status)
                copy.address = 0 if content is None else self._place(encode_filestat(status) + content)
            return copy.address


def _version(status: os.stat_result) -> _Version:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _read(descriptor: int, status: os.stat_result) -> bytes | None:
    """The whole content; None if it changed meanwhile, or is not of the size it says, as files in /proc are not."""
    pieces = []
    missing = status.st_size + 1
    while missing:
        piece = os.pread(descriptor, missing, status.st_size + 1 - missing)
        if not piece:
            break
        pieces.append(piece)
        missing -= len(piece)
        if missing == 1:
            break  # as much as there is, and less than was asked for
    same = missing == 1 and _version(os.fstat(descriptor)) == _version(status)
    return b"".join(pieces) if same else None
