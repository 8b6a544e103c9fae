"""Canvases: what programs on the device paint is shown without a way through the host."""

import functools
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hand import Hand

import lanewise as lw
from lanewise.desktop import ui
from lanewise.devices.cpu import CpuDevice

GUEST = Path(__file__).parents[2] / "examples/guests/mandelbrot.wasm"
SIZE = (64, 48)


@pytest.fixture
def canvas(device):
    canvas = ui.Canvas(*SIZE, position="absolute", inset=(10, "auto", "auto", 20), radius=0)
    ui.Desktop(canvas, width=160, height=120, device=device, groups="one")
    return canvas


def shown(canvas) -> np.ndarray:
    canvas.desktop.settle()
    return canvas.desktop.pixels()[10 : 10 + SIZE[1], 20 : 20 + SIZE[0]]


def blank(canvas) -> None:
    canvas.draw(np.zeros((SIZE[1], SIZE[0], 4), np.uint8))
    shown(canvas)


def test_what_a_guest_paints_goes_from_its_memory_to_the_canvas(device, canvas, monkeypatch):
    painted = lw.run(GUEST, lanes=SIZE[0] * SIZE[1], picture=SIZE, device=device)
    copied = []
    for name in ("copy_in", "copy_out"):
        real = getattr(type(device), name)

        def spy(self, target, source, real=real):
            copied.append(min(target.nbytes, source.nbytes))
            real(self, target, source)

        monkeypatch.setattr(type(device), name, spy)
    canvas.draw(painted.picture_on_device)
    assert copied
    assert max(copied) < painted.picture_on_device.nbytes
    monkeypatch.undo()
    assert len(np.unique(painted.picture.view(np.uint32))) > 10
    seen = shown(canvas)
    assert len(np.unique(seen.view(np.uint32))) > 10
    blank(canvas)
    canvas.draw(painted.picture)  # through the host
    assert np.array_equal(shown(canvas), seen)


def test_what_is_drawn_before_there_is_a_desktop_is_the_first_picture(device, canvas):
    words = np.arange(SIZE[0] * SIZE[1], dtype=np.uint32).reshape(SIZE[1], SIZE[0]) * 77 | 0xFF000000
    picture = words.view(np.uint8).reshape(*words.shape, 4)
    canvas.draw(picture)
    for drawn in (picture.copy(), device.array(words)):
        early = ui.Canvas(*SIZE, position="absolute", inset=(10, "auto", "auto", 20), radius=0)
        early.draw(picture[::-1])
        early.draw(drawn)
        if isinstance(drawn, np.ndarray):
            drawn[:] = 0  # which has been copied
        ui.Desktop(early, width=160, height=120, device=device, groups="one")
        assert np.array_equal(shown(early), shown(canvas))


@pytest.mark.parametrize("on_a_desktop", [True, False])
def test_a_picture_of_another_size_is_refused_with_both_sizes(device, on_a_desktop):
    canvas = ui.Canvas(*SIZE)
    if on_a_desktop:
        ui.Desktop(canvas, width=160, height=120, device=device, groups="one")
    with pytest.raises(lw.ArgumentError, match="Canvas: picture is 2 x 3 pixels; it is 48 x 64 pixels, height x width"):
        canvas.draw(np.zeros((2, 3, 4), np.uint8))


def test_an_array_of_another_device_goes_through_the_host(canvas):
    words = np.full((SIZE[1], SIZE[0]), 0xFF3366CC, np.uint32)
    elsewhere = CpuDevice().array(words)
    before = shown(canvas)
    canvas.draw(elsewhere)
    seen = shown(canvas)
    assert not np.array_equal(seen, before)
    blank(canvas)
    canvas.draw(words.view(np.uint8).reshape(*words.shape, 4))
    assert np.array_equal(shown(canvas), seen)
    assert np.array_equal(ui.Image(elsewhere).picture, words)


def test_an_array_on_the_device_has_the_size_of_the_canvas(device, canvas):
    with pytest.raises(lw.ArgumentError, match="Canvas: picture is 48 x 63 pixels; it is 48 x 64 pixels"):
        canvas.draw(device.zeros((48, 63), np.uint32))
    with pytest.raises(lw.ArgumentError, match="it is an array of bytes, height x width x 3 or 4"):
        canvas.draw(device.zeros((48, 64), np.float32))
    with pytest.raises(lw.ArgumentError, match="Canvas: picture is "):
        canvas.draw(np.zeros((48, 63, 3), np.uint8))


@pytest.fixture
def example(device, monkeypatch):
    """The windows of the example, whose guests run on the device that the desktop is on."""
    path = GUEST.parents[1] / "desktop_guests.py"
    spec = importlib.util.spec_from_file_location("desktop_guests", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.lw, "run", functools.partial(lw.run, device=device))
    return module.windows()


def test_every_guest_of_the_example_paints_and_goes_on(device, example):
    hand = Hand(ui.Desktop(*example, width=1120, height=560, device=device, groups="one"))
    for window in example:
        canvas, button = window.children[1].children
        x, y, width, height = canvas.box
        seen = lambda: hand.desktop.pixels()[y : y + height, x : x + width]  # noqa: B023, E731
        blank = seen()
        hand.click(button)
        hand.settle()
        first = seen()
        hand.click(button)
        hand.settle()
        assert not np.array_equal(blank, first), window
        assert np.array_equal(first, seen()) == (window.called == "Mandelbrot")


def test_a_canvas_may_take_all_the_room_for_pictures(device):
    canvas = ui.Canvas(1024, 1024)
    desktop = ui.Desktop(ui.Window("Test", canvas), width=320, height=240, device=device, groups="one")
    assert desktop.machine.widget(canvas.number)["picture_width"] == 1024
    with pytest.raises(lw.ArgumentError, match="pictures take 1,048,580 elements; a desktop has room for 1,048,576"):
        ui.Desktop(ui.Window("Test", ui.Canvas(1024, 1024), ui.Canvas(2, 2)), device=device)


def test_no_colour_at_all_is_not_the_colour_of_the_theme(device):
    seen = []
    for background in ("#00000000", "#ffffff00", None):
        panel = ui.Panel(background=background, width=80, height=80)
        desktop = ui.Desktop(panel, width=128, height=128, device=device, groups="one")
        desktop.settle()
        seen.append(desktop.pixels())
    assert np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[0], seen[2])
