"""Handlers on the device: they run in the frame of the event, in order, and hear what Python hears."""

import pytest
from hand import Hand

import lanewise as lw
from lanewise.desktop import ui
from lanewise.desktop.handlers import paint_line, set_number, set_theme, set_value, target_of, value_of
from lanewise.desktop.numbers import CHANGED, CLICKED
from lanewise.desktop.state import Desk, Notice
from lanewise.lang import Ptr, device, i32


@device
def count_up(desk: Ptr[Desk], event: Ptr[Notice]):
    if event.kind == CLICKED:
        label = target_of(desk, event.widget)
        set_value(desk, label, value_of(desk, label) + 1.0)
        set_number(desk, label, i32(value_of(desk, label)))


@device
def mirror(desk: Ptr[Desk], event: Ptr[Notice]):
    if event.kind == CHANGED:
        bar = target_of(desk, event.widget)
        set_value(desk, bar, event.value)
        set_number(desk, target_of(desk, bar), i32(event.value) - 50)


@device
def darken(desk: Ptr[Desk], event: Ptr[Notice]):
    set_theme(desk, event.value > 0.0)


@device
def draw(desk: Ptr[Desk], event: Ptr[Notice]):
    paint_line(desk, event, 2.0, 0xFF0000FF)


@pytest.fixture
def make(device):
    def desktop(*widgets: ui.Node) -> Hand:
        return Hand(ui.Desktop(ui.Window("Test", *widgets), width=520, height=420, device=device, groups="one"))

    return desktop


def test_handlers_change_widgets_in_the_frame_of_the_event(device):
    label, bar, shown = ui.Label("0"), ui.Progress(0), ui.Label("")
    heard = []
    button = ui.Button("+", on_click=count_up, on_double_click=lambda event: heard.append(event.kind), target=label)
    bar.target = shown
    slider = ui.Slider(0, on_change=mirror, target=bar)
    window = ui.Window("Test", label, button, slider, bar, shown)
    hand = Hand(ui.Desktop(window, width=520, height=420, device=device, groups="one"))
    before = hand.desktop.pixels()
    hand.click(button)
    assert label.text == "1"
    assert (hand.desktop.pixels() != before).any()
    for _ in range(11):
        hand.click(button)
    assert label.text == "12"
    assert label.box[2] > 10  # laid out anew: two digits are wider than one
    assert heard  # a Python handler beside it
    hand.click(slider)
    assert bar.value == slider.value == 50
    hand.key("Home")
    assert shown.text == "-50"


@device
def show_value(desk: Ptr[Desk], event: Ptr[Notice]):
    set_number(desk, target_of(desk, event.widget), i32(event.value * 10.0 + value_of(desk, event.widget)))


@device
def choose_next(desk: Ptr[Desk], event: Ptr[Notice]):
    target = target_of(desk, event.widget)
    set_value(desk, target, value_of(desk, target) + 1.0)


def test_handlers_of_menus_tabs_and_lists_hear_of_what_people_made(make):
    shown = ui.Label("")
    menu = ui.Menu(["a", "b", "c"], on_change=show_value, target=shown)
    tabs = ui.Tabs({"1": ui.Label("x"), "2": ui.Label("y")}, on_change=show_value, target=shown)
    rows = ui.List(["a", "b", "c", "d"], on_change=show_value, target=shown)
    hand = make(menu, tabs, rows, shown)
    hand.click(menu.button)
    hand.wait()
    hand.click(menu.children[1].children[2])
    assert shown.text == "22"
    hand.click(tabs.tabs[1])
    assert shown.text == "11"
    hand.click(rows.children[0])
    hand.key("End")
    assert shown.text == "33"


def test_a_handler_chooses_a_line_a_page_and_a_radio_button(make):
    menu = ui.Menu(["a", "b", "c"])
    tabs = ui.Tabs({"1": ui.Label("x"), "2": ui.Label("y")})
    radios = [ui.Radio(str(k), group="of the test", checked=k == 0) for k in range(2)]
    buttons = [ui.Button("next", on_click=choose_next, target=target) for target in (menu, tabs, radios[1])]
    hand = make(menu, tabs, *radios, ui.Row(*buttons))
    for button in buttons:
        hand.click(button)
        hand.wait()
    assert (menu.value, menu.button.text) == (1, "b")
    assert tabs.value == 1
    assert [page.box[2] > 0 for page in tabs.pages] == [False, True]
    assert [radio.checked for radio in radios] == [False, True]
    for _ in range(3):
        hand.click(buttons[0])
        hand.click(buttons[1])
    assert (menu.value, menu.button.text, tabs.value) == (2, "c", 1)  # the last there is


