"""What is on the stack when a program begins: its arguments, its environment, and what the system tells of itself."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence

from lanewise.arm64.linux.elf import PAGE, Program
from lanewise.errors import ArgumentError

(
    _PHDR, _PHENT, _PHNUM, _PAGESZ, _BASE, _FLAGS, _ENTRY, _UID, _EUID, _GID, _EGID, _PLATFORM, _HWCAP, _CLKTCK,
    _SECURE, _RANDOM, _HWCAP2, _EXECFN,
) = (3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 23, 25, 26, 31)  # fmt: skip

_FEATURES = {"fp": 0, "asimd": 1, "aes": 3, "pmull": 4, "sha1": 5, "sha2": 6, "crc32": 7, "atomics": 8}
"""Bits of AT_HWCAP that libraries choose their code by: what the table of instructions has."""
CLOCK_TICKS = 100
RANDOM_BYTES = 16


def build_stack(
    program: Program, argv: Sequence[bytes], env: Sequence[bytes], random: bytes, top: int, room: int
) -> tuple[int, bytes]:
    """The bytes on the stack and where they begin, which is what the stack pointer is at first; they end at `top`."""
    strings = bytearray()

    def place(text: bytes) -> int:
        strings.extend(text)
        return len(strings) - len(text)

    name = place(os.fsencode(program.name) + b"\0")
    platform = place(b"aarch64\0")
    seed = place(random)
    words = [[place(one + b"\0") for one in texts] for texts in (argv, env)]
    first = top - len(strings) & ~15
    known = [
        (_PHDR, program.headers), (_PHENT, program.header_size), (_PHNUM, program.header_count), (_PAGESZ, PAGE),
        (_BASE, 0), (_FLAGS, 0), (_ENTRY, program.entry),
        (_UID, os.getuid()), (_EUID, os.geteuid()), (_GID, os.getgid()), (_EGID, os.getegid()),
        (_HWCAP, sum(1 << bit for bit in _FEATURES.values())), (_HWCAP2, 0), (_CLKTCK, CLOCK_TICKS), (_SECURE, 0),
        (_RANDOM, first + seed), (_EXECFN, first + name), (_PLATFORM, first + platform), (0, 0),
    ]  # fmt: skip
    vector = [len(argv)]
    for found in words:
        vector += [*(first + one for one in found), 0]
    for pair in known:
        vector += pair
    pointer = first - 8 * len(vector) & ~15
    if top - pointer > room // 2:
        raise ArgumentError(
            f"arguments and environment take {top - pointer:,} bytes of a stack of {room:,}; give lanes more memory"
        )
    content = struct.pack(f"<{len(vector)}Q", *vector).ljust(first - pointer, b"\0") + strings
    return pointer, content.ljust(top - pointer, b"\0")
