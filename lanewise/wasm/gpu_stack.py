"""How deep calls may go on a GPU: its stack has no guard, so functions compare where they are with a floor.

In a program that may recurse every function that calls others checks on entry. Below a check there can be one frame
of a function that checks, not yet checked, and one of a function that calls nobody but a helper.
"""

from __future__ import annotations

from lanewise.devices.cuda import NativeKernel
from lanewise.errors import CompileError

_FRAMES_BELOW = 3
_SLACK = 1024
"""What calls themselves push, and alignment."""
_USUAL = 6 * 1024
"""What is left in any case: code that was not assembled in pieces does not tell all of its frames."""
_LEAST = 2048
"""Stack that must be left for the program; with less, the next call would be the last."""


def stack_room(kernel: NativeKernel, stack: int) -> int:
    """How many bytes of a stack checked functions may use, so that what lies below a check still fits."""
    room = stack - max(_USUAL, _FRAMES_BELOW * kernel.frame_bytes + _SLACK)
    if room < _LEAST:
        raise CompileError(
            f"a function of the module has a frame of {kernel.frame_bytes:,} bytes on the GPU, "
            f"too large for a stack of {stack:,}; run the module on the CPU"
        )
    return room
