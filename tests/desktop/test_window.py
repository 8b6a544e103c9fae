"""Desktops on canvases of rendercanvas: what a window shows and hears, and what is said where none can be opened."""

import os
import re
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest

from lanewise.desktop import ui
from lanewise.desktop.display.canvas import CanvasView, NoWindowError, show_window
from lanewise.desktop.display.fitting import AROUND, Fit
from lanewise.desktop.handlers import set_number, target_of
from lanewise.desktop.state import Desk, Notice
from lanewise.errors import ArgumentError, LanewiseError
from lanewise.lang import Ptr
from lanewise.lang import device as on_device

offscreen = pytest.importorskip("rendercanvas.offscreen")
SIZE = (480, 360)


@on_device
def act_on_nothing(desk: Ptr[Desk], event: Ptr[Notice]):
    set_number(desk, target_of(desk, event.widget), 3)


class Shown:
    """A desktop of some widgets on a canvas without a screen, whose events come as those of a window do."""

    def __init__(self, device, *widgets: ui.Node, size: tuple[int, int] = SIZE, loop=None) -> None:
        window = ui.Window("Test", *widgets, x=10, y=10)
        self.desktop = ui.Desktop(window, width=SIZE[0], height=SIZE[1], device=device, groups="one")
        self.canvas = offscreen.RenderCanvas(size=size)
        self.view = CanvasView(self.desktop, self.canvas, loop)
        self.draw()

    def draw(self) -> np.ndarray:
        return np.asarray(self.canvas.draw())

    def send(self, kind: str, **fields) -> None:
        self.canvas.submit_event({"event_type": kind, "modifiers": (), **fields})
        self.canvas._process_events()  # as its loop does before each draw
        self.draw()

    def click(self, x: float, y: float) -> None:
        for kind in ("pointer_move", "pointer_down", "pointer_up"):
            self.send(kind, x=x, y=y, button=1)

    def click_on(self, widget: ui.Node) -> None:
        x, y, _, height = widget.box
        self.click(x + 8, y + height / 2)


@pytest.fixture
def scheduled(monkeypatch):
    """Canvases without a screen have no schedule of their own: this one notes what is asked for."""
    asked = []
    real = offscreen.RenderCanvas.request_draw

    def note(self, draw_function=None):
        asked.append("draw")
        real(self, draw_function)

    monkeypatch.setattr(offscreen.RenderCanvas, "request_draw", note)
    monkeypatch.setattr(
        offscreen.RenderCanvas, "set_update_mode", lambda self, mode, *, min_fps=None: asked.append((mode, min_fps))
    )
    return asked


def test_a_canvas_draws_what_was_changed_by_any_thread(device, scheduled):
    label, posted = ui.Label("before", capacity=20), []
    Shown(device, label, loop=types.SimpleNamespace(call_soon_threadsafe=posted.append))
    del scheduled[:]
    label.text = "here"
    assert scheduled == ["draw"]
    elsewhere = threading.Thread(target=lambda: setattr(label, "text", "elsewhere"))
    elsewhere.start()
    while not posted:
        time.sleep(0.001)
    assert label.text == "here"
    posted.pop()()
    elsewhere.join()
    assert label.text == "elsewhere"
    assert scheduled == ["draw"] * 2


def test_a_canvas_shows_a_desktop_and_hears_for_it(device):
    box = ui.Checkbox("Box")
    shown = Shown(device, box)
    assert np.array_equal(shown.draw(), shown.desktop.pixels())
    shown.click_on(box)
    assert box.checked
    assert shown.view.stats().frames == 5
    assert len(shown.view.stats().latencies) == 3
    shown.canvas.close()


def test_in_a_smaller_window_a_desktop_is_whole_and_keeps_its_shape(device):
    box = ui.Checkbox("Box")
    shown = Shown(device, box, size=(240, 300))  # half as wide, and higher than half
    seen = shown.draw()
    assert seen.shape == (300, 240, 4)
    assert (seen[:60] == AROUND).all()
    assert (seen[240:] == AROUND).all()
    means = shown.desktop.pixels().reshape(180, 2, 240, 2, 4).mean((1, 3))
    assert np.abs(seen[60:240] - means).mean() < 2
    x, y, _, height = box.box
    shown.click((x + 8) / 2, 60 + (y + height / 2) / 2)
    assert box.checked


