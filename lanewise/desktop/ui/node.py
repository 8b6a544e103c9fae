"""A node of a tree of widgets: what all widgets of the toolkit have in common, before and on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from lanewise.desktop import numbers
from lanewise.desktop.layout.style import Style
from lanewise.desktop.theme import rgba
from lanewise.errors import ArgumentError
from lanewise.lang.functions import DeviceFunction

if TYPE_CHECKING:
    from lanewise.desktop.ui.desktop import Desktop, Event

Handler = Callable[["Event"], Any] | DeviceFunction
"""What hears of events: a Python function of one `Event`, or a device function (see `lanewise.desktop.handlers`)."""


class Node:
    """A widget. Words that a constructor does not know itself go to its layout `Style`."""

    kind = numbers.BOX
    style: ClassVar[dict[str, Any]] = {}
    """What widgets of a class have of layout, unless they say otherwise."""

    def __init__(
        self,
        *children: Node,
        text: str = "",
        flags: int = 0,
        fields: dict[str, Any] | None = None,
        handlers: dict[int, Handler | None] | None = None,
        target: Node | None = None,
        disabled: bool = False,
        hidden: bool = False,
        **style: Any,
    ) -> None:
        for child in children:
            if not isinstance(child, Node):
                raise ArgumentError(f"{type(self).__name__} holds widgets, not {child!r}; write ui.Label(...) for text")
        self.children: Sequence[Node] = children
        self.initial_text = text
        self.flags = flags | (numbers.DISABLED if disabled else 0) | (numbers.HIDDEN if hidden else 0)
        self.fields = {"font_size": 14.0, "radius": 8.0} | (fields or {})
        self.handlers: dict[int, Callable[[Event], Any]] = {}
        self.device_handler: DeviceFunction | None = None
        self.target = target
        self.rows: Sequence[str] = ()
        self.picture: Any = None
        for kind, handler in (handlers or {}).items():
            self._take_handler(kind, handler)
        try:
            self.layout = Style(**{**self.style, **style})
        except TypeError:
            known = Style.__dataclass_fields__
            wrong = next(name for name in style if name not in known)
            raise ArgumentError(f"{type(self).__name__} has no {wrong!r}; its style has {', '.join(known)}") from None
        self.desktop: Desktop | None = None
        self.number = -1

    def _take_handler(self, kind: int, handler: Handler | None) -> None:
        if isinstance(handler, DeviceFunction):
            if self.device_handler not in (None, handler):
                raise ArgumentError(
                    f"{type(self).__name__} has two handlers on the device; it may have one for all events"
                )
            self.device_handler = handler
        elif callable(handler):
            self.handlers[kind] = handler
        elif handler is not None:
            raise ArgumentError(f"a handler is a function, not {handler!r}")

    def _alive(self) -> Desktop:
        if self.desktop is None:
            raise ArgumentError(
                f"this {type(self).__name__} is not on a desktop yet; give its window to ui.Desktop(...)"
            )
        return self.desktop

    @property
    def value(self) -> float:
        """0 or 1 for what can be checked, the place of a slider, the row of a list or the line of a menu."""
        return float(self._alive().machine.widget(self.number)["value"])

    @value.setter
    def value(self, value: float) -> None:
        desktop = self._alive()
        fields: dict[str, Any] = {"value": value}
        if self.kind in (numbers.CHECKBOX, numbers.SWITCH):
            flags = int(desktop.machine.widget(self.number)["flags"])
            fields["flags"] = flags | numbers.CHECKED if value else flags & ~numbers.CHECKED
        desktop.machine.change_widget(self.number, **fields)

    @property
    def checked(self) -> bool:
        """Whether it is checked, chosen or on."""
        return bool(int(self._alive().machine.widget(self.number)["flags"]) & numbers.CHECKED)

    @property
    def text(self) -> str:
        """What it says."""
        machine = self._alive().machine
        widget = machine.widget(self.number)
        if not widget["length"]:
            return ""
        codes = machine.part("texts", int(widget["text"]), int(widget["length"])).get()
        return codes.tobytes().decode("utf-32-le")

    @text.setter
    def text(self, text: str) -> None:
        self._alive().set_text(self, text)

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Where it is on the screen since the last frame: x, y, width, height; no width or height if it is not seen."""
        widget = self._alive().machine.widget(self.number)
        return int(widget["x"]), int(widget["y"]), int(widget["w"]), int(widget["h"])

    def show(self, shown: bool = True) -> None:
        """Show it, or hide it; its place in the layout stays."""
        machine = self._alive().machine
        flags = int(machine.widget(self.number)["flags"])
        machine.change_widget(self.number, flags=flags & ~numbers.HIDDEN if shown else flags | numbers.HIDDEN)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.initial_text!r}>" if self.initial_text else f"<{type(self).__name__}>"


def colours(background: str | None, colour: str | None) -> dict[str, int]:
    """Fields for colours that replace the theme's; an ArgumentError names one that is none."""
    try:
        return {
            name: rgba(text) for name, text in (("background", background), ("foreground", colour)) if text is not None
        }
    except ValueError as error:
        raise ArgumentError(str(error)) from None
