"""Widgets that people read, press, type in and move: labels, buttons, marks, fields, lists, menus, pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from lanewise.desktop import numbers
from lanewise.desktop.numbers import CHANGED, CHECKED, CLICKED, DOUBLE_CLICKED, DRAWN, FOCUSABLE, SUBMITTED
from lanewise.desktop.ui.containers import Popup, new_group
from lanewise.desktop.ui.node import Handler, Node, colours
from lanewise.errors import ArgumentError

LABEL_ROOM = 32
"""How many characters a label has room for at least, when handlers write to it."""
ALIGNMENTS = ("start", "center", "end")


class Label(Node):
    """Text, over several lines where it must be."""

    kind = numbers.LABEL

    def __init__(
        self,
        text: str,
        *,
        size: float = 14,
        bold: bool = False,
        muted: bool = False,
        colour: str | None = None,
        background: str | None = None,
        align: str = "start",
        **rest: Any,
    ) -> None:
        if align not in ALIGNMENTS:
            raise ArgumentError(f"align is {align!r}; it is one of {', '.join(ALIGNMENTS)}")
        flags = (numbers.BOLD if bold else 0) | (numbers.MUTED if muted else 0)
        fields = {"font_size": size, "align": ALIGNMENTS.index(align), **colours(background, colour)}
        super().__init__(text=text, flags=flags, fields=fields, font_size=size, **rest)


class Button(Node):
    """A button; `accent` makes it the main one."""

    kind = numbers.BUTTON
    style: ClassVar[dict[str, Any]] = {"padding": (0, 18), "height": 34, "flex_shrink": 0}

    def __init__(
        self,
        text: str,
        *,
        accent: bool = False,
        on_click: Handler | None = None,
        on_double_click: Handler | None = None,
        **rest: Any,
    ) -> None:
        flags = FOCUSABLE | (numbers.ACCENT if accent else 0)
        handlers = {CLICKED: on_click, DOUBLE_CLICKED: on_double_click}
        super().__init__(text=text, flags=flags, handlers=handlers, **rest)


class _Mark(Node):
    """What a checkbox, a switch and a radio button have in common."""

    def __init__(self, text: str, *, checked: bool = False, on_change: Handler | None = None, **rest: Any) -> None:
        fields = rest.pop("fields", {}) | {"value": float(checked), "toggle": float(checked)}
        flags = FOCUSABLE | (CHECKED if checked else 0)
        super().__init__(text=text, flags=flags, fields=fields, handlers={CHANGED: on_change}, **rest)


class Checkbox(_Mark):
    """A box to check."""

    kind = numbers.CHECKBOX
    style: ClassVar[dict[str, Any]] = {"padding": (0, 0, 0, 27), "height": 26, "flex_shrink": 0}


class Switch(_Mark):
    """A switch, on or off."""

    kind = numbers.SWITCH
    style: ClassVar[dict[str, Any]] = {"padding": (0, 0, 0, 48), "height": 28, "flex_shrink": 0}


class Radio(_Mark):
    """A choice of several: those with the same `group` exclude each other."""

    kind = numbers.RADIO
    style: ClassVar[dict[str, Any]] = {"padding": (0, 0, 0, 27), "height": 26, "flex_shrink": 0}
    _groups: ClassVar[dict[str, int]] = {}

    def __init__(self, text: str, *, group: str, **rest: Any) -> None:
        number = self._groups.setdefault(group, 0) or new_group()
        self._groups[group] = number
        super().__init__(text, fields={"group": number}, **rest)


class Slider(Node):
    """A value between two limits, in steps or not."""

    kind = numbers.SLIDER
    style: ClassVar[dict[str, Any]] = {"height": 28, "min_width": 80, "flex_shrink": 0}

    def __init__(
        self,
        value: float = 0,
        *,
        minimum: float = 0,
        maximum: float = 100,
        step: float = 0,
        on_change: Handler | None = None,
        **rest: Any,
    ) -> None:
        if not minimum < maximum:
            raise ArgumentError(f"a slider's maximum is above its minimum; these are {minimum} and {maximum}")
        fields = {"value": value, "minimum": minimum, "maximum": maximum, "step": step}
        super().__init__(flags=FOCUSABLE, fields=fields, handlers={CHANGED: on_change}, **rest)


class Progress(Node):
    """How far something is."""

    kind = numbers.PROGRESS
    style: ClassVar[dict[str, Any]] = {"height": 8, "min_width": 80, "flex_shrink": 0}

    def __init__(self, value: float = 0, *, maximum: float = 100, **rest: Any) -> None:
        super().__init__(fields={"value": value, "maximum": maximum}, **rest)


class Field(Node):
    """A line of text to write; `secret` shows dots."""

    kind = numbers.FIELD
    style: ClassVar[dict[str, Any]] = {"height": 36, "min_width": 120, "flex_shrink": 0}

    def __init__(
        self,
        text: str = "",
        *,
        capacity: int = 256,
        secret: bool = False,
        on_change: Handler | None = None,
        on_submit: Handler | None = None,
        **rest: Any,
    ) -> None:
        if len(text) > capacity:
            raise ArgumentError(f"the text has {len(text)} characters; the field holds {capacity}")
        fields = {"capacity": capacity, "caret": len(text), "anchor": len(text)}
        flags = FOCUSABLE | (numbers.SECRET if secret else 0)
        handlers = {CHANGED: on_change, SUBMITTED: on_submit}
        super().__init__(text=text, flags=flags, fields=fields, handlers=handlers, **rest)


class ListRow(Node):
    """A place for a visible row of a list."""

    kind = numbers.ROW
    style: ClassVar[dict[str, Any]] = {"position": "absolute", "inset": (0, 0, "auto", 0), "height": 0}


class List(Node):
    """Rows of text to scroll through and choose from; only those that are seen take up widgets."""

    kind = numbers.LIST
    style: ClassVar[dict[str, Any]] = {
        "flex_grow": 1,
        "flex_basis": 0,
        "min_height": 60,
        "overflow_y": "hidden",
        "overflow_x": "hidden",
    }

    def __init__(
        self,
        rows: Sequence[str],
        *,
        row_height: float = 30,
        most_visible: int = 24,
        chosen: int = -1,
        on_change: Handler | None = None,
        on_submit: Handler | None = None,
        **rest: Any,
    ) -> None:
        places = [ListRow(fields={"row_count": most_visible, "group": place}) for place in range(most_visible)]
        fields = {"row_count": len(rows), "row_height": row_height, "value": chosen}
        handlers = {CHANGED: on_change, SUBMITTED: on_submit}
        super().__init__(*places, flags=FOCUSABLE | numbers.CLIPS, fields=fields, handlers=handlers, **rest)
        self.rows = rows


class _Item(Node):
    """A line of a menu."""

    kind = numbers.ITEM
    style: ClassVar[dict[str, Any]] = {"height": 32, "padding": (0, 12), "flex_shrink": 0}


class _MenuButton(Node):
    """The button of a menu, which shows the line that was chosen."""

    kind = numbers.MENU
    style: ClassVar[dict[str, Any]] = {"height": 36, "flex_grow": 1, "padding": (0, 34, 0, 12)}


class Menu(Node):
    """A choice of lines that open below a button."""

    style: ClassVar[dict[str, Any]] = {"min_width": 160, "flex_shrink": 0}

    def __init__(self, lines: Sequence[str], *, chosen: int = 0, on_change: Handler | None = None, **rest: Any) -> None:
        if not 0 <= chosen < len(lines):
            raise ArgumentError(f"a menu of {len(lines)} lines has no line {chosen}")
        popup = Popup(*(_Item(text=line, fields={"value": index}) for index, line in enumerate(lines)), hidden=True)
        self.button = _MenuButton(
            text=lines[chosen],
            flags=FOCUSABLE,
            fields={"value": chosen, "row_count": len(lines)},
            handlers={CHANGED: on_change},
            target=popup,
        )
        popup.target = self.button
        super().__init__(self.button, popup, **rest)


class Image(Node):
    """A picture from an array: height x width x 3 or 4 bytes."""

    kind = numbers.IMAGE

    def __init__(self, picture: Any, *, radius: float = 8, **rest: Any) -> None:
        pixels = as_pixels(picture)
        size = {"width": pixels.shape[1], "height": pixels.shape[0], "flex_shrink": 0}
        super().__init__(fields={"radius": radius, **rest.pop("fields", {})}, **{**size, **rest})
        self.picture = pixels


class Canvas(Image):
    """A picture that programs and handlers draw on: `canvas.draw(array)`; it tells of where the pointer is pressed."""

    kind = numbers.CANVAS

    def __init__(
        self, columns: int, rows: int, *, on_draw: Handler | None = None, background: str = "#ffffff", **rest: Any
    ) -> None:
        colour = colours(background, None)["background"]
        blank = np.full((rows, columns), colour, np.uint32).view(np.uint8).reshape(rows, columns, 4)
        super().__init__(blank, handlers={DRAWN: on_draw}, **rest)

    def draw(self, picture: Any) -> None:
        """Replace what it shows, from an array of its own height and width."""
        self._alive().set_picture(self, as_pixels(picture))


def as_pixels(picture: Any) -> np.ndarray[Any, Any]:
    """An array of bytes, height x width x 3 or 4, as one pixel an element."""
    array = np.asarray(picture)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] not in (3, 4) or 0 in array.shape:
        raise ArgumentError(
            f"a picture is an array of bytes, height x width x 3 or 4; this one is {array.shape} of {array.dtype}"
        )
    if array.shape[2] == 3:
        array = np.concatenate([array, np.full((*array.shape[:2], 1), 255, np.uint8)], axis=2)
    return np.ascontiguousarray(array).view(np.uint32).reshape(array.shape[:2])
