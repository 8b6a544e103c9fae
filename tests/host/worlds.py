"""One set of calls on files for two worlds: wasmtime's WASI, called by a module, and the host's requests.

Both give error numbers of WASI, so that tests can do the same in both and compare.
"""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

import wasmtime

from lanewise.host.files import Filesystem, LaneFiles
from lanewise.kernel import wasi_numbers as wasi

ROOT = 3
"""The descriptor of the preopened directory."""
ROOM = 8192

_I32, _I64 = "i32", "i64"
_SIGNATURES = {
    "fd_advise": "iIIi",
    "fd_close": "i",
    "fd_datasync": "i",
    "fd_fdstat_get": "ii",
    "fd_fdstat_set_flags": "ii",
    "fd_filestat_get": "ii",
    "fd_filestat_set_size": "iI",
    "fd_filestat_set_times": "iIIi",
    "fd_pread": "iiiIi",
    "fd_pwrite": "iiiIi",
    "fd_read": "iiii",
    "fd_readdir": "iiiIi",
    "fd_seek": "iIii",
    "fd_sync": "i",
    "fd_tell": "ii",
    "fd_write": "iiii",
    "path_create_directory": "iii",
    "path_filestat_get": "iiiii",
    "path_filestat_set_times": "iiiiIIi",
    "path_link": "iiiiiii",
    "path_open": "iiiiiIIii",
    "path_readlink": "iiiiii",
    "path_remove_directory": "iii",
    "path_rename": "iiiiii",
    "path_symlink": "iiiii",
    "path_unlink_file": "iii",
}
_RESULT, _VECTOR, _STAT, _FIRST, _SECOND, _BUFFER = 32, 64, 128, 1024, 16384, 32768


def _module() -> str:
    imports, exports = [], []
    for name, letters in _SIGNATURES.items():
        types = " ".join(_I32 if letter == "i" else _I64 for letter in letters)
        gets = " ".join(f"local.get {number}" for number in range(len(letters)))
        imports.append(f'(import "wasi_snapshot_preview1" "{name}" (func ${name} (param {types}) (result i32)))')
        exports.append(f'(func (export "{name}") (param {types}) (result i32) {gets} call ${name})')
    return "\n".join(["(module", *imports, '(memory (export "memory") 2)', *exports, ")"])


_engine = wasmtime.Engine()
_linker = wasmtime.Linker(_engine)
_linker.define_wasi()
_compiled = wasmtime.Module(_engine, _module())


