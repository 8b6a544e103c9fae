"""Kerning from the tables of fonts: files written here word by word, and the real ones beside what Raqm says."""

import itertools
import struct
from pathlib import Path

import pytest
from PIL import ImageFont, features

from lanewise.desktop import font
from lanewise.desktop.kerning import read_kerning

UNITS = 1000
A, V, T, O = 1, 2, 3, 4  # glyphs of these letters  # noqa: E741


def words(*numbers: int) -> bytes:
    return b"".join(struct.pack(">h" if number < 0 else ">H", number) for number in numbers)


def font_file(**tables: bytes) -> bytes:
    """A file of tables, with a `head` and a `cmap` that has A, O, T and V."""
    head = bytes(18) + words(UNITS) + bytes(34)
    codes = sorted((ord(letter), glyph) for letter, glyph in (("A", A), ("V", V), ("T", T), ("O", O)))
    ends = [*(code for code, _ in codes), 0xFFFF]
    deltas = [*((glyph - code) & 0xFFFF for code, glyph in codes), 1]
    segments = words(*ends, 0, *ends, *deltas, *[0] * len(ends))
    subtable = words(4, 14 + len(segments), 0, 2 * len(ends), 0, 0, 0) + segments
    cmap = words(0, 1, 3, 1) + struct.pack(">I", 12) + subtable
    tables = {"head": head, "cmap": cmap, **{name.ljust(4): data for name, data in tables.items()}}
    header = struct.pack(">IHHHH", 0x10000, len(tables), 0, 0, 0)
    place, entries, data = len(header) + 16 * len(tables), b"", b""
    for name, content in tables.items():
        entries += name.encode() + struct.pack(">III", 0, place + len(data), len(content))
        data += content
    return header + entries + data


def gpos(kind: int, *subtables: bytes, tag: bytes = b"kern", script: bytes = b"latn") -> bytes:
    """A table GPOS with one script, one feature and one lookup of these subtables."""
    scripts = words(1) + script + words(8, 4, 0, 0, 0xFFFF, 1, 0)
    wanted = words(1) + tag + words(8, 0, 1, 0)
    places, data = [], b""
    for subtable in subtables:
        places.append(6 + 2 * len(subtables) + len(data))
        data += subtable
    lookups = words(1, 4) + words(kind, 0, len(subtables), *places) + data
    starts = 10, 10 + len(scripts), 10 + len(scripts) + len(wanted)
    return words(1, 0, *starts) + scripts + wanted + lookups


def pairs_of_a(*pairs: tuple[int, int]) -> bytes:
    """A subtable of format 1: what follows A; its values have a placement before the advance."""
    listed = b"".join(words(second, 7, amount) for second, amount in pairs)
    return words(1, 12, 5, 0, 1, 18) + words(1, 1, A) + words(len(pairs)) + listed


def classes_of_a_and_t() -> bytes:
    """A subtable of format 2: A and T before O and others; T is of class 1, and so is O."""
    coverage = words(2, 2, A, A, 0, T, T, 1)
    first, second = words(1, T, 1, 1), words(2, 1, O, O, 1)
    start = 16 + 2 * 4
    amounts = words(0, -20, -30, -40)
    return (
        words(2, start, 4, 0, start + len(coverage), start + len(coverage) + len(first), 2, 2)
        + amounts
        + coverage
        + first
        + second
    )


def amount(data: bytes, pair: str, script: str = "latn") -> float:
    return read_kerning(data).amount(ord(pair[0]), ord(pair[1]), script) * UNITS


def test_pairs_are_read_by_glyphs_and_by_classes_and_the_first_that_knows_decides():
    data = font_file(GPOS=gpos(2, pairs_of_a((V, -80), (T, -70)), classes_of_a_and_t()))
    found = {pair: round(amount(data, pair)) for pair in ("AV", "AT", "AO", "AA", "TO", "TA", "OA", "VA")}
    assert found == {"AV": -80, "AT": -70, "AO": -20, "AA": 0, "TO": -40, "TA": -30, "OA": 0, "VA": 0}


def test_subtables_may_be_far_away():
    elsewhere = words(1, 2) + struct.pack(">I", 8) + pairs_of_a((V, -80))
    assert amount(font_file(GPOS=gpos(9, elsewhere)), "AV") == pytest.approx(-80)


def test_other_features_and_scripts_do_not_kern():
    assert amount(font_file(GPOS=gpos(2, pairs_of_a((V, -80)), tag=b"dist")), "AV") == 0
    greek = font_file(GPOS=gpos(2, pairs_of_a((V, -80)), script=b"grek"))
    assert (amount(greek, "AV"), amount(greek, "AV", "grek")) == (0, pytest.approx(-80))
    others = font_file(GPOS=gpos(2, pairs_of_a((V, -80)), script=b"DFLT"))
    assert amount(others, "AV") == pytest.approx(-80)


def test_the_older_table_is_read_where_there_is_no_other():
    old = words(0, 1) + words(0, 14 + 12, 1, 2, 0, 0, 0) + words(A, V, -60) + words(V, A, 50)
    assert (amount(font_file(kern=old), "AV"), amount(font_file(kern=old), "VA")) == (-60, 50)
    both = font_file(kern=old, GPOS=gpos(2, pairs_of_a((V, -80))))
    assert (amount(both, "AV"), amount(both, "VA")) == (pytest.approx(-80), 0)


def test_the_first_font_of_a_collection_is_read():
    alone = font_file(GPOS=gpos(2, pairs_of_a((V, -80))))
    moved = bytearray(alone)
    for k in range(3):  # its tables are farther on by the collection's own header
        place = 12 + 16 * k + 8
        moved[place : place + 4] = struct.pack(">I", struct.unpack(">I", alone[place : place + 4])[0] + 16)
    assert amount(b"ttcf" + struct.pack(">III", 0x10000, 1, 16) + bytes(moved), "AV") == pytest.approx(-80)


@pytest.mark.parametrize("length", [0, 3, 12, 60, 200])
def test_a_file_that_is_cut_off_has_no_kerning(length):
    data = font_file(GPOS=gpos(2, pairs_of_a((V, -80))))[:length]
    assert amount(data, "AV") == 0


FONTS = sorted({font.find_font(), *(Path(name) for name in font.SYSTEM_FONTS if Path(name).exists())})


@pytest.mark.skipif(not features.check("raqm"), reason="Pillow has no Raqm here, so nobody else kerns by GPOS")
@pytest.mark.parametrize("path", FONTS, ids=lambda path: path.stem)
def test_real_fonts_are_kerned_as_raqm_does_it(path):
    kerning = read_kerning(path.read_bytes())
    face = ImageFont.truetype(str(path), 2048)
    chosen = {"latn": "AVTOLPYafijortvwy.,", "grek": "ΑΓΔΛΟΤΥΦαγολτυ", "cyrl": "АГДЛОРТУагдлорту"}
    kerned = 0
    for script, letters in chosen.items():
        for first, second in itertools.product(letters, letters):
            length, *alone = (face.getlength(text, features=["-liga"]) for text in (first + second, first, second))
            wanted = (length - sum(alone)) / 2048
            assert kerning.amount(ord(first), ord(second), script) == pytest.approx(wanted, abs=0.0015)
            kerned += abs(wanted) > 0.002
    assert kerned > 10
