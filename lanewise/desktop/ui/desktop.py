"""A desktop: a tree of widgets on a device, the events that go to it, and the frames that come from it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lanewise.desktop import numbers
from lanewise.desktop.limits import CLIPBOARD_CODES
from lanewise.desktop.machine import Frame, Machine
from lanewise.desktop.ui.build import build
from lanewise.desktop.ui.containers import Window
from lanewise.desktop.ui.node import Node
from lanewise.devices.base import Device
from lanewise.devices.registry import device as find_device
from lanewise.errors import ArgumentError

THEMES = ("light", "dark")


@dataclass(frozen=True)
class Event:
    """Something that happened to a widget, as a Python handler hears of it."""

    widget: Node
    kind: str
    """click, double_click, change, submit, close or draw."""
    value: float
    detail: int
    """Of a draw: the column of the canvas in the lower 16 bits, the row in the upper."""


class _Root(Node):
    """The wall behind all windows."""

    kind = numbers.PANEL

    def __init__(self, *children: Node, width: int, height: int) -> None:
        super().__init__(*children, width=width, height=height)


class Desktop:
    """A screen with windows. Each `step` runs one frame on the device, then the Python handlers of what happened."""

    def __init__(
        self,
        *windows: Node,
        width: int = 1280,
        height: int = 720,
        device: str | Device = "auto",
        theme: str = "light",
        font: str | Path | None = None,
        groups: str | None = None,
    ) -> None:
        if theme not in THEMES:
            raise ArgumentError(f"theme is {theme!r}; it is light or dark")
        if groups not in (None, "one", "all"):
            raise ArgumentError(f"groups is {groups!r}; it is one or all")
        found = find_device(device) if isinstance(device, str) else device
        built = build(_Root(*windows, width=width, height=height))
        self.nodes = built.nodes
        self.machine = Machine(
            found,
            width,
            height,
            font=Path(font) if font is not None else None,
            handlers=built.handlers,
            one_group=(groups or ("all" if found.stream_handle is None else "one")) == "one",
        )
        self.machine.load(built.arrays)
        self.machine.change_state(theme=THEMES.index(theme), theme_mix=float(THEMES.index(theme)))
        for node in self.nodes:
            node.desktop = self
        self._started = time.monotonic()
        self._heard: list[Callable[[Event], Any]] = []
        self.report: Callable[[Exception], None] | None = None
        """Told of what handlers raise; without it the frame's step raises that."""
        self.last: Frame | None = None

    @property
    def device(self) -> Device:
        """Where it lives."""
        return self.machine.device

    @property
    def width(self) -> int:
        """Pixels across."""
        return self.machine.width

    @property
    def height(self) -> int:
        """Pixels down."""
        return self.machine.height

    @property
    def windows(self) -> list[Window]:
        """The windows, in the order in which they were given."""
        return [node for node in self.nodes if isinstance(node, Window)]

    @property
    def theme(self) -> str:
        """light or dark; what is set is faded to."""
        return THEMES[int(self.machine.part("frame").get()["theme"])]

    @theme.setter
    def theme(self, name: str) -> None:
        if name not in THEMES:
            raise ArgumentError(f"theme is {name!r}; it is light or dark")
        self.machine.change_state(theme=THEMES.index(name))

    @property
    def clipboard(self) -> str:
        """What was copied last."""
        count = int(self.machine.part("frame").get()["clipboard_length"])
        return bytes(self.machine.part("clipboard", 0, count).get()).decode("utf-32-le") if count else ""

    @clipboard.setter
    def clipboard(self, text: str) -> None:
        codes = code_points(text)[:CLIPBOARD_CODES]
        if codes.size:
            self.machine.part("clipboard", 0, codes.size).set(codes)
        self.machine.change_state(clipboard_length=codes.size)

    def listen(self, heard: Callable[[Event], Any]) -> None:
        """Call a function with every event of every widget, after the widget's own handler."""
        self._heard.append(heard)

    def now_ms(self) -> int:
        """Milliseconds since the desktop was made: the time of events and frames."""
        return int((time.monotonic() - self._started) * 1000)

    def send(self, event: Mapping[str, Any], time_ms: int | None = None) -> None:
        """Put an event in line, in the vocabulary of rendercanvas; kinds that mean nothing here are left out."""
        kind = numbers.EVENT_NAMES.get(str(event.get("event_type")))
        if kind is None:
            return
        try:
            x, y, button, turned = (round(float(event.get(name, 0))) for name in ("x", "y", "button", "dy"))
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError(f"x, y, button and dy of an event are numbers; this one is {dict(event)!r}") from None
        modifiers = sum(numbers.MODIFIER_NAMES.get(name, 0) for name in set(event.get("modifiers", ())))
        code = 0
        if kind in (numbers.KEY_DOWN, numbers.KEY_UP):
            key = str(event.get("key", ""))
            code = numbers.KEY_NAMES.get(key, ord(key) if len(key) == 1 else numbers.KEY_OTHER)
        elif kind == numbers.WHEEL:
            code = turned
        when = self.now_ms() if time_ms is None else time_ms
        for each in code_points(str(event.get("data", ""))).tolist() if kind == numbers.CHAR else [code]:
            self.machine.send(kind, x, y, button, modifiers, each, when)

    def step(self, time_ms: int | None = None) -> Frame:
        """Run one frame; then the Python handlers of what happened in it."""
        frame = self.machine.step(self.now_ms() if time_ms is None else time_ms)
        self.last = frame
        for notice in frame.notices:
            node = self.nodes[int(notice["widget"])]
            kind = int(notice["kind"])
            event = Event(node, numbers.NOTICE_NAMES[kind], float(notice["value"]), int(notice["detail"]))
            for handler in (node.handlers.get(kind), *self._heard):
                if handler is not None:
                    self._call(handler, event)
        return frame

    def _call(self, handler: Callable[[Event], Any], event: Event) -> None:
        try:
            handler(event)
        except Exception as error:
            if self.report is None:
                raise
            self.report(error)

    @property
    def restless(self) -> bool:
        """Whether the next frame would differ from the last: something moves, or events wait."""
        return self.last is None or bool(self.last.state["awake"]) or self.machine.waiting > 0

    def settle(self, time_ms: int = 0, step_ms: int = 16, most: int = 200) -> int:
        """Run frames until nothing moves, at most so many; gives the time of the last. For tests and pictures."""
        for _ in range(most):
            self.step(time_ms)
            if not self.restless:
                break
            time_ms += step_ms
        return time_ms

    def pixels(self) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
        """The screen after the last frame: height x width x 4 bytes, red, green, blue, alpha."""
        return self.machine.pixels()

    def set_text(self, node: Node, text: str) -> None:
        """Give a widget another text, no longer than it has room for."""
        widget = self.machine.widget(node.number)
        room = int(widget["capacity"])
        codes = code_points(text)
        if len(codes) > room:
            raise ArgumentError(f"the text has {len(codes)} characters; {node!r} has room for {room}")
        if len(codes):
            self.machine.part("texts", int(widget["text"]), len(codes)).set(codes)
        self.machine.change_widget(
            node.number,
            length=len(codes),
            caret=len(codes),
            anchor=len(codes),
            text_version=int(widget["text_version"]) + 1,
        )
        if node.kind == numbers.LABEL:
            style = self.machine.part("styles", node.number, 1)
            record = style.get()
            record["text_count"] = len(codes)
            style.set(record)
            self.machine.lay_out_anew()

    def set_picture(self, node: Node, pixels: np.ndarray[Any, Any]) -> None:
        """Give a canvas or an image other pixels of the same height and width."""
        if pixels.shape != node.picture.shape:
            raise ArgumentError(f"the picture is {pixels.shape}; {node!r} shows {node.picture.shape}")
        widget = self.machine.widget(node.number)
        self.machine.part("pictures", int(widget["picture"]), pixels.size).set(pixels.ravel())
        self.machine.change_widget(node.number, picture_version=int(widget["picture_version"]) + 1)


def code_points(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """The code points of a text; halves of surrogate pairs, which no text should hold, are left out."""
    return np.frombuffer(text.encode("utf-32-le", errors="ignore"), np.uint32)
