"""How much room widgets take and use: what they say, what others leave them, and what they show in it."""

import pytest
from hand import Hand

from lanewise.desktop import ui


@pytest.fixture
def make(device):
    def desktop(*widgets: ui.Node, height: int = 320) -> Hand:
        window = ui.Window("Test", *widgets, x=20, y=20, width=360, height=height)
        return Hand(ui.Desktop(window, width=480, height=height + 40, device=device, groups="one"))

    return desktop


def buttons() -> list[ui.Node]:
    """More than a window has room for."""
    return [ui.Button(str(number)) for number in range(20)]


def test_in_a_scroll_that_is_full_everything_is_as_high_as_it_says(make):
    said = [
        ui.List(["a"] * 12, height=120),
        ui.Scroll(ui.Label("x"), height=100),
        ui.Panel(height=80),
        ui.Label("x", height="10%"),
    ]
    scroll = ui.Scroll(*said, *buttons())
    make(scroll)
    assert [widget.box[3] for widget in said] == [120, 100, 80, round(scroll.box[3] / 10)]


def test_what_scrolls_is_as_high_as_it_says_in_a_window_that_is_full(make):
    said = ui.List(["a"] * 12, height=120), ui.Scroll(ui.Label("x"), height=100)
    make(*said, *buttons())
    assert [widget.box[3] for widget in said] == [120, 100]


def test_parts_of_the_room_shrink_for_the_gap_between_them(make):
    halves = ui.List(["a"] * 12, height="50%"), ui.List(["a"] * 12, height="50%")
    make(ui.Column(*halves, height=212, flex_shrink=0))
    assert [half.box[3] for half in halves] == [100, 100]
