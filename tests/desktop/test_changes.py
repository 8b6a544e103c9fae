"""What Python changes of widgets that live on the device already, and what it hears of them."""

import pytest
from hand import Hand

from lanewise.desktop import ui
from lanewise.errors import ArgumentError


@pytest.fixture
def make(device):
    def desktop(*widgets: ui.Node, **options) -> Hand:
        window = ui.Window("Test", *widgets, x=20, y=20, width=360, height=320, **options)
        return Hand(ui.Desktop(window, width=480, height=360, device=device, groups="one"))

    return desktop


def test_a_widget_is_disabled_and_enabled_later(make):
    button, other = ui.Button("OK", disabled=True), ui.Button("Other")
    hand = make(button, other)
    assert button.disabled
    hand.click(button)
    assert hand.heard == []
    button.disabled = False
    hand.wait()
    hand.click(button)
    assert hand.kinds(button) == ["click"]
    with pytest.raises(ArgumentError, match="Button 'OK': disabled is 'no'; it is True or False"):
        button.disabled = "no"


def test_what_is_disabled_while_it_has_the_focus_hears_no_key(make):
    button = ui.Button("OK")
    hand = make(button)
    hand.event("key_down", key="Tab")
    button.disabled = True
    hand.wait()
    hand.event("key_down", key="Enter")
    assert hand.heard == []


def test_what_is_disabled_or_hidden_while_it_is_held_is_let_go(make):
    for take_away in (lambda node: setattr(node, "disabled", True), lambda node: node.show(False)):
        slider = ui.Slider(10)
        hand = make(slider)
        x, y = hand.place(slider)
        hand.press(x, y)
        hand.heard.clear()
        take_away(slider)
        hand.move(x + 50, y)
        assert hand.heard == []


def test_what_a_disabled_widget_holds_is_disabled(make):
    inner, own = ui.Button("Inner"), ui.Button("Own", disabled=True)
    panel = ui.Panel(inner, own, ui.Tabs({"One": ui.Label("1"), "Two": ui.Label("2")}), disabled=True)
    hand = make(panel)
    assert inner.disabled
    hand.click(inner)
    hand.click(panel.children[2].tabs[1])
    assert hand.heard == []
    panel.disabled = False
    hand.wait()
    assert not inner.disabled
    assert own.disabled
    hand.click(inner)
    hand.click(own)
    assert hand.kinds(inner) == ["click"]


def test_a_disabled_window_is_still_moved_and_closed(make):
    button = ui.Button("In it")
    hand = make(button, disabled=True)
    window = hand.desktop.windows[0]
    assert button.disabled
    x, y = hand.place(window.title)
    hand.press(x, y)
    hand.move(x + 30, y + 10)
    hand.release(x + 30, y + 10)
    assert window.box[:2] == (50, 30)
    hand.click(window.children[2])
    assert hand.kinds(window) == ["close"]


def test_tabs_are_chosen_and_asked_and_say_which_page_is_seen(make):
    pages = {name: ui.Label(name) for name in ("One", "Two", "Three")}
    told = []
    tabs = ui.Tabs(pages, chosen=1, on_change=lambda event: told.append((event.widget, event.value)))
    hand = make(tabs)
    assert tabs.value == 1
    tabs.value = 2
    hand.settle()
    assert tabs.value == 2
    assert [pages[name].box[2] > 0 for name in pages] == [False, False, True]
    hand.click(tabs.tabs[0])
    assert tabs.value == 0
    assert told == [(tabs, 0.0)]
    assert [widget for widget, _, _ in hand.heard] == [tabs]
    with pytest.raises(ArgumentError, match="Tabs: value is 3; it is a whole number from 0 to 2"):
        tabs.value = 3


def test_events_of_a_menu_are_its_own(make):
    told = []
    menu = ui.Menu(["First", "Second"], on_change=lambda event: told.append((event.widget, event.value)))
    hand = make(menu)
    hand.click(menu.button)
    hand.click(menu.children[1].children[1])
    assert told == [(menu, 1.0)]


def test_a_handler_that_fails_keeps_nothing_from_the_others(make):
    """What it raised comes when all have heard what happened in the frame."""
    told = []

    def fails(event):
        raise ValueError("of the handler")

    first, second = ui.Button("A", on_click=fails), ui.Button("B", on_click=lambda event: told.append("B"))
    hand = make(first, second)
    hand.desktop.listen(lambda event: told.append(event.widget.initial_text))
    for button in (first, second):
        x, y = hand.place(button)
        for kind in ("pointer_down", "pointer_up"):
            hand.send(kind, x=x, y=y, button=1)
    with pytest.raises(ValueError, match="of the handler"):
        hand.wait()
    assert told == ["A", "B", "B"]


