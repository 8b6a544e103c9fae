"""What people do with the pointer and the keyboard, and what widgets make of it."""

import numpy as np
import pytest
from hand import Hand

from lanewise.desktop import limits, ui
from lanewise.errors import ArgumentError


def test_a_button_is_clicked_where_it_is_pressed_and_released(make):
    clicks = []
    button = ui.Button("Save", on_click=lambda event: clicks.append(event.widget))
    hand = make(button, ui.Button("Other"))
    hand.click(button)
    assert clicks == [button]


def test_a_press_that_is_released_elsewhere_is_no_click(make):
    button, other = ui.Button("Save"), ui.Button("Other")
    hand = make(button, other)
    hand.press(*hand.place(button))
    hand.move(*hand.place(other))
    hand.release(*hand.place(other))
    assert hand.heard == []


def test_a_press_is_captured_and_counts_if_the_pointer_comes_back(make):
    button, other = ui.Button("Save"), ui.Button("Other")
    hand = make(button, other)
    hand.press(*hand.place(button))
    hand.move(*hand.place(other))
    assert hand.desktop.machine.widget(other.number)["hover"] == 0
    hand.move(*hand.place(button))
    hand.release(*hand.place(button))
    assert hand.kinds(button) == ["click"]


def test_two_clicks_soon_after_each_other_are_a_double_click(make):
    button = ui.Button("Save")
    hand = make(button)
    hand.click(button)
    hand.click(button)
    assert hand.kinds(button) == ["click", "click", "double_click"]
    hand.time += limits.DOUBLE_CLICK_MS
    hand.click(button)
    assert hand.kinds(button)[3:] == ["click"]


def test_two_clicks_far_from_each_other_are_two_clicks(make):
    field = ui.Field("first second third fourth fifth")
    hand = make(field)
    x, y, _, _ = field.box
    for place in (x + 15, x + 150):
        hand.press(place, y + 10)
        hand.release(place, y + 10)
    hand.key("c", "Control")
    assert hand.desktop.clipboard == ""
    hand.press(x + 153, y + 11)
    hand.key("c", "Control")
    assert hand.desktop.clipboard == "fourth"


def test_a_key_clicks_once_whatever_the_pointer_did_before(make):
    button = ui.Button("Save")
    hand = make(button)
    hand.click(button)
    hand.click(button)
    hand.heard.clear()
    hand.key("Enter")
    hand.key(" ")
    assert hand.heard == [(button, "click", 1.0)] * 2


def test_a_disabled_button_hears_nothing(make):
    button = ui.Button("Never", disabled=True)
    hand = make(button)
    hand.click(button)
    assert hand.heard == []


def test_a_disabled_list_or_menu_stays_as_it_is(make):
    rows, menu = ui.List(["a", "b"], chosen=0, disabled=True), ui.Menu(["c", "d"], disabled=True)
    hand = make(rows, menu)
    x, y, _, _ = rows.box
    hand.press(x + 10, y + 45)
    hand.release(x + 10, y + 45)
    hand.click(menu)
    assert (rows.value, hand.heard) == (0, [])
    assert menu.children[1].box[2:] == (0, 0)


def test_a_label_has_room_for_what_it_says_it_has(make):
    small, large = ui.Label("x"), ui.Label("x", capacity=100)
    make(small, large)
    large.text = "y" * 100
    assert large.text == "y" * 100
    with pytest.raises(ArgumentError, match="Label 'x': text has 33 characters; there is room for 32"):
        small.text = "y" * 33


@pytest.mark.parametrize("kind", [ui.Scroll, lambda *rows, **more: ui.List(["a"] * 50, **more)])
def test_what_scrolls_is_as_high_as_it_says(make, kind):
    rows = [ui.Label("row") for _ in range(30)]
    said, filling = kind(*rows, height=130), ui.Scroll(ui.Label("x"))
    make(ui.Column(said, filling, height=300, flex_shrink=0))
    assert said.box[3] == 130
    assert filling.box[3] == 300 - 130 - 12


def test_a_field_is_as_wide_as_it_says(make):
    field = ui.Field("5", width=60)
    make(ui.Row(field))
    assert field.box[2] == 60


def test_checkboxes_and_switches_turn_over(make):
    box, switch = ui.Checkbox("Box"), ui.Switch("Switch", checked=True)
    hand = make(box, switch)
    hand.click(box, 0.1)
    hand.click(switch, 0.1)
    assert (box.checked, switch.checked) == (True, False)
    hand.click(box, 0.1)
    assert [value for widget, _, value in hand.heard if widget is box] == [1, 0]


