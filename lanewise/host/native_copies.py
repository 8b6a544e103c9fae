"""Files that native code opens for lanes on a CPU, see `kernel.host_copies`: where they lie, and which they are."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from lanewise.compiler import load_object
from lanewise.devices.cpu_native import runtime
from lanewise.host.filestat import rights_of
from lanewise.host.handles import CopiedFile, Location
from lanewise.kernel.code import host_copies_code
from lanewise.kernel.host_copies import (
    COPY_HEAD,
    HAS_COPIES,
    NATIVE_HANDLE,
    WRITES,
    CopyEntry,
    CopyTable,
)
from lanewise.kernel.wasi_numbers import FILESTAT_BYTES, REGULAR_FILE

_ROOM = 256 << 20
"""Bytes for copies, of which only those that are used cost memory."""
_ENTRIES = 1 << 15
_ANSWER = "lw_host_answer"
_HEAD = struct.Struct("<II")
_FILESTAT = struct.Struct("<QQ16xQ")
"""Of a filestat: device, inode, size."""


class NativeCopies:
    """What native code has opened for the lanes of a run."""

    def __init__(self) -> None:
        imports = {"lw_call_host": runtime().guest_imports()["lw_call_host"]}
        self._library = load_object(host_copies_code(), [_ANSWER], imports)
        self._room = np.empty(_ROOM, np.uint8)
        self._base = int(self._room.ctypes.data)
        self._entries = np.zeros(_ENTRIES, CopyEntry.dtype)
        self._lanes = np.zeros(0, np.uint8)
        self._roots = np.zeros(0, np.int32)
        self._table: Any = CopyTable.record()
        self._table["room"], self._table["room_bytes"] = self._base, _ROOM
        self._table["entries"], self._table["mask"] = self._entries.ctypes.data, _ENTRIES - 1
        self._table["rights"] = rights_of(REGULAR_FILE, readable=True, writable=False)

    @property
    def answer(self) -> int:
        """The address of the function that lanes ask."""
        return self._library.address(_ANSWER)

    @property
    def table(self) -> int:
        """The address of what it is given besides a request."""
        return int(self._table.ctypes.data)

    def stop(self) -> None:
        """Have Python answer everything from now on, since the run is to end."""
        self._table["stopping"] = 1

    def begin_wave(self, roots: Sequence[int], lanes: int, callback: int) -> None:
        """Tell the native code of the directories and the lanes that it serves, and of Python's function."""
        self._table["stopping"] = 0
        self._roots, self._lanes = np.array(roots, np.int32), np.zeros(lanes, np.uint8)
        self._table["roots"], self._table["root_count"] = self._roots.ctypes.data, len(roots)
        self._table["lanes"], self._table["callback"] = self._lanes.ctypes.data, callback

    def forget_many(self) -> None:
        """Make room once half of it is used; no lane may have a copy."""
        if self._table["used"] >= _ROOM // 2:
            self._entries[:] = 0
            self._table["used"] = 0

    def note_writer(self, lane: int) -> None:
        """A lane can write to a file now: what it opens may be the same one, so that it gets no copies any more."""
        if lane < len(self._lanes):
            self._lanes[lane] |= WRITES

    def has_copies(self, lane: int) -> bool:
        """Whether a lane has been given any."""
        return lane < len(self._lanes) and bool(self._lanes[lane] & HAS_COPIES)

    def copied(self, handle: int) -> CopiedFile | None:
        """Which file a handle names, if it is one of those that native code gives."""
        offset = (handle - NATIVE_HANDLE) * 8
        if not COPY_HEAD <= offset < min(int(self._table["used"]), _ROOM):
            return None
        address = self._base + offset
        root, length = _HEAD.unpack(ctypes.string_at(address - COPY_HEAD, COPY_HEAD))
        device, inode, size = _FILESTAT.unpack(ctypes.string_at(address, _FILESTAT.size))
        path = ctypes.string_at(address + FILESTAT_BYTES + (size + 8) // 8 * 8, length)
        return CopiedFile(Location(root, tuple(path.split(b"/"))), (device, inode))
