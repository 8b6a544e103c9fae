"""Several pieces of code as one: to be cached, or sent to another process, whole."""

from __future__ import annotations

import struct
from collections.abc import Sequence


def bundle(codes: Sequence[bytes]) -> bytes:
    """Several pieces of code as one."""
    head = struct.pack(f"<I{len(codes)}Q", len(codes), *(len(code) for code in codes))
    return head + b"".join(codes)


def unbundle(stored: bytes) -> list[bytes]:
    """The pieces of a bundle."""
    (count,) = struct.unpack_from("<I", stored)
    at, codes = 4 + 8 * count, []
    for size in struct.unpack_from(f"<{count}Q", stored, 4):
        codes.append(stored[at : at + size])
        at += size
    return codes
