"""Calls of the system: a table by their numbers, and how one is served."""

from __future__ import annotations

import errno
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from lanewise.arm64.linux.opened import Stop
from lanewise.arm64.linux.process import Ending, Process

_WORD = 1 << 64
_SIGPIPE = 13
_MOST_UNKNOWN = 1024
"""Numbers of unknown calls that are kept of one program."""


class Call(NamedTuple):
    """What a call does, and how many of the registers it looks at."""

    action: Callable[..., int]
    words: int


CALLS: dict[int, Call] = {}
"""By the numbers that AArch64 shares with all newer architectures of Linux."""


def call(*numbers: int) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Put a function into the table. It is given the process and the words of the registers, and raises OSError."""

    def enter(action: Callable[..., int]) -> Callable[..., int]:
        code: Any = action.__code__
        for number in numbers:
            CALLS[number] = Call(action, code.co_argcount - 1)
        return action

    return enter


def serve(process: Process, number: int, words: Sequence[int]) -> int:
    """Do what a program calls for; gives what its register X0 becomes.

    Whatever words it gives, this is its own matter: what nobody thought of is an argument that is not valid.
    """
    found = CALLS.get(number)
    if found is None:
        if number in process.unknown or len(process.unknown) < _MOST_UNKNOWN:
            process.unknown[number] = process.unknown.get(number, 0) + 1
        return _WORD - errno.ENOSYS
    try:
        return found.action(process, *words[: found.words]) % _WORD
    except OSError as error:
        if error.errno == errno.EPIPE:
            process.send(_SIGPIPE)
        return _WORD - (error.errno or errno.EIO)
    except MemoryError:
        return _WORD - errno.ENOMEM
    except (ValueError, OverflowError, struct.error):
        return _WORD - errno.EINVAL
    except Stop as stop:
        process.end(Ending(stop.reason))
        return 0


def integer(word: int) -> int:
    """A register as C's int, which descriptors and flags are."""
    return (word & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


def long(word: int) -> int:
    """A register as C's long, which offsets are."""
    return (word ^ 1 << 63) - (1 << 63)
