"""How far apart letters stand, from the tables of an OpenType font itself: Pillow knows it only where it has Raqm.

Pairs are adjusted by lookups of the feature `kern` in the table GPOS, or by the older table `kern` in fonts without.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

SUBTABLE_OF_PAIRS = 2
SUBTABLE_ELSEWHERE = 9
"""An "extension": a subtable that says where the real one is, farther away than 16 bits reach."""
X_ADVANCE = 4
"""The bit of a value's format that says that it has an advance; of the two bits below it each has a word before."""
HORIZONTAL_PAIRS = 0x0001
"""Of the table `kern`: a subtable of format 0 for text from left to right."""


class Reader:
    """Numbers of a file, most significant byte first; all are seen from one place in it."""

    def __init__(self, data: bytes, start: int = 0) -> None:
        self.data = data
        self.start = start

    def at(self, offset: int) -> Reader:
        """The same file, seen from farther on."""
        return Reader(self.data, self.start + offset)

    def u16(self, offset: int) -> int:
        return int(struct.unpack_from(">H", self.data, self.start + offset)[0])

    def i16(self, offset: int) -> int:
        return int(struct.unpack_from(">h", self.data, self.start + offset)[0])

    def u32(self, offset: int) -> int:
        return int(struct.unpack_from(">I", self.data, self.start + offset)[0])

    def u16s(self, offset: int, count: int) -> tuple[int, ...]:
        return struct.unpack_from(f">{count}H", self.data, self.start + offset)

    def tag(self, offset: int) -> str:
        return self.data[self.start + offset : self.start + offset + 4].decode("latin-1")


@dataclass
class Lookup:
    """Adjustments of pairs, as two kinds of subtables have them. The first subtable that knows a pair decides."""

    subtables: list[Pairs | Classes]

    def amount(self, first: int, second: int) -> int:
        for subtable in self.subtables:
            found = subtable.amount(first, second)
            if found is not None:
                return found
        return 0


@dataclass
class Pairs:
    """Adjustments glyph by glyph."""

    amounts: Mapping[tuple[int, int], int]

    def amount(self, first: int, second: int) -> int | None:
        return self.amounts.get((first, second))


@dataclass
class Classes:
    """Adjustments of glyphs of one class before those of another; whoever is not named is of class 0."""

    covered: Mapping[int, int]
    first: Mapping[int, int]
    second: Mapping[int, int]
    amounts: list[list[int]]

    def amount(self, first: int, second: int) -> int | None:
        return self.amounts[self.first.get(first, 0)][self.second.get(second, 0)] if first in self.covered else None


@dataclass
class Kerning:
    """The adjustments of a font."""

    units: int
    """Of an em."""
    glyphs: Mapping[int, int]
    """By code point."""
    scripts: Mapping[str, list[Lookup]] = field(default_factory=dict)
    """By the tag of a script, such as `latn`; `DFLT` stands for those that are not there."""

    def amount(self, first: int, second: int, script: str) -> float:
        """How much farther the second code point stands from the first than its advance says, in ems."""
        pair = self.glyphs.get(first, 0), self.glyphs.get(second, 0)
        lookups = self.scripts.get(script, self.scripts.get("DFLT", []))
        return sum(lookup.amount(*pair) for lookup in lookups) / self.units


def read_kerning(data: bytes) -> Kerning:
    """The kerning of a font file, of the first font in a collection; none where its tables cannot be read."""
    try:
        file = Reader(data)
        start = file.u32(12) if file.tag(0) == "ttcf" else 0
        entries = (file.at(start + 12 + 16 * k) for k in range(file.u16(start + 4)))
        tables = {entry.tag(0): file.at(entry.u32(8)) for entry in entries}
        found = Kerning(tables["head"].u16(18), _glyphs(tables["cmap"]))
        if "GPOS" in tables:
            found.scripts = _scripts(tables["GPOS"])
        if "kern" in tables and not any(found.scripts.values()):
            found.scripts = {"DFLT": [Lookup([_old_pairs(tables["kern"])])]}
    except (struct.error, IndexError, KeyError):
        return Kerning(1, {})
    return found


def _glyphs(cmap: Reader) -> dict[int, int]:
    """The glyphs of code points, from the first subtable for Unicode of a format that all fonts have."""
    for k in range(cmap.u16(2)):
        platform, encoding = cmap.u16s(4 + 8 * k, 2)
        subtable = cmap.at(cmap.u32(8 + 8 * k))
        if platform not in (0, 3) or (platform == 3 and encoding not in (1, 10)) or subtable.u16(0) != 4:
            continue
        count = subtable.u16(6) // 2
        ends, starts = subtable.u16s(14, count), subtable.u16s(16 + 2 * count, count)
        deltas, offsets = subtable.u16s(16 + 4 * count, count), subtable.u16s(16 + 6 * count, count)
        found = {}
        for segment in range(count):
            for code in range(starts[segment], min(ends[segment], 0xFFFE) + 1):
                glyph = code
                if offsets[segment]:  # counted in bytes from where the offset itself is
                    place = 16 + 6 * count + 2 * segment + offsets[segment] + 2 * (code - starts[segment])
                    glyph = subtable.u16(place)
                    if glyph == 0:
                        continue
                found[code] = (glyph + deltas[segment]) & 0xFFFF
        return found
    return {}


