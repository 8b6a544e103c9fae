"""What is on the stack when a program begins: its arguments, its environment, and what the system tells of itself."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence

from lanewise.arm64.arguments import MEMORY_OPTION
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


class StackBuilder:
    """Makes the stacks of lanes that run the same program."""

    def __init__(self, program: Program, top: int, room: int) -> None:
        """Stacks end at `top`, and have so much room."""
        self._top, self._room = top, room
        self._strings = os.fsencode(program.name) + b"\0" + b"aarch64\0"
        self._platform = len(self._strings) - len(b"aarch64\0")
        self._known = [
            (_PHDR, program.headers), (_PHENT, program.header_size), (_PHNUM, program.header_count), (_PAGESZ, PAGE),
            (_BASE, 0), (_FLAGS, 0), (_ENTRY, program.entry),
            (_UID, os.getuid()), (_EUID, os.geteuid()), (_GID, os.getgid()), (_EGID, os.getegid()),
            (_HWCAP, sum(1 << bit for bit in _FEATURES.values())), (_HWCAP2, 0), (_CLKTCK, CLOCK_TICKS), (_SECURE, 0),
        ]  # fmt: skip

    def build(self, argv: Sequence[bytes], env: Sequence[bytes], random: bytes) -> tuple[int, bytes]:
        """Where a stack begins, which is what the stack pointer is at first, and its bytes up to the top."""
        strings = b"".join([self._strings, random, *(one + b"\0" for one in (*argv, *env))])
        top, seed = self._top, len(self._strings)
        first = top - len(strings) & ~15
        at = first + seed + len(random)
        vector = [len(argv)]
        for texts in (argv, env):
            for one in texts:
                vector.append(at)
                at += len(one) + 1
            vector.append(0)
        told = [(_RANDOM, first + seed), (_EXECFN, first), (_PLATFORM, first + self._platform), (0, 0)]
        for pair in (*self._known, *told):
            vector += pair
        pointer = first - 8 * len(vector) & ~15
        if top - pointer > self._room // 2:
            raise ArgumentError(
                f"arguments and environment take {top - pointer:,} bytes of a stack of {self._room:,}; "
                f"give lanes more memory ({MEMORY_OPTION})"
            )
        content = struct.pack(f"<{len(vector)}Q", *vector).ljust(first - pointer, b"\0") + strings
        return pointer, content.ljust(top - pointer, b"\0")
