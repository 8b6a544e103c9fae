"""Where in a module a trap was: from addresses of machine code to bytes of the module, from bytes to function names."""

from __future__ import annotations

import bisect
import io
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from lanewise.wasm.model import Module


def function_at(module: Module, place: int) -> str:
    """The name of the function whose body holds a byte of the module, or nothing."""
    at = bisect.bisect_right(module.bodies, place, key=lambda body: body.start) - 1
    if at < 0 or place >= module.bodies[at].end:
        return ""
    return module.function_name(module.imported_functions + at)


class LineTables:
    """The tables that come with a module's machine code on a CPU; they are read when a trap asks."""

    def __init__(self, codes: Sequence[bytes], prefix: str) -> None:
        self._codes = codes
        self._prefix = prefix

    @cached_property
    def _functions(self) -> dict[int, tuple[int, int, int]]:
        """For each function by index, the piece of code it is in, where it begins there and how long it is."""
        found = {}
        for number, code in enumerate(self._codes):
            symbols = _object_file(code).get_section_by_name(".symtab")
            for symbol in symbols.iter_symbols() if symbols else ():
                name = symbol.name.removeprefix(f"{self._prefix}f")
                if name.isdecimal() and symbol["st_shndx"] != "SHN_UNDEF":
                    found[int(name)] = number, int(symbol["st_value"]), int(symbol["st_size"])
        return found

    @cached_property
    def _rows(self) -> list[tuple[list[int], list[int]]]:
        """For each piece of code, addresses in order, and the byte of the module that each came from."""
        tables = []
        for code in self._codes:
            rows: list[tuple[int, int]] = []
            info = _object_file(code).get_dwarf_info(relocate_dwarf_sections=True)
            for unit in info.iter_CUs():
                program = info.line_program_for_CU(unit)
                entries = program.get_entries() if program else ()
                rows += [(entry.state.address, entry.state.line) for entry in entries if entry.state is not None]
            rows.sort()
            tables.append(([address for address, _ in rows], [line for _, line in rows]))
        return tables

    def place_from(self, symbol: str, distance: int) -> int | None:
        """The byte of the module that the code so far from a symbol was made of, if it is in the symbol's piece."""
        for number, code in enumerate(self._codes):
            symbols = _object_file(code).get_section_by_name(".symtab")
            for found in symbols.get_symbol_by_name(symbol) or () if symbols else ():
                if found["st_shndx"] != "SHN_UNDEF":
                    return self._line(number, int(found["st_value"]) + distance)
        return None

    def place(self, function: int, offset: int) -> int | None:
        """The byte of the module that the code before `offset` in a function was made of."""
        if function not in self._functions:
            return None
        piece, start, size = self._functions[function]
        if offset > size:
            return None
        return self._line(piece, start + offset)

    def _line(self, piece: int, address: int) -> int | None:
        addresses, lines = self._rows[piece]
        at = bisect.bisect_right(addresses, address - 1) - 1
        return lines[at] if at >= 0 and lines[at] else None


def _object_file(code: bytes) -> Any:
    from elftools.elf.elffile import ELFFile  # only traps need it, and it takes a while

    return ELFFile(io.BytesIO(code))