def _scripts(gpos: Reader) -> dict[str, list[Lookup]]:
    scripts, features, lookups = (gpos.at(gpos.u16(offset)) for offset in (4, 6, 8))
    made: dict[int, Lookup] = {}
    found: dict[str, list[Lookup]] = {}
    for k in range(scripts.u16(0)):
        script = scripts.at(scripts.u16(6 + 6 * k))
        if not script.u16(0):
            continue  # it has nothing for languages that are not named
        language = script.at(script.u16(0))
        numbers: set[int] = set()
        for index in language.u16s(6, language.u16(4)):
            feature = features.at(features.u16(6 + 6 * index))
            if features.tag(2 + 6 * index) == "kern":
                numbers |= set(feature.u16s(4, feature.u16(2)))
        for number in numbers - made.keys():
            made[number] = _lookup(lookups.at(lookups.u16(2 + 2 * number)))
        found[scripts.tag(2 + 6 * k)] = [made[number] for number in sorted(numbers)]
    return found


def _lookup(lookup: Reader) -> Lookup:
    subtables: list[Pairs | Classes] = []
    for offset in lookup.u16s(6, lookup.u16(4)):
        kind, subtable = lookup.u16(0), lookup.at(offset)
        if kind == SUBTABLE_ELSEWHERE:
            kind, subtable = subtable.u16(2), subtable.at(subtable.u32(4))
        if kind == SUBTABLE_OF_PAIRS:
            subtables.append(_pairs(subtable) if subtable.u16(0) == 1 else _classes(subtable))
    return Lookup(subtables)


def _value(formats: tuple[int, int]) -> tuple[int | None, int]:
    """Where the first glyph's advance is in a pair's values, if it is there; and how many bytes the values take."""
    before = 2 * (formats[0] & (X_ADVANCE - 1)).bit_count()
    return before if formats[0] & X_ADVANCE else None, 2 * sum(each.bit_count() for each in formats)


def _pairs(subtable: Reader) -> Pairs:
    advance, size = _value((subtable.u16(4), subtable.u16(6)))
    amounts = {}
    for first, index in _coverage(subtable.at(subtable.u16(2))).items():
        pairs = subtable.at(subtable.u16(10 + 2 * index))
        for k in range(pairs.u16(0)):
            place = 2 + k * (2 + size)
            amounts[first, pairs.u16(place)] = 0 if advance is None else pairs.i16(place + 2 + advance)
    return Pairs(amounts)


def _classes(subtable: Reader) -> Classes:
    advance, size = _value((subtable.u16(4), subtable.u16(6)))
    rows, columns = subtable.u16s(12, 2)
    places = [[16 + (row * columns + column) * size for column in range(columns)] for row in range(rows)]
    return Classes(
        _coverage(subtable.at(subtable.u16(2))),
        _class_of(subtable.at(subtable.u16(8))),
        _class_of(subtable.at(subtable.u16(10))),
        [[0 if advance is None else subtable.i16(place + advance) for place in row] for row in places],
    )


def _coverage(table: Reader) -> dict[int, int]:
    """The glyphs that a subtable is about, with their indices."""
    if table.u16(0) == 1:
        return {glyph: index for index, glyph in enumerate(table.u16s(4, table.u16(2)))}
    ranges = (table.u16s(4 + 6 * k, 3) for k in range(table.u16(2)))
    return {glyph: index + glyph - first for first, last, index in ranges for glyph in range(first, last + 1)}


def _class_of(table: Reader) -> dict[int, int]:
    """The classes of glyphs that are not of class 0."""
    if table.u16(0) == 1:
        return {table.u16(2) + k: kind for k, kind in enumerate(table.u16s(6, table.u16(4)))}
    ranges = (table.u16s(4 + 6 * k, 3) for k in range(table.u16(2)))
    return {glyph: kind for first, last, kind in ranges for glyph in range(first, last + 1)}


def _old_pairs(kern: Reader) -> Pairs:
    """The pairs of the table `kern`; those of its subtables are added up."""
    amounts: dict[tuple[int, int], int] = {}
    place = 4
    for _ in range(kern.u16(2)):
        subtable = kern.at(place)
        if subtable.u16(4) & 0xFF07 == HORIZONTAL_PAIRS:
            for k in range(subtable.u16(6)):
                left, right = subtable.u16s(14 + 6 * k, 2)
                amounts[left, right] = amounts.get((left, right), 0) + subtable.i16(18 + 6 * k)
        place += subtable.u16(2)
    return Pairs(amounts)
