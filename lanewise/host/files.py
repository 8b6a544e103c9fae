"""Files for lanes: the preopened directories that all share, and the open files of each."""

from __future__ import annotations

import errno
import os
import resource
import stat
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lanewise.errors import ArgumentError
from lanewise.host import named, polls
from lanewise.host.beneath import open_beneath, plain_parts
from lanewise.host.copies import Copies
from lanewise.host.crossroads import NAME, crossroads_for
from lanewise.host.filestat import WORD, check_times, encode_filestat, kind_of, rights_of, set_times
from lanewise.host.handles import OFFSETS, CopiedFile, Identity, Location, OpenDirectory, OpenFile, identity_of
from lanewise.host.listings import Listings
from lanewise.host.paths import Trail, walk
from lanewise.host.reply import DONE, Reply, Request, error_number, failure
from lanewise.host.waiting import Waiting
from lanewise.kernel import wasi_numbers as wasi
from lanewise.settings import LANE_FILES

if TYPE_CHECKING:
    from lanewise.host.native_copies import NativeCopies

MOST_DATA = 1 << 20
"""Bytes that one request moves at most."""

_ADVICE = (
    os.POSIX_FADV_NORMAL,
    os.POSIX_FADV_SEQUENTIAL,
    os.POSIX_FADV_RANDOM,
    os.POSIX_FADV_WILLNEED,
    os.POSIX_FADV_DONTNEED,
    os.POSIX_FADV_NOREUSE,
)
# A pipe that nobody has at its other end must not hold up the others, and no file may become our terminal.
_OPEN = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_WORDS = 6


MOST_DIRECTORIES = LANE_FILES // 2
"""Each is open in every lane from its beginning; at least as many files can be opened besides."""


class Filesystem:
    """The preopened directories of a run, and what its lanes share. Many threads may use it at once."""

    def __init__(self, directories: Sequence[tuple[Path, str]], place: Callable[[bytes], int] | None = None) -> None:
        """Open the directories, each with the name that lanes know it by.

        `place` puts bytes where lanes can read them and gives their address, or 0 if there is no room.
        """
        allow_many_files()
        given = tuple(name.encode(errors="surrogateescape") for _, name in directories)
        self.crossroads = crossroads_for(given)
        """Which directory a path leads to that is asked of the last one, where there is one that leads to others."""
        self.names = given if self.crossroads is None else (*given, NAME)
        self.copies = None if place is None else Copies(place)
        self.native: NativeCopies | None = None
        """What native code opens for lanes, where it does."""
        self.listings = Listings()
        self.roots: list[int] = []
        self.closed = False
        self.waiting = Waiting()
        try:
            if len(directories) > MOST_DIRECTORIES:
                raise ArgumentError(f"lanes can have {MOST_DIRECTORIES} directories at most, not {len(directories)}")
            for number, (path, name) in enumerate(directories):
                if self.names[number] in self.names[:number]:
                    raise ArgumentError(f"two directories have the name {name!r} for lanes; give one another name")
                self.roots.append(open_root(path))
        except ArgumentError:
            self.close()
            raise

    def interrupt(self) -> None:
        """Answer all requests that wait for something outside with EINTR, those of now and those to come."""
        self.waiting.interrupt()

    def forget_copies(self) -> None:
        """Forget all copies of files; no lane may have one, and where they lie may be used anew."""
        if self.copies is not None:
            self.copies.forget()

    def close(self) -> None:
        """Close the directories; lanes that use them must be over."""
        self.closed = True
        while self.roots:
            os.close(self.roots.pop())
        self.waiting.close()


