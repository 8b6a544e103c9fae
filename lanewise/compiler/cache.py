"""Compiled code kept on disk by content: shared by processes, bounded in size, not trusted when it looks wrong."""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import struct
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path

from lanewise import settings

_MAGIC = b"LWcode1\n"
_HEADER = struct.Struct("<8sQ32s")  # magic, length of the payload, sha256 over key and payload
_SUFFIX = ".code"
_UNFINISHED = ".unfinished-"
_UNFINISHED_LIFETIME = 3600.0
"""Seconds after which a file that a crashed process left half written is removed."""


class Cache:
    """A directory of compiled code, with `limit` bytes at most: what was used longest ago goes first.

    Any number of processes may share a directory. An entry that is damaged, that is a link, or that another user
    could have written counts as absent. Nothing here raises: a cache that does not work costs time, not the compile.
    """

    def __init__(self, directory: Path | str, limit: int) -> None:
        self.directory = Path(directory)
        self.limit = limit
        self.creates = True
        """Whether the directory is made where it is absent."""
        self._lock = threading.Lock()
        self._room = 0  # bytes that may be written before the directory has to be measured again
        self._warned = False

    @staticmethod
    def key_of(*parts: str | bytes) -> str:
        """Return the key of what these parts make: a digest in which ("ab", "c") and ("a", "bc") differ."""
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode() if isinstance(part, str) else part
            digest.update(struct.pack("<Q", len(data)))
            digest.update(data)
        return digest.hexdigest()

    def get(self, key: str) -> bytes | None:
        """Return what was put under `key`, or None; a damaged entry is removed, so that it is built anew."""
        if not self._usable(create=False):
            return None
        path = self._path(key)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or not _only_ours(status):
                return None
            try:
                stored = file.read()
            except OSError:
                return None
            payload = _unpack(key, stored)
            with suppress(OSError):  # a read-only cache still serves
                if payload is None:
                    os.unlink(path)
                else:
                    os.utime(descriptor)
        return payload

    def put(self, key: str, data: bytes) -> None:
        """Keep `data` under `key`; other processes see the whole entry or none."""
        stored = _pack(key, data)
        if len(stored) > self.limit or not self._usable(create=True):
            return
        unfinished = self.directory / f"{_UNFINISHED}{os.urandom(8).hex()}"
        try:
            with open(unfinished, "xb", opener=_private) as file:
                file.write(stored)
            os.replace(unfinished, self._path(key))
        except OSError as error:
            with suppress(OSError):
                os.unlink(unfinished)
            self._warn(f"cannot be written ({error.strerror})")
            return
        with self._lock:
            self._room -= len(stored)
            if self._room < 0:
                self._evict()

    def lock(self, name: str) -> int | None:
        """A descriptor of a file to lock while something takes long; None if there is no cache."""
        if not self._usable(create=True):
            return None
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            return os.open(self.directory / f"{name}.lock", flags, 0o600)
        except OSError:
            return None

    def _path(self, key: str) -> Path:
        return self.directory / f"{key}{_SUFFIX}"

    def _usable(self, *, create: bool) -> bool:
        if self.limit <= 0:
            return False
        try:
            status = os.lstat(self.directory)
        except FileNotFoundError:
            return create and self.creates and self._create()
        except OSError as error:
            self._warn(f"cannot be opened ({error.strerror})")
            return False
        if not stat.S_ISDIR(status.st_mode):
            self._warn("is not a directory")
            return False
        if not _only_ours(status):
            self._warn("belongs to another user or can be written by others")
            return False
        return True

    def _create(self) -> bool:
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            self._warn(f"cannot be created ({error.strerror})")
            return False
        return True

    def _evict(self) -> None:
        """Remove the entries used longest ago until an eighth of the limit is free, and note the room there is."""
        entries: list[tuple[float, int, str]] = []
        try:
            with os.scandir(self.directory) as listing:
                for item in listing:
                    with suppress(OSError):  # another process may have removed it
                        status = item.stat(follow_symlinks=False)
                        if item.name.endswith(_SUFFIX):
                            entries.append((status.st_mtime, status.st_size, item.path))
                        elif item.name.startswith(_UNFINISHED) and status.st_mtime < time.time() - _UNFINISHED_LIFETIME:
                            os.unlink(item.path)
        except OSError:
            return
        total = sum(size for _, size, _ in entries)
        if total > self.limit:
            for _, size, path in sorted(entries):
                if total <= self.limit - self.limit // 8:
                    break
                with suppress(FileNotFoundError):
                    try:
                        os.unlink(path)
                    except PermissionError:
                        continue
                total -= size
        # Other processes write too, so look again before all of the room can be gone.
        self._room = min(self.limit - total, self.limit // 8)

    def _warn(self, what: str) -> None:
        if self._warned:
            return
        self._warned = True
        warnings.warn(
            f"the cache of compiled code {str(self.directory)!r} {what}; Lanewise goes on without it and compiles "
            "anew each time. Set LANEWISE_CACHE_DIR to a directory of your own, or LANEWISE_CACHE_SIZE=0 for no cache.",
            RuntimeWarning,
            stacklevel=2,
        )


def default_cache() -> Cache:
    """Return the cache that the settings name; one object per directory and limit."""
    return _chosen or _shared(settings.cache_dir() / "code", settings.cache_limit())


def use_cache(directory: str, limit: int) -> None:
    """Have this process use somebody's cache whatever the settings; it is not made anew where it was removed."""
    global _chosen
    _chosen = Cache(directory, limit)
    _chosen.creates = False


_chosen: Cache | None = None


@functools.cache
def _shared(directory: Path, limit: int) -> Cache:
    return Cache(directory, limit)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _only_ours(status: os.stat_result) -> bool:
    """Say whether this user alone can have written a file: the rule that keeps foreign code from running."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _digest(key: str, payload: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + payload).digest()


def _pack(key: str, payload: bytes) -> bytes:
    return _HEADER.pack(_MAGIC, len(payload), _digest(key, payload)) + payload


def _unpack(key: str, stored: bytes) -> bytes | None:
    """Return the payload, or None where any bit of the entry is wrong or the entry belongs to another key."""
    if len(stored) < _HEADER.size:
        return None
    magic, length, digest = _HEADER.unpack_from(stored)
    payload = stored[_HEADER.size :]
    if magic != _MAGIC or length != len(payload) or digest != _digest(key, payload):
        return None
    return payload