class WasmtimeWorld:
    """A guest of wasmtime with one preopened directory."""

    def __init__(self, directory: Path) -> None:
        self._store = wasmtime.Store(_engine)
        config = wasmtime.WasiConfig()
        config.preopen_dir(str(directory), "/")
        self._store.set_wasi(config)
        self._exports = _linker.instantiate(self._store, _compiled).exports(self._store)
        self._memory = self._exports["memory"]

    def close(self) -> None:
        self._store.close()

    def _call(self, name: str, *arguments: int) -> int:
        signed = []
        for value, letter in zip(arguments, _SIGNATURES[name], strict=True):
            bits = 32 if letter == "i" else 64
            value %= 1 << bits
            signed.append(value - (1 << bits) if value >> (bits - 1) else value)
        return self._exports[name](self._store, *signed)

    def _put(self, address: int, data: bytes) -> tuple[int, int]:
        self._memory.write(self._store, data, address)
        return address, len(data)

    def _get(self, address: int, count: int) -> bytes:
        return bytes(self._memory.read(self._store, address, address + count))

    def _word(self, bits: int = 32) -> int:
        return int.from_bytes(self._get(_RESULT, bits // 8), "little")

    def _buffer(self, count: int) -> tuple[int, int]:
        self._put(_VECTOR, struct.pack("<II", _BUFFER, count))
        return _VECTOR, 1

    def open(self, path: bytes, lookup=0, oflags=0, rights=wasi.RIGHT_FD_READ, fdflags=0, fd=ROOT):
        error = self._call("path_open", fd, lookup, *self._put(_FIRST, path), oflags, rights, 0, fdflags, _RESULT)
        return error, None if error else self._word()

    def kind(self, fd: int) -> int:
        assert self._call("fd_fdstat_get", fd, _STAT) == 0
        return self._get(_STAT, 1)[0]

    def rights(self, fd: int) -> tuple[int, int]:
        assert self._call("fd_fdstat_get", fd, _STAT) == 0
        return struct.unpack("<QQ", self._get(_STAT + 8, 16))

    def close_file(self, fd: int) -> int:
        return self._call("fd_close", fd)

    def read(self, fd: int, room: int):
        error = self._call("fd_read", fd, *self._buffer(room), _RESULT)
        return error, b"" if error else self._get(_BUFFER, self._word())

    def pread(self, fd: int, room: int, offset: int):
        error = self._call("fd_pread", fd, *self._buffer(room), offset, _RESULT)
        return error, b"" if error else self._get(_BUFFER, self._word())

    def write(self, fd: int, data: bytes):
        self._put(_BUFFER, data)
        error = self._call("fd_write", fd, *self._buffer(len(data)), _RESULT)
        return error, None if error else self._word()

    def pwrite(self, fd: int, data: bytes, offset: int):
        self._put(_BUFFER, data)
        error = self._call("fd_pwrite", fd, *self._buffer(len(data)), offset, _RESULT)
        return error, None if error else self._word()

    def seek(self, fd: int, offset: int, whence: int):
        error = self._call("fd_seek", fd, offset, whence, _RESULT)
        return error, None if error else self._word(64)

    def tell(self, fd: int):
        error = self._call("fd_tell", fd, _RESULT)
        return error, None if error else self._word(64)

    def advise(self, fd: int, offset: int, length: int, advice: int) -> int:
        return self._call("fd_advise", fd, offset, length, advice)

    def sync(self, fd: int) -> int:
        return self._call("fd_sync", fd)

    def datasync(self, fd: int) -> int:
        return self._call("fd_datasync", fd)

    def set_flags(self, fd: int, flags: int) -> int:
        return self._call("fd_fdstat_set_flags", fd, flags)

    def stat(self, fd: int):
        error = self._call("fd_filestat_get", fd, _STAT)
        return error, None if error else self._get(_STAT, wasi.FILESTAT_BYTES)

    def set_size(self, fd: int, size: int) -> int:
        return self._call("fd_filestat_set_size", fd, size)

    def set_times(self, fd: int, access: int, change: int, flags: int) -> int:
        return self._call("fd_filestat_set_times", fd, access, change, flags)

    def readdir(self, fd: int, cookie: int, room: int):
        error = self._call("fd_readdir", fd, _BUFFER, room, cookie, _RESULT)
        return error, b"" if error else self._get(_BUFFER, self._word())

    def create_directory(self, path: bytes, fd=ROOT) -> int:
        return self._call("path_create_directory", fd, *self._put(_FIRST, path))

    def path_stat(self, path: bytes, lookup=0, fd=ROOT):
        error = self._call("path_filestat_get", fd, lookup, *self._put(_FIRST, path), _STAT)
        return error, None if error else self._get(_STAT, wasi.FILESTAT_BYTES)

    def path_set_times(self, path: bytes, lookup: int, access: int, change: int, flags: int, fd=ROOT) -> int:
        return self._call("path_filestat_set_times", fd, lookup, *self._put(_FIRST, path), access, change, flags)

    def link(self, old: bytes, new: bytes, lookup=0, old_fd=ROOT, new_fd=ROOT) -> int:
        return self._call("path_link", old_fd, lookup, *self._put(_FIRST, old), new_fd, *self._put(_SECOND, new))

    def readlink(self, path: bytes, room=ROOM, fd=ROOT):
        error = self._call("path_readlink", fd, *self._put(_FIRST, path), _BUFFER, room, _RESULT)
        return error, b"" if error else self._get(_BUFFER, self._word())

    def remove_directory(self, path: bytes, fd=ROOT) -> int:
        return self._call("path_remove_directory", fd, *self._put(_FIRST, path))

    def rename(self, old: bytes, new: bytes, old_fd=ROOT, new_fd=ROOT) -> int:
        return self._call("path_rename", old_fd, *self._put(_FIRST, old), new_fd, *self._put(_SECOND, new))

    def symlink(self, content: bytes, path: bytes, fd=ROOT) -> int:
        return self._call("path_symlink", *self._put(_FIRST, content), fd, *self._put(_SECOND, path))

    def unlink(self, path: bytes, fd=ROOT) -> int:
        return self._call("path_unlink_file", fd, *self._put(_FIRST, path))


class HostWorld:
    """A lane of the host with one preopened directory. Descriptors are handles, but for that of the directory."""

    def __init__(self, directory: Path, place=None) -> None:
        self.filesystem = Filesystem([(directory, "/")], place)
        self.lane = LaneFiles(self.filesystem)

    def close(self) -> None:
        self.lane.close()
        self.filesystem.close()

    def ask(self, op: int, *words: int, data: bytes = b"", room: int = 1 << 20):
        return self.lane.request(op, words, data, room)

    @staticmethod
    def handle(fd: int) -> int:
        return 0 if fd == ROOT else fd

    def _error(self, op: int, fd: int, *words: int, data: bytes = b"") -> int:
        reply = self.ask(op, self.handle(fd), *words, data=data)
        assert reply.values == ()
        assert reply.data == b""
        return reply.errno

    def _value(self, op: int, fd: int, *words: int, data: bytes = b""):
        reply = self.ask(op, self.handle(fd), *words, data=data)
        return reply.errno, reply.values[0] if reply.values else None

    def _data(self, op: int, fd: int, *words: int, data: bytes = b""):
        reply = self.ask(op, self.handle(fd), *words, data=data)
        return reply.errno, reply.data

    def open(self, path: bytes, lookup=0, oflags=0, rights=wasi.RIGHT_FD_READ, fdflags=0, fd=ROOT):
        reply = self.ask(wasi.REQUEST_OPEN, self.handle(fd), lookup, oflags, fdflags, rights, 0, data=path)
        self.opened = reply.values
        return reply.errno, None if reply.errno else reply.values[0]

    def kind(self, fd: int) -> int:
        assert fd == self.opened[0]
        return self.opened[1]

    def rights(self, fd: int) -> tuple[int, int]:
        assert fd == self.opened[0]
        return self.opened[2:4]

    def close_file(self, fd: int) -> int:
        return self._error(wasi.REQUEST_CLOSE, fd)

    def read(self, fd: int, room: int):
        return self._data(wasi.REQUEST_READ, fd, room)

    def pread(self, fd: int, room: int, offset: int):
        return self._data(wasi.REQUEST_PREAD, fd, room, offset)

    def write(self, fd: int, data: bytes):
        return self._value(wasi.REQUEST_WRITE, fd, data=data)

    def pwrite(self, fd: int, data: bytes, offset: int):
        return self._value(wasi.REQUEST_PWRITE, fd, offset, data=data)

    def seek(self, fd: int, offset: int, whence: int):
        return self._value(wasi.REQUEST_SEEK, fd, offset % (1 << 64), whence)

    def tell(self, fd: int):
        return self._value(wasi.REQUEST_TELL, fd)

    def advise(self, fd: int, offset: int, length: int, advice: int) -> int:
        return self._error(wasi.REQUEST_ADVISE, fd, offset, length, advice)

    def sync(self, fd: int) -> int:
        return self._error(wasi.REQUEST_SYNC, fd)

    def datasync(self, fd: int) -> int:
        return self._error(wasi.REQUEST_DATASYNC, fd)

    def set_flags(self, fd: int, flags: int) -> int:
        return self._error(wasi.REQUEST_SET_FLAGS, fd, flags)

    def stat(self, fd: int):
        error, data = self._data(wasi.REQUEST_FILESTAT, fd)
        return error, data or None

    def set_size(self, fd: int, size: int) -> int:
        return self._error(wasi.REQUEST_SET_SIZE, fd, size)

    def set_times(self, fd: int, access: int, change: int, flags: int) -> int:
        return self._error(wasi.REQUEST_SET_TIMES, fd, access, change, flags)

    def readdir(self, fd: int, cookie: int, room: int):
        return self._data(wasi.REQUEST_READDIR, fd, cookie, room, 0)

    def create_directory(self, path: bytes, fd=ROOT) -> int:
        return self._error(wasi.REQUEST_CREATE_DIRECTORY, fd, data=path)

    def path_stat(self, path: bytes, lookup=0, fd=ROOT):
        error, data = self._data(wasi.REQUEST_PATH_FILESTAT, fd, lookup, data=path)
        return error, data or None

    def path_set_times(self, path: bytes, lookup: int, access: int, change: int, flags: int, fd=ROOT) -> int:
        return self._error(wasi.REQUEST_PATH_SET_TIMES, fd, lookup, access, change, flags, data=path)

    def link(self, old: bytes, new: bytes, lookup=0, old_fd=ROOT, new_fd=ROOT) -> int:
        words = lookup, self.handle(new_fd), len(old)
        return self._error(wasi.REQUEST_LINK, old_fd, *words, data=old + new)

    def readlink(self, path: bytes, room=ROOM, fd=ROOT):
        return self._data(wasi.REQUEST_READLINK, fd, room, data=path)

    def remove_directory(self, path: bytes, fd=ROOT) -> int:
        return self._error(wasi.REQUEST_REMOVE_DIRECTORY, fd, data=path)

    def rename(self, old: bytes, new: bytes, old_fd=ROOT, new_fd=ROOT) -> int:
        return self._error(wasi.REQUEST_RENAME, old_fd, self.handle(new_fd), len(old), data=old + new)

    def symlink(self, content: bytes, path: bytes, fd=ROOT) -> int:
        return self._error(wasi.REQUEST_SYMLINK, fd, len(content), data=content + path)

    def unlink(self, path: bytes, fd=ROOT) -> int:
        return self._error(wasi.REQUEST_UNLINK, fd, data=path)


def make_tree(directory: Path) -> None:
    """Files, directories and links of all kinds. What was there before is removed."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    (directory / "file").write_bytes(b"hello")
    (directory / "sub").mkdir()
    (directory / "sub" / "inner").write_bytes(b"0123456789")
    (directory / "empty").mkdir()
    for name, content in LINKS.items():
        os.symlink(content, directory / name)


LINKS = {
    "to_file": "file",
    "to_sub": "sub",
    "to_sub_slash": "sub/",
    "to_file_slash": "file/",
    "to_inner": "to_sub/../sub/inner",
    "dangling": "nowhere",
    "loop": "loop",
    "absolute": "/etc/passwd",
    "up": "..",
    "around": "../tree/file",
}


def snapshot(directory: Path) -> dict[str, object]:
    """All that is in a tree: contents of files and links, and None for directories."""
    found: dict[str, object] = {}

    def visit(path: str, name: str) -> None:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_symlink():
                    found[name + entry.name] = ("link", os.readlink(entry.path))
                elif entry.is_dir():
                    found[name + entry.name] = None
                    visit(entry.path, f"{name}{entry.name}/")
                else:
                    found[name + entry.name] = Path(entry.path).read_bytes()

    visit(str(directory), "")
    return found
