"""Pictures as PNG: what a library would bring along for this is a hundred times as much."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BITS, _RGBA = 8, 6


def png(pixels: np.ndarray[Any, Any]) -> bytes:
    """A picture of shape (height, width, 4), bytes of red, green, blue and alpha, as a PNG file."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + width * 4), np.uint8)  # each row begins with the number of its filter: none
    rows[:, 1:] = pixels.reshape(height, width * 4)
    head = struct.pack(">IIBBBBB", width, height, _EIGHT_BITS, _RGBA, 0, 0, 0)
    body = zlib.compress(rows.tobytes(), 6)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
