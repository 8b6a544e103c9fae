"""A node of a tree of widgets: what all widgets of the toolkit have in common, before and on a device."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lanewise.desktop import numbers
from lanewise.desktop.layout.structures import NodeStyle
from lanewise.desktop.layout.style import Style
from lanewise.desktop.state import Desk, Notice
from lanewise.desktop.theme import rgba
from lanewise.desktop.ui.calling import Told
from lanewise.desktop.ui.checking import COLOUR, FLAG, NUMBER, TEXT, Expected, check, name_of, nearest, or_none
from lanewise.errors import ArgumentError
from lanewise.lang.functions import DeviceFunction
from lanewise.lang.types import Ptr

if TYPE_CHECKING:
    from lanewise.desktop.ui.desktop import Desktop, Event

Handler = Callable[["Event"], Any] | DeviceFunction
"""What hears of events: a Python function of one `Event`, or a device function (see `lanewise.desktop.handlers`)."""
WIDGET = Expected(
    "a widget; write ui.Label(...) for text, and *widgets for a list of widgets", lambda value: isinstance(value, Node)
)
TARGET = Expected("a widget, or None", lambda value: value is None or isinstance(value, Node))
STYLE_WORDS = (
    "gap",
    *(each.name for each in fields(Style) if each.name not in ("font", "font_size", "text_start", "text_count")),
)
"""What people say of layout, `gap` for both of a style; its other fields follow from what a widget is."""
_SO_IT_IS = "windows() returns the windows of one, or ui.Desktop(...) is given them"
_OVERRULED = {"min_height": "height", "min_width": "width"}
"""What widgets of a class have of layout only where people do not say how large one is to be."""


@dataclass(frozen=True)
class Parts:
    """What a class of widgets says of each of its widgets to `Node`: nothing that people write themselves."""

    text: str = ""
    flags: int = 0
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Of the device's `Widget`."""
    handlers: Mapping[int, Handler | None] = field(default_factory=dict)


