"""Names of functions by addresses, and addresses by names: what the parts of a program are, as people know them."""

from __future__ import annotations

import io

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from lanewise.wasm.describe import shown_name

_ENTRY = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_LABEL, _FUNCTION = 0, 2
"""Kinds of names: labels of assembly are of no kind. Where both are at one address, the function is preferred."""
_UNDEFINED, _FIRST_SPECIAL = 0, 0xFF00
"""Sections of names that are nowhere in the file."""
_GLOBAL_FIRST = {1: 0, 2: 1, 0: 2}
"""How well names of these bindings are known: global, weak, local."""
_MAPPING = "$"
"""What names begin with that say where instructions are and where data."""


class Functions:
    """The functions of a program of AArch64, as far as its file has names for them."""

    def __init__(self, content: bytes) -> None:
        table = ELFFile(io.BytesIO(content)).get_section_by_name(".symtab")
        self._entries = np.zeros(0, _ENTRY)
        if not isinstance(table, SymbolTableSection):
            return
        self._names = table.stringtable
        data = table.data()
        found = np.frombuffer(data[: len(data) // _ENTRY.itemsize * _ENTRY.itemsize], _ENTRY)
        kind, section = found["info"] & 15, found["section"]
        named = (found["name"] != 0) & (section != _UNDEFINED) & (section < _FIRST_SPECIAL)
        found = found[named & ((kind == _FUNCTION) | (kind == _LABEL))]
        self._entries = found[np.argsort(found["value"], kind="stable")]

    def starts(self) -> list[tuple[str, int]]:
        """Names and addresses of functions, those of the file. Of several with one name the best known is the last."""
        kinds, how_known = self._entries["info"] & 15, self._entries["info"] >> 4
        known = np.array([_GLOBAL_FIRST.get(int(one), len(_GLOBAL_FIRST)) for one in how_known])
        order = [at for at in np.argsort(-known, kind="stable") if kinds[at] == _FUNCTION] if known.size else []
        return [
            (str(self._names.get_string(int(self._entries["name"][at]))), int(self._entries["value"][at]))
            for at in order
        ]

    def around(self, address: int) -> str:
        """The function that an address is in and how far, such as `main+0x1c`; empty if that is not known.

        Addresses are those of the file.
        """
        end = int(np.searchsorted(self._entries["value"], np.uint64(address), side="right"))
        while end:
            start = int(self._entries["value"][end - 1])
            first = int(np.searchsorted(self._entries["value"], np.uint64(start), side="left"))
            choices = [self._described(one) for one in range(first, end)]
            choices = [one for one in choices if not one[-1].startswith(_MAPPING)]
            if choices:
                *_, name = min(choices)
                size = int(self._entries["size"][first:end].max())
                return "" if size and address >= start + size else f"{shown_name(name)}+{address - start:#x}"
            end = first
        return ""

    def _described(self, at: int) -> tuple[bool, int, int, str]:
        """A name, behind what puts it after others for the same address: fewer underscores come first."""
        entry = self._entries[at]
        info, name = int(entry["info"]), str(self._names.get_string(int(entry["name"])))
        underscores = len(name) - len(name.lstrip("_"))
        return info & 15 != _FUNCTION, underscores, _GLOBAL_FIRST.get(info >> 4, len(_GLOBAL_FIRST)), name
