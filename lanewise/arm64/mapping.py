"""The same bytes at many places of this process's memory: each has pages of its own only once it changes them."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Sequence

_FIXED = 0x10
_FAILED = ctypes.c_void_p(-1).value


def map_copies(addresses: Sequence[int], data: bytes) -> list[int]:
    """Map whole pages in the place of what is at some addresses; gives where that was done.

    Addresses are multiples of a page. Each place must be within a mapping that goes away as a whole, and these with it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    try:
        file = os.memfd_create("lanewise-program", os.MFD_CLOEXEC)
    except OSError:
        return []
    done = []
    try:
        with open(file, "wb", closefd=False) as content:
            content.write(data)
        for address in addresses:
            protection, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | _FIXED
            if libc.mmap(address, len(data), protection, flags, file, 0) == _FAILED:
                break
            done.append(address)
    except OSError:
        return done
    finally:
        os.close(file)
    return done
