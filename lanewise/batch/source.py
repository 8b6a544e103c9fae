"""The bytes of a program and the name it goes by, without a look at what they mean: that is the engine's."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from lanewise.errors import ArgumentError

MAGIC = b"\0asm"
"""The first bytes of every WebAssembly module."""
_ELF = b"\x7fELF"
"""Those of programs of Linux, among others."""
_WANTED = "give the path of a .wasm file, or of a static AArch64 program of Linux"

LINUX_TOO = "static AArch64 programs of Linux run, too: build one with aarch64-linux-gnu-gcc -static"
"""What is said to who gives something else."""


def is_linux(program: bytes) -> bool:
    """Whether this is a program of Linux, for whatever machine."""
    return program.startswith(_ELF)


def read_program(path: str | os.PathLike[str]) -> bytes:
    """Read a program's file; what keeps it from being read is said in one sentence."""
    place = Path(path)
    if not os.fspath(path):
        raise ArgumentError(f"the path of the program is empty; {_WANTED}")
    try:
        return place.read_bytes()
    except FileNotFoundError:
        if place.is_symlink():
            what = f"{str(place)!r} is a link to {os.readlink(place)!r}, which is not there"
            raise ArgumentError(f"the program {what}; {_WANTED}") from None
        raise ArgumentError(f"there is no program {str(place)!r}{_near(place)}") from None
    except IsADirectoryError:
        raise ArgumentError(f"{str(place)!r} is a directory; {_WANTED}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ArgumentError(f"the program {str(place)[:200]!r} cannot be read: {reason}") from None


def _near(path: Path) -> str:
    """A file beside it that was likely meant."""
    try:
        beside = [one.name for one in path.parent.glob("*.wasm")]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, beside, 1)
    return f"; did you mean {str(path.parent / near[0])!r}?" if near else ""
