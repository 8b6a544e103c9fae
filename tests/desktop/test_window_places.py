"""Windows: where they lie, also when they are moved, resized and raised."""

import pytest
from hand import Hand, redrawn

from lanewise.desktop import limits, ui


@pytest.mark.parametrize(
    ("wanted", "found"),
    [((5000, 5000), (400, 330)), ((-5000, -50), (-220, 0)), ((30, 40), (30, 40)), ((420, 20), (400, 20))],
)
def test_a_window_that_is_made_beyond_the_screen_can_be_reached(device, wanted, found):
    window = ui.Window("Test", x=wanted[0], y=wanted[1], width=300, height=200)
    hand = Hand(ui.Desktop(window, width=480, height=360, device=device, groups="one"))
    assert window.box[:2] == found
    start = max(found[0], 0) + 20, found[1] + 10
    hand.press(*start)
    hand.move(*start)
    hand.release(*start)
    assert window.box[:2] == found  # it is where the pointer leaves it, too


def test_a_window_is_moved_resized_raised_and_closed(device):
    inside = ui.Button("Wide", align_self="stretch")
    back = ui.Window("Back", inside, x=20, y=20, width=200, height=160)
    front = ui.Window("Front", ui.Label("text"), x=120, y=60, width=200, height=160)
    hand = Hand(ui.Desktop(back, front, width=480, height=360, device=device, groups="one"))
    hand.drag((60, 30), (70, 45))
    assert back.box[:2] == (30, 35)
    assert hand.desktop.machine.widget(back.number)["layer"] > hand.desktop.machine.widget(front.number)["layer"]
    before = inside.box[2]
    hand.drag((225, 190), (275, 200))
    assert back.box[2:] == (250, 170)
    assert inside.box[2] == before + 50
    hand.drag((70, 45), (-1000, -1000))
    assert back.box[1] == 0
    assert back.box[0] + back.box[2] == 80  # some of the bar stays on the screen
    hand.click(front.children[2])
    hand.wait()
    assert front.box[2:] == (0, 0)
    assert hand.kinds(front) == ["close"]
    hand.settle()
    assert hand.desktop.machine.widget(back.number)["toggle"] == 1  # it is in front now, and looks so


@pytest.mark.parametrize(
    "said",
    [
        {"x": 50, "y": 40},
        {"x": 50, "y": 40, "margin": 20},
        {"inset": ("auto", 60, 80, "auto")},
        {"inset": ("10%", "auto", "auto", "10%")},
        {"inset": 0, "margin": "auto"},
        {"position": "relative", "inset": "auto"},
    ],
)
def test_a_window_that_was_moved_or_resized_stays_when_all_is_laid_out(device, said):
    tabs = ui.Tabs({"One": ui.Label("a"), "Two": ui.Label("b")})
    window = ui.Window("Test", tabs, width=200, height=160, **said)
    hand = Hand(ui.Desktop(window, width=480, height=360, device=device, groups="one"))
    x, y = window.box[:2]
    hand.drag((x + 30, y + 10), (x + 50, y + 25))
    assert window.box == (x + 20, y + 15, 200, 160)
    hand.click(tabs.tabs[1])
    hand.wait()
    assert window.box == (x + 20, y + 15, 200, 160)
    hand.drag((x + 215, y + 170), (x + 235, y + 180))
    assert window.box == (x + 20, y + 15, 220, 170)
    redrawn(hand.desktop, hand.time)
    assert window.box == (x + 20, y + 15, 220, 170)


def test_a_window_that_leaves_the_flow_leaves_its_place_to_others(device):
    windows = [ui.Window(name, position="relative", inset="auto", width=200, height=150) for name in "AB"]
    hand = Hand(ui.Desktop(*windows, width=600, height=400, device=device, groups="one"))
    assert [window.box[0] for window in windows] == [0, 200]
    hand.drag((30, 10), (60, 80))
    hand.settle()
    assert [window.box[:2] for window in windows] == [(30, 70), (0, 0)]


def test_layers_that_run_out_are_numbered_anew(device):
    windows = [ui.Window(str(k), x=20 + 150 * k, y=20, width=140, height=120, resizable=False) for k in range(3)]
    hand = Hand(ui.Desktop(*windows, width=480, height=160, device=device, groups="one"))
    hand.desktop.machine.change_state(top_layer=limits.POPUP_LAYER - limits.MAX_WIDGETS - 1)
    hand.click(windows[0].title)
    hand.click(windows[2].title)
    layers = [int(hand.desktop.machine.widget(window.number)["layer"]) for window in windows]
    assert layers[1] < layers[0] < layers[2] < limits.POPUP_LAYER - limits.MAX_WIDGETS
    assert hand.desktop.last.state["top_layer"] == layers[2]
