"""Widgets that hold others: rows, columns, panels, scrolling areas, tabs, windows."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

from lanewise.desktop import numbers
from lanewise.desktop.choosing import POPUP_PADDING
from lanewise.desktop.layout.style import Style
from lanewise.desktop.limits import SMALLEST_WINDOW
from lanewise.desktop.ui.checking import (
    FLAG,
    HANDLER,
    MAPPING,
    NOT_NEGATIVE,
    NUMBER,
    TEXT,
    Expected,
    check,
    number_from,
    or_none,
    place_within,
    whole_within,
)
from lanewise.desktop.ui.node import Handler, Node, Parts, check_children, check_style, colours
from lanewise.errors import ArgumentError

FIRST_X, FIRST_Y = 80, 60
"""Where a window lies that is not told where."""
TITLE_HEIGHT = 40
THUMB_ROOM = 14
"""Pixels at the right of what is scrolled, where its thumb is."""
POPUP_LINE = 32
"""How high each line of a menu is."""
A_PAGE = Expected(
    "a widget; write ui.Label(...) for text, and ui.Column(*widgets) for several", lambda value: isinstance(value, Node)
)
_groups = itertools.count(1)


def new_group() -> int:
    """A number for widgets that belong together, such as tabs and their pages."""
    return next(_groups)


class Row(Node):
    """Widgets from left to right."""

    style: ClassVar[dict[str, Any]] = {
        "flex_direction": "row",
        "column_gap": 12,
        "row_gap": 12,
        "align_items": "center",
    }


class Column(Node):
    """Widgets from top to bottom."""

    style: ClassVar[dict[str, Any]] = {"flex_direction": "column", "column_gap": 12, "row_gap": 12}


class Spacer(Node):
    """Takes the room that others leave."""

    style: ClassVar[dict[str, Any]] = {"flex_grow": 1}


class Panel(Node):
    """A column on a surface of its own."""

    kind = numbers.PANEL
    style: ClassVar[dict[str, Any]] = {"flex_direction": "column", "row_gap": 12, "padding": 16}

    def __init__(self, *children: Node, background: str | None = None, radius: float = 10, **rest: Any) -> None:
        check(self, NOT_NEGATIVE, radius=radius)
        super().__init__(*children, parts=Parts(fields={"radius": radius, **colours(self, background, None)}), **rest)


class Scroll(Node):
    """A column that is scrolled where it is higher than its box; what is wider than that is cut off."""

    style: ClassVar[dict[str, Any]] = {
        "flex_direction": "column",
        "row_gap": 12,
        "overflow_y": "hidden",
        "overflow_x": "hidden",
        "flex_grow": 1,
        "flex_basis": 0,
        "min_height": 0,
        "padding": (0, THUMB_ROOM, 0, 0),
    }

    def __init__(self, *children: Node, **rest: Any) -> None:
        if rest.get("overflow_x") == "scroll":
            raise ArgumentError(
                'Scroll: overflow_x is "scroll"; it scrolls up and down only, and cuts off what is wider'
            )
        super().__init__(*children, parts=Parts(flags=numbers.CLIPS), **rest)


class Popup(Node):
    """The lines of a menu, above all else; as wide as the longest, and as high as the screen at most, then scrolled.

    Where it is frames find out. To the layout it lies above its menu and to the left of it, so that nothing around has
    more to scroll.
    """

    kind = numbers.POPUP
    style: ClassVar[dict[str, Any]] = {
        "flex_direction": "column",
        "position": "absolute",
        "inset": ("auto", "100%", "100%", "auto"),
        "overflow_y": "hidden",
        "width": "max-content",
        "min_width": "100%",
        "padding": POPUP_PADDING,
    }

    def __init__(self, *lines: Node, **rest: Any) -> None:
        super().__init__(*lines, parts=Parts(flags=numbers.CLIPS), **rest)


class Tab(Node):
    """One of the words that tabs are chosen by."""

    kind = numbers.TAB
    style: ClassVar[dict[str, Any]] = {"padding": (0, 16), "height": 40, "min_width": 0}


class Page(Node):
    """What one tab shows."""

    kind = numbers.PAGE
    style: ClassVar[dict[str, Any]] = {
        "flex_direction": "column",
        "row_gap": 12,
        "flex_grow": 1,
        "padding": (16, 0, 0, 0),
    }


class Tabs(Node):
    """Pages of which one is seen: `ui.Tabs({"General": ui.Column(...), "Look": ui.Column(...)})`."""

    kind = numbers.TABS
    style: ClassVar[dict[str, Any]] = {"flex_direction": "column", "flex_grow": 1}

    def __init__(
        self, pages: dict[str, Node], *, chosen: int = 0, on_change: Handler | None = None, **rest: Any
    ) -> None:
        check(self, MAPPING, pages=pages)
        if not pages:
            raise ArgumentError('Tabs: there are no pages; write ui.Tabs({"title": content})')
        for title, content in pages.items():
            check(self, TEXT, **{"a title": title})
            check(self, A_PAGE, **{f"page {title!r}": content})
        check(self, whole_within(0, len(pages) - 1), chosen=chosen)
        check(self, or_none(HANDLER), on_change=on_change)
        group = new_group()
        self.tabs: list[Tab] = []
        self.pages: list[Page] = []
        for index, (title, content) in enumerate(pages.items()):
            shown = index == chosen
            parts = Parts(fields={"group": group})
            page = Page(content, parts=parts, hidden=not shown, display="flex" if shown else "none")
            flags = numbers.FOCUSABLE | (numbers.CHECKED if shown else 0)
            self.tabs.append(Tab(parts=Parts(title, flags, {"group": group, "value": index}), target=page))
            self.pages.append(page)
        parts = Parts(handlers={numbers.CHANGED: on_change})
        words = Row(*self.tabs, column_gap=2, row_gap=0, flex_wrap="wrap", flex_shrink=0)
        super().__init__(words, *self.pages, parts=parts, **rest)
        self.accepted = place_within(0, len(pages) - 1)

    @property
    def value(self) -> float:
        """The page that is seen, counted from 0."""
        return float([tab.checked for tab in self.tabs].index(True))

    @value.setter
    def value(self, value: float) -> None:
        check(self, self.accepted, value=value)
        for number, (tab, page) in enumerate(zip(self.tabs, self.pages, strict=True)):
            tab.change_flag(numbers.CHECKED, number == value)
            page.change_flag(numbers.HIDDEN, number != value)
            self._alive().set_display(page, number == value)


class _Title(Node):
    """The bar of a window, by which it is moved."""

    kind = numbers.TITLE
    style: ClassVar[dict[str, Any]] = {"height": TITLE_HEIGHT, "flex_shrink": 0}


class _Close(Node):
    """The cross of a window."""

    kind = numbers.CLOSE
    style: ClassVar[dict[str, Any]] = {
        "width": 24,
        "height": 24,
        "position": "absolute",
        "inset": (8, 10, "auto", "auto"),
    }


class _Grip(Node):
    """The corner by which a window is resized."""

    kind = numbers.GRIP
    style: ClassVar[dict[str, Any]] = {
        "width": 20,
        "height": 20,
        "position": "absolute",
        "inset": ("auto", 0, 0, "auto"),
    }


class Window(Node):
    """A window with a title bar; it is moved by the bar, resized by its corner and closed by the cross.

    Those that are not told where to be lie beside each other, each a little further to the right and down.
    """

    kind = numbers.WINDOW
    style: ClassVar[dict[str, Any]] = {"flex_direction": "column", "position": "absolute"}

    def __init__(
        self,
        title: str,
        *children: Node,
        x: float | None = None,
        y: float | None = None,
        width: float = 420,
        height: float = 320,
        resizable: bool = True,
        on_close: Handler | None = None,
        padding: Any = 20,
        gap: float = 14,
        **rest: Any,
    ) -> None:
        check(self, TEXT, title=title)
        self.title = _Title(parts=Parts(title, numbers.BOLD))
        check_children(self, children)
        check(self, or_none(NUMBER), x=x, y=y)
        check(self, number_from(SMALLEST_WINDOW), width=width, height=height)
        check(self, NOT_NEGATIVE, gap=gap)
        check(self, FLAG, resizable=resizable)
        check_style(self, Style(padding=padding))
        check(self, or_none(HANDLER), on_close=on_close)
        content = Node(
            *children, flex_direction="column", padding=padding, row_gap=gap, flex_grow=1, flex_basis=0, min_height=0
        )
        inset = (FIRST_Y if y is None else y, "auto", "auto", FIRST_X if x is None else x)
        inside = [self.title, content, _Close(parts=Parts(flags=numbers.FOCUSABLE))]
        super().__init__(
            *(inside + [_Grip()] * resizable),
            parts=Parts(handlers={numbers.CLOSED: on_close}),
            **{"inset": inset, "width": width, "height": height, **rest},
        )
        self.cascades = x is None and y is None and "inset" not in rest

    @property
    def called(self) -> str:
        return self.title.initial_text
