"""Linear memory on a CPU: address space that is reserved whole and made usable page by page.

Every address that an instruction can name lies inside the reservation, so what is not in use faults, and growing never
moves anything.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import weakref

from lanewise.errors import OutOfMemoryError

RESERVED = (2**33 + 2**16 + 4095) & ~4095
"""A 32-bit address plus a 32-bit offset plus the widest access."""

_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)


_FIRST, _PLACES = 1 << 45, 4096
"""Where reservations would like to be: apart from where the system puts everything else. Between the others they would
leave holes, and compiled code whose pieces land in different ones cannot be linked: they must lie within 2 GiB."""
_numbers = itertools.count()


class GuardedMemory:
    """One linear memory."""

    def __init__(self, nbytes: int, reserved: int = RESERVED) -> None:
        """`reserved` may be less where every access is compared, as it is for those that never grow beyond."""
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        address = libc.mmap(_FIRST + next(_numbers) % _PLACES * RESERVED, reserved, 0, _FLAGS, -1, 0)
        if address in (None, ctypes.c_void_p(-1).value):
            raise OutOfMemoryError(
                f"no address space for a linear memory: {reserved:,} bytes are reserved, though not used, for each; "
                "raise the limit (ulimit -v) or make fewer instances"
            )
        self.address: int = address
        libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        weakref.finalize(self, libc.munmap, address, reserved)
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self._protect = libc.mprotect
        self.open(nbytes)

    def open(self, nbytes: int) -> None:
        """Make the first bytes usable."""
        if nbytes and self._protect(self.address, nbytes, mmap.PROT_READ | mmap.PROT_WRITE):
            raise OutOfMemoryError(f"no memory for {nbytes:,} bytes of linear memory")
