"""Opening a plain path in one call of the system, which itself sees to it that it does not lead out."""

from __future__ import annotations

import ctypes
import struct

from lanewise.kernel.system_numbers import BENEATH, LONGEST_PATH, OPENAT2, OPENAT2_WORKS, READ_FLAGS

_HOW = struct.pack("<QQQ", READ_FLAGS, 0, BENEATH)
"""Who meets a link walks."""
_syscall = ctypes.CDLL(None).syscall if OPENAT2_WORKS else None


def plain_parts(path: bytes) -> list[bytes] | None:
    """The names of a path that is nothing but names; None for any other."""
    parts = path.split(b"/")
    if len(path) > LONGEST_PATH or b"\0" in path or not path.isascii():
        return None
    return None if any(part in (b"", b".", b"..") for part in parts) else parts


def open_beneath(directory: int, path: bytes) -> int | None:
    """Open a plain path below a directory to be read; None if that is not to be had so simply."""
    if _syscall is None:
        return None
    found = int(_syscall(OPENAT2, directory, path, _HOW, len(_HOW)))
    return found if found >= 0 else None
