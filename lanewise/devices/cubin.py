"""What machine code for a GPU says about itself: how much stack its functions take."""

from __future__ import annotations

import struct

_SECTION = struct.Struct("<IIQQQQIIQQ")  # a section header of ELF64
_INFO_TYPE = 0x70000000
"""Sections of facts about functions."""
_SIZED, _FRAME_SIZE = 0x04, 0x11
"""A fact that says its own size; the fact that a function (by symbol) has a frame of so many bytes."""


def largest_frame(cubin: bytes) -> int:
    """Bytes of stack that the largest frame among all functions takes; 0 if the code does not say."""
    if cubin[:4] != b"\x7fELF" or len(cubin) < 64:
        return 0
    (table,) = struct.unpack_from("<Q", cubin, 40)
    size, count = struct.unpack_from("<HH", cubin, 58)
    largest = 0
    for number in range(count):
        at = table + number * size
        if at + _SECTION.size > len(cubin):
            break
        _, kind, _, _, offset, length, *_ = _SECTION.unpack_from(cubin, at)
        if kind == _INFO_TYPE:
            largest = max(largest, _largest_in(cubin[offset : offset + length]))
    return largest


def _largest_in(facts: bytes) -> int:
    largest = at = 0
    while at + 4 <= len(facts):
        form, fact, size = struct.unpack_from("<BBH", facts, at)
        at += 4
        if form == _SIZED:
            if fact == _FRAME_SIZE and size >= 8 and at + 8 <= len(facts):
                largest = max(largest, struct.unpack_from("<II", facts, at)[1])
            at += size
    return largest
