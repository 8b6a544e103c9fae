"""Programs as files: what of an ELF file belongs into memory, and where it begins.

What cannot be run is refused here, in one sentence each. A program that may lie anywhere (static-pie) puts its own
addresses right when it starts; storage of threads is set up by its C library, too.
"""

from __future__ import annotations

import io
import itertools
import os
import struct
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile

from lanewise.errors import ArgumentError

if TYPE_CHECKING:
    from lanewise.arm64.linux.symbols import Functions

PAGE = 4096
_LOWEST = 0x10000
"""Where a program that may lie anywhere begins at the lowest: pointers that are nearly 0 lead nowhere."""
_HEADER = 64
_MAGIC = b"\x7fELF"
_EXECUTABLE = 1
_DAMAGE = (
    ELFError, struct.error, ValueError, OverflowError, AssertionError, LookupError, TypeError, AttributeError,
)  # fmt: skip
"""What the reader of ELF files raises when bytes are not what they should be."""
_READABLE = "a static AArch64 program of Linux is wanted, as aarch64-linux-gnu-gcc -static makes one"


@dataclass(frozen=True)
class Segment:
    """Bytes of the file that belong to an address, and how much room they have there; what they do not fill is 0."""

    address: int
    offset: int
    size: int
    room: int
    executable: bool