def test_radio_buttons_of_a_group_exclude_each_other(make):
    first, second = ui.Radio("1", group="x", checked=True), ui.Radio("2", group="x")
    apart = ui.Radio("3", group="y", checked=True)
    hand = make(first, second, apart)
    hand.click(second, 0.1)
    assert (first.checked, second.checked, apart.checked) == (False, True, True)


def test_a_slider_follows_the_pointer_and_the_keys(make):
    slider = ui.Slider(0, maximum=10, step=1)
    hand = make(slider)
    x, y, width, height = slider.box
    hand.drag((x + 9, y + height // 2), (x + width // 2, y + height // 2))
    assert slider.value == 5
    hand.key("ArrowRight")
    assert slider.value == 6
    hand.key("End")
    assert slider.value == 10
    hand.key("ArrowLeft")
    hand.key("ArrowDown")
    assert slider.value == 8
    hand.key("ArrowUp")
    assert slider.value == 9
    hand.drag(hand.place(slider, 0.9), (0, 0))
    assert slider.value == 0


@pytest.mark.parametrize(("step", "up", "down"), [(0, 60, 50), (1, 60, 50), (4, 60, 48), (40, 80, 40)])
def test_the_page_keys_move_a_slider_by_a_tenth_and_by_a_step_at_least(make, step, up, down):
    slider = ui.Slider(50, step=step)
    hand = make(slider)
    hand.key("Tab")
    for key, expected in (("PageUp", up), ("PageDown", down)):
        hand.key(key)
        assert slider.value == expected


def test_tab_goes_round_in_the_order_of_the_tree(make):
    first, second = ui.Button("1"), ui.Field("2")
    hand = make(first, ui.Label("no"), ui.Button("never", disabled=True), second)
    seen = []
    for _ in range(4):
        hand.key("Tab")
        seen.append(int(hand.desktop.last.state["focused"]))
    close = hand.desktop.windows[0].children[2].number
    assert seen == [first.number, second.number, close, first.number]
    hand.key("Tab", "Shift")
    assert hand.desktop.last.state["focused"] == close


def test_tab_begins_in_the_front_window_and_stays_there(device):
    fields = [ui.Field(str(k)) for k in range(2)]
    windows = [ui.Window(str(k), fields[k], x=20 + 240 * k, y=20, width=220, height=200) for k in range(2)]
    loose = [ui.Button(str(k)) for k in range(2)]
    hand = Hand(ui.Desktop(*loose, *windows, width=500, height=260, device=device, groups="one"))
    focused = lambda: hand.desktop.nodes[int(hand.desktop.last.state["focused"])]  # noqa: E731
    hand.key("Tab")
    assert focused() is fields[1]
    hand.key("Tab")
    hand.key("Tab")
    assert focused() is fields[1]  # round it has gone, over the cross
    hand.click(windows[0].title, 0.2)
    hand.key("Tab")
    assert focused() is fields[0]
    hand.click(loose[0])
    hand.key("Tab")
    assert focused() is loose[1]  # what stands on the wall belongs together


def test_tab_goes_to_the_window_that_was_raised_in_the_same_frame(device):
    buttons = ui.Button("one"), ui.Button("two")
    windows = [ui.Window(str(at), button, x=240 * at, y=0, width=220, height=200) for at, button in enumerate(buttons)]
    hand = Hand(ui.Desktop(*windows, width=480, height=240, device=device, groups="one"))
    x, y = hand.place(windows[0].title)
    hand.move(x, y)
    hand.send("pointer_down", x=x, y=y, button=1)
    hand.send("pointer_up", x=x, y=y, button=1)
    hand.event("key_down", key="Tab")
    assert hand.desktop.nodes[int(hand.desktop.last.state["focused"])] is buttons[0]


def test_what_is_hidden_loses_the_focus(device):
    fields = [ui.Field(""), ui.Field("")]
    windows = [ui.Window(str(k), fields[k], x=20 + 240 * k, y=20, width=220, height=200) for k in range(2)]
    hand = Hand(ui.Desktop(*windows, width=500, height=260, device=device, groups="one"))
    hand.click(fields[1])
    hand.type("a")
    windows[1].show(False)
    hand.type("b")
    hand.key("Tab")
    hand.type("c")
    assert [field.text for field in fields] == ["c", "a"]


def test_space_and_enter_press_what_has_the_focus(make):
    button, box = ui.Button("1"), ui.Checkbox("2")
    hand = make(button, box)
    hand.key("Tab")
    hand.key("Enter")
    hand.key("Tab")
    hand.key(" ")
    assert hand.kinds(button) == ["click"]
    assert box.checked


def test_a_field_takes_what_is_typed(make):
    field = ui.Field("", capacity=12)
    hand = make(field)
    hand.click(field)
    hand.type("Grüße, Ωж!")
    assert field.text == "Grüße, Ωж!"
    hand.type("12345")
    assert field.text == "Grüße, Ωж!12"  # its capacity
    hand.key("Backspace")
    hand.key("Home")
    hand.key("Delete")
    assert field.text == "rüße, Ωж!1"
    hand.key("Enter")
    assert hand.kinds(field)[-1] == "submit"


def test_selection_and_clipboard(make):
    first, second = ui.Field("hello world"), ui.Field("")
    hand = make(first, second)
    hand.click(first, 0.9)
    hand.key("ArrowLeft", "Shift", "Control")
    hand.key("x", "Control")
    assert first.text == "hello "
    hand.click(second)
    hand.key("v", "Control")
    hand.key("v", "Control")
    assert second.text == "worldworld"
    hand.key("a", "Control")
    hand.type("x")
    assert second.text == "x"
    assert hand.desktop.clipboard == "world"


def test_what_is_secret_is_neither_copied_nor_cut(make):
    field = ui.Field("password", secret=True)
    hand = make(field)
    hand.click(field)
    for letter in "acx":
        hand.key(letter, "Control")
    assert hand.desktop.clipboard == ""
    assert field.text == "password"


def test_lines_that_are_pasted_stay_words_and_nothing_changes_nothing(make):
    field = ui.Field("")
    hand = make(field)
    hand.click(field)
    hand.key("v", "Control")
    assert hand.kinds(field) == []
    hand.desktop.clipboard = "one\r\ntwo\tthree\n\nfour\n"
    hand.key("v", "Control")
    assert field.text == "one two three  four"
    assert hand.kinds(field) == ["change"]


def test_the_pointer_puts_the_caret_and_selects(make):
    field = ui.Field("iiiiWWWW")
    hand = make(field)
    x, y, _, height = field.box
    hand.drag((x + 10, y + height // 2), (x + 300, y + height // 2))
    hand.type("!")
    assert field.text == "!"


def test_two_clicks_select_a_word_and_three_the_line(make):
    field = ui.Field("first second third")
    hand = make(field)
    x, y, _, height = field.box
    place = x + 70, y + height // 2
    for _ in range(2):
        hand.press(*place)
        hand.release(*place)
    hand.key("c", "Control")
    assert hand.desktop.clipboard == "second"
    hand.press(*place)
    hand.release(*place)
    hand.key("c", "Control")
    assert hand.desktop.clipboard == "first second third"


def test_what_changes_fades(make):
    box = ui.Checkbox("Box")
    hand = make(box)
    hand.click(box, 0.1)
    parts = []
    while hand.desktop.restless:
        parts.append(float(hand.desktop.machine.widget(box.number)["toggle"]))
        hand.wait()
    assert parts == sorted(parts)
    assert 0 < parts[1] < 1
    hand.desktop.theme = "dark"
    wall = []
    for _ in range(30):
        hand.wait()
        wall.append(int(hand.desktop.pixels()[2, 2, 0]))
    assert wall == sorted(wall, reverse=True)
    assert len(set(wall)) > 5


def test_tabs_show_one_page(make):
    inside = ui.Label("second page")
    tabs = ui.Tabs({"One": ui.Label("first page"), "Two": inside})
    hand = make(tabs)
    assert inside.box[2:] == (0, 0)
    hand.click(tabs.tabs[1])
    hand.wait()
    assert inside.box[2] > 0
    assert tabs.pages[0].box[2:] == (0, 0)


def test_the_bar_of_a_list_is_dragged(make):
    listed = ui.List([str(k) for k in range(1000)])
    hand = make(listed)
    x, y, width, height = listed.box
    hand.drag((x + width - 6, y + 20), (x + width - 6, y + height))
    hand.settle()
    assert "999" in {row.text for row in listed.children if row.box[2] > 0}
    assert hand.kinds(listed) == []


def test_a_list_of_ten_thousand_rows_scrolls_and_is_chosen_from(make):
    rows = [f"Row {k}" for k in range(10_000)]
    chosen = []
    listed = ui.List(rows, on_change=lambda event: chosen.append(int(event.value)))
    hand = make(listed)
    x, y, _, _ = listed.box
    hand.event("wheel", x=x + 50, y=y + 50, dy=3000)
    hand.settle()
    place = x + 50, y + 10
    hand.press(*place)
    hand.release(*place)
    assert chosen == [100]
    hand.key("End")
    hand.settle()
    assert chosen[-1] == 9999
    shown = {row.text for row in listed.children if row.box[2] > 0}
    assert "Row 9999" in shown
    hand.key("PageUp")
    hand.key("ArrowUp")
    assert 9980 < chosen[-1] < 9998


def test_a_text_of_the_host_is_laid_out_though_an_event_asks_for_layout_too(make):
    said, beside, tabs = ui.Label("a"), ui.Label("b"), ui.Tabs({"One": ui.Label("1"), "Two": ui.Label("2")})
    hand = make(ui.Row(said, beside), tabs)
    before = beside.box[0]
    place = hand.place(tabs.tabs[1])
    hand.press(*place)
    hand.send("pointer_up", x=place[0], y=place[1], button=1)
    said.text = "a longer text"
    hand.wait()
    assert tabs.pages[1].box[2] > 0
    assert beside.box[0] > before + 40


def test_a_desktop_with_as_many_and_as_deep_widgets_as_there_may_be(device):
    deep = field = ui.Field("")
    for _ in range(limits.MAX_DEPTH - 2):
        deep = ui.Row(deep)
    others = [
        ui.Checkbox(str(k), height=1, position="absolute", inset=(k, "auto", "auto", 200))
        for k in range(limits.MAX_WIDGETS - limits.MAX_DEPTH)
    ]
    hand = Hand(ui.Desktop(deep, *others, width=320, height=320, device=device, groups="one"))
    assert len(hand.desktop.nodes) == limits.MAX_WIDGETS
    hand.click(field)
    hand.type("deep")
    assert field.text == "deep"
    hand.click(others[-1])
    assert others[-1].checked


def test_content_that_is_higher_than_its_box_is_scrolled(make):
    buttons = [ui.Button(str(k)) for k in range(20)]
    scroll = ui.Scroll(*buttons)
    hand = make(scroll)
    top = buttons[0].box[1]
    x, y, width, height = scroll.box
    assert buttons[0].box[0] + buttons[0].box[2] < x + width - 10  # its thumb is beside them
    hand.event("wheel", x=x + 20, y=y + 20, dy=100)
    hand.settle()
    assert buttons[0].box[1] == top - 100
    hand.event("wheel", x=x + 20, y=y + 20, dy=100_000)
    hand.settle()
    last = buttons[-1].box
    assert last[1] + last[3] == y + height


def test_events_beyond_those_of_a_frame_wait_for_the_next(make):
    field = ui.Field("")
    hand = make(field)
    hand.click(field)
    text = "".join(chr(97 + k % 26) for k in range(200))
    hand.send("char", data=text)
    hand.wait()
    assert field.text == text[: limits.FRAME_EVENTS]
    hand.wait(3)
    assert field.text == text


def test_more_events_than_the_ring_holds_come_in_order_over_many_frames(make):
    field = ui.Field("", capacity=700, width=200)
    hand = make(field)
    hand.click(field)
    text = "".join(chr(ord("a") + number * 7 % 26) for number in range(600))
    for start in range(0, len(text), 50):
        for letter in text[start : start + 50]:
            hand.send("char", data=letter)
        hand.wait()
    assert field.text == text


def test_a_pointer_that_leaves_the_screen_is_over_nothing_any_more(make):
    button = ui.Button("Here")
    hand = make(button)
    hand.settle()
    before = hand.desktop.pixels()
    hand.move(*hand.place(button))
    hand.settle()
    assert not np.array_equal(hand.desktop.pixels(), before)
    hand.event("pointer_leave")
    hand.settle()
    assert np.array_equal(hand.desktop.pixels(), before)


def test_control_with_arrows_goes_by_words(make):
    field = ui.Field("one two  three", width=200)
    hand = make(field)
    hand.click(field)
    for key, letter in (("Home", "a"), ("ArrowRight", "b"), ("ArrowRight", "c"), ("ArrowLeft", "d")):
        hand.key(key, *(["Control"] if key != "Home" else []))
        hand.type(letter)
    assert field.text == "aoneb dtwoc  three"


def test_page_keys_go_through_a_list_by_what_is_seen(make):
    rows = ui.List([str(number) for number in range(100)], height=120, row_height=20, chosen=0)
    hand = make(rows)
    hand.click(rows, 0.5)
    hand.key("Home")
    places = []
    for key in ("PageDown", "PageDown", "PageUp"):
        hand.key(key)
        places.append(int(rows.value))
    assert 3 <= places[0] <= 6
    assert places == [places[0], 2 * places[0], places[0]]


def test_bold_text_is_drawn_bold(make):
    seen = []
    for bold in (False, True):
        label = ui.Label("mmmm", bold=bold, size=30)
        hand = make(label)
        hand.settle()
        x, y, width, height = label.box
        seen.append(hand.desktop.pixels()[y : y + height, x : x + width, 0].astype(int))
    dark = [int((255 - one).sum()) for one in seen]
    assert dark[1] > 1.15 * dark[0]
