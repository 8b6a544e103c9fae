"""A hand on a desktop: pointer and keys as a person moves them, with time that the test decides."""

from typing import Any

import numpy as np

from lanewise.desktop import ui

STEP_MS = 16


class Hand:
    """Sends events and runs a frame after each, so that every event meets the screen as the one before left it."""

    def __init__(self, desktop: ui.Desktop) -> None:
        self.desktop = desktop
        self.time = 0
        self.heard: list[tuple[ui.Node, str, float]] = []
        desktop.listen(lambda event: self.heard.append((event.widget, event.kind, event.value)))
        self.wait()

    def wait(self, frames: int = 1) -> None:
        for _ in range(frames):
            self.desktop.step(self.time)
            self.time += STEP_MS

    def settle(self) -> None:
        self.time = self.desktop.settle(self.time) + STEP_MS

    def settle_at(self, time: int) -> None:
        """Let animations end, then show the desktop as it is at a time: what blinks is as it is then."""
        self.wait(40)
        self.time = time
        self.wait(2)

    def send(self, kind: str, **fields: Any) -> None:
        self.desktop.send({"event_type": kind, **fields}, self.time)

    def event(self, kind: str, **fields: Any) -> None:
        self.send(kind, **fields)
        self.wait()

    def place(self, node: ui.Node, part: float = 0.5) -> tuple[int, int]:
        x, y, width, height = node.box
        assert width > 0, f"{node} is not seen"
        return x + round(width * part), y + height // 2

    def move(self, x: int, y: int) -> None:
        self.event("pointer_move", x=x, y=y)

    def press(self, x: int, y: int) -> None:
        self.event("pointer_move", x=x, y=y)
        self.event("pointer_down", x=x, y=y, button=1)

    def release(self, x: int, y: int) -> None:
        self.event("pointer_up", x=x, y=y, button=1)

    def click(self, node: ui.Node, part: float = 0.5) -> None:
        place = self.place(node, part)
        self.press(*place)
        self.release(*place)

    def drag(self, start: tuple[int, int], end: tuple[int, int], steps: int = 4) -> None:
        self.press(*start)
        for step in range(1, steps + 1):
            self.move(*(a + (b - a) * step // steps for a, b in zip(start, end, strict=True)))
        self.release(*end)

    def key(self, key: str, *modifiers: str) -> None:
        self.event("key_down", key=key, modifiers=modifiers)
        self.event("key_up", key=key, modifiers=modifiers)

    def type(self, text: str) -> None:
        for letter in text:
            self.event("char", data=letter)

    def kinds(self, node: ui.Node) -> list[str]:
        return [kind for widget, kind, _ in self.heard if widget is node]


def redrawn(desktop: ui.Desktop, time: int) -> np.ndarray:
    """The screen when all of it is laid out and drawn anew."""
    desktop.machine.lay_out_anew()
    desktop.machine.change_state(full_redraw=1)
    desktop.step(time)
    return desktop.pixels()
