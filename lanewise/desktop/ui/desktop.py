"""A desktop: a tree of widgets on a device, the events that go to it, and the frames that come from it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lanewise.desktop import numbers
from lanewise.desktop.layout.keywords import DISPLAY_FLEX, DISPLAY_NONE
from lanewise.desktop.limits import CLIPBOARD_CODES
from lanewise.desktop.machine import Frame, Machine
from lanewise.desktop.ui.build import build, disabled_flags, forget, within
from lanewise.desktop.ui.calling import Told
from lanewise.desktop.ui.checking import HEARER, PATH, TEXT, WHOLE, Expected, check, name_of, one_of, or_none
from lanewise.desktop.ui.containers import Window
from lanewise.desktop.ui.events import Input, code_points, one_line, read_event
from lanewise.desktop.ui.node import WIDGET, Node
from lanewise.devices.arrays import DeviceArray
from lanewise.devices.base import Device
from lanewise.devices.registry import device as find_device
from lanewise.errors import ArgumentError

Found = TypeVar("Found")
THEMES = ("light", "dark")
A_THEME = one_of(*THEMES)
A_TIME = or_none(WHOLE)
A_DEVICE = Expected("the name of a device, or a device", lambda value: isinstance(value, str | Device))


@dataclass(frozen=True)
class Event:
    """Something that happened to a widget, as a Python handler hears of it."""

    widget: Node
    kind: str
    """click, double_click, change, submit, close or draw."""
    value: float
    detail: int
    """Of a draw: the column of the canvas in the lower 16 bits, the row in the upper. Its value is 0 where a stroke
    begins, and 1 where it has come to."""


class _Root(Node):
    """The wall behind all windows."""

    kind = numbers.PANEL

    def __init__(self, *children: Node, width: int, height: int) -> None:
        super().__init__(*children, width=width, height=height)


class Desktop(metaclass=Told):
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
        check(self, WIDGET, **{f"window {number}": window for number, window in enumerate(windows, 1)})
        check(self, WHOLE, width=width, height=height)
        check(self, A_DEVICE, device=device)
        check(self, A_THEME, theme=theme)
        check(self, or_none(PATH), font=font)
        check(self, or_none(one_of("one", "all")), groups=groups)
        found = find_device(device) if isinstance(device, str) else device
        one_group = (groups or ("all" if found.stream_handle is None else "one")) == "one"
        root = _Root(*windows, width=max(width, 0), height=max(height, 0))
        try:
            built = build(root)
            self.machine = Machine(
                found, width, height, font=Path(font) if font else None, handlers=built.handlers, one_group=one_group
            )
        except BaseException:
            forget(root)
            raise
        self.nodes = built.nodes
        self._disabled = {node.number for node in self.nodes if node.flags & numbers.DISABLED}
        self.machine.load(built.arrays)
        self.machine.change_state(theme=THEMES.index(theme), theme_mix=float(THEMES.index(theme)))
        for node in self.nodes:
            node.desktop = self
        self._started = time.monotonic()
        self._heard: list[Callable[[Event], Any]] = []
        self.report: Callable[[Exception], None] | None = None
        """Told of what handlers raise; without it the frame's step raises that. A runner gives it one that prints."""
        self.last: Frame | None = None
        self._making = threading.RLock()
        """Held while a frame or a change is made, where no thread is there for both."""
        self.changes: Callable[[Callable[[], Any]], Any] | None = None
        """Has changes made between two frames, where something else than `step` makes these."""

    def change(self, make: Callable[[], Found]) -> Found:
        """Make a change, and give what that gives; if a thread makes frames, it makes the change, too."""
        if self.changes is None:
            with self._making:
                return make()
        made: Found = self.changes(make)
        return made

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
        check(self, A_THEME, theme=name)
        self.change(lambda: self.machine.change_state(theme=THEMES.index(name)))

    @property
    def copies(self) -> int:
        """How many times a widget has copied something to the clipboard."""
        return int(self.machine.part("frame").get()["copies"])

    @property
    def clipboard(self) -> str:
        """What was copied last."""
        count = int(self.machine.part("frame").get()["clipboard_length"])
        return bytes(self.machine.part("clipboard", 0, count).get()).decode("utf-32-le") if count else ""

    @clipboard.setter
    def clipboard(self, text: str) -> None:
        check(self, TEXT, clipboard=text)
        codes = code_points(text)[:CLIPBOARD_CODES]

        def change() -> None:
            if codes.size:
                self.machine.part("clipboard", 0, codes.size).set(codes)
            self.machine.change_state(clipboard_length=codes.size)

        self.change(change)

    def listen(self, heard: Callable[[Event], Any]) -> None:
        """Call a function with every event of every widget, after the widget's own handler."""
        check("listen", HEARER, heard=heard)
        self._heard.append(heard)

    def now_ms(self) -> int:
        """Milliseconds since the desktop was made: the time of events and frames."""
        return int((time.monotonic() - self._started) * 1000)

    def send(self, event: Mapping[str, Any], time_ms: int | None = None) -> None:
        """Put an event in line, in the vocabulary of rendercanvas; kinds that mean nothing here are left out."""
        check("send", A_TIME, time_ms=time_ms)
        self.put_in_line(read_event(event), time_ms)

    def put_in_line(self, inputs: Sequence[Input], time_ms: int | None = None) -> None:
        """Put what was read of an event in line."""
        when = self.now_ms() if time_ms is None else time_ms
        for one in inputs:
            self.machine.send(*one, when)

    def step(self, time_ms: int | None = None) -> Frame:
        """Run one frame; then the Python handlers of what happened in it."""
        check("step", A_TIME, time_ms=time_ms)
        with self._making:
            frame = self.machine.step(self.now_ms() if time_ms is None else time_ms)
            self.last = frame
        raised: list[Exception] = []
        for notice in frame.notices:
            node = self.nodes[int(notice["widget"])]
            kind = int(notice["kind"])
            event = Event(node, numbers.NOTICE_NAMES[kind], float(notice["value"]), int(notice["detail"]))
            for handler in (node.handlers.get(kind), *self._heard):
                if handler is not None:
                    self._call(handler, event, raised)
        if raised:  # when all others have heard what happened
            raise raised[0]
        return frame

    def _call(self, handler: Callable[[Event], Any], event: Event, raised: list[Exception]) -> None:
        try:
            handler(event)
        except Exception as error:
            if self.report is None:
                raised.append(error)
            else:
                self.tell_of(error)

    def tell_of(self, error: Exception) -> None:
        """Have the `report` hear of an error; one that fails itself, as where nobody reads any more, ends no frames."""
        assert self.report is not None
        with suppress(Exception):
            self.report(error)

    @property
    def restless(self) -> bool:
        """Whether the next frame would differ from the last: something moves, was changed by a handler, or waits."""
        waits = self.machine.changed or self.machine.waiting > 0
        return self.last is None or bool(self.last.state["awake"]) or waits

    def settle(self, time_ms: int = 0, step_ms: int = 16, most: int = 200) -> int:
        """Run frames until nothing moves, at most so many; gives the time of the last. For tests and pictures."""
        check("settle", WHOLE, time_ms=time_ms, step_ms=step_ms, most=most)
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
        check(node, TEXT, text=text)
        widget = self.machine.widget(node.number)
        room = int(widget["capacity"])
        if node.kind not in (numbers.LABEL, numbers.FIELD):
            raise ArgumentError(f"{name_of(node)}: its text stays; those of a Label and a Field can be set")
        codes = code_points(text if node.kind == numbers.LABEL else one_line(text))
        if len(codes) > room:
            raise ArgumentError(f"{name_of(node)}: text has {len(codes)} characters; there is room for {room}")
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

    def set_display(self, node: Node, shown: bool) -> None:
        """Have a widget take part in the layout, or not."""
        style = self.machine.part("styles", node.number, 1)
        record = style.get()
        record["display"] = DISPLAY_FLEX if shown else DISPLAY_NONE
        style.set(record)
        self.machine.lay_out_anew()

    def set_disabled(self, node: Node, disabled: bool) -> None:
        """Have a widget and all that it holds hear nothing, or hear again, but for those that are disabled besides."""
        self._disabled.discard(node.number)
        if disabled:
            self._disabled.add(node.number)
        flags = disabled_flags(self.nodes, self._disabled)
        for number in within(node):
            self.nodes[number].change_flag(numbers.DISABLED, flags[number])

    def set_picture(self, node: Node, pixels: np.ndarray[Any, Any] | DeviceArray) -> None:
        """Give a canvas other pixels of the same height and width."""
        widget = self.machine.widget(node.number)
        shown = self.machine.part("pictures", int(widget["picture"]), pixels.size)
        if isinstance(pixels, DeviceArray) and pixels.device is self.device:
            self.device.copy(shown.buffer, pixels.buffer, shown.nbytes)
        else:
            shown.set(np.asarray(pixels).ravel())
        self.machine.change_widget(node.number, picture_version=int(widget["picture_version"]) + 1)


A_DESKTOP = Expected("a ui.Desktop", lambda value: isinstance(value, Desktop))
"""What is shown by a runner or on a canvas."""
