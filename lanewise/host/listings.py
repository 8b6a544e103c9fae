"""What is in a directory, encoded as guests read it, and shared by the lanes that read the same one."""

from __future__ import annotations

import os
import struct
import threading
from array import array
from weakref import WeakValueDictionary

from lanewise.host.filestat import kind_of, settled
from lanewise.host.paths import check_text
from lanewise.kernel.wasi_numbers import DIRECTORY, REGULAR_FILE, SYMBOLIC_LINK

_DIRENT = struct.Struct("<QQIB3x")


class Listing:
    """The entries of a directory at one moment; the number of an entry is the cookie that it is read from on."""

    def __init__(self, descriptor: int, inode: int) -> None:
        entries = [(b".", inode, DIRECTORY), (b"..", inode, DIRECTORY)]
        with os.scandir(descriptor) as found:
            entries.extend((os.fsencode(entry.name), entry.inode(), _kind(entry)) for entry in found)
        self._starts = array("Q", [0])
        encoded = bytearray()
        for number, (name, entry_inode, kind) in enumerate(entries, 1):
            check_text(name)
            encoded += _DIRENT.pack(number, entry_inode, len(name), kind) + name
            self._starts.append(len(encoded))
        self._encoded = bytes(encoded)

    def read(self, cookie: int, skip: int, room: int) -> bytes:
        """The entries from a cookie on, without the first `skip` bytes, cut at `room`; nothing beyond the end."""
        start = self._starts[min(cookie, len(self._starts) - 1)] + skip
        return self._encoded[start : start + room]


def _kind(entry: os.DirEntry[str]) -> int:
    # These three are known from the directory itself as a rule; the others take a look at the file.
    if entry.is_symlink():
        return SYMBOLIC_LINK
    if entry.is_dir(follow_symlinks=False):
        return DIRECTORY
    if entry.is_file(follow_symlinks=False):
        return REGULAR_FILE
    return kind_of(entry.stat(follow_symlinks=False).st_mode)


class Listings:
    """The listings that lanes hold. Many threads may ask for them at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listings: WeakValueDictionary[tuple[int, int, int], Listing] = WeakValueDictionary()

    def listing(self, directory: int) -> Listing:
        """What is in an open directory now; EILSEQ if a name is not UTF-8."""
        # Opened anew, since two who read through one descriptor would share its position.
        descriptor = os.open(b".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
        try:
            status = os.fstat(descriptor)
            version = status.st_dev, status.st_ino, status.st_ctime_ns
            with self._lock:
                listing = self._listings.get(version)
            if listing is None:
                listing = Listing(descriptor, status.st_ino)
                if settled(status):
                    with self._lock:
                        self._listings[version] = listing
            return listing
        finally:
            os.close(descriptor)
