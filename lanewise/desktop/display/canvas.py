"""A desktop on a canvas of rendercanvas: a window, a cell of a notebook, or offscreen. Its draws are the heartbeat."""

from __future__ import annotations

import os
import time
from typing import Any

from lanewise.desktop.display.times import FrameLog, Stats
from lanewise.desktop.numbers import EVENT_NAMES
from lanewise.desktop.ui import Desktop
from lanewise.desktop.ui.events import read_event
from lanewise.errors import LanewiseError

RATE = 120


class CanvasView:
    """Shows a desktop on a canvas: each draw of the canvas is a frame, its events go to the desktop."""

    def __init__(self, desktop: Desktop, canvas: Any) -> None:
        self.desktop = desktop
        self.canvas = canvas
        self._log = FrameLog()
        self._dropped = 0
        self._arrivals: list[float] = []
        """When events came that no frame has shown yet."""
        self._context = canvas.get_bitmap_context()
        self._shown: Any = None
        canvas.add_event_handler(self._hear, *EVENT_NAMES)
        canvas.request_draw(self.draw)

    def draw(self) -> None:
        """Run a frame and show it; what is on the canvas stays where nothing has changed."""
        started, arrivals, self._arrivals = time.perf_counter(), self._arrivals, []
        frame = self.desktop.step()
        ended = time.perf_counter()
        self._log.add(started, ended, arrivals)
        self._dropped += int((ended - started) * RATE)
        if self._shown is None or frame.state["dirty_tiles"]:
            self._shown = self.desktop.pixels()
        self._context.set_bitmap(self._shown)

    def stats(self) -> Stats:
        """What frames have taken so far: each begins when the canvas draws."""
        return self._log.stats(self._log.frames, self._dropped)

    def _hear(self, event: dict[str, Any]) -> None:
        width, height = self.canvas.get_logical_size()
        scaled = dict(event)
        if "x" in event:
            scaled["x"] = event["x"] * self.desktop.width / width
            scaled["y"] = event["y"] * self.desktop.height / height
        if inputs := read_event(scaled):  # else it means nothing to a desktop
            self._arrivals.append(time.perf_counter())
            self.desktop.put_in_line(inputs)


def has_screen() -> bool:
    """Whether there is a screen that a window could open on."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def show_window(desktop: Desktop, title: str, seconds: float | None = None) -> CanvasView:
    """Show a desktop in a window, or in a notebook's cell, until it is closed or so many seconds are over."""
    try:
        from rendercanvas.auto import RenderCanvas, loop
    except (ImportError, RuntimeError) as error:
        raise LanewiseError(
            f"no window can be opened: {error}; the page works without: lanewise desktop --page"
        ) from None
    canvas = RenderCanvas(
        size=(desktop.width, desktop.height), title=title, update_mode="continuous", max_fps=RATE, vsync=True
    )
    view = CanvasView(desktop, canvas)
    if seconds is not None:
        loop.call_later(seconds, canvas.close)
    loop.run()
    return view
