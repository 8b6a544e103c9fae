"""How modules and instances show themselves: as a few lines in a terminal, as a small table in a notebook."""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lanewise.wasm.model import (
    PAGE,
    ExternType,
    FuncType,
    GlobalType,
    Limits,
    MemoryType,
    Module,
    TableType,
    TagType,
)

SHOWN = 24
"""How many exports or imports are shown; modules may have thousands."""

LISTED = 12
"""How many names a message lists."""

_SPACES = {"function": "functions", "table": "tables", "memory": "memories", "global": "globals", "tag": "tags"}


@dataclass(frozen=True)
class Exported:
    """What a module exports under a name; `kind` is "function", "table", "memory", "global" or "tag"."""

    name: str
    kind: str
    type: ExternType

    def __str__(self) -> str:
        return f"{shown_name(self.name)}: {type_words(self.type)}"


@dataclass(frozen=True)
class Imported:
    """What a module wants to be given, under the name of a module and a name in it; `kind` is as in `Exported`."""

    module: str
    name: str
    kind: str
    type: ExternType

    def __str__(self) -> str:
        return f"{shown_name(self.module)}.{shown_name(self.name)}: {type_words(self.type)}"


def exports_of(module: Module) -> list[Exported]:
    """All exports with their types, in the order of the module."""
    return [
        Exported(export.name, export.kind, getattr(module, _SPACES[export.kind])[export.index])
        for export in module.exports
    ]


def imports_of(module: Module) -> list[Imported]:
    """All imports with their types, in the order of the module."""
    return [Imported(wanted.module, wanted.name, wanted.kind, wanted.type) for wanted in module.imports]


def shown_name(name: str) -> str:
    """A name as it can be printed: strangers chose it, so it may hold anything, what steers a terminal included."""
    plain = name.isprintable() and name and not name.isspace() and len(name) <= 80
    return name if plain else repr(name if len(name) <= 80 else name[:77] + "...")


def known_names(name: object, known: Iterable[str], otherwise: str) -> str:
    """The end of a message about a name that is not there: the one that was meant, if there is one, and those that are.

    `otherwise` is what the names are introduced with.
    """
    names = list(known)
    near = difflib.get_close_matches(str(name), names, 1)
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    listed = f"{otherwise} {', '.join(map(shown_name, names[:LISTED])) or 'none'}{more}"
    return f"did you mean {near[0]!r}? ({listed})" if near else listed


def type_words(kind: ExternType) -> str:
    """A type as people read it."""
    if isinstance(kind, FuncType):
        return str(kind)
    if isinstance(kind, MemoryType):
        return f"{'shared ' if kind.shared else ''}memory of {memory_words(kind.limits)}"
    if isinstance(kind, TableType):
        return f"table of {_limits(kind.limits)} {kind.element}"
    if isinstance(kind, GlobalType):
        return f"{'mutable' if kind.mutable else 'constant'} {kind.value}"
    assert isinstance(kind, TagType)
    return f"tag ({', '.join(kind.type.params)})"


def memory_words(limits: Limits) -> str:
    """The size of a memory in pages and bytes."""
    size = limits.minimum * PAGE
    unit = f"{size // 2**20:,} MiB" if size and size % 2**20 == 0 else f"{size // 1024:,} KiB"
    pages = "1 page" if limits.minimum == 1 else f"{limits.minimum:,} pages"
    return f"{pages} ({unit})" + (f", {limits.maximum:,} at most" if limits.maximum is not None else "")


def _limits(limits: Limits) -> str:
    return f"{limits.minimum:,}" + (f" to {limits.maximum:,}" if limits.maximum is not None else "")


Row = tuple[str, str, str]
"""Whether it is an export, an import or neither; the name; the type."""


def export_rows(module: Module) -> list[Row]:
    """The exports alone, which is what an instance is used by."""
    return _cut([("export", shown_name(one.name), type_words(one.type)) for one in exports_of(module)])


def rows_of(module: Module) -> list[Row]:
    """What there is to be shown of a module: exports, imports and the memory that neither of them tells of."""
    imports = [
        ("import", f"{shown_name(one.module)}.{shown_name(one.name)}", type_words(one.type))
        for one in imports_of(module)
    ]
    told = {export.index for export in module.exports if export.kind == "memory"} | set(range(module.imported_memories))
    inside = [("inside", f"memory {at}", type_words(kind)) for at, kind in enumerate(module.memories) if at not in told]
    return [*export_rows(module), *_cut(imports), *_cut(inside)]


def _cut(rows: Sequence[Row]) -> list[Row]:
    if len(rows) <= SHOWN:
        return list(rows)
    return [*rows[: SHOWN - 1], (rows[0][0], "...", f"and {len(rows) - SHOWN + 1:,} more")]


def as_text(title: str, rows: Iterable[Row]) -> str:
    """A title and a line per row, the columns lined up."""
    found = list(rows)
    width = max((len(name) for _, name, _ in found if len(name) <= 40), default=0)
    return "\n".join([title, *(f"  {what}  {name:{width}}  {kind}" for what, name, kind in found)])


def as_html(title: str, rows: Iterable[Row]) -> str:
    """The same as a table for notebooks."""
    cells = "".join(
        f'<tr><td>{html.escape(what)}</td><td style="text-align:left"><code>{html.escape(name)}</code></td>'
        f'<td style="text-align:left"><code>{html.escape(kind)}</code></td></tr>'
        for what, name, kind in rows
    )
    head = "<thead><tr><th></th><th>name</th><th>type</th></tr></thead>" if cells else ""
    return f"<div><strong>{html.escape(title)}</strong><table>{head}<tbody>{cells}</tbody></table></div>"


def title_of(module: Module, name: str) -> str:
    """A module in one line."""
    count = len(module.bodies)
    functions = "1 function" if count == 1 else f"{count:,} functions"
    return f"WebAssembly module {shown_name(name)}: {len(module.data):,} bytes, {functions}"
