"""How widgets look: paler where they are disabled, and cut off where their window ends."""

import numpy as np
import pytest
from hand import Hand

from lanewise.desktop import ui

WHOLE = slice(None), slice(None)
KINDS = {
    "button": (lambda **how: ui.Button("Save", accent=True, **how), WHOLE),
    "checkbox": (lambda **how: ui.Checkbox("", checked=True, **how), WHOLE),
    "radio": (lambda **how: ui.Radio("", group="g", checked=True, **how), WHOLE),
    "switch": (lambda **how: ui.Switch("", checked=True, **how), WHOLE),
    "slider": (lambda **how: ui.Slider(60, **how), WHOLE),
    "progress": (lambda **how: ui.Progress(60, **how), WHOLE),
    "chevron of a menu": (lambda **how: ui.Menu(["First"], **how), (slice(14, 42), slice(185, 205))),
    "field": (lambda **how: ui.Field("Written", **how), (slice(14, 42), slice(16, 204))),
    "chosen row of a list": (lambda **how: ui.List(["1", "2"], chosen=1, **how), (slice(20, 74), slice(100, 180))),
    "letters of a row": (lambda **how: ui.List(["mmm"], chosen=0, **how), (slice(18, 44), slice(16, 100))),
    "tabs": (lambda **how: ui.Tabs({"One": ui.Label(""), "Two": ui.Label("")}, **how), WHOLE),
    "image": (lambda **how: ui.Image(np.full((20, 20, 3), (255, 0, 0), np.uint8), **how), WHOLE),
}
"""Widgets, and which part of the window to look at."""


def contrast_of(device, kind, theme, *, disabled):
    make, part = KINDS[kind]
    window = ui.Window("", make(disabled=disabled), x=0, y=0, width=240, height=200)
    desktop = ui.Desktop(window, width=240, height=200, device=device, theme=theme)
    desktop.settle()
    pixels = desktop.pixels()[50:180, 10:220, :3][part].astype(int)
    return np.ptp(pixels.reshape(-1, 3), axis=0).sum()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_disabled_stands_out_less(device, kind, theme):
    enabled, disabled = (contrast_of(device, kind, theme, disabled=disabled) for disabled in (False, True))
    assert disabled < 0.85 * enabled


