"""What a lane asks of the host, what it answers, and how errors of the host become error numbers of WASI."""

from __future__ import annotations

import errno
import os
from typing import NamedTuple

from lanewise.kernel import wasi_numbers

_NUMBERS: dict[int, int] = {
    getattr(errno, name): number
    for name, number in vars(wasi_numbers).items()
    if name.startswith("E") and hasattr(errno, name)
}


class Request(NamedTuple):
    """What a lane asks for: the words and the data that `wasi_numbers` describes for each kind of request."""

    words: list[int]
    """Six unsigned words of 64 bits."""
    data: bytes
    room: int
    """Bytes that the data of the answer may have."""


class Reply(NamedTuple):
    """The answer to a request: an error number of WASI, and the words and the data that go with it."""

    errno: int
    values: tuple[int, ...] = ()
    data: bytes = b""


DONE = Reply(wasi_numbers.SUCCESS)
"""The answer that says no more than that it is done."""


def failure(number: int) -> OSError:
    """An error of the host by its number, for what is refused here before the host would do it."""
    return OSError(number, os.strerror(number))


def error_number(error: OSError) -> int:
    """The error number of WASI for an error of the host; what WASI has no word for is an error of input or output."""
    return _NUMBERS.get(error.errno or 0, wasi_numbers.EIO)