def test_in_a_larger_window_a_desktop_is_in_the_middle_pixel_by_pixel(device):
    box = ui.Checkbox("Box")
    shown = Shown(device, box, size=(600, 400))
    seen = shown.draw()
    assert np.array_equal(seen[20:380, 60:540], shown.desktop.pixels())
    x, y, _, height = box.box
    shown.click(60 + x + 8, 20 + y + height / 2)
    assert box.checked


@pytest.mark.parametrize("window", [(1, 1), (0, 0), (3, 2000), (2000, 3), (479.6, 360.2)])
def test_a_desktop_is_inside_of_every_window(window):
    fit = Fit.of(SIZE, window)
    assert fit.left >= 0
    assert fit.top >= 0
    shown = fit.shown(np.full((SIZE[1], SIZE[0], 4), 200, np.uint8))
    assert shown.shape == (fit.window[1], fit.window[0], 4)
    assert (shown == 200).all(2).sum() == fit.width * fit.height


def test_keys_and_text_are_heard_as_qt_tells_of_them(device):
    """Qt says no modifiers with a text, control characters as text, and 1 for the key of Ctrl+A."""
    field = ui.Field("Ada", width=200)
    shown = Shown(device, field)
    shown.click_on(field)
    shown.send("key_down", key="End")
    shown.send("char", data="", modifiers=None)
    shown.send("key_down", key="!")
    shown.send("char", data="!", modifiers=None)
    assert field.text == "Ada!"
    for letter in "\x01\x03":
        shown.send("key_down", key=letter, modifiers=("Control",))
        shown.send("char", data=letter, modifiers=None)
    assert field.text == "Ada!"
    assert shown.desktop.clipboard == "Ada!"
    shown.send("key_down", key="End")
    shown.send("key_down", key="\x16", modifiers=("Control",))
    shown.send("char", data="\x16", modifiers=None)
    assert field.text == "Ada!Ada!"


def test_frames_are_asked_for_only_while_something_changes(device, scheduled):
    field = ui.Field("Ada")
    shown = Shown(device, field)
    assert scheduled[0] == ("ondemand", 0)
    while scheduled:  # until nothing moves any more
        scheduled.clear()
        shown.draw()
    shown.click_on(field)
    assert scheduled[0] == "draw"
    assert ("ondemand", 10) in scheduled  # the caret blinks


def test_a_frame_that_fails_closes_the_window_and_is_raised_where_it_was_opened(device, monkeypatch):
    button = ui.Button("Press", on_click=act_on_nothing)
    made = []

    def press_when_it_runs():
        shown = made[0]
        x, y, _, _ = button.box
        for kind in ("pointer_move", "pointer_down", "pointer_up"):
            shown.submit_event({"event_type": kind, "x": x + 4, "y": y + 4, "button": 1, "modifiers": ()})
        shown._process_events()
        shown.draw()
        assert shown.get_closed()

    def open_canvas(size, title, **rest):
        made.append(offscreen.RenderCanvas(size=size, title=title))
        return made[0]

    auto = types.ModuleType("rendercanvas.auto")
    auto.RenderCanvas, auto.loop = open_canvas, types.SimpleNamespace(run=press_when_it_runs)
    monkeypatch.setitem(sys.modules, "rendercanvas.auto", auto)
    desktop = ui.Desktop(ui.Window("Test", button), width=480, height=360, device=device, groups="one")
    desktop.settle()
    with pytest.raises(LanewiseError, match="a handler asks for the target of a widget that has none"):
        show_window(desktop)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda desktop: CanvasView(desktop, None), "CanvasView: canvas is None; it is a canvas of rendercanvas"),
        (lambda desktop: CanvasView(3, None), r"CanvasView: desktop is 3; it is a ui\.Desktop"),
        (lambda desktop: show_window("Mine"), r"show_window: desktop is 'Mine'; it is a ui\.Desktop"),
        (lambda desktop: show_window(desktop, 3), "show_window: title is 3; it is a string"),
    ],
)
def test_what_cannot_be_shown_is_refused(wrong, said):
    with pytest.raises(ArgumentError, match=said):
        wrong(ui.Desktop(width=64, height=64, device="cpu"))