def test_a_window_cuts_off_what_does_not_fit(device):
    """Neither seen nor hit; but a menu's popup reaches beyond the window."""
    buttons = [ui.Button(f"Button {number}") for number in range(6)]
    menu = ui.Menu([f"Line {number}" for number in range(6)])
    window = ui.Window("Small", menu, *buttons, x=20, y=20, width=200, height=160)
    hand = Hand(ui.Desktop(window, width=300, height=400, device=device))
    hand.settle()
    window = ui.Window("Small", x=20, y=20, width=200, height=160)
    empty = ui.Desktop(window, width=300, height=400, device=device)
    empty.settle()
    assert np.array_equal(hand.desktop.pixels()[179:], empty.pixels()[179:])  # the edge is whole, too
    x, y, width, height = buttons[4].box
    hand.press(x + width // 2, y + height // 2)
    hand.release(x + width // 2, y + height // 2)
    assert hand.heard == []
    hand.click(menu.button)
    hand.settle()
    assert not np.array_equal(hand.desktop.pixels()[180:], empty.pixels()[180:])


WITH_TEXT = {
    "button": (lambda: ui.Button("HEH"), 16),
    "checkbox": (lambda: ui.Checkbox("HEH"), 25),
    "switch": (lambda: ui.Switch("HEH"), 46),
    "field": (lambda: ui.Field("HEH"), 8),
    "menu": (lambda: ui.Menu(["HEH"]), 10),
}
"""Widgets, and how far from their left edge their text begins."""


def foot(pixels, x, y, height):
    """The lowest row of pixels that has ink of letters that begin here."""
    part = pixels[y : y + height, x : x + 30, :3].astype(int).sum(axis=2)
    return y + np.flatnonzero(np.ptp(part, axis=1) > 250).max()


@pytest.mark.parametrize("above", [0, 1, 2])
@pytest.mark.parametrize("kind", WITH_TEXT)
def test_a_label_is_level_with_the_text_beside_it(device, kind, above):
    make, indent = WITH_TEXT[kind]
    label, other = ui.Label("HEH"), make()
    lines = [ui.Label("above") for _ in range(above)]  # which are not whole pixels high
    window = ui.Window("", *lines, ui.Row(label, other), x=0, y=0, width=320, height=200)
    desktop = ui.Desktop(window, width=320, height=200, device=device)
    desktop.settle()
    pixels = desktop.pixels()
    x, y, _, height = label.box
    beside_x, beside_y, _, beside_height = (other.button if kind == "menu" else other).box
    beside = foot(pixels, beside_x + indent, beside_y + 4, beside_height - 8)
    assert foot(pixels, x, y, height) == beside


@pytest.mark.parametrize("size", [12, 14, 17])
@pytest.mark.parametrize("above", [0, 1, 2])
def test_labels_are_level_however_deep_they_are(device, size, above):
    label, deep = ui.Label("HEH", size=size), ui.Label("HEH", size=size)
    lines = [ui.Label("above") for _ in range(above)]
    row = ui.Row(label, ui.Column(deep), ui.Button("HEH"))
    desktop = ui.Desktop(
        ui.Window("", *lines, row, x=0, y=0, width=320, height=200), width=320, height=200, device=device
    )
    desktop.settle()
    feet = [foot(desktop.pixels(), x, y - 2, height + 4) for x, y, _, height in (label.box, deep.box)]
    assert feet[0] == feet[1]


def test_long_lines_of_a_menu_change_nothing_around_it(device):
    """Its popup is wider than what scrolls around it, which the ring of the focus reaches beyond."""
    seen = []
    for line in ("short", "W" * 40):
        field = ui.Field("a")
        scroll = ui.Scroll(field, ui.Menu(["x", line], width=160), width=300, height=200)
        desktop = ui.Desktop(ui.Column(scroll, padding=40), width=640, height=400, device=device)
        hand = Hand(desktop)
        hand.click(field)
        hand.settle_at(4000)
        seen.append(desktop.pixels())
    assert np.array_equal(*seen)


LONG = "The beginning of this is what matters, and it is far too long"
LONG_ONES = {
    "button": (lambda text: ui.Button(text, width=100, padding=0), lambda widget: widget),
    "tabs": (lambda text: ui.Tabs({text: ui.Label("")}, width=100), lambda widget: widget.tabs[0]),
    "window": (lambda text: ui.Window(text, x=0, y=0, width=180, height=120), lambda widget: widget.title),
}
"""Widgets with their text in the middle, and which part of them has it."""


@pytest.mark.parametrize("kind", LONG_ONES)
def test_a_text_that_is_too_long_for_its_middle_shows_its_beginning(device, kind):
    """However it goes on."""
    make, part = LONG_ONES[kind]
    seen = []
    for text in (LONG, LONG + LONG):
        widget = make(text)
        desktop = ui.Desktop(widget, width=240, height=200, device=device)
        desktop.settle()
        x, y, _, height = part(widget).box
        seen.append(desktop.pixels()[y : y + height, x : x + 80])
    assert np.array_equal(*seen)
    assert np.ptp(seen[0][8:-8, 46:70, :3]) > 100


def beyond(pixels, scroll):
    """On which sides of what scrolls something other than the grey around it is seen: left, above, below."""
    x, y, _, height = scroll.box
    grey = np.abs(pixels[..., :3].astype(int) - 0x80).max(axis=2) < 8
    sides = grey[y : y + height, x - 3 : x], grey[y - 3 : y, x : x + 80], grey[y + height :][:3, x : x + 80]
    return tuple(not side.all() for side in sides)


@pytest.mark.parametrize(
    ("wheel", "keys", "seen"),
    [
        (0, ["Tab"], (True, True, False)),
        (10_000, ["Shift", "Shift"], (True, False, True)),
        (60, [], (False, False, False)),
    ],
    ids=["first", "last", "between"],
)
def test_the_ring_of_the_focus_is_whole_in_a_scroll_that_else_ends_at_its_edges(device, wheel, keys, seen):
    scroll = ui.Scroll(*(ui.Field(str(number)) for number in range(12)), height=101, width=160)
    window = ui.Window("", ui.Panel(scroll, padding=20, background="#808080"), x=0, y=0, height=300)
    hand = Hand(ui.Desktop(window, width=480, height=320, device=device, groups="one"))
    x, y, _, _ = scroll.box
    hand.event("wheel", x=x + 20, y=y + 20, dy=wheel)
    hand.settle()
    for key in keys:  # backwards the last is behind the cross of the window
        hand.key("Tab", *[key] * (key == "Shift"))
    hand.settle()
    assert beyond(hand.desktop.pixels(), scroll) == seen
