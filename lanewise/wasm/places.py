"""Where in a module a trap was: from addresses of machine code to bytes of the module, from bytes to function names."""

from __future__ import annotations

import bisect
import io
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from lanewise.wasm.model import Module


def function_at(module: Module, place: int) -> str:
    """The name of the function whose body holds a byte of the module, or nothing."""
    at = bisect.bisect_right(module.bodies, place, key=lambda body: body.start) - 1
    if at < 0 or place >= module.bodies[at].end:
        return ""
    return readable(module.function_name(module.imported_functions + at))


def readable(name: str) -> str:
    """A function's name as its programmer wrote it, where Rust has made a symbol of it."""
    if not (name.startswith("_ZN") and name.endswith("E")):
        return name
    words, rest = [], name[3:-1]
    while rest:
        found = re.match(r"[0-9]{1,5}", rest)
        if found is None or found.end() + int(found[0]) > len(rest):
            return name
        word, rest = rest[found.end() :][: int(found[0])], rest[found.end() + int(found[0]) :]
        words.append(word[1:] if word.startswith("_$") else word)
    if words and re.fullmatch(r"h[0-9a-f]{16}", words[-1]):
        words.pop()
    text = "::".join(words)
    for code, letter in _LETTERS.items():
        text = text.replace(code, letter)
    return re.sub(r"\$u([0-9a-f]{2})\$", lambda code: chr(int(code[1], 16)), text).replace("..", "::") or name


_LETTERS = {"$LT$": "<", "$GT$": ">", "$RF$": "&", "$BP$": "*", "$C$": ",", "$SP$": "@", "$LP$": "(", "$RP$": ")"}


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

    def place_from(self, symbol: str, distance: int, marks: Sequence[tuple[str, int]] = ()) -> int | None:
        """The byte of the module that the code so far from a symbol was made of.

        `marks` has a symbol of each piece and its address; without them the code must be in the symbol's piece.
        """
        values = [self._value(number, symbol) for number in range(len(self._codes))]
        number = next((at for at, value in enumerate(values) if value is not None), None)
        if number is None:
            return None
        within = (values[number] or 0) + distance
        if not marks:
            return self._line(number, within)
        bases = [address - (self._value(at, mark) or 0) for at, (mark, address) in enumerate(marks)]
        for at, base in enumerate(bases):
            offset = bases[number] + within - base
            if 0 <= offset < self._text_bytes(at):
                return self._line(at, offset)
        return None

    def _value(self, piece: int, symbol: str) -> int | None:
        """Where a symbol is in a piece of code, if it is there."""
        symbols = _object_file(self._codes[piece]).get_section_by_name(".symtab")
        for found in symbols.get_symbol_by_name(symbol) or () if symbols else ():
            if found["st_shndx"] != "SHN_UNDEF":
                return int(found["st_value"])
        return None

    def _text_bytes(self, piece: int) -> int:
        text = _object_file(self._codes[piece]).get_section_by_name(".text")
        return int(text["sh_size"]) if text else 0

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