@dataclass(frozen=True)
class Program:
    """What is put into memory, from which address on it runs, and what its C library wants to know of itself."""

    name: str
    segments: tuple[Segment, ...]
    entry: int
    headers: int
    """Where the headers of its segments are in memory; 0 if nowhere."""
    header_size: int
    header_count: int
    bias: int
    """How far it lies above the addresses in its file."""
    content: bytes

    @property
    def start(self) -> int:
        """The first page that it needs."""
        return min(one.address for one in self.segments) // PAGE * PAGE

    @property
    def end(self) -> int:
        """The page behind the last that it needs."""
        return -(-max(one.address + one.room for one in self.segments) // PAGE) * PAGE

    def image(self) -> bytes:
        """All pages that it needs, from the first on."""
        start = self.start
        found, content = bytearray(self.end - start), memoryview(self.content)
        for one in self.segments:
            at = one.address - start
            found[at : at + one.size] = content[one.offset : one.offset + one.size]
        return bytes(found)

    def is_code(self, address: int) -> bool:
        """Whether instructions may be there."""
        return any(one.executable and one.address <= address < one.address + one.room for one in self.segments)

    def function(self, address: int) -> str:
        """The function that an address is in and how far, such as `main+0x1c`; empty if the file does not tell."""
        with suppress(*_DAMAGE):  # if names are damaged there are none
            return self._functions.around(address - self.bias) if self.is_code(address) else ""
        return ""

    def functions(self) -> list[tuple[str, int]]:
        """Functions that the file has names for, with where they begin; none if names are damaged. Of several with one
        name the best known is the last."""
        with suppress(*_DAMAGE):
            found = [(name, address + self.bias) for name, address in self._functions.starts()]
            return [(name, address) for name, address in found if address % 4 == 0 and self.is_code(address)]
        return []

    @cached_property
    def _functions(self) -> Functions:
        from lanewise.arm64.linux.symbols import Functions  # not for every program

        return Functions(self.content)


def read_program(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview, lowest: int = 0, name: str = "program"
) -> Program:
    """A program from its file or from what is in it. One that may lie anywhere is put at `lowest`, or a bit above.

    `name` is what it goes by where it is not read from a file.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        content = bytes(source)
    elif isinstance(source, str | os.PathLike):
        name, content = os.fsdecode(source), _content(source)
    else:
        raise ArgumentError(f"the program is a {type(source).__name__}; give the path of its file, or its bytes")
    if content[:4] != _MAGIC:
        raise ArgumentError(f"{name} is no ELF file; {_READABLE}")
    if len(content) < _HEADER:
        raise ArgumentError(f"{name} is cut short: {len(content)} bytes are not even the header of an ELF file")
    try:
        return _read(name, content, lowest)
    except _DAMAGE as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"{name} is a damaged ELF file: {error or type(error).__name__}") from None
    except MemoryError:
        raise ArgumentError(f"{name} is a damaged ELF file: it wants more memory than there is") from None


def _content(path: str | os.PathLike[str]) -> bytes:
    """What is in a file, or only its beginning if that is enough to refuse it."""
    try:
        with open(path, "rb") as file:
            begin = file.read(_HEADER)
            return begin + file.read() if begin[:4] == _MAGIC else begin
    except (OSError, ValueError) as error:
        raise ArgumentError(f"the program {os.fsdecode(path)} cannot be read: {error}") from None
    except MemoryError:
        raise ArgumentError(f"the program {os.fsdecode(path)} is too large to be read into memory") from None


def _read(name: str, content: bytes, lowest: int) -> Program:
    file = ELFFile(io.BytesIO(content))
    _check_kind(name, file)
    header = file.header
    if header.e_phoff + header.e_phnum * header.e_phentsize > len(content):
        raise ArgumentError(f"{name} is cut short: the headers of its segments are beyond its end")
    found = list(file.iter_segments())
    kinds = [one.header.p_type for one in found]
    if "PT_INTERP" in kinds:
        raise ArgumentError(f"{name} is linked dynamically; link it with -static, as there are no shared libraries")
    loads = [one.header for one in found if one.header.p_type == "PT_LOAD" and one.header.p_memsz]
    if header.e_type == "ET_DYN" and not _is_pie(file, header.e_entry):
        raise ArgumentError(f"{name} is a shared library, not a program; {_READABLE}")
    if not loads:
        raise ArgumentError(f"{name} has nothing to load; {_READABLE}")
    bias = 0
    if header.e_type == "ET_DYN":
        step = max(PAGE, *(one.p_align for one in loads))
        first = min(one.p_vaddr for one in loads) // step * step
        bias = -(-max(lowest, _LOWEST) // step) * step - first
    segments = tuple(_segment(name, len(content), one, bias) for one in loads)
    _check_segments(name, len(content), segments)
    headers = next((one.p_vaddr + bias + header.e_phoff - one.p_offset for one in loads if _covers(one, header)), 0)
    entry = header.e_entry + bias
    program = Program(name, segments, entry, headers, header.e_phentsize, header.e_phnum, bias, content)
    if not program.is_code(entry):
        raise ArgumentError(f"{name} begins at {entry:#x}, where it has no code")
    return program


def _check_kind(name: str, file: ELFFile) -> None:
    if file.elfclass != 64 or not file.little_endian or file.header.e_machine != "EM_AARCH64":
        machine = str(file.header.e_machine).removeprefix("EM_")
        order = "little" if file.little_endian else "big"
        raise ArgumentError(
            f"{name} is for another machine ({machine}, {file.elfclass} bits, {order}-endian); {_READABLE}"
        )
    if file.header.e_type not in ("ET_EXEC", "ET_DYN"):
        what = {"ET_REL": "an object file that is not linked yet", "ET_CORE": "a core dump"}
        raise ArgumentError(f"{name} is {what.get(file.header.e_type, 'of an unknown kind')}; {_READABLE}")


def _is_pie(file: ELFFile, entry: int) -> bool:
    """Whether what may lie anywhere is a program: the linker marks it, or it at least begins somewhere."""
    flags = 0
    for segment in file.iter_segments("PT_DYNAMIC"):
        assert isinstance(segment, DynamicSegment)
        for tag in segment.iter_tags("DT_FLAGS_1"):
            flags = int(tag.entry.d_val)
        if any(segment.iter_tags("DT_SONAME")):
            return False
    return bool(flags & 0x08000000) or entry != 0


def _check_segments(name: str, length: int, segments: tuple[Segment, ...]) -> None:
    """Refuse what no linker makes, and what would be more work than there is in the file."""
    if sum(one.size for one in segments) > length:
        raise ArgumentError(f"{name} is a damaged ELF file: its segments are larger than the file, {length:,} bytes")
    in_order = sorted(segments, key=lambda one: one.address)
    for before, after in itertools.pairwise(in_order):
        if before.address + before.room > after.address:
            raise ArgumentError(f"{name} is a damaged ELF file: two of its segments overlap at {after.address:#x}")


def _segment(name: str, length: int, header: Any, bias: int) -> Segment:
    size = header.p_filesz
    if size > header.p_memsz or (size and header.p_offset + size > length):  # what is all 0 may be said to be anywhere
        raise ArgumentError(
            f"{name} is cut short: a segment ends at byte {header.p_offset + size:,}, the file at {length:,}"
        )
    address = header.p_vaddr + bias
    if address + header.p_memsz > 2**48:
        raise ArgumentError(f"{name} wants to lie at {address:#x}, which is beyond all addresses of programs")
    return Segment(address, header.p_offset, size, header.p_memsz, bool(header.p_flags & _EXECUTABLE))


def _covers(segment: Any, header: Any) -> bool:
    end = header.e_phoff + header.e_phnum * header.e_phentsize
    return bool(segment.p_offset <= header.e_phoff and end <= segment.p_offset + segment.p_filesz)
