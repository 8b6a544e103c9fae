"""What is scrolled, by the wheel, by its thumb, by keys and by what comes into view."""

import pytest
from hand import Hand

from lanewise.desktop import ui
from lanewise.desktop.handlers import set_value, target_of
from lanewise.desktop.state import Desk, Notice
from lanewise.lang import Ptr
from lanewise.lang import device as on_device


def rows(count: int) -> list[str]:
    return [f"Row {number}" for number in range(count)]


def scrolled(hand: Hand, node: ui.Node) -> float:
    hand.settle()
    return float(hand.desktop.machine.widget(node.number)["scroll_y"])


def shown(hand: Hand, listed: ui.List) -> set[str]:
    hand.settle()
    return {row.text for row in listed.children if row.box[2] > 0}


@pytest.mark.parametrize("kind", [lambda: ui.List(rows(100)), lambda: ui.Scroll(*map(ui.Label, rows(40)))])
def test_a_thumb_goes_with_the_pointer_that_holds_it(make, kind):
    node = kind()
    hand = make(node)
    x, y, width, height = node.box
    limit = float(hand.desktop.machine.widget(node.number)["content_height"]) - height
    assert scrolled(hand, node) == 0
    hand.press(x + width - 5, y + 20)
    assert scrolled(hand, node) == 0  # the thumb is there: it is held, and stays
    hand.move(x + width - 5, y + 70)
    length = (height - 8) * height / (limit + height)
    assert scrolled(hand, node) == pytest.approx(50 / (height - 8 - max(length, 24)) * limit)
    hand.move(x - 100, y + 1000)
    hand.release(x - 100, y + 1000)
    assert scrolled(hand, node) == limit
    hand.press(x + width - 5, y + height // 2)  # beside the thumb: its middle comes here
    assert scrolled(hand, node) == pytest.approx(limit / 2, rel=0.02)


def test_a_press_beside_rows_that_is_not_on_the_thumb_scrolls_nothing(make):
    listed = ui.List(rows(1000))
    hand = make(listed)
    x, y, _, height = listed.box
    hand.drag((x + 3, y + height // 2), (x + 3, y + height - 5))
    assert scrolled(hand, listed) == 0


def test_the_wheel_goes_on_outside_where_the_inside_ends(make):
    listed = ui.List(rows(12), height=120, min_height=120, flex_shrink=0)
    outside = ui.Scroll(listed, *map(ui.Button, rows(20)))
    hand = make(outside)
    x, y = hand.place(listed)
    hand.event("wheel", x=x, y=y, dy=1000)
    assert (scrolled(hand, listed), scrolled(hand, outside)) == (12 * 30 + 12 - 120, 0)
    hand.event("wheel", x=x, y=y, dy=30)
    assert (scrolled(hand, listed), scrolled(hand, outside)) == (12 * 30 + 12 - 120, 30)
    hand.event("wheel", x=x, y=y, dy=-1000)
    assert (scrolled(hand, listed), scrolled(hand, outside)) == (0, 30)
    hand.event("wheel", x=x, y=y, dy=-1000)
    assert (scrolled(hand, listed), scrolled(hand, outside)) == (0, 0)


def test_tab_brings_what_it_goes_to_into_view(make):
    inner = [ui.Button(f"inner {number}") for number in range(10)]
    outer = [ui.Button(f"outer {number}") for number in range(10)]
    inside = ui.Scroll(*inner, height=120, flex_grow=0, flex_shrink=0, flex_basis="auto")
    outside = ui.Scroll(*outer, inside)
    hand = make(outside)
    top, bottom = outside.box[1], outside.box[1] + outside.box[3]
    for node in outer + inner:
        hand.key("Tab")
        hand.settle()
        assert hand.desktop.nodes[int(hand.desktop.last.state["focused"])] is node
        assert top <= node.box[1]
        assert node.box[1] + node.box[3] <= bottom
        if node in inner:
            assert inside.box[1] <= node.box[1]
            assert node.box[1] + node.box[3] <= inside.box[1] + inside.box[3]


@on_device
def choose_row_300(desk: Ptr[Desk], event: Ptr[Notice]):
    set_value(desk, target_of(desk, event.widget), 300.0)


def test_the_row_that_is_chosen_comes_into_view(make):
    listed = ui.List(rows(1000), chosen=500)
    button = ui.Button("300", on_click=choose_row_300, target=listed)
    pages = ui.Tabs({"Other": ui.Label("other"), "List": ui.Column(listed, button, flex_grow=1)})
    hand = make(pages)
    pages.value = 1
    assert "Row 500" in shown(hand, listed)
    listed.value = 900
    assert "Row 900" in shown(hand, listed)
    hand.click(button)
    assert "Row 300" in shown(hand, listed)
    listed.value = -1
    assert "Row 300" in shown(hand, listed)


@pytest.mark.parametrize("above", range(4))
@pytest.mark.parametrize("size", [13, 14, 15])
def test_what_has_room_for_all_of_its_content_scrolls_nothing(make, above, size):
    """However boxes and content are rounded."""
    lines = ui.Label("x", size=size), ui.Label("y", size=size)
    scroll = ui.Scroll(*lines, row_gap=0, flex_grow=0, flex_basis="auto", flex_shrink=0)
    hand = make(*[ui.Label("t", size=13) for _ in range(above)], scroll)
    x, y = hand.place(scroll)
    hand.event("wheel", x=x, y=y, dy=100)
    assert scrolled(hand, scroll) == 0.0


def test_the_wheel_scrolls_nothing_that_is_disabled(make):
    listed = ui.List(rows(100), disabled=True)
    hand = make(listed)
    x, y = hand.place(listed)
    hand.event("wheel", x=x, y=y, dy=100)
    assert scrolled(hand, listed) == 0.0


def test_enter_on_a_list_without_a_choice_says_nothing(make):
    listed, empty = ui.List(rows(3)), ui.List([])
    hand = make(listed, empty)
    for _ in range(2):
        hand.key("Tab")
        hand.key("Enter")
    assert hand.heard == []
    hand.click(listed.children[1])
    hand.key("Enter")
    assert hand.heard == [(listed, "change", 1.0), (listed, "submit", 1.0)]
