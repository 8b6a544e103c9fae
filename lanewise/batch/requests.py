"""How a request lies in memory, as Python reads and writes it: a whole half at a time, since each access costs."""

from __future__ import annotations

import struct

from lanewise.kernel.lane_io import Request

REQUEST_IN = struct.Struct("<16xII6QII")
"""From the beginning of a Request: lane, op, arguments, sent, room."""
REQUEST_OUT = struct.Struct("<II6Q")
"""From `error` on: error, received, values."""
ERROR_AT: int = Request.offsets["error"]
assert REQUEST_IN.size == ERROR_AT
assert ERROR_AT + REQUEST_OUT.size == Request.size
