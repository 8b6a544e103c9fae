"""Which function of a module a byte of it belongs to: how a trap's place becomes a name."""

from __future__ import annotations

import bisect

from lanewise.wasm.model import Module


def function_at(module: Module, place: int) -> str:
    """The name of the function whose body holds a byte of the module, or nothing."""
    at = bisect.bisect_right(module.bodies, place, key=lambda body: body.start) - 1
    if at < 0 or place >= module.bodies[at].end:
        return ""
    return module.function_name(module.imported_functions + at)
