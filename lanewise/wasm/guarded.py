"""Linear memory on a CPU: address space that is reserved whole and made usable page by page.

Every address that an instruction can name lies inside the reservation, so what is not in use faults, and growing never
moves anything.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref

from lanewise.errors import OutOfMemoryError

RESERVED = (2**33 + 2**16 + 4095) & ~4095
"""A 32-bit address plus a 32-bit offset plus the widest access."""

_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)


class GuardedMemory:
    """One linear memory."""

    def __init__(self, nbytes: int) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        address = libc.mmap(None, RESERVED, 0, _FLAGS, -1, 0)
        if address in (None, ctypes.c_void_p(-1).value):
            raise OutOfMemoryError(
                f"no address space for a linear memory: {RESERVED:,} bytes are reserved, though not used, for each; "
                "raise the limit (ulimit -v) or make fewer instances"
            )
        self.address: int = address
        libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        weakref.finalize(self, libc.munmap, address, RESERVED)
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self._protect = libc.mprotect
        self.open(nbytes)

    def open(self, nbytes: int) -> None:
        """Make the first bytes usable."""
        if nbytes and self._protect(self.address, nbytes, mmap.PROT_READ | mmap.PROT_WRITE):
            raise OutOfMemoryError(f"no memory for {nbytes:,} bytes of linear memory")