def test_the_row_under_the_pointer_lights_up_though_the_list_is_scrolled_under_it(make):
    listed = ui.List([f"Row {number}" for number in range(100)])
    hand = make(listed)
    x, y = hand.place(listed)
    hand.move(x, y)
    hand.settle()
    lit = [row for row in listed.children if hand.desktop.machine.widget(row.number)["hover"] == 1]
    hand.event("wheel", x=x, y=y, dy=400)
    hand.settle()
    now = [row for row in listed.children if hand.desktop.machine.widget(row.number)["hover"] == 1]
    assert len(lit) == len(now) == 1
    assert now != lit
    top, height = now[0].box[1], now[0].box[3]
    assert top <= y < top + height


def test_windows_that_are_not_told_where_to_be_lie_in_a_cascade(device):
    windows = [ui.Window(str(number)) for number in range(3)]
    windows.append(ui.Window("there", x=5, y=7))
    Hand(ui.Desktop(*windows, width=1280, height=720, device=device))
    assert [window.box[:2] for window in windows] == [(80, 60), (112, 92), (144, 124), (5, 7)]


def test_a_window_too_small_for_its_bar_is_refused():
    with pytest.raises(ArgumentError, match="Window 'Small': height is 10; it is a number, 120 or above"):
        ui.Window("Small", width=200, height=10)


def test_a_menu_with_room_neither_below_nor_above_opens_over_itself(device):
    menu = ui.Menu([f"Line {number}" for number in range(10)])
    window = ui.Window("Test", menu, x=20, y=60, width=200, height=200)
    hand = Hand(ui.Desktop(window, width=300, height=380, device=device, groups="one"))
    hand.click(menu.button)
    hand.settle()
    lines = menu.children[1].children
    assert lines[0].box[1] >= 0
    assert lines[-1].box[1] + lines[-1].box[3] <= 380
    hand.click(lines[-1])
    assert menu.value == 9


def test_tab_does_not_go_to_what_a_window_cuts_off(device):
    buttons = [ui.Button(str(number)) for number in range(6)]
    scrolled = [ui.Button(f"in a scroll {number}") for number in range(6)]
    windows = [
        ui.Window("Cut", *buttons, x=20, y=20, width=200, height=160),
        ui.Window("Scrolled", ui.Scroll(*scrolled), x=240, y=20, width=200, height=160),
    ]
    hand = Hand(ui.Desktop(*windows, width=480, height=360, device=device, groups="one"))
    for window, reached in ((windows[0], buttons[:3]), (windows[1], scrolled)):
        hand.click(window.title)
        found = set()
        for _ in range(12):
            hand.event("key_down", key="Tab")
            found.add(hand.desktop.nodes[int(hand.desktop.last.state["focused"])])
        assert {node for node in found if isinstance(node, ui.Button)} == set(reached)


def test_tab_does_not_go_to_what_scrolls_where_nobody_sees_it(device):
    ghost, real = ui.Button("in a scroll"), ui.Button("seen")
    cut = ui.Scroll(ghost, height=60)
    window = ui.Window("Cut", real, ui.Panel(height=400, flex_shrink=0), cut, x=0, y=0, width=200, height=160)
    hand = Hand(ui.Desktop(window, width=300, height=700, device=device, groups="one"))
    found = set()
    for _ in range(6):
        hand.event("key_down", key="Tab")
        found.add(hand.desktop.nodes[int(hand.desktop.last.state["focused"])])
    assert real in found
    assert ghost not in found


def test_what_is_disabled_under_the_pointer_lights_up_no_more(make):
    button = ui.Button("Once", on_click=lambda event: setattr(event.widget, "disabled", True))
    hand = make(button)
    hand.click(button)
    hand.settle()
    assert hand.desktop.machine.widget(button.number)["hover"] == 0.0


@pytest.mark.parametrize("how", ["disabled", "hidden", "on another page"])
def test_the_lines_of_a_menu_that_is_out_of_use_are_not_seen(make, how):
    menu = ui.Menu(["a", "b", "c"])
    tabs = ui.Tabs({"1": ui.Column(menu), "2": ui.Label("x")})
    hand = make(tabs)
    line = menu.children[1].children[1]
    hand.click(menu.button)
    hand.settle()
    assert line.box[2] > 0
    if how == "disabled":
        menu.disabled = True
    elif how == "hidden":
        menu.show(False)
    else:
        tabs.value = 1
    hand.settle()
    assert line.box[2] == 0
    menu.disabled = False
    menu.show()
    tabs.value = 0
    hand.settle()
    assert menu.button.box[2] > 0
    assert line.box[2] == 0


def test_tab_does_not_go_to_what_a_scroll_cuts_off_sideways(make):
    buttons = [ui.Button(str(number), width=150, flex_shrink=0) for number in range(4)]
    hand = make(ui.Scroll(ui.Row(*buttons), width=300))
    found = set()
    for _ in range(8):
        hand.event("key_down", key="Tab")
        found.add(hand.desktop.nodes[int(hand.desktop.last.state["focused"])])
    assert {*buttons} & found == {*buttons[:2]}
