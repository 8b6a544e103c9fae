"""A program in a lane, as the system sees it: its memory, what it has open, where it is, and how it ended."""

from __future__ import annotations

import errno
import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from lanewise.arm64.linux.heap import Heap
from lanewise.arm64.linux.memory import LaneMemory
from lanewise.arm64.linux.mounts import Mounts
from lanewise.arm64.linux.opened import NULL, RANDOM, ZERO, Device, OnlyPath, Opened, Sink
from lanewise.arm64.linux.signals import MOST_SIGNALS, Signals
from lanewise.host.reply import failure

AT_FDCWD = -100
MOST_FILES = 1024
_FIRST_PID = 1000
_LONGEST_PATH = 4096
_STREAMS = b"stdin", b"stdout", b"stderr"
_OPEN = re.compile(rb"/(?:dev|proc/self)/fd/(0|[1-9][0-9]{0,8})|/dev/(" + b"|".join(_STREAMS) + b")")
"""Paths that lead to what a program has open."""


@dataclass
class Descriptor:
    """A number that a program has something open by."""

    opened: Opened
    close_on_exec: bool = False


@dataclass(frozen=True)
class Ending:
    """How a program ended: by itself, by a signal, or because it was not let run on."""

    reason: str
    code: int | None = None
    signal: int | None = None


class Process:
    """One program. One thread at a time serves it."""

    def __init__(
        self,
        lane: int,
        memory: LaneMemory,
        heap: Heap,
        mounts: Mounts,
        name: bytes,
        streams: tuple[Opened, Sink, Sink],
        seed: int | None,
    ) -> None:
        """`streams` are its standard input, output and error."""
        self.memory, self.heap, self.mounts, self.name = memory, heap, mounts, name
        self.pid = _FIRST_PID + lane
        self.here = mounts.first
        self.stack_room = 0
        self.umask = 0o022
        self.signals = Signals()
        _, self.stdout, self.stderr = streams
        self.files: dict[int, Descriptor] = {}
        for number, stream in enumerate(streams):
            self.put(stream, number)
        self.random: Callable[[int], bytes] = os.urandom if seed is None else random.Random(f"{seed} {lane}").randbytes
        self.cycles = 0
        """Instructions that it had run when it called."""
        self.ending: Ending | None = None
        self.wake: float | None = None
        """Until when the answer to its call is to wait, on the clock of `time.monotonic`."""
        self.unknown: dict[int, int] = {}
        """Calls that are not offered, by number, and how often they were made."""

    # --- descriptors -------------------------------------------------------------------------------------------------

    def opened(self, number: int) -> Opened:
        """What is open by a descriptor; EBADF if nothing is, or only a path."""
        found = self.stands_for(number)
        if isinstance(found, OnlyPath):
            raise failure(errno.EBADF)
        return found

    def stands_for(self, number: int) -> Opened:
        """The same, even if it is only a path (O_PATH), for calls that neither read nor change it."""
        try:
            return self.files[number].opened
        except KeyError:
            raise failure(errno.EBADF) from None

    def put(self, opened: Opened, number: int | None = None, least: int = 0, close_on_exec: bool = False) -> int:
        """Give something a descriptor: the lowest that is free, or a certain one, which must be free."""
        if number is None:
            number = next((one for one in range(least, MOST_FILES) if one not in self.files), MOST_FILES)
        if not 0 <= number < MOST_FILES:
            if not opened.users:
                opened.close()
            raise failure(errno.EMFILE)
        self.files[number] = Descriptor(opened, close_on_exec)
        opened.users += 1
        return number

    def drop(self, number: int) -> None:
        """Close a descriptor."""
        opened = self.stands_for(number)
        del self.files[number]
        opened.users -= 1
        if not opened.users:
            opened.close()

    def close(self) -> None:
        """Close all."""
        for number in list(self.files):
            self.drop(number)

    # --- paths -------------------------------------------------------------------------------------------------------

    def path(self, address: int) -> bytes:
        """A path in memory."""
        found = self.memory.string(address)
        if len(found) >= _LONGEST_PATH:
            raise failure(errno.ENAMETOOLONG)
        return found

    def base(self, directory: int, path: bytes) -> bytes:
        """The directory that a path starts from; ENOENT for an empty path, wherever from."""
        if not path:
            raise failure(errno.ENOENT)
        if directory == AT_FDCWD or path.startswith(b"/"):
            return self.here
        found = self.stands_for(directory).path
        if not found:
            raise failure(errno.ENOTDIR)
        return found

    def device(self, path: bytes) -> Opened | None:
        """One of the devices that are there without any directory, or what is open by the number in `/dev/fd/3`."""
        if found := _OPEN.fullmatch(path):
            number = int(found[1]) if found[1] else _STREAMS.index(found[2])
            if number not in self.files:
                raise failure(errno.ENOENT)
            return self.stands_for(number)
        if not path.startswith(b"/dev/"):
            return None
        if path == b"/dev/null":
            return Device(NULL, lambda _: b"")
        if path == b"/dev/zero":
            return Device(ZERO, bytes)
        return Device(RANDOM, self.random) if path in (b"/dev/urandom", b"/dev/random") else None

    # --- signals and the end ------------------------------------------------------------------------------------------

    def send(self, signal: int) -> None:
        """A signal, which ends the program unless it is ignored or blocked; 0 is none."""
        if not 0 <= signal <= MOST_SIGNALS:
            raise failure(errno.EINVAL)
        if signal and self.signals.come(signal):
            self.end(Ending("signal", signal=signal))

    def block(self, mask: int) -> None:
        """Have these signals wait, and no others; one of those that did may end the program."""
        ends = self.signals.block(mask)
        if ends is not None:
            self.end(Ending("signal", signal=ends))

    def end(self, ending: Ending) -> None:
        """No more of it runs; what it has open is closed."""
        self.ending = ending
        self.close()
