"""The same bytes at many places of this process's memory: each has pages of its own only once it changes them."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Sequence
from functools import cache
from typing import Any

_FIXED = 0x10
_FAILED = ctypes.c_void_p(-1).value


def map_copies(addresses: Sequence[int], data: bytes) -> list[int]:
    """Map whole pages in the place of what is at some addresses; gives where that was done.

    Addresses are multiples of a page. Each place must be within a mapping that goes away as a whole, and these with it.
    """
    try:
        file = os.memfd_create("lanewise-program", os.MFD_CLOEXEC)
    except OSError:
        return []
    done = []
    try:
        with open(file, "wb", closefd=False) as content:
            content.write(data)
        for address in addresses:
            if not _map(address, len(data), 0, file):
                break
            done.append(address)
    except OSError:
        return done
    finally:
        os.close(file)
    return done


def map_empty(address: int, count: int) -> bool:
    """Map whole pages of 0 in the place of whatever is there; whether that was done."""
    return _map(address, count, mmap.MAP_ANONYMOUS, -1)


def _map(address: int, count: int, flags: int, file: int) -> bool:
    protection = mmap.PROT_READ | mmap.PROT_WRITE
    return bool(_mmap()(address, count, protection, mmap.MAP_PRIVATE | _FIXED | flags, file, 0) != _FAILED)


@cache
def _mmap() -> Any:
    function = ctypes.CDLL(None, use_errno=True).mmap
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    return function
