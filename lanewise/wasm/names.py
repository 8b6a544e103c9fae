"""The name section: what the tool that made a module called its functions, locals and globals.

It is for people only. What cannot be read of it is left out: a bad name section is no error.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lanewise.errors import MalformedError
from lanewise.wasm.reader import Reader


@dataclass
class Names:
    """Names by index; of `locals` by function and then by index."""

    module: str = ""
    functions: dict[int, str] = field(default_factory=dict)
    locals: dict[int, dict[int, str]] = field(default_factory=dict)
    types: dict[int, str] = field(default_factory=dict)
    tables: dict[int, str] = field(default_factory=dict)
    memories: dict[int, str] = field(default_factory=dict)
    globals: dict[int, str] = field(default_factory=dict)
    elements: dict[int, str] = field(default_factory=dict)
    data: dict[int, str] = field(default_factory=dict)
    tags: dict[int, str] = field(default_factory=dict)


_MAPS = {
    1: "functions",
    4: "types",
    5: "tables",
    6: "memories",
    7: "globals",
    8: "elements",
    9: "data",
    11: "tags",
}
"""Subsections that map an index to a name."""


def read_names(data: bytes, start: int, end: int) -> Names:
    """Read the name section in `data[start:end]` as far as it makes sense."""
    names, reader = Names(), Reader(data, start, end)
    try:
        while reader.left:
            section = reader.byte()
            size = reader.u32()
            at = reader.take(size)
            part = Reader(data, at, at + size)
            if section == 0:
                names.module = part.name("the module's name")
            elif section == 2:
                for _ in range(part.count("functions")):
                    function = part.u32()
                    names.locals[function] = _name_map(part)
            elif section in _MAPS:
                setattr(names, _MAPS[section], _name_map(part))
    except MalformedError:
        pass
    return names


def _name_map(reader: Reader) -> dict[int, str]:
    found: dict[int, str] = {}
    for _ in range(reader.count("names")):
        index = reader.u32()
        found[index] = reader.name("a name")
    return found