def allow_many_files() -> None:
    """Have as many open files as the system allows this process: thousands of lanes may have one each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def open_root(path: Path) -> int:
    """A directory for lanes, open; what is wrong with it is said in one sentence."""
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise ArgumentError(f"there is no directory {path} to give to lanes") from None
    except NotADirectoryError:
        raise ArgumentError(f"{path} is not a directory; only directories can be given to lanes") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArgumentError(f"the directory {path} cannot be read: {reason}; give lanes another") from None


class LaneFiles:
    """The open files of one lane. One thread at a time may use it."""

    def __init__(self, filesystem: Filesystem, lane: int = 0) -> None:
        self.lock = threading.Lock()
        """For whoever serves lanes that have several threads."""
        self._filesystem = filesystem
        self._lane = lane
        self._directories: dict[int, OpenDirectory] = {}
        self._files: dict[int, OpenFile] = {}
        self._copied: dict[int, CopiedFile] = {}
        self._copy_handles: dict[CopiedFile, int] = {}
        self._next = wasi.FIRST_HANDLE
        self._free: list[int] = []

    def request(self, op: int, arguments: Sequence[int], data: bytes, room: int) -> Reply:
        """Do what a lane asks for, which may be anything: the answer says what is wrong with it.

        `arguments` are unsigned words; `room` is how many bytes the answer may have.
        """
        words = [word % WORD for word in arguments[:_WORDS]]
        words.extend([0] * (_WORDS - len(words)))
        asked = Request(words, data, min(max(room, 0), MOST_DATA))
        if self._filesystem.closed:
            return Reply(wasi.EBADF)
        try:
            action = _ACTIONS.get(op)
            return action(self, asked) if action else named.request(op, asked, self._start)
        except OSError as error:
            return Reply(error_number(error))
        except MemoryError:
            return Reply(wasi.ENOMEM)

    def may_block(self, op: int, arguments: Sequence[int]) -> bool:
        """Whether a request may wait for the outside, so that others should not wait for it."""
        first = arguments[0] if arguments else 0
        if op == wasi.REQUEST_POLL:
            return first != 0
        file = self._files.get(first)
        if file is None:
            return False
        if op in (wasi.REQUEST_SYNC, wasi.REQUEST_DATASYNC):
            return True
        return op in (wasi.REQUEST_READ, wasi.REQUEST_WRITE) and file.may_block

    def close(self) -> None:
        """Close everything that the lane has open."""
        descriptors = [file.descriptor for file in self._files.values()]
        descriptors += [entry.descriptor for handle, entry in self._directories.items() if handle >= wasi.FIRST_HANDLE]
        self._files.clear()
        self._directories.clear()
        for descriptor in descriptors:
            with suppress(OSError):  # what was written may not have reached the disk; nobody is left to be told
                os.close(descriptor)
        self._copied.clear()
        self._copy_handles.clear()

    # --- handles ------------------------------------------------------------------------------------------------------

    def _file(self, handle: int) -> OpenFile:
        try:
            return self._files[handle]
        except KeyError:
            raise failure(errno.EBADF) from None

    def _directory(self, handle: int) -> OpenDirectory:
        directory = self._directories.get(handle)
        if directory is None:
            if handle >= len(self._filesystem.roots):
                raise failure(errno.EBADF)
            directory = OpenDirectory(self._filesystem.roots[handle], Location(handle, ()))
            self._directories[handle] = directory
        return directory

    def _start(self, handle: int, path: bytes) -> tuple[OpenDirectory, bytes]:
        """The directory that a path starts at, and the path from there."""
        crossroads = self._filesystem.crossroads
        if crossroads is not None and handle == len(self._filesystem.roots):
            handle, path = crossroads.way(path)
        return self._directory(handle), path

    def _copied_file(self, handle: int) -> CopiedFile | None:
        """What a handle is a copy of."""
        native = self._filesystem.native
        return self._copied.get(handle) or (native.copied(handle) if native else None)

    def _new_handle(self) -> int:
        if self._free:
            return self._free.pop()
        self._next += 1
        return self._next - 1

    def _writes_to(self, identity: Identity) -> bool:
        return any(file.writable and file.identity == identity for file in self._files.values())

    # --- opening and closing ------------------------------------------------------------------------------------------

    def _open(self, asked: Request) -> Reply:
        handle, lookup, oflags, fdflags, rights, _ = asked.words
        if handle in self._files or self._copied_file(handle):
            raise failure(errno.ENOTDIR)
        start, path = self._start(handle, asked.data)
        if not oflags and not fdflags and not rights & wasi.RIGHT_FD_WRITE:
            reply = self._open_simply(start, path, rights)
            if reply is not None:
                return reply
        flags = named.open_flags(lookup, oflags, fdflags, rights, path)
        creates = bool(oflags & wasi.OFLAG_CREAT)
        follow = bool(lookup & wasi.LOOKUP_SYMLINK_FOLLOW) and not (creates and oflags & wasi.OFLAG_EXCL)
        with walk(start.descriptor, path, follow=follow, keep_slash=creates) as place:
            if place.slash:
                raise failure(errno.EISDIR)
            descriptor = named.open_place(place, flags | _OPEN)
            location = Location(start.location.root, (*start.location.names, *place.way, place.name))
        keep = False
        try:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                reply = self._opened_directory(descriptor, location)
                keep = True
            else:
                reply, keep = self._opened_file(descriptor, status, location, oflags, fdflags, rights)
        finally:
            if not keep:
                os.close(descriptor)
        return reply

    def _open_simply(self, start: OpenDirectory, path: bytes, rights: int) -> Reply | None:
        """Open a regular file that is only read, by a path of nothing but names; None if it is anything else."""
        parts = plain_parts(path)
        descriptor = None if parts is None else open_beneath(start.descriptor, path)
        if parts is None or descriptor is None:
            return None
        keep = False
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return None
            location = Location(start.location.root, (*start.location.names, *parts))
            reply, keep = self._opened_file(descriptor, status, location, 0, 0, rights)
        finally:
            if not keep:
                os.close(descriptor)
        return reply

    def _opened_directory(self, descriptor: int, location: Location) -> Reply:
        if location.names[-1] == b".":
            location = Location(location.root, location.names[:-1])
        handle = self._new_handle()
        self._directories[handle] = OpenDirectory(descriptor, location)
        rights = rights_of(wasi.DIRECTORY, readable=True, writable=False)
        return Reply(wasi.SUCCESS, (handle, wasi.DIRECTORY, rights, rights, 0, 0))

    def _opened_file(
        self, descriptor: int, status: os.stat_result, location: Location, oflags: int, fdflags: int, asked: int
    ) -> tuple[Reply, bool]:
        """The answer, and whether it needs the descriptor."""
        identity = identity_of(status)
        writable = bool(asked & wasi.RIGHT_FD_WRITE)
        readable = bool(asked & wasi.RIGHT_FD_READ) or not writable
        kind = kind_of(status.st_mode)
        rights = rights_of(kind, readable=readable, writable=writable)
        changes = writable or bool(oflags & wasi.OFLAG_TRUNC)
        copies = self._filesystem.copies
        if copies and not changes and not oflags & wasi.OFLAG_CREAT and not fdflags & wasi.FDFLAG_APPEND:
            address = 0 if self._writes_to(identity) else copies.address(descriptor, status)
            if address:
                handle = self._copy_handle(CopiedFile(location, identity))
                return Reply(wasi.SUCCESS, (handle, kind, rights, rights, address, 0)), False
        file = OpenFile(descriptor, identity, readable, writable, self._filesystem.waiting, flags=fdflags)
        handle = self._new_handle()
        self._files[handle] = file
        native = self._filesystem.native
        was_copied = changes and any(copied.identity == identity for copied in self._copied.values())
        if native and changes:
            was_copied = was_copied or native.has_copies(self._lane)  # of this file or of others
            native.note_writer(self._lane)
        return Reply(wasi.SUCCESS, (handle, kind, rights, rights, 0, int(was_copied))), True

    def _copy_handle(self, copied: CopiedFile) -> int:
        """One handle for all copies of a file, since lanes do not tell when they are done with one."""
        handle = self._copy_handles.get(copied)
        if handle is None:
            handle = self._new_handle()
            self._copy_handles[copied] = handle
            self._copied[handle] = copied
        return handle

    def _reopen(self, asked: Request) -> Reply:
        copied = self._copied_file(asked.words[0])
        if copied is None:
            raise failure(errno.EBADF)
        descriptor = self._open_original(copied)
        handle = self._new_handle()
        self._files[handle] = OpenFile(
            descriptor, copied.identity, True, False, self._filesystem.waiting, position=asked.words[1]
        )
        return Reply(wasi.SUCCESS, (handle,))

    def _open_original(self, copied: CopiedFile) -> int:
        *way, name = copied.location.names
        trail = Trail(self._filesystem.roots[copied.location.root])
        try:
            for directory in way:
                trail.enter(directory)
            descriptor = os.open(name, os.O_RDONLY | _OPEN, dir_fd=trail.here)
        except OSError as error:
            raise error if error.errno in (errno.EMFILE, errno.ENFILE) else failure(errno.EIO) from error
        finally:
            trail.close()
        if identity_of(os.fstat(descriptor)) != copied.identity:
            os.close(descriptor)
            raise failure(errno.EIO)
        return descriptor

    def _close(self, asked: Request) -> Reply:
        handle = asked.words[0]
        if handle in self._files:
            descriptor = self._files.pop(handle).descriptor
        elif self._copied_file(handle):
            return DONE
        else:
            descriptor = self._directory(handle).descriptor
            if handle < wasi.FIRST_HANDLE:
                return DONE
            del self._directories[handle]
        self._free.append(handle)
        os.close(descriptor)
        return DONE

    # --- reading and writing ------------------------------------------------------------------------------------------

    def _read(self, asked: Request) -> Reply:
        return Reply(wasi.SUCCESS, data=self._file(asked.words[0]).read(min(asked.words[1], asked.room)))

    def _pread(self, asked: Request) -> Reply:
        handle, room, offset = asked.words[:3]
        return Reply(wasi.SUCCESS, data=self._file(handle).read_at(min(room, asked.room), offset))

    def _write(self, asked: Request) -> Reply:
        return Reply(wasi.SUCCESS, (self._file(asked.words[0]).write(asked.data),))

    def _pwrite(self, asked: Request) -> Reply:
        return Reply(wasi.SUCCESS, (self._file(asked.words[0]).write_at(asked.data, asked.words[1]),))

    def _seek(self, asked: Request) -> Reply:
        offset = asked.words[1] - WORD if asked.words[1] >= WORD // 2 else asked.words[1]
        return Reply(wasi.SUCCESS, (self._file(asked.words[0]).seek(offset, asked.words[2]),))

    def _tell(self, asked: Request) -> Reply:
        return Reply(wasi.SUCCESS, (self._file(asked.words[0]).seek(0, wasi.WHENCE_CUR),))

    def _poll(self, asked: Request) -> Reply:
        return polls.poll(asked.data, asked.words[0], self._file, self._filesystem.waiting)

    # --- the file itself ----------------------------------------------------------------------------------------------

    def _advise(self, asked: Request) -> Reply:
        file = self._file(asked.words[0])
        offset, length, advice = asked.words[1:4]
        if length >= OFFSETS or advice >= len(_ADVICE):
            raise failure(errno.EINVAL)
        if offset < OFFSETS:
            os.posix_fadvise(file.descriptor, offset, length, _ADVICE[advice])
        return DONE

    def _datasync(self, asked: Request) -> Reply:
        os.fdatasync(self._file(asked.words[0]).descriptor)
        return DONE

    def _sync(self, asked: Request) -> Reply:
        os.fsync(self._file(asked.words[0]).descriptor)
        return DONE

    def _set_flags(self, asked: Request) -> Reply:
        self._file(asked.words[0]).set_flags(asked.words[1])
        return DONE

    def _set_size(self, asked: Request) -> Reply:
        file = self._file(asked.words[0])
        if asked.words[1] >= OFFSETS:
            raise failure(errno.EINVAL)
        os.ftruncate(file.descriptor, asked.words[1])
        return DONE

    def _filestat(self, asked: Request) -> Reply:
        return Reply(wasi.SUCCESS, data=encode_filestat(os.fstat(self._descriptor(asked.words[0]))))

    def _set_times(self, asked: Request) -> Reply:
        handle, access, change, flags = asked.words[:4]
        check_times(flags)
        set_times(self._descriptor(handle), None, access, change, flags)
        return DONE

    def _descriptor(self, handle: int) -> int:
        if handle in self._files:
            return self._files[handle].descriptor
        return self._directory(handle).descriptor

    def _readdir(self, asked: Request) -> Reply:
        handle, cookie, wanted, skip = asked.words[:4]
        directory = self._directory(handle)
        if directory.listing is None or (cookie == 0 and skip == 0):
            directory.listing = self._filesystem.listings.listing(directory.descriptor)
        return Reply(wasi.SUCCESS, data=directory.listing.read(cookie, skip, min(wanted, asked.room)))


_ACTIONS: dict[int, Callable[[LaneFiles, Request], Reply]] = {
    wasi.REQUEST_OPEN: LaneFiles._open,
    wasi.REQUEST_REOPEN: LaneFiles._reopen,
    wasi.REQUEST_CLOSE: LaneFiles._close,
    wasi.REQUEST_READ: LaneFiles._read,
    wasi.REQUEST_PREAD: LaneFiles._pread,
    wasi.REQUEST_WRITE: LaneFiles._write,
    wasi.REQUEST_PWRITE: LaneFiles._pwrite,
    wasi.REQUEST_SEEK: LaneFiles._seek,
    wasi.REQUEST_TELL: LaneFiles._tell,
    wasi.REQUEST_ADVISE: LaneFiles._advise,
    wasi.REQUEST_DATASYNC: LaneFiles._datasync,
    wasi.REQUEST_SYNC: LaneFiles._sync,
    wasi.REQUEST_SET_FLAGS: LaneFiles._set_flags,
    wasi.REQUEST_FILESTAT: LaneFiles._filestat,
    wasi.REQUEST_SET_SIZE: LaneFiles._set_size,
    wasi.REQUEST_SET_TIMES: LaneFiles._set_times,
    wasi.REQUEST_READDIR: LaneFiles._readdir,
    wasi.REQUEST_POLL: LaneFiles._poll,
}
