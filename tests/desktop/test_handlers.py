"""Handlers on the device: they run in the frame of the event, in order, and hear what Python hears."""

import pytest
from hand import Hand

import lanewise as lw
from lanewise.desktop import ui
from lanewise.desktop.handlers import set_number, set_value, target_number, value_of
from lanewise.desktop.numbers import CHANGED, CLICKED
from lanewise.desktop.state import Desk
from lanewise.lang import Ptr, device, f32, i32, u32


@device
def count_up(desk: Ptr[Desk], me: u32, kind: u32, value: f32):
    if kind == CLICKED:
        label = target_number(desk, me)
        set_value(desk, label, value_of(desk, label) + 1.0)
        set_number(desk, label, i32(value_of(desk, label)))


@device
def mirror(desk: Ptr[Desk], me: u32, kind: u32, value: f32):
    if kind == CHANGED:
        set_value(desk, target_number(desk, me), value)
        set_number(desk, target_number(desk, target_number(desk, me)), i32(value) - 50)


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


def test_a_widget_has_one_handler_on_the_device():
    with pytest.raises(lw.ArgumentError, match="two handlers on the device"):
        ui.Button("x", on_click=count_up, on_double_click=mirror)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: ui.Button("x", on_click=3), "a handler is a function, not 3"),
        (lambda: ui.Column("text"), "write ui.Label"),
        (lambda: ui.Button("x", colr="red"), "Button has no 'colr'; its style has"),
        (lambda: ui.Label("x", colour="red"), "written #rrggbb"),
        (lambda: ui.Slider(0, minimum=1, maximum=1), "above its minimum"),
        (lambda: ui.Menu([], chosen=0), "has no line 0"),
        (lambda: ui.Field("abc", capacity=2), "the field holds 2"),
        (lambda: ui.Image([[1, 2]]), "height x width x 3 or 4"),
        (lambda: ui.Button("x").text, "not on a desktop yet"),
        (lambda: ui.Desktop(*[ui.Label("x") for _ in range(300)], device="cpu"), "a desktop holds 256"),
        (lambda: ui.Desktop(ui.Button("x", target=ui.Label("y")), device="cpu"), "is not on the desktop"),
        (lambda: ui.Desktop(theme="pink", device="cpu"), "light or dark"),
        (lambda: ui.Desktop(ui.Label("x", width="wide"), device="cpu"), "node 1: width is 'wide'"),
    ],
)
def test_mistakes_are_named(wrong, said):
    with pytest.raises(lw.ArgumentError, match=said):
        wrong()
