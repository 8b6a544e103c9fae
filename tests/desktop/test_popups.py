"""The popup of a menu: it opens, closes, is chosen from, and lies where it can be seen."""

import pytest
from hand import Hand

from lanewise.desktop import ui


def test_a_menu_opens_and_a_line_is_chosen(make):
    menu = ui.Menu(["First", "Second", "Third"])
    below = ui.Button("Below")
    hand = make(menu, below, ui.Button("Further below"))
    popup = menu.children[1]
    hand.click(menu.button)
    hand.wait()
    assert popup.box[2] > 0
    hand.click(popup.children[2])
    hand.wait()
    assert menu.button.text == "Third"
    assert menu.button.value == 2
    assert popup.box[2:] == (0, 0)
    assert hand.kinds(below) == []  # the popup lies over it


def test_arrows_choose_a_line_of_a_menu(make):
    menu = ui.Menu(["First", "Second", "Third"])
    hand = make(menu)
    hand.key("Tab")
    for key, expected in (
        ("ArrowDown", "Second"),
        ("ArrowDown", "Third"),
        ("ArrowDown", "Third"),
        ("ArrowUp", "Second"),
    ):
        hand.key(key)
        assert menu.button.text == expected
    assert hand.kinds(menu) == ["change"] * 3


def test_a_menu_without_room_below_opens_above(make):
    menu = ui.Menu(["First", "Second", "Third"], margin=("auto", 0, 0, 0))
    hand = make(menu)
    popup = menu.children[1]
    hand.click(menu.button)
    hand.wait()
    assert popup.box[1] + popup.box[3] < menu.button.box[1]
    hand.click(popup.children[0])
    assert hand.kinds(menu) == ["change"]


@pytest.mark.parametrize(("x", "width", "left"), [(20, 640, 40), (-150, 640, 0), (300, 640, 246), (-100, 400, 0)])
def test_a_popup_is_seen_from_its_left_edge_on(device, x, width, left):
    menu = ui.Menu(["short", "W" * 29], width=160)
    window = ui.Window("Test", menu, x=x, y=20, width=360, height=200)
    hand = Hand(ui.Desktop(window, width=width, height=300, device=device, groups="one"))
    hand.click(menu.button, 0.95)
    hand.settle()
    assert menu.children[1].box[0] == left


def test_a_popup_stays_at_its_menu_when_all_is_laid_out_or_scrolled(make):
    clock, menu = ui.Label("12:00"), ui.Menu(["First", "Second", "Third"])
    last = ui.Column(height=50, flex_shrink=0)
    scroll = ui.Scroll(clock, ui.Column(height=150, flex_shrink=0), menu, last)
    hand = make(scroll)
    popup = menu.children[1]
    ends = last.box[1] + last.box[3] - scroll.box[1]
    assert hand.desktop.machine.widget(scroll.number)["content_height"] == ends  # not where the popup would
    hand.click(menu.button)
    hand.wait()
    place = popup.box
    assert place[1] + place[3] == menu.button.box[1] - 4
    clock.text = "12:01"
    hand.wait()
    assert popup.box == place
    hand.event("wheel", x=60, y=100, dy=40)
    hand.settle()
    assert popup.box[:2] == (place[0], place[1] - 40)


def test_a_popup_higher_than_the_screen_is_scrolled(make):
    menu = ui.Menu([str(k) for k in range(30)])
    hand = make(menu)
    popup = menu.children[1]
    hand.click(menu.button)
    hand.wait()
    assert popup.box[1::2] == (0, 360)
    x = popup.box[0] + 20
    hand.event("wheel", x=x, y=200, dy=10_000)
    hand.settle()
    last = popup.children[-1].box
    assert last[1] + last[3] == 355
    edge = popup.box[0] + popup.box[2]
    assert last[0] + last[2] == edge - 14  # the thumb is beside the lines
    hand.drag((edge - 7, 350), (edge - 7, 10))
    hand.settle()
    assert popup.children[0].box[1] == 5
    assert popup.box[2] > 0  # it is still open
    hand.event("wheel", x=x, y=200, dy=10_000)
    hand.settle()
    hand.click(popup.children[-1], 0.2)
    assert menu.value == 29


def test_a_click_elsewhere_escape_and_tab_close_a_menu(make):
    menu, button = ui.Menu(["First", "Second"]), ui.Button("Other", align_self="flex-end")
    hand = make(button, menu)
    ways = (lambda: hand.click(button), lambda: hand.key("Escape"), lambda: hand.click(menu.button))
    for close in (*ways, lambda: hand.key("Tab")):
        hand.click(menu.button)
        hand.wait()
        assert menu.children[1].box[2] > 0
        close()
        hand.wait()
        assert menu.children[1].box[2:] == (0, 0)