@device
def choose_99(desk: Ptr[Desk], event: Ptr[Notice]):
    set_value(desk, target_of(desk, event.widget), 99.0)


@device
def choose_none(desk: Ptr[Desk], event: Ptr[Notice]):
    set_value(desk, target_of(desk, event.widget), -3.0)


def test_a_handler_chooses_no_row_that_a_list_does_not_have(make):
    listed, empty = ui.List(["a", "b", "c"], height=120), ui.List([], height=60)
    far, none = (
        ui.Button("far", on_click=choose_99, target=listed),
        ui.Button("none", on_click=choose_none, target=listed),
    )
    nothing = ui.Button("nothing", on_click=choose_99, target=empty)
    hand = make(listed, empty, ui.Row(far, none, nothing))
    hand.click(far)
    assert listed.value == 2
    hand.click(none)
    assert listed.value == -1
    hand.click(nothing)
    assert empty.value == -1


@device
def write_number(desk: Ptr[Desk], event: Ptr[Notice]):
    set_number(desk, target_of(desk, event.widget), i32(value_of(desk, target_of(desk, event.widget))))


@pytest.mark.parametrize(
    ("number", "written"),
    [(1234, "1234"), (12345, "####"), (123456, "####"), (-123, "-123"), (-1234, "####"), (0, "0"), (-(2**31), "####")],
)
def test_a_number_without_room_is_never_another_number(make, number, written):
    label = ui.Label("old", capacity=4)
    button = ui.Button("Write", on_click=write_number, target=label)
    hand = make(label, button)
    label.value = number
    hand.click(button)
    assert label.text == written


def test_a_number_goes_to_no_text_that_stays(make):
    kept = ui.Button("Keep")
    button = ui.Button("Write", on_click=write_number, target=kept)
    hand = make(kept, button)
    with pytest.raises(lw.TrapError, match="set_number is for labels and fields"):
        hand.click(button)


@device
def set_nan(desk: Ptr[Desk], event: Ptr[Notice]):
    none = value_of(desk, event.widget) * 0.0
    set_value(desk, target_of(desk, event.widget), none / none)


def test_what_is_not_a_number_is_the_least_value(make):
    targets = [
        ui.Slider(50, minimum=-10),
        ui.Progress(50),
        ui.List(["a", "b"], chosen=1, height=60),
        ui.Menu(["a", "b"], chosen=1),
        ui.Tabs({"a": ui.Label(""), "b": ui.Label("")}, chosen=1),
        ui.Checkbox("", checked=True),
        ui.Label(""),
    ]
    buttons = [ui.Button("NaN", on_click=set_nan, target=each) for each in targets]
    hand = make(ui.Scroll(ui.Row(*buttons, flex_wrap="wrap"), *targets))
    for button in buttons:
        hand.click(button)
    assert [each.value for each in targets] == [-10, 0, -1, 0, 0, 0, 0]


def test_a_handler_draws_on_a_canvas_and_another_changes_the_theme(device):
    canvas = ui.Canvas(100, 80, on_draw=draw)
    switch = ui.Switch("Dark", on_change=darken)
    hand = Hand(ui.Desktop(ui.Window("Draw", canvas, switch), width=520, height=420, device=device, groups="one"))
    x, y, _, _ = canvas.box
    hand.drag((x + 10, y + 10), (x + 90, y + 70), steps=3)
    hand.settle()
    seen = hand.desktop.pixels()
    for part in (0.0, 0.4, 0.8, 1.0):
        assert seen[y + 10 + round(60 * part), x + 10 + round(80 * part), :3].tolist() == [255, 0, 0]
    assert seen[y + 70, x + 10, :3].tolist() == [255, 255, 255]
    hand.click(switch, 0.1)
    hand.settle()
    assert hand.desktop.theme == "dark"
    assert hand.desktop.pixels()[5, 5].max() == 255
    assert hand.desktop.pixels()[5, 5, 0] < 60


def test_a_handler_that_asks_for_a_target_where_there_is_none_is_told_so(device):
    button = ui.Button("+", on_click=count_up)
    hand = Hand(ui.Desktop(button, width=200, height=100, device=device, groups="one"))
    with pytest.raises(lw.TrapError, match="the target of a widget that has none"):
        hand.click(button)


def test_a_widget_has_one_handler_on_the_device():
    with pytest.raises(lw.ArgumentError, match="two handlers on the device"):
        ui.Button("x", on_click=count_up, on_double_click=mirror)
