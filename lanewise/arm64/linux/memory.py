"""The memory of one lane, as the calls of its program reach into it."""

from __future__ import annotations

import errno
import struct

from lanewise.arm64.runners import Runner
from lanewise.host.reply import failure

MOST_MOVED = 1 << 20
"""Bytes that one call moves at most; who wants more calls again."""
STRING_STEP = 256
"""Bytes of a text that are read at once."""
_LONGEST_STRING = 1 << 17


class LaneMemory:
    """Bytes by their addresses; EFAULT for what is not there."""

    def __init__(self, runner: Runner, place: int, start: int, size: int) -> None:
        """The lane's address `start` is at `place` on the device."""
        self._runner = runner
        self._bias = place - start
        self.start = start
        self.end = start + size
        self._code = range(0)
        self._modified = 0

    def watch(self, code: range, modified: int) -> None:
        """Say at a place of the device if some of the code is written, as lanes do: it may be translated."""
        self._code, self._modified = code, modified

    def note_write(self, address: int, count: int) -> None:
        """Bytes from there on are about to be set."""
        if address < self._code.stop and self._code.start < address + count:
            self._runner.write(self._modified, (1).to_bytes(8, "little"))

    def check(self, address: int, count: int) -> None:
        """EFAULT unless all of it is there."""
        if address < self.start or address + count > self.end:
            raise failure(errno.EFAULT)

    def there(self, address: int, count: int) -> int:
        """How many of so many bytes are there."""
        return max(0, min(count, self.end - address)) if address >= self.start else 0

    def read(self, address: int, count: int) -> bytes:
        """Bytes from there on."""
        if not count:
            return b""
        self.check(address, count)
        return self._runner.read(self._bias + address, count)

    def write(self, address: int, data: bytes) -> None:
        """Set bytes from there on."""
        if data:
            self.check(address, len(data))
            self.note_write(address, len(data))
            self._runner.write(self._bias + address, data)

    def clear(self, address: int, count: int) -> None:
        """Set many bytes from there on to 0, of which a program may have used few; none are of the program itself."""
        self.check(address, count)
        self.note_write(address, count)
        self._runner.clear_part(self._bias + address, count)

    def words(self, address: int, layout: str) -> tuple[int, ...]:
        """Numbers in the layout of the module struct."""
        return struct.unpack(layout, self.read(address, struct.calcsize(layout)))

    def write_words(self, address: int, layout: str, *words: int) -> None:
        """Set numbers."""
        self.write(address, struct.pack(layout, *words))

    def string(self, address: int) -> bytes:
        """Text up to a 0, as paths are."""
        found = b""
        while len(found) < _LONGEST_STRING:
            self.check(address, 1)
            step = min(STRING_STEP, self.end - address)
            part = self.read(address, step)
            end = part.find(b"\0")
            if end >= 0:
                return found + part[:end]
            found += part
            address += step
        raise failure(errno.ENAMETOOLONG)
