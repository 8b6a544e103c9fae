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


@pytest.mark.parametrize(
    "text", ["țară și", "Tiếng Việt được", "Ŵ ẁ ẃ ẅ", "ἀρχή ᾧ", "ﬁ ﬂ", "№ 5", "e\u0301", "ə\u2009ƒ"], ids=ascii
)
def test_languages_of_the_three_scripts_have_their_letters(tables, text):
    if "Roboto" not in font.find_font().name:
        pytest.skip("another font")
    assert all(shapes_of(tables, text))


@pytest.mark.parametrize(
    "code", [0x00, 0x0D, 0x1B, 0x7F, 0x85, 0xAD, 0x200B, 0x200D, 0x061C, 0x2060, 0xFE0F, 0xFEFF, 0xFFF9], ids=hex
)
def test_what_has_no_width_is_not_seen(tables, code):
    shape = tables.shapes[tables.codes[code]]
    assert (shape["w"], shape["advance"]) == (0, 0)


def test_a_tab_is_four_spaces_wide(tables):
    assert width(tables, "\t") == 4 * width(tables, " ")
    assert tables.shapes[tables.codes[ord("\t")]]["w"] == 0


def picture_of(device, *widgets: ui.Node) -> np.ndarray:
    desktop = ui.Desktop(*widgets, width=320, height=200, device=device, groups="one")
    desktop.settle()
    return desktop.pixels()


def test_a_carriage_return_before_the_end_of_a_line_is_not_seen(device):
    assert np.array_equal(*(picture_of(device, ui.Label(text)) for text in ("one\r\ntwo", "one\ntwo")))


def test_a_line_is_drawn_broken_where_it_was_measured_broken(device):
    texts = ("Donau\u200bdampf\u200bschiff", "Donau dampf schiff")
    broken = [picture_of(device, ui.Label(text, width=60, size=20, align_self="start")) for text in texts]
    assert np.array_equal(*broken)


def test_a_letter_beyond_those_of_the_font_is_as_wide_as_its_box(device):
    known, beyond = ui.Label("\u0530" * 4), ui.Label("\U0001f600" * 4)  # neither is in the font
    picture_of(device, ui.Row(known, beyond))
    assert known.box[2] == beyond.box[2]


ONE_LINE = {
    "button": lambda text: ui.Button(text),
    "mark": lambda text: ui.Checkbox(text),
    "tab": lambda text: ui.Tabs({text: ui.Label("")}),
    "row": lambda text: ui.List([text], height=80, width=200),
    "menu": lambda text: ui.Menu([text]),
    "field": lambda text: ui.Field(text),
    "window": lambda text: ui.Window(text, width=300, height=180),
}


@pytest.mark.parametrize("kind", ONE_LINE)
def test_in_what_has_one_line_the_end_of_a_line_is_a_space(device, kind):
    texts = ("two\nlines\r\nor three", "two lines or three")
    assert np.array_equal(*(picture_of(device, ONE_LINE[kind](text)) for text in texts))


def test_a_field_that_is_given_lines_has_one(device):
    field = ui.Field("a\r\nb", capacity=3)
    picture_of(device, field)
    assert field.text == "a b"
    field.text = "c\nd"
    assert field.text == "c d"


def test_more_glyphs_than_there_is_room_for_are_left_out(device):
    labels = [ui.Label("w" * 500, width=600) for _ in range(9)]
    desktop = ui.Desktop(ui.Column(*labels, row_gap=0), width=640, height=480, device=device, groups="one")
    desktop.settle()
    assert desktop.last.state["glyphs"] == 4096


def test_texts_that_are_scrolled_out_of_sight_take_no_glyphs_from_others(device):
    scroll = ui.Scroll(*(ui.Label("w" * 300) for _ in range(40)), height=100)
    after = ui.Label("seen")
    desktop = ui.Desktop(ui.Column(scroll, after), width=320, height=200, device=device, groups="one")
    time_ms = desktop.settle()
    assert desktop.last.state["glyphs"] < 40 * 300 / 4
    for turned in (0, 300, 100_000):
        desktop.send({"event_type": "wheel", "x": 100, "y": 50, "dy": turned}, time_ms)
        time_ms = desktop.settle(time_ms)
        x, y, width, height = after.box
        assert len(np.unique(desktop.pixels()[y : y + height, x : x + width])) > 10


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
