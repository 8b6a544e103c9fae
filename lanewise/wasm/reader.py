"""Reads bytes, LEB128 numbers and names out of a part of a module, and never past the end of that part."""

from __future__ import annotations

from lanewise.errors import MalformedError


class Reader:
    """A position `at` in `data` that moves towards `end`."""

    __slots__ = ("at", "data", "end")

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data = data
        self.at = at
        self.end = end

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return self.end - self.at

    def ended(self, what: str = "") -> MalformedError:
        """Make the error for bytes that ran out while `what` was read."""
        detail = f": {what} is cut off" if what else ""
        return MalformedError(f"unexpected end of section or function{detail}", self.end)

    def byte(self, what: str = "") -> int:
        """Read one byte."""
        at = self.at
        if at >= self.end:
            raise self.ended(what)
        self.at = at + 1
        return self.data[at]

    def take(self, count: int, what: str = "") -> int:
        """Step over `count` bytes and give the position of the first."""
        at = self.at
        if count > self.end - at:
            raise self.ended(f"{what or 'what follows'} should have {count:,} bytes, {self.end - at:,} are left; it")
        self.at = at + count
        return at

    def u32(self, what: str = "") -> int:
        """Read an unsigned number of 32 bits."""
        at = self.at
        if at < self.end:
            value = self.data[at]
            if value < 0x80:
                self.at = at + 1
                return value
        return self._leb(32, False, what)

    def s32(self, what: str = "") -> int:
        """Read a signed number of 32 bits."""
        return self._leb(32, True, what)

    def s33(self, what: str = "") -> int:
        """Read a signed number of 33 bits: a type index or, below zero, a type."""
        return self._leb(33, True, what)

    def s64(self, what: str = "") -> int:
        """Read a signed number of 64 bits."""
        return self._leb(64, True, what)

    def bits(self, count: int, what: str = "") -> int:
        """Read `count` bytes as one little-endian number."""
        at = self.take(count, what)
        return int.from_bytes(self.data[at : at + count], "little")

    def _leb(self, width: int, signed: bool, what: str) -> int:
        start, data, end = self.at, self.data, self.end
        at, shift, value = start, 0, 0
        while True:
            if at >= end:
                raise self.ended(what)
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift >= width:
                longest = f"{_of(what)}takes at most {-(-width // 7)} bytes"
                raise MalformedError(f"integer representation too long: {longest}", start)
        if signed and byte & 0x40:
            value -= 1 << shift
        low, high = (-(1 << (width - 1)), 1 << (width - 1)) if signed else (0, 1 << width)
        if not low <= value < high:
            kind = "a signed" if signed else "an unsigned"
            raise MalformedError(f"integer too large: {_of(what)}does not fit {kind} number of {width} bits", start)
        self.at = at
        return value

    def count(self, what: str) -> int:
        """Read how many entries follow; each takes a byte at least, so more than there are bytes cannot be."""
        start = self.at
        value = self.u32(f"the number of {what}")
        if value > self.end - self.at:
            more = f"{value:,} {what} are announced, {self.end - self.at:,} bytes are left"
            raise MalformedError(f"unexpected end of section or function: {more}", start)
        return value

    def name(self, what: str) -> str:
        """Read a name: its length and so many bytes of UTF-8."""
        start = self.at
        length = self.u32(f"the length of {what}")
        if length > self.end - self.at:
            more = f"{what} should have {length:,} bytes, {self.end - self.at:,} are left"
            raise MalformedError(f"length out of bounds: {more}", start)
        at = self.take(length)
        try:
            return str(self.data[at : at + length], "utf-8")
        except UnicodeDecodeError as error:
            raise MalformedError(f"malformed UTF-8 encoding: {what}: {error.reason}", at + error.start) from None


def _of(what: str) -> str:
    return f"{what} " if what else "a number here "