class _Whole(Told):
    """Makes widgets that are whole once their constructors have ended; from then on they have no new attributes."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 - ruff does not see that this makes classes
        made = super().__call__(*args, **kwargs)
        made.whole = True
        return made


class Node(metaclass=_Whole):
    """A widget. Words that a constructor does not know itself go to its layout `Style`."""

    kind = numbers.BOX
    style: ClassVar[dict[str, Any]] = {}
    """What widgets of a class have of layout, unless they say otherwise."""
    initial_text = ""
    whole = False
    accepted: Expected = NUMBER
    """What may be set as `value`."""

    def __init__(
        self,
        *children: Node,
        parts: Parts | None = None,
        target: Node | None = None,
        disabled: bool = False,
        hidden: bool = False,
        **style: Any,
    ) -> None:
        parts = parts or Parts()
        check(self, TEXT, text=parts.text)
        self.initial_text = parts.text
        check_children(self, children)
        check(self, TARGET, target=target)
        check(self, FLAG, disabled=disabled, hidden=hidden)
        self.children: Sequence[Node] = children
        self.flags = parts.flags | (numbers.DISABLED if disabled else 0) | (numbers.HIDDEN if hidden else 0)
        self.fields = {"font_size": 14.0, "radius": 8.0, **parts.fields}
        self.handlers: dict[int, Callable[[Event], Any]] = {}
        self.device_handler: DeviceFunction | None = None
        self.target = target
        self.rows: Sequence[str] = ()
        self.picture: Any = None
        for kind, handler in parts.handlers.items():
            self._take_handler(kind, handler)
        self.layout = self._take_style(style)
        self.desktop: Desktop | None = None
        self.number = -1

    def _take_style(self, said: dict[str, Any]) -> Style:
        for name in said:
            if name not in STYLE_WORDS:
                raise ArgumentError(f"{name_of(self)} has no {name!r}; {nearest(name, _words(type(self)))}")
        if "gap" in said:
            gap = said.pop("gap")
            said = {"row_gap": gap, "column_gap": gap, **said}
        self.said = frozenset(said)
        usual = {name: value for name, value in self.style.items() if _OVERRULED.get(name) not in said}
        style = Style(**{**usual, **said})
        check_style(self, style)
        return style

    def _take_handler(self, kind: int, handler: Handler | None) -> None:
        if isinstance(handler, DeviceFunction):
            if self.device_handler not in (None, handler):
                raise ArgumentError(f"{name_of(self)} has two handlers on the device; it may have one for all events")
            check_device_handler(self, handler)
            self.device_handler = handler
        elif handler is not None:
            self.handlers[kind] = handler

    def __setattr__(self, name: str, value: Any) -> None:
        if self.whole and not self._may_be_set(name):
            if name == "hidden":
                raise ArgumentError(f"{name_of(self)}: hidden is what it was at first; write show() or show(False)")
            if name.startswith("on_"):
                raise ArgumentError(f"{name_of(self)}: {name} is given when the widget is made")
            if name == "box":
                raise ArgumentError(f"{name_of(self)}: box cannot be set; it follows from the layout")
            if name in dir(self) and not isinstance(inspect.getattr_static(type(self), name, None), property):
                raise ArgumentError(f"{name_of(self)}: {name} stays what it was when the widget was made")
            raise ArgumentError(f"{name_of(self)} has no {name!r} to set; {nearest(name, _settable(type(self)))}")
        if self.whole and name == "target":
            check(self, TARGET, target=value)
        desktop = self.__dict__.get("desktop")
        if desktop is not None and isinstance(inspect.getattr_static(type(self), name, None), property):
            desktop.change(lambda: object.__setattr__(self, name, value))
        else:
            super().__setattr__(name, value)

    if not TYPE_CHECKING:  # to whom a class with this function has whatever is asked for

        def __getattr__(self, name: str) -> None:
            if name.startswith("_") or name in dir(type(self)):  # a property that fails says itself why
                return object.__getattribute__(self, name)
            words = [*(word for word in _READ if word in dir(type(self))), *vars(self)]
            public = [word for word in words if not word.startswith("_") and word not in (*_FIXED, "number")]
            raise AttributeError(f"{type(self).__name__} has no {name!r}; {nearest(name, dict.fromkeys(public))}")

    def _may_be_set(self, name: str) -> bool:
        """What can be set later: what is meant for it, the place in a tree, and what a class of somebody else added."""
        found = inspect.getattr_static(type(self), name, None)
        if isinstance(found, property):
            return found.fset is not None
        if name in ("number", "desktop"):
            return True
        if name == "target":
            return self.desktop is None
        return name not in _FIXED and not callable(found) and (name in self.__dict__ or found is not None)

    def _alive(self) -> Desktop:
        if self.desktop is None:
            raise ArgumentError(f"{name_of(self)} is not on a desktop yet; {_SO_IT_IS}")
        return self.desktop

    @property
    def called(self) -> str:
        """What messages call it by, beside its kind."""
        return self.initial_text

    @property
    def value(self) -> float:
        """0 or 1 for what can be checked, the place of a slider, the row of a list or the line of a menu."""
        return float(self._alive().machine.widget(self.number)["value"])

    @value.setter
    def value(self, value: float) -> None:
        check(self, self.accepted, value=value)
        self._alive().machine.change_widget(self.number, value=value)

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
        """Where it is on the screen since the last frame: x, y, width, height.

        No width or height if it is hidden or its window cuts it off; what is scrolled out of sight has a place.
        """
        widget = self._alive().machine.widget(self.number)
        return int(widget["x"]), int(widget["y"]), int(widget["w"]), int(widget["h"])

    @property
    def disabled(self) -> bool:
        """Whether it hears nothing, by itself or by a widget that holds it."""
        return bool(int(self._alive().machine.widget(self.number)["flags"]) & numbers.DISABLED)

    @disabled.setter
    def disabled(self, disabled: bool) -> None:
        check(self, FLAG, disabled=disabled)
        self._alive().set_disabled(self, bool(disabled))

    def show(self, shown: bool = True) -> None:
        """Show it, or hide it; its place in the layout stays."""
        check(self, FLAG, shown=shown)
        self._alive().change(lambda: self.change_flag(numbers.HIDDEN, not shown))

    def change_flag(self, flag: int, on: bool) -> None:
        """Set or clear one of its flags on the device."""
        machine = self._alive().machine
        flags = int(machine.widget(self.number)["flags"])
        machine.change_widget(self.number, flags=flags | flag if on else flags & ~flag)

    def __repr__(self) -> str:
        return f"<{name_of(self)}>"


_FIXED = {
    *("kind", "style", "accepted", "whole", "children", "initial_text", "flags", "fields", "handlers"),
    *("device_handler", "rows", "picture", "layout", "said", "tabs", "pages", "title", "button", "cascades"),
}
"""What a widget is made of: the device has a copy, so that a change would not be seen."""


_READ = ("text", "value", "checked", "disabled", "box", "show", "draw")
"""What people read of widgets and call."""


def _words(widget: type[Node]) -> list[str]:
    """What the constructor of a kind of widget can be told by name."""
    own = (inspect.signature(vars(each)["__init__"]) for each in widget.__mro__ if "__init__" in vars(each))
    named = [each.name for signature in own for each in signature.parameters.values() if each.kind == each.KEYWORD_ONLY]
    return [*dict.fromkeys(name for name in named if name != "parts"), *STYLE_WORDS]


def _settable(widget: type[Node]) -> list[str]:
    """What can be set of a kind of widget."""
    words = ("text",) if widget.kind in (numbers.LABEL, numbers.FIELD) else ()
    found = {name: inspect.getattr_static(widget, name) for name in (*words, "value", "checked", "disabled")}
    return [name for name, each in found.items() if isinstance(each, property) and each.fset is not None] + ["target"]


def check_children(owner: Node, children: Sequence[Node]) -> None:
    """Raise if one of these is not a widget."""
    check(owner, WIDGET, **{f"child {number}": child for number, child in enumerate(children, 1)})


def check_device_handler(owner: Node, handler: DeviceFunction) -> None:
    """Raise if a device function does not take a desktop and an event."""
    given = list(handler.parameters.values())
    wanted: list[Any] = [Ptr[Desk], Ptr[Notice]]  # type: ignore[misc]
    if given != wanted:
        said = ", ".join(f"{name}: {kind}" for name, kind in handler.parameters.items())
        words = f"{handler.name}({said}); on the device it takes desk: Ptr[Desk] and event: Ptr[Notice]"
        raise ArgumentError(f"{name_of(owner)}: a handler is {words}")


def check_style(owner: Node, style: Style) -> None:
    """Raise if a style makes no sense."""
    try:
        style.pack(np.zeros(1, NodeStyle.dtype)[0])
    except ArgumentError as error:
        raise ArgumentError(f"{name_of(owner)}: {error}") from None


_TRANSPARENT = 0x00FFFFFF
"""No colour at all; 0 stands for the theme's."""


def colours(owner: Node, background: str | None, colour: str | None) -> dict[str, int]:
    """Fields for colours that replace the theme's."""
    check(owner, or_none(COLOUR), background=background, colour=colour)
    said = {"background": background, "foreground": colour}
    return {name: rgba(text) or _TRANSPARENT for name, text in said.items() if text is not None}
