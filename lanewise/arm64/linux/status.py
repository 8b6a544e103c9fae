"""What a program is told of a file, in the layouts that its C library reads."""

from __future__ import annotations

import os
import stat
import struct
from dataclasses import dataclass

BLOCK = 4096
_STAT = struct.Struct("<QQIIIIQQqiiqqQqQqQII")
_STATX = struct.Struct("<IIQIIIHHQQQQ" + "qIi" * 4 + "IIII" + "112x")
_STATX_BASIC = 0x7FF
_STATFS = struct.Struct("<7q8x3q32x")
_PLAIN = 0xEF53
"""The kind of file system that all are told to be: that of ext4, as nothing is special about one."""
_NAME_BYTES = 255
_KNOWN = 2
"""The inode of such a file, which programs compare with that of what they write to."""
_SECTOR = 512
_SECOND = 1_000_000_000


@dataclass(frozen=True)
class Status:
    """What there is to say of a file."""

    mode: int
    size: int = 0
    inode: int = 1
    device: int = 1
    links: int = 1
    uid: int = 0
    gid: int = 0
    rdev: int = 0
    blocks: int = 0
    times: tuple[int, int, int] = (0, 0, 0)
    """Of access, of content, of the file itself, in nanoseconds."""

    @classmethod
    def of(cls, found: os.stat_result) -> Status:
        """As the host has it."""
        return cls(
            found.st_mode, found.st_size, found.st_ino, found.st_dev, found.st_nlink, found.st_uid, found.st_gid,
            found.st_rdev, found.st_blocks, (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns),
        )  # fmt: skip

    def as_stat(self) -> bytes:
        """For fstat and newfstatat."""
        times = [part for time in self.times for part in divmod(time, _SECOND)]
        return _STAT.pack(
            self.device, self.inode, self.mode, self.links, self.uid, self.gid, self.rdev, 0, self.size, BLOCK, 0,
            self.blocks, *times, 0, 0,
        )  # fmt: skip

    def as_statx(self) -> bytes:
        """For statx."""
        access, content, change = ((*divmod(time, _SECOND), 0) for time in self.times)
        return _STATX.pack(
            _STATX_BASIC, BLOCK, 0, self.links, self.uid, self.gid, self.mode, 0, self.inode, self.size, self.blocks, 0,
            *access, 0, 0, 0, *change, *content,
            os.major(self.rdev), os.minor(self.rdev), os.major(self.device), os.minor(self.device),
        )  # fmt: skip


PIPE = Status(stat.S_IFIFO | 0o600)
DIRECTORY = Status(stat.S_IFDIR | 0o555, links=2)
"""A directory that only leads to those that were given."""


def known_file(size: int) -> Status:
    """A file that is no file of the host, and is only read."""
    return Status(stat.S_IFREG | 0o444, size, _KNOWN, blocks=-(-size // _SECTOR))


def device(minor: int) -> Status:
    """One of the devices of memory: null, zero, urandom."""
    return Status(stat.S_IFCHR | 0o666, rdev=os.makedev(1, minor))


def as_statfs(found: os.statvfs_result | None) -> bytes:
    """For statfs and fstatfs: how much room there is; none for what is no file of the host."""
    if found is None:
        return _STATFS.pack(_PLAIN, BLOCK, 0, 0, 0, 0, 0, _NAME_BYTES, BLOCK, 0)
    room = found.f_blocks, found.f_bfree, found.f_bavail, found.f_files, found.f_ffree
    return _STATFS.pack(_PLAIN, found.f_bsize, *room, found.f_namemax, found.f_frsize, 0)
