"""How the command writes to people: the console, and sizes as they are read."""

from __future__ import annotations

import sys

from rich.console import Console

_WIDTH_OF_FILES = 110


def output() -> Console:
    """Standard output; a file or a pipe has no width of its own, and gets one that tables fit in."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH_OF_FILES)


def size(nbytes: int) -> str:
    """A number of bytes as people read it: 512 B, 1.5 MiB, 139.8 GiB."""
    amount, units = float(nbytes), ["KiB", "MiB", "GiB", "TiB"]
    if nbytes < 1024:
        return f"{nbytes} B"
    amount /= 1024
    while amount >= 1024 and len(units) > 1:
        amount /= 1024
        del units[0]
    return f"{amount:.1f} {units[0]}"
