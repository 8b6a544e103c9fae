"""Text: the letters of a real font, as far apart as the font says, and like what FreeType draws itself."""

import itertools

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont, features

from lanewise.desktop import font, ui
from lanewise.desktop.kerning import read_kerning

SAMPLES = ("Hamburgefonstiv AVATAR", "Ζαφείρι δέξου πάγκαλο", "Съешь ещё этих булок")


@pytest.fixture(scope="module")
def tables(device):
    return font.load_font(device)


def shapes_of(tables: font.FontTables, text: str) -> list[int]:
    return [int(tables.codes[ord(letter)]) for letter in text]


def width(tables: font.FontTables, text: str) -> float:
    shapes = shapes_of(tables, text)
    total = sum(float(tables.shapes["advance"][shape]) for shape in shapes)
    for first, second in itertools.pairwise(shapes):
        total += float(tables.kerning[tables.shapes["before"][first], tables.shapes["after"][second]])
    return total


def script_of(letter: str) -> str:
    return next((script for script, first, last in font.SCRIPTS if first <= ord(letter) <= last), "latn")


def places(text: str) -> list[float]:
    """Where letters stand and where the last one ends, in ems: FreeType's advances, kerned as the font's tables say.

    Pillow without Raqm does not kern by GPOS, and with either it rounds advances at small sizes: so neither is asked
    for more than the advance of one letter, drawn large.
    """
    face = ImageFont.truetype(str(font.find_font()), 2048, layout_engine=ImageFont.Layout.BASIC)
    kerning = read_kerning(font.find_font().read_bytes())
    found = [0.0]
    for letter, following in zip(text, [*text[1:], None], strict=True):
        kerned = kerning.amount(ord(letter), ord(following), script_of(letter)) if following else 0.0
        found.append(found[-1] + face.getlength(letter) / 2048 + kerned)
    return found


@pytest.mark.parametrize("text", SAMPLES)
def test_every_letter_is_there_and_stands_where_the_font_says(tables, text):
    assert all(shapes_of(tables, text))
    assert width(tables, text) == pytest.approx(places(text)[-1], abs=0.03)
    if features.check("raqm"):  # which knows by itself
        face = ImageFont.truetype(str(font.find_font()), 1000)
        assert width(tables, text) == pytest.approx(face.getlength(text) / 1000, abs=0.03)


def test_fonts_are_the_same_whatever_pillow_can_do(device, monkeypatch, tables):
    """Without Raqm too, which Pillow has in some builds only."""
    monkeypatch.setattr(ImageFont.core, "HAVE_RAQM", False)
    made = font._make(device, font.find_font())
    assert np.array_equal(made.kerning, tables.kerning)
    assert np.array_equal(made.shapes, tables.shapes)
    assert np.array_equal(made.atlas, tables.atlas)


def test_pairs_are_kerned_with_accents_as_without(tables):
    assert width(tables, "AV") < width(tables, "A") + width(tables, "V") - 0.02
    assert width(tables, "ÀV") == pytest.approx(width(tables, "AV"), abs=0.01)


@pytest.mark.parametrize("size", [10, 13, 16, 24, 40, 64])
def test_letters_are_as_dark_and_as_wide_as_those_of_freetype(device, size):
    text = "HambAVg Ωж"
    label = ui.Label(text, size=size, colour="#000000")
    desktop = ui.Desktop(
        ui.Panel(label, background="#ffffff", radius=0, width=480, height=100, padding=(10, 20)),
        width=480,
        height=100,
        device=device,
        groups="one",
    )
    desktop.settle()
    seen = 255 - desktop.pixels()[2:-2, 2:-2, 1].astype(float)
    face = ImageFont.truetype(str(font.find_font()), size, layout_engine=ImageFont.Layout.BASIC)
    wanted = np.zeros((100, 480))
    for letter, place in zip(text, places(text), strict=False):
        drawn = Image.new("L", (480, 100))
        ImageDraw.Draw(drawn).text((20 + place * size, 10), letter, fill=255, font=face)
        wanted = np.maximum(wanted, np.asarray(drawn))
    assert seen.sum() == pytest.approx(wanted.sum(), rel=0.12)
    reach, wanted_reach = (np.flatnonzero(ink.max(axis=0) > 64) for ink in (seen, wanted))
    assert np.ptp(reach) == pytest.approx(np.ptp(wanted_reach), abs=1 + size * 0.1)
    # Crisp: where the letters are, most pixels are either paper or ink. Thin letters have more edge.
    inked = seen[seen > 16]
    assert (inked > 160).mean() > (0.3 if size < 20 else 0.55)


def test_a_letter_that_the_font_does_not_have_is_shown_as_missing(device):
    desktop = ui.Desktop(ui.Label("\U0001f600"), width=64, height=64, device=device, groups="one")
    desktop.settle()
    assert desktop.last.state["glyphs"] == 1


def test_more_glyphs_than_there_is_room_for_are_left_out(device):
    labels = [ui.Label("w" * 500, width=600) for _ in range(9)]
    desktop = ui.Desktop(ui.Column(*labels, row_gap=0), width=640, height=480, device=device, groups="one")
    desktop.settle()
    assert desktop.last.state["glyphs"] == 4096


def test_the_end_of_a_text_with_more_glyphs_than_there_are_is_seen_when_it_is_scrolled_there(device):
    lines = [f"line {number:05}" for number in range(1000)]

    def end_of(shown: list[str]) -> np.ndarray:
        scroll = ui.Scroll(ui.Label("\n".join(shown), size=20), height=300)  # in whole pixels from line to line
        desktop = ui.Desktop(scroll, width=320, height=300, device=device, groups="one")
        time_ms = desktop.settle()
        desktop.send({"event_type": "wheel", "x": 100, "y": 100, "dy": 100_000}, time_ms)
        desktop.settle(time_ms)
        return desktop.pixels()[:, :200]

    whole = end_of(lines)
    assert len(np.unique(whole)) > 10
    assert np.array_equal(whole, end_of(lines[-30:]))


def test_a_font_is_made_once_and_then_kept(device, monkeypatch, tables):
    monkeypatch.setattr(font, "_make", None)  # would fail if it were called again
    again = font.load_font(device)
    assert np.array_equal(again.atlas, tables.atlas)


@pytest.mark.parametrize("damage", [b"", b"not an archive"])
def test_a_kept_font_that_is_damaged_is_made_anew(device, tmp_path, monkeypatch, tables, damage):
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(font, "_make", lambda *given: tables)
    font.load_font(device)
    kept = next((tmp_path / "fonts").iterdir())
    kept.write_bytes(damage)
    assert font.load_font(device) is tables


def test_a_file_that_is_no_font_is_named(device, tmp_path):
    (tmp_path / "x.ttf").write_bytes(b"nothing")
    with pytest.raises(font.LanewiseError, match=r"x\.ttf is not a font"):
        font.load_font(device, tmp_path / "x.ttf")
    with pytest.raises(font.LanewiseError, match=r"missing\.ttf cannot be read"):
        font.load_font(device, tmp_path / "missing.ttf")
