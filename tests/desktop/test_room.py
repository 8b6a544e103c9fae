"""How much room widgets take and use: what they say, what others leave them, and what they show in it."""

import pytest
from hand import Hand

from lanewise.desktop import ui
from lanewise.errors import ArgumentError


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


def rows_seen(listed: ui.List) -> list[str]:
    """The rows that are seen, from the first on."""
    seen = sorted((row.box[1], row.text) for row in listed.children if row.box[3] > 0)
    return [text for _, text in seen]


@pytest.mark.parametrize("options", [{}, {"row_height": 20}, {"row_height": 7}, {"height": 1500}])
def test_a_list_of_any_height_shows_its_last_rows_and_all_before_them(make, options):
    listed = ui.List([str(number) for number in range(10_000)], **options)
    hand = make(ui.Scroll(listed), height=1000)
    hand.key("Tab")
    hand.key("End")
    hand.settle()
    seen = rows_seen(listed)
    assert seen == [str(number) for number in range(10_000 - len(seen), 10_000)]
    assert len(seen) >= (listed.box[3] - 12) // options.get("row_height", 30)


def test_a_list_is_no_higher_than_its_most_visible_rows(make):
    listed = ui.List([str(number) for number in range(100)], most_visible=5, row_height=20)
    hand = make(listed)
    assert listed.box[3] == 5 * 20 + 12
    assert rows_seen(listed)[:5] == list("01234")
    hand.key("Tab")
    hand.key("End")
    hand.settle()
    assert rows_seen(listed)[-5:] == ["95", "96", "97", "98", "99"]


def test_a_list_takes_no_more_widgets_than_it_has_rows_or_room_for(make):
    lists = ui.List(["a", "b", "c"]), ui.List([str(number) for number in range(100)], height=100)
    make(*lists)
    assert [len(listed.children) for listed in lists] == [3, 5]


@pytest.mark.parametrize("height", [10**400, 10**5000, float("inf"), 1e300], ids=["long", "longer", "endless", "high"])
def test_a_list_may_say_that_it_is_higher_than_any_screen(make, height):
    listed = ui.List([str(number) for number in range(20)], height=height)
    make(ui.Scroll(listed))
    assert len(listed.children) == 20


@pytest.mark.parametrize(
    ("options", "height"),
    [
        ({"most_visible": 1, "row_height": 10}, 22),
        ({"most_visible": 3, "min_height": 250}, 250),
        ({"max_height": 100, "min_height": 250}, 250),
        ({"height": 30}, 30),
    ],
)
def test_a_list_shows_all_its_rows_whatever_its_least_height(make, options, height):
    listed = ui.List([str(number) for number in range(100)], **options)
    hand = make(listed)
    assert listed.box[3] == height
    hand.key("Tab")
    hand.key("End")
    hand.settle()
    seen = rows_seen(listed)
    assert seen == [str(number) for number in range(100 - len(seen), 100)]
    assert len(seen) >= (height - 12) // options.get("row_height", 30)


@pytest.mark.parametrize("count", [3, 100])
def test_a_list_that_grows_does_so_from_its_height_on(make, count):
    listed = ui.List([str(number) for number in range(count)], height=100, flex_grow=1)
    make(listed)
    assert listed.box[3] == 240


def test_a_tree_with_too_many_places_for_rows_says_what_gives_fewer(device):
    lists = [ui.List(["a"] * 1000) for _ in range(4)]
    with pytest.raises(ArgumentError, match=r"292 are places for rows of lists, which have fewer with most_visible="):
        ui.Desktop(*lists, width=3840, height=2160, device=device)


def test_a_scroll_that_is_to_scroll_sideways_says_that_it_does_not():
    with pytest.raises(ArgumentError, match="it scrolls up and down only"):
        ui.Scroll(ui.Row(width=1000), overflow_x="scroll")


@pytest.mark.parametrize("title", ["Another long title", "Donaudampfschifffahrtsgesellschaftskapitän"])
def test_titles_of_tabs_stay_within_their_content(make, title):
    tabs = ui.Tabs({f"{title} {number}": ui.Label("page") for number in range(4)})
    make(ui.Column(tabs, width=260))
    left, _, width, _ = tabs.box
    assert all(left <= tab.box[0] and tab.box[0] + tab.box[2] <= left + width for tab in tabs.tabs)
    assert len({tab.box[:2] for tab in tabs.tabs}) == 4
    page = tabs.pages[0].box
    assert page[1] >= tabs.tabs[3].box[1] + tabs.tabs[3].box[3]
