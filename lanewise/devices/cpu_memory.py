"""Memory of arrays on the CPU device: each ends before a page that may not be touched.

So an index beyond the end is an error instead of a change to something else.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref

from lanewise.errors import OutOfMemoryError

ALIGNMENT = 64
"""Where arrays start: whole cache lines, so an array may have up to 63 bytes between its end and the guarded page."""

_HUGE = 4 * 2**20
_alive: weakref.WeakSet[ArrayMemory] = weakref.WeakSet()


class ArrayMemory:
    """Bytes for one array; given back when nobody refers to them any more."""

    def __init__(self, nbytes: int) -> None:
        page = mmap.PAGESIZE
        inside = -(-nbytes // page) * page
        try:
            self._mapping = mmap.mmap(-1, inside + page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except (OSError, OverflowError, ValueError):
            raise OutOfMemoryError(f"the CPU has no {nbytes:,} bytes free; free arrays or work in parts") from None
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._mapping))
        if nbytes >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
            self._mapping.madvise(mmap.MADV_HUGEPAGE)
        self.nbytes = nbytes
        self.guard = start + inside
        self.address = (self.guard - nbytes) // ALIGNMENT * ALIGNMENT
        # Without the page's protection (a system may have few mappings) the array works all the same.
        ctypes.CDLL(None).mprotect(ctypes.c_void_p(self.guard), ctypes.c_size_t(page), 0)
        _alive.add(self)


def array_before(address: int) -> int | None:
    """The size of the array whose guarded page holds this address, or None if it is no array's."""
    sizes = [memory.nbytes for memory in list(_alive) if 0 <= address - memory.guard < mmap.PAGESIZE]
    return sizes[0] if sizes else None
