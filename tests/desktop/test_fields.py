"""Fields whose text is longer than they are: what of it is seen, and where the caret is."""

import numpy as np
import pytest
from hand import Hand

from lanewise.desktop import ui
from lanewise.desktop.handlers import set_number, target_of
from lanewise.desktop.look_controls import BLINK_MS, FIELD_PADDING
from lanewise.desktop.state import Desk, Notice
from lanewise.lang import Ptr
from lanewise.lang import device as on_device

LONG = "a text of some two hundred pixels here"


@on_device
def write_seven(desk: Ptr[Desk], event: Ptr[Notice]):
    set_number(desk, target_of(desk, event.widget), 7)


@pytest.fixture
def make(device):
    def desktop(*widgets: ui.Node) -> Hand:
        window = ui.Window("Test", *widgets, x=0, y=0, width=360, height=200)
        return Hand(ui.Desktop(window, width=360, height=200, device=device, groups="one"))

    return desktop


def scrolled(hand: Hand, field: ui.Field) -> float:
    return float(hand.desktop.machine.widget(field.number)["scroll_x"])


def caret_of(hand: Hand) -> tuple[float, float, float, float]:
    """What blinks: from its left to its right edge, and from its upper to its lower one."""
    seen = []
    for blinks in (0, 1):
        hand.settle_at(int(hand.desktop.last.state["caret_time"]) + (400 + blinks) * BLINK_MS)
        seen.append(hand.desktop.pixels().astype(int))
    down, across = np.nonzero(np.abs(seen[0] - seen[1]).max(axis=2))
    return across.min(), across.max() + 1, down.min(), down.max() + 1


@pytest.mark.parametrize("size", [{"width": 120}, {"width": 40, "min_width": 0, "height": 16}])
def test_the_caret_is_seen_inside_its_field_when_tab_comes_there(make, size):
    field = ui.Field(LONG, **size)
    hand = make(ui.Row(field))
    hand.key("Tab")
    x, y, width, height = field.box
    left, right, top, bottom = caret_of(hand)
    assert x + width / 2 < left < right <= x + width - FIELD_PADDING + 1
    assert y < top < bottom <= y + height


def test_a_field_that_nobody_writes_in_shows_the_beginning_of_its_text(make):
    field = ui.Field(LONG, width=120)
    hand = make(field)
    hand.wait(2)
    assert scrolled(hand, field) == 0


@pytest.mark.parametrize("focused", [True, False])
def test_a_text_that_is_set_is_seen(make, focused):
    field, other = ui.Field("", width=120), ui.Field("")
    hand = make(field, other)
    hand.click(field)
    hand.type(LONG)
    assert scrolled(hand, field) > 100
    if not focused:
        hand.click(other)
    field.text = "Hi"
    hand.wait()
    assert scrolled(hand, field) == 0
    field.text = LONG
    hand.wait()
    assert (scrolled(hand, field) > 100) == focused  # its end, where the caret is, or its beginning
    hand.click(other)
    hand.key("Tab", "Shift")
    assert scrolled(hand, field) > 100


def test_a_text_that_a_handler_on_the_device_writes_is_seen(make):
    field = ui.Field("", width=120)
    button = ui.Button("Write", on_click=write_seven, target=field)
    hand = make(field, button)
    hand.click(field)
    hand.type(LONG)
    hand.click(button)
    hand.wait()
    assert (field.text, scrolled(hand, field)) == ("7", 0)


CHOSEN = {0: "hello", 3: "hello", 5: "hello", 6: "world", 11: "world", 12: "   ", 14: "again", 19: "again"}


@pytest.mark.parametrize("place", CHOSEN)
def test_a_double_click_selects_the_word_at_its_place(make, place):
    field = ui.Field("hello world   again", width=240)
    hand = make(field)
    hand.click(field)
    hand.key("Home")
    for _ in range(place):
        hand.key("ArrowRight")
    left, right, top, bottom = caret_of(hand)
    for _ in range(2):
        hand.press(round((left + right) / 2), round((top + bottom) / 2))
        hand.release(round((left + right) / 2), round((top + bottom) / 2))
    hand.key("c", "Control")
    assert hand.desktop.clipboard == CHOSEN[place]
