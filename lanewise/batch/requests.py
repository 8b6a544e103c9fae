"""How a request lies in memory, as Python reads and writes it: a whole half at a time, since each access costs."""

from __future__ import annotations

import ctypes
import struct
from typing import NamedTuple

from lanewise.host.reply import Reply
from lanewise.kernel.lane_io import Request

_IN = struct.Struct("<16xIII4x6QII")
"""From the beginning of a Request: lane, op, wave, arguments, sent, room."""
_OUT = struct.Struct("<II6Q")
"""From `error` on: error, received, values."""
_ERROR_AT: int = Request.offsets["error"]
assert _IN.size == _ERROR_AT
assert _ERROR_AT + _OUT.size == Request.size


class Asked(NamedTuple):
    """What a lane asks: `HostService.serve` takes all but the wave."""

    wave: int
    lane: int
    op: int
    arguments: list[int]
    data: bytes
    room: int


def read_request(at: int) -> Asked:
    """What is asked at an address, with the data that goes along."""
    lane, op, wave, *arguments, sent, room = _IN.unpack(ctypes.string_at(at, _IN.size))
    return Asked(wave, lane, op, arguments, ctypes.string_at(at + Request.size, sent) if sent else b"", room)


def write_reply(at: int, reply: Reply) -> None:
    """Put the answer where the request is."""
    head = _OUT.pack(reply.errno, len(reply.data), *(*reply.values, 0, 0, 0, 0, 0, 0)[:6])
    ctypes.memmove(at + _ERROR_AT, head, len(head))
    if reply.data:
        ctypes.memmove(at + Request.size, reply.data, len(reply.data))
