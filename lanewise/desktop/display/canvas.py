"""A desktop on a canvas of rendercanvas: a window, a cell of a notebook, or offscreen. Its draws are the heartbeat."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from lanewise.desktop import limits
from lanewise.desktop.display.changes import Changes
from lanewise.desktop.display.fitting import Fit
from lanewise.desktop.display.runner import BLINK_SECONDS
from lanewise.desktop.display.times import FrameLog, Stats
from lanewise.desktop.numbers import EVENT_NAMES
from lanewise.desktop.ui import Desktop
from lanewise.desktop.ui.checking import TEXT, Expected, check
from lanewise.desktop.ui.desktop import A_DESKTOP
from lanewise.desktop.ui.events import read_event
from lanewise.errors import LanewiseError

RATE = 120
_QT_SECONDS = 60
QT = ("PySide6", "PyQt6", "PySide2", "PyQt5")
A_CANVAS = Expected("a canvas of rendercanvas", lambda value: hasattr(value, "get_bitmap_context"))
BEFORE_A = ord("a") - 1
"""What is to be added to the key that Qt tells of when a letter is typed with Control: A is 1."""


class NoWindowError(LanewiseError):
    """There is nothing here that could open a window."""


class CanvasView:
    """Shows a desktop on a canvas: each draw of the canvas is a frame, its events go to the desktop.

    The canvas is asked to draw when there is input, when something is changed, and while something moves. Changes may
    come from other threads if there is a `loop` of rendercanvas. Where a frame fails the canvas closes, and `failure`
    says why.
    """

    def __init__(self, desktop: Desktop, canvas: Any, loop: Any = None) -> None:
        check(self, A_DESKTOP, desktop=desktop)
        check(self, A_CANVAS, canvas=canvas)
        self.desktop = desktop
        self.canvas = canvas
        self.failure: Exception | None = None
        self._log = FrameLog()
        self._dropped = 0
        self._arrivals: list[float] = []
        """When events came that no frame has shown yet."""
        self._context = canvas.get_bitmap_context()
        self._fit: Fit | None = None
        self._shown: Any = None
        self._blinks = False
        canvas.set_update_mode("ondemand", min_fps=0)
        canvas.add_event_handler(self._hear, *EVENT_NAMES)
        canvas.request_draw(self.draw)
        post = getattr(loop, "call_soon_threadsafe", None)  # which older versions have not
        self._elsewhere = None if post is None else Changes(threading.current_thread(), post, canvas.get_closed)
        desktop.changes = self._change

    def _change(self, make: Callable[[], Any]) -> Any:
        """Make a change, on the thread that draws, and have it seen."""

        def change() -> Any:
            found = make()
            self.canvas.request_draw()
            return found

        return change() if self._elsewhere is None else self._elsewhere(change)

    def draw(self) -> None:
        """Run a frame and show it; what is on the canvas stays where nothing has changed."""
        try:
            self._draw()
        except Exception as failure:  # the canvas would write of it, and draw the same again and again
            self.failure = failure
            self.canvas.close()

    def _draw(self) -> None:
        taken = limits.FRAME_EVENTS
        started, arrivals, self._arrivals = time.perf_counter(), self._arrivals[:taken], self._arrivals[taken:]
        frame = self.desktop.step()
        ended = time.perf_counter()
        self._log.add(started, ended, arrivals)
        self._dropped += int((ended - started) * RATE)
        fit = self._fit_now()
        if fit != self._fit or frame.state["dirty_tiles"]:
            self._fit, self._shown = fit, fit.shown(self.desktop.pixels())
        self._context.set_bitmap(self._shown)
        if self._blinks != bool(frame.state["blinks"]):
            self._blinks = not self._blinks
            self.canvas.set_update_mode("ondemand", min_fps=self._blinks / BLINK_SECONDS)
        if self.desktop.restless:
            self.canvas.request_draw()

    def _repr_mimebundle_(self, **asked: Any) -> Any:
        """What a notebook shows of a view that is the last thing in a cell: its canvas."""
        shows = getattr(self.canvas, "_repr_mimebundle_", None)
        return {"text/plain": repr(self)} if shows is None else shows(**asked)

    def stats(self) -> Stats:
        """What frames have taken so far: each begins when the canvas draws."""
        return self._log.stats(self._log.frames, self._dropped)

    def _fit_now(self) -> Fit:
        return Fit.of((self.desktop.width, self.desktop.height), self.canvas.get_logical_size())

    def _hear(self, event: dict[str, Any]) -> None:
        said = event | {"modifiers": event.get("modifiers") or ()}  # Qt says None with what is typed
        if "x" in event:
            said["x"], said["y"] = self._fit_now().on_desktop(event["x"], event["y"])
        if len(key := event.get("key", "")) == 1 and key < " " and "Control" in said["modifiers"]:
            said["key"] = chr(BEFORE_A + ord(key))
        if inputs := read_event(said):  # else it means nothing to a desktop
            self._arrivals += [time.perf_counter()] * len(inputs)
            self.desktop.put_in_line(inputs)
            self.canvas.request_draw()


def has_screen() -> bool:
    """Whether there is a screen that a window could open on."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def show_window(
    desktop: Desktop,
    title: str = "Lanewise",
    *,
    seconds: float | None = None,
    on_open: Callable[[], Any] = lambda: None,
) -> CanvasView:
    """Show a desktop in a window, or in a notebook's cell, until it is closed or so many seconds are over.

    `on_open` is called when there is a window, before its first frame. Where there is nothing that opens windows, a
    NoWindowError says so; what fails while it is shown is raised, too.
    """
    check("show_window", A_DESKTOP, desktop=desktop)
    check("show_window", TEXT, title=title)
    _choose_qt()
    _check_qt()
    canvas: Any = None
    try:
        from rendercanvas.auto import RenderCanvas, loop

        canvas = RenderCanvas(size=(desktop.width, desktop.height), title=title, max_fps=RATE, vsync=True)
        view = CanvasView(desktop, canvas, loop)
    except (ImportError, RuntimeError) as error:
        if canvas is not None:
            canvas.close()
        reason = str(error).partition("\n")[0].rstrip(".")
        packages = "pyside6" if importlib.util.find_spec("rendercanvas") else "rendercanvas pyside6"
        raise NoWindowError(
            f"no window can be opened: {reason}; pip install {packages} brings what opens one"
        ) from None
    on_open()
    if seconds is not None:
        loop.call_later(seconds, canvas.close)
    loop.run()
    if view.failure is not None:
        raise view.failure
    return view


def _check_qt() -> None:
    """Raise where the Qt that is imported cannot begin: it ends the process then, so that another one tries it."""
    name = next((name for name in QT if name in sys.modules), None)
    if name is None:
        return
    asked = f"from {name}.QtWidgets import QApplication; QApplication([])"
    command = [sys.executable, "-c", asked]
    try:
        tried = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_QT_SECONDS)
    except subprocess.TimeoutExpired:
        raise NoWindowError(f"no window can be opened: {name} did not begin within {_QT_SECONDS} s") from None
    if tried.returncode:
        lines = [line for line in tried.stderr.splitlines() if line.strip()]
        reason = lines[0].removeprefix("qt.qpa.plugin: ").strip() if lines else f"{name} ends at once"
        raise NoWindowError(f"no window can be opened: {reason.rstrip('.')}")


def _choose_qt() -> None:
    """Import Qt, which rendercanvas then takes, where its first choice, GLFW, lacks wgpu: it shows nothing without."""
    if importlib.util.find_spec("wgpu") is None:
        for name in QT:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
                return
