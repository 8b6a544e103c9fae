"""How a process and its compile workers talk over pipes: frames of a JSON header and bytes, and no pickle."""

from __future__ import annotations

import json
import struct
from typing import Any

_LENGTHS = struct.Struct("<IQ")  # of the header, of the body


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """Return one frame."""
    text = json.dumps(header).encode()
    return _LENGTHS.pack(len(text), len(body)) + text + body


def unpack(received: bytearray) -> tuple[dict[str, Any], bytes] | None:
    """Take the first frame off `received`, or return None where it is not there as a whole yet."""
    if len(received) < _LENGTHS.size:
        return None
    header_length, body_length = _LENGTHS.unpack_from(received)
    header_end = _LENGTHS.size + header_length
    end = header_end + body_length
    if len(received) < end:
        return None
    header: dict[str, Any] = json.loads(received[_LENGTHS.size : header_end])
    body = bytes(received[header_end:end])
    del received[:end]
    return header, body
