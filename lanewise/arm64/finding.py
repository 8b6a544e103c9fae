"""From a word to its row in the table, in Python."""

from __future__ import annotations

from functools import cache

from lanewise.arm64.encodings import TABLE
from lanewise.arm64.encodings.row import WIDTHS, Row
from lanewise.arm64.machine import Fields
from lanewise.arm64.values import known


@cache
def _by_mask() -> list[tuple[int, dict[int, Row]]]:
    found: dict[int, dict[int, Row]] = {}
    for row in TABLE:
        found.setdefault(row.mask, {})[row.value] = row
    return list(found.items())


@cache
def row_of(word: int) -> Row | None:
    """The row that a word belongs to; None if it is no instruction."""
    for mask, rows in _by_mask():
        if (row := rows.get(word & mask)) is not None:
            return row
    return None


def fields_of(row: Row, word: int) -> Fields:
    """The fields of a word."""
    fields = {name: known(WIDTHS[name], number) for name, number in row.settled}
    fields |= {field.name: known(field.bits, word >> field.low) for field in row.fields}
    return Fields(fields)
