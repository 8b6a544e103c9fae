"""Menus: what an open popup shows of the choice, where its lines are, and how wide they are."""

import pytest
from hand import Hand

from lanewise.desktop import ui
from lanewise.desktop.handlers import set_value, target_of
from lanewise.desktop.state import Desk, Notice
from lanewise.lang import Ptr, device

LINES = [f"Line {number}" for number in range(60)]


@device
def choose_45(desk: Ptr[Desk], event: Ptr[Notice]):
    set_value(desk, target_of(desk, event.widget), 45.0)


@pytest.fixture
def make(device):
    def desktop(*widgets: ui.Node, **options) -> Hand:
        window = ui.Window("Test", *widgets, x=0, y=0, width=300, height=260)
        return Hand(ui.Desktop(window, width=320, height=320, device=device, groups="one", **options))

    return desktop


def lines_in_view(menu: ui.Menu) -> range:
    """The lines of an open popup that lie wholly inside of it."""
    popup = menu.children[1]
    _, top, _, height = popup.box
    inside = [top <= line.box[1] and line.box[1] + line.box[3] <= top + height for line in popup.children]
    return range(inside.index(True), inside.index(True) + sum(inside))


def fill_of(hand: Hand, line: ui.Node) -> bytes:
    """The colour of a line right of its text."""
    x, y, width, height = line.box
    return hand.desktop.pixels()[y + height // 2, x + width - 12].tobytes()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_chosen_line_is_marked_unlike_the_one_under_the_pointer(make, theme):
    menu = ui.Menu(["First", "Second", "Third", "Fourth"], chosen=1)
    hand = make(menu, theme=theme)
    lines = menu.children[1].children
    hand.click(menu.button)
    hand.settle()
    plain, chosen = (fill_of(hand, lines[at]) for at in (0, 1))
    assert chosen != plain
    assert fill_of(hand, lines[3]) == plain
    hand.key("ArrowDown")
    hand.settle()
    assert [fill_of(hand, line) for line in lines] == [plain, plain, chosen, plain]
    hand.move(*hand.place(lines[0]))
    hand.settle()
    under_pointer = fill_of(hand, lines[0])
    assert len({under_pointer, plain, chosen}) == 3
    assert fill_of(hand, lines[2]) == chosen


def test_a_menu_opens_where_its_chosen_line_is(make):
    menu = ui.Menu(LINES, chosen=30)
    hand = make(menu)
    hand.click(menu.button)
    assert 30 in lines_in_view(menu)  # at once: nobody watches it go there
    hand.key("Escape")
    menu.value = 3
    hand.click(menu.button)
    assert 3 in lines_in_view(menu)


def test_a_line_that_keys_or_a_handler_choose_comes_into_view(make):
    menu = ui.Menu(LINES)
    far = ui.Button("45", on_click=choose_45, target=menu)
    hand = make(far, menu)
    hand.click(menu.button)
    for chosen in range(1, 20):
        hand.key("ArrowDown")
        hand.settle()
        assert menu.value == chosen
        assert chosen in lines_in_view(menu)
    hand.key("Tab", "Shift")  # closes it
    hand.key("Enter")
    hand.click(menu.button)
    assert 45 in lines_in_view(menu)


def test_a_popup_that_is_scrolled_by_hand_stays_there(make):
    menu = ui.Menu(LINES)
    hand = make(menu)
    hand.click(menu.button)
    x, y = hand.place(menu.children[1])
    hand.event("wheel", x=x, y=y, dy=10_000)
    hand.settle()
    assert 59 in lines_in_view(menu)
    assert 0 not in lines_in_view(menu)


@pytest.mark.parametrize("x", [0, 190])
def test_a_popup_is_as_wide_as_its_longest_line_and_stays_on_the_screen(device, x):
    long = "A line for which its menu has no room"
    menu, label = ui.Menu(["Short", long], width=80), ui.Label(long)
    window = ui.Window("Test", menu, ui.Row(label, width=600), x=x, y=0, width=130, height=260)
    hand = Hand(ui.Desktop(window, width=320, height=320, device=device, groups="one"))
    hand.click(menu.button)
    left, _, width, _ = menu.children[1].box
    line = menu.children[1].children[1].box
    assert width > label.box[2]
    assert line[0] == left + 5
    assert line[2] == width - 10
    assert left == min(menu.box[0], 320 - width)
    hand.click(menu.children[1].children[1], 0.95)
    assert menu.value == 1


def test_a_popup_is_no_wider_than_the_screen(make):
    menu = ui.Menu(["A line " * 20])
    hand = make(menu)
    hand.click(menu.button)
    assert menu.children[1].box[::2] == (0, 320)