def test_a_toolkit_that_lacks_something_is_said_and_its_window_closed(monkeypatch):
    made = []

    class Lacking:
        def __init__(self, **options):
            made.append(self)
            self.closed = False

        def get_bitmap_context(self):
            import a_module_that_nobody_has  # noqa: F401

        def close(self):
            self.closed = True

    auto = types.ModuleType("rendercanvas.auto")
    auto.RenderCanvas, auto.loop = Lacking, None
    monkeypatch.setitem(sys.modules, "rendercanvas.auto", auto)
    desktop = ui.Desktop(width=64, height=64, device="cpu")
    with pytest.raises(NoWindowError, match="no window can be opened: No module named 'a_module_that_nobody_has'; pip"):
        show_window(desktop, "Test")
    assert made[0].closed


def on_a_screen(*arguments: str, **surroundings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lanewise", "desktop", "--device", "cpu", *arguments]
    screen = os.environ | {"DISPLAY": ":0"} | surroundings
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=screen)


def test_a_window_ends_after_its_seconds_and_says_what_frames_took():
    """On rendercanvas' canvas without a screen, whose loop draws nothing unless it is asked."""
    done = on_a_screen("--seconds", "0.2", "--stats", RENDERCANVAS_FORCE_OFFSCREEN="1")
    assert done.returncode == 0, done.stderr
    assert re.match(r"\d+ frames, \d+ dropped; frame .* ms \(p99 .*\), no input yet\n", done.stdout)
    assert "http://" not in done.stdout  # it was no page


def test_a_window_whose_handler_never_comes_back_ends_after_its_seconds(tmp_path):
    file = tmp_path / "busy.py"
    file.write_text("""
import time
from lanewise.desktop import ui
from rendercanvas.auto import loop

def windows():
    loop.run = lambda: time.sleep(3600)  # as it does that is in such a handler
    return [ui.Window("x")]
""")
    done = on_a_screen(str(file), "--seconds", "0.1", RENDERCANVAS_FORCE_OFFSCREEN="1")
    assert done.returncode == 1
    assert done.stderr.endswith("still at work after --seconds 0.1; it is ended with the desktop\n")


def test_where_no_window_can_be_opened_it_is_said_why_and_there_is_a_page(tmp_path):
    package = tmp_path / "rendercanvas"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "auto.py").write_text("raise ImportError('there is no toolkit.\\n  Install one.')")
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    done = on_a_screen("--seconds", "0.2", PYTHONPATH=paths)
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(
        "lanewise: no window can be opened: there is no toolkit; pip install pyside6 brings what opens one; "
        "the page needs nothing\n"
    )
    assert done.stdout.startswith("open http://127.0.0.1:")


def test_a_notebook_shows_the_canvas_of_a_view(device):
    shown = Shown(device, ui.Label("Text"))
    assert "CanvasView" in shown.view._repr_mimebundle_()["text/plain"]
    shown.canvas._repr_mimebundle_ = lambda **asked: {"a widget": asked}
    assert shown.view._repr_mimebundle_(include=None) == {"a widget": {"include": None}}


def test_a_qt_that_ends_the_process_ends_only_one_that_tries_it(device, monkeypatch, tmp_path):
    """As it does without libraries of the system, or without a screen where a variable names one."""
    (tmp_path / "PySide6").mkdir()
    (tmp_path / "PySide6" / "__init__.py").write_text("")
    (tmp_path / "PySide6" / "QtWidgets.py").write_text(
        "import os, sys\nsys.stderr.write('qt.qpa.plugin: Could not load the plugin xcb.\\n')\n"
        "sys.stderr.flush()\nos.abort()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "PySide6", types.ModuleType("PySide6"))
    desktop = ui.Desktop(ui.Window("Test"), width=320, height=240, device=device)
    with pytest.raises(NoWindowError, match=r"^no window can be opened: Could not load the plugin xcb$"):
        show_window(desktop)


def test_events_count_for_the_frame_that_took_them(device):
    shown = Shown(device, ui.Field("", capacity=200))
    for _ in range(100):
        shown.canvas.submit_event({"event_type": "char", "data": "x", "modifiers": ()})
    shown.canvas._process_events()
    before = len(shown.view.stats().latencies)
    shown.draw()
    assert len(shown.view.stats().latencies) == before + 64
    shown.draw()
    assert len(shown.view.stats().latencies) == before + 100
