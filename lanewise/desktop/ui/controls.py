"""Widgets that people read, press, type in and move: labels, buttons, marks, fields, lists, menus, pictures."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lanewise.desktop import numbers
from lanewise.desktop.choosing import LIST_MARGIN
from lanewise.desktop.layout.style import LONGEST, Style, is_percentage
from lanewise.desktop.limits import IMAGE_PIXELS, IMAGE_SIDE, MAX_WIDGETS, TEXT_CODES
from lanewise.desktop.numbers import CHANGED, CHECKED, CLICKED, DOUBLE_CLICKED, DRAWN, FOCUSABLE, SUBMITTED
from lanewise.desktop.ui.checking import (
    COLOUR,
    FLAG,
    HANDLER,
    LARGEST_NUMBER,
    NOT_NEGATIVE,
    NUMBER,
    ON_OR_OFF,
    POSITIVE,
    TEXT,
    TEXT_SIZE,
    TEXTS,
    check,
    name_of,
    number_within,
    one_of,
    or_none,
    place_within,
    whole_within,
)
from lanewise.desktop.ui.containers import POPUP_LINE, Popup, new_group
from lanewise.desktop.ui.events import code_points, one_line
from lanewise.desktop.ui.node import Handler, Node, Parts, colours
from lanewise.devices.arrays import DeviceArray
from lanewise.errors import ArgumentError, shown

LABEL_ROOM = 32
"""How many characters a label has room for where it does not say, when handlers write to it."""
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
        capacity: int = LABEL_ROOM,
        **rest: Any,
    ) -> None:
        check(self, TEXT, text=text)
        check(self, whole_within(0, TEXT_CODES), capacity=capacity)
        check(self, TEXT_SIZE, size=size)
        check(self, FLAG, bold=bold, muted=muted)
        check(self, one_of(*ALIGNMENTS), align=align)
        flags = (numbers.BOLD if bold else 0) | (numbers.MUTED if muted else 0)
        fields = {"font_size": size, "align": ALIGNMENTS.index(align), **colours(self, background, colour)}
        fields["capacity"] = max(capacity, len(code_points(text)))
        super().__init__(parts=Parts(text, flags, fields), **rest)


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
        check(self, TEXT, text=text)
        check(self, FLAG, accent=accent)
        check(self, or_none(HANDLER), on_click=on_click, on_double_click=on_double_click)
        flags = FOCUSABLE | (numbers.ACCENT if accent else 0)
        handlers = {CLICKED: on_click, DOUBLE_CLICKED: on_double_click}
        super().__init__(parts=Parts(text, flags, handlers=handlers), **rest)


class _Mark(Node):
    """What a checkbox, a switch and a radio button have in common: `checked`, and the same as a `value` of 0 or 1."""

    accepted = ON_OR_OFF

    def __init__(self, text: str, *, checked: bool = False, on_change: Handler | None = None, **rest: Any) -> None:
        check(self, TEXT, text=text)
        check(self, FLAG, checked=checked)
        check(self, or_none(HANDLER), on_change=on_change)
        fields = {"toggle": float(checked)}
        flags = FOCUSABLE | (CHECKED if checked else 0)
        super().__init__(parts=Parts(text, flags, fields, {CHANGED: on_change}), **rest)

    @property
    def checked(self) -> bool:
        """Whether it is checked, chosen or on."""
        return super().checked

    @checked.setter
    def checked(self, checked: bool) -> None:
        check(self, FLAG, checked=checked)
        self.value = float(checked)

    @property
    def value(self) -> float:
        """1 if it is checked, chosen or on, else 0."""
        return float(self.checked)

    @value.setter
    def value(self, value: float) -> None:
        check(self, self.accepted, value=value)
        self.change_flag(CHECKED, bool(value))


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
        check(self, TEXT, text=text, group=group)
        if group not in self._groups:
            self._groups[group] = new_group()
        super().__init__(text, **rest)
        self.fields["group"] = self._groups[group]

    @property
    def value(self) -> float:
        """1 if it is chosen, else 0."""
        return super().value

    @value.setter
    def value(self, value: float) -> None:
        check(self, self.accepted, value=value)
        for other in self._alive().nodes if value else ():
            if isinstance(other, Radio) and other.fields["group"] == self.fields["group"]:
                other.change_flag(CHECKED, False)
        self.change_flag(CHECKED, bool(value))


class Slider(Node):
    """A value between two limits, in steps or not; it is the minimum where none is given."""

    kind = numbers.SLIDER
    style: ClassVar[dict[str, Any]] = {"height": 28, "min_width": 80, "flex_shrink": 0}

    def __init__(
        self,
        value: float | None = None,
        *,
        minimum: float = 0,
        maximum: float = 100,
        step: float = 0,
        on_change: Handler | None = None,
        **rest: Any,
    ) -> None:
        check(self, NUMBER, minimum=minimum, maximum=maximum)
        if not np.float32(minimum) < np.float32(maximum):  # as the device has them
            so_little = ", by more than floats of 32 bits leave out" if minimum < maximum else ""
            above = f"it is above the minimum, which is {shown(minimum)}{so_little}"
            raise ArgumentError(f"Slider: maximum is {shown(maximum)}; {above}")
        if float(np.float32(maximum)) - float(np.float32(minimum)) > LARGEST_NUMBER:
            raise ArgumentError(f"Slider: from {shown(minimum)} to {shown(maximum)} is further than a number can say")
        self.accepted = number_within(minimum, maximum)
        check(self, or_none(self.accepted), value=value)
        check(self, NOT_NEGATIVE, step=step)
        check(self, or_none(HANDLER), on_change=on_change)
        start = minimum if value is None else value
        fields = {"value": start, "minimum": minimum, "maximum": maximum, "step": step}
        super().__init__(parts=Parts("", FOCUSABLE, fields, {CHANGED: on_change}), **rest)


class Progress(Node):
    """How far something is."""

    kind = numbers.PROGRESS
    style: ClassVar[dict[str, Any]] = {"height": 8, "min_width": 80, "flex_shrink": 0}

    def __init__(self, value: float = 0, *, maximum: float = 100, **rest: Any) -> None:
        check(self, POSITIVE, maximum=maximum)
        self.accepted = number_within(0, maximum)
        check(self, self.accepted, value=value)
        super().__init__(parts=Parts(fields={"value": value, "maximum": maximum}), **rest)


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
        check(self, TEXT, text=text)
        check(self, whole_within(0, TEXT_CODES), capacity=capacity)
        check(self, FLAG, secret=secret)
        check(self, or_none(HANDLER), on_change=on_change, on_submit=on_submit)
        text = one_line(text)
        if len(text) > capacity:
            raise ArgumentError(f"Field: text has {len(text)} characters; the field's capacity is {capacity}")
        length = len(code_points(text))
        # Another version than was seen: the caret comes into view when the focus does.
        fields = {"capacity": capacity, "caret": length, "anchor": length, "text_version": 1}
        flags = FOCUSABLE | (numbers.SECRET if secret else 0)
        handlers = {CHANGED: on_change, SUBMITTED: on_submit}
        super().__init__(parts=Parts(text, flags, fields, handlers), **rest)


class ListRow(Node):
    """A place for a visible row of a list."""

    kind = numbers.ROW
    style: ClassVar[dict[str, Any]] = {"position": "absolute", "inset": (0, 0, "auto", 0), "height": 0}


class List(Node):
    """Rows of text to scroll through and choose from; only those that can be seen at a time take up widgets."""

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
        most_visible: int | None = None,
        chosen: int = -1,
        on_change: Handler | None = None,
        on_submit: Handler | None = None,
        **rest: Any,
    ) -> None:
        check(self, TEXTS, rows=rows)
        check(self, POSITIVE, row_height=row_height)
        check(self, or_none(whole_within(1, MAX_WIDGETS)), most_visible=most_visible)
        self.accepted = place_within(-1, len(rows) - 1)
        check(self, self.accepted, chosen=chosen)
        check(self, or_none(HANDLER), on_change=on_change, on_submit=on_submit)
        fields = {"row_count": len(rows), "row_height": row_height, "value": chosen}
        handlers = {CHANGED: on_change, SUBMITTED: on_submit}
        flags = FOCUSABLE | numbers.CLIPS | (numbers.REVEALS if chosen >= 0 else 0)
        super().__init__(parts=Parts("", flags, fields, handlers), **rest)
        self.rows = rows
        self._places: list[Node] = []
        self.children = self._places
        self._row_height = row_height
        self._most_visible = most_visible

    def make_places(self, screen_height: float) -> None:
        """Make places for as many rows as can be seen at a time on a screen of this height."""
        wanted = ceil((self._most_room(screen_height) - LIST_MARGIN) / self._row_height) + 1
        count = max(min(wanted, len(self.rows), MAX_WIDGETS), 1)
        parts = [Parts(fields={"row_count": count, "group": at}) for at in range(count)]
        self._places[:] = [ListRow(parts=each) for each in parts]

    def within_places(self, layout: Style, screen_height: float) -> Style:
        """Its layout, no higher than its places reach."""
        room = self._most_room(screen_height)
        if "min_height" not in self.said:
            layout = dataclasses.replace(layout, min_height=min(self.style["min_height"], room))
        if len(self._places) == len(self.rows) or is_percentage(layout.max_height):
            return layout
        return dataclasses.replace(layout, max_height=room)

    def _most_room(self, screen_height: float) -> float:
        """How high it is at most."""
        layout = self.layout
        grows = "flex_grow" in self.said and layout.flex_grow > 0  # from its height on
        heights = (layout.max_height, *([] if grows else [layout.height]))
        most = [float(min(each, LONGEST)) for each in heights if not isinstance(each, str)]
        if self._most_visible is not None:
            most.append(self._most_visible * self._row_height + 2 * LIST_MARGIN)
        least = layout.min_height if "min_height" in self.said else 0
        least = screen_height if isinstance(least, str) else float(min(least, LONGEST))
        return max(min(most, default=screen_height), least)

    @property
    def value(self) -> float:
        """The row that is chosen, -1 for none; one that is set comes into view."""
        return super().value

    @value.setter
    def value(self, value: float) -> None:
        check(self, self.accepted, value=value)
        self._alive().machine.change_widget(self.number, value=value)
        self.change_flag(numbers.REVEALS, value >= 0)


class _Item(Node):
    """A line of a menu."""

    kind = numbers.ITEM
    style: ClassVar[dict[str, Any]] = {"height": POPUP_LINE, "padding": (0, 12), "flex_shrink": 0}


class _MenuButton(Node):
    """The button of a menu, which shows the line that was chosen."""

    kind = numbers.MENU
    style: ClassVar[dict[str, Any]] = {"height": 36, "flex_grow": 1, "padding": (0, 34, 0, 12)}


class Menu(Node):
    """A choice of lines that open below a button."""

    kind = numbers.CHOICE
    style: ClassVar[dict[str, Any]] = {"min_width": 160, "flex_shrink": 0}

    def __init__(self, lines: Sequence[str], *, chosen: int = 0, on_change: Handler | None = None, **rest: Any) -> None:
        check(self, TEXTS, lines=lines)
        if not lines:
            raise ArgumentError("Menu: there are no lines; it has at least one")
        self.accepted = place_within(0, len(lines) - 1)
        check(self, whole_within(0, len(lines) - 1), chosen=chosen)
        check(self, or_none(HANDLER), on_change=on_change)
        items = [_Item(parts=Parts(line, fields={"value": index})) for index, line in enumerate(lines)]
        popup = Popup(*items, hidden=True)
        fields = {"value": chosen, "row_count": len(lines)}
        self.button = _MenuButton(parts=Parts(lines[chosen], FOCUSABLE, fields), target=popup)
        popup.target = self.button
        super().__init__(self.button, popup, parts=Parts(handlers={CHANGED: on_change}), **rest)

    @property
    def value(self) -> float:
        """The line that is chosen, counted from 0."""
        return self.button.value

    @value.setter
    def value(self, value: float) -> None:
        check(self, self.accepted, value=value)
        machine = self._alive().machine
        line = machine.widget(self.children[1].children[int(value)].number)
        machine.change_widget(self.button.number, value=value, text=line["text"], length=line["length"])


class Image(Node):
    """A picture from an array: height x width x 3 or 4 bytes."""

    kind = numbers.IMAGE

    def __init__(self, picture: Any, *, radius: float = 8, **rest: Any) -> None:
        check(self, NOT_NEGATIVE, radius=radius)
        pixels = as_pixels(self, picture)
        pixels = pixels.get() if isinstance(pixels, DeviceArray) else pixels
        size = {"width": pixels.shape[1], "height": pixels.shape[0]}
        check(self, whole_within(1, IMAGE_SIDE), **{f"{side} of the picture": size[side] for side in size})
        super().__init__(parts=Parts(fields={"radius": radius}), **_in_shape(size, rest))
        self.picture = pixels


def _in_shape(size: dict[str, int], said: dict[str, Any]) -> dict[str, Any]:
    """The layout of a picture of this size: where one side is said, the other follows from the picture's shape."""
    words = {side: value for side, value in said.items() if isinstance(value, str)}
    open_sides = [side for side in size if side not in said or words.get(side) == "auto"]
    usual: dict[str, Any] = {"flex_shrink": 0}
    if len(open_sides) == 1:
        usual["aspect_ratio"] = size["width"] / size["height"]
        return {**usual, **said, open_sides[0]: "max-content"}  # which, unlike "auto", is not stretched
    return {**usual, **said, **{side: size[side] for side in open_sides}}


class Canvas(Image):
    """A picture that programs and handlers draw on: `canvas.draw(array)`; it tells of where the pointer is pressed."""

    kind = numbers.CANVAS

    def __init__(
        self, columns: int, rows: int, *, on_draw: Handler | None = None, background: str = "#ffffff", **rest: Any
    ) -> None:
        check(self, whole_within(1, IMAGE_SIDE), columns=columns, rows=rows)
        check(self, whole_within(1, IMAGE_PIXELS), **{"columns times rows": columns * rows})
        check(self, COLOUR, background=background)
        check(self, or_none(HANDLER), on_draw=on_draw)
        colour = colours(self, background, None)["background"]
        blank = np.full((rows, columns), colour, np.uint32).view(np.uint8).reshape(rows, columns, 4)
        super().__init__(blank, **rest)
        self._take_handler(DRAWN, on_draw)

    def draw(self, picture: Any) -> None:
        """Replace what it shows, from an array of its own height and width; before it is on a desktop, too.

        One on the desktop's own device, with a word a pixel, such as guests paint, is copied there and not by the host.
        """
        pixels = as_pixels(self, picture)
        if pixels.shape != self.picture.shape:
            given, own = (f"{shape[0]} x {shape[1]} pixels" for shape in (pixels.shape, self.picture.shape))
            raise ArgumentError(f"{name_of(self)}: picture is {given}; it is {own}, height x width, as the canvas")
        desktop = self.desktop
        if desktop is None:
            self.picture[:] = pixels.get() if isinstance(pixels, DeviceArray) else pixels
        else:
            desktop.change(lambda: desktop.set_picture(self, pixels))


def as_pixels(owner: Node, picture: Any) -> np.ndarray[Any, Any] | DeviceArray:
    """An array of bytes, height x width x 3 or 4, as one pixel an element; one on a device has that already."""
    if isinstance(picture, DeviceArray) and picture.dtype == np.uint32 and len(picture.shape) == 2:
        return picture
    if isinstance(picture, str | Path):
        opened = f"PIL.Image.open({shown(str(picture))}).convert('RGBA')"
        raise ArgumentError(f"{name_of(owner)}: picture is the name of a file; give what is in it: {opened}")
    try:
        array = np.asarray(picture)
    except (TypeError, ValueError):  # such as lists of different lengths
        array = np.zeros(0, object)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] not in (3, 4) or 0 in array.shape:
        raise ArgumentError(
            f"{name_of(owner)}: picture is {shown(picture)}, {array.shape} of {array.dtype}; "
            "it is an array of bytes, height x width x 3 or 4"
        )
    if array.shape[2] == 3:
        array = np.concatenate([array, np.full((*array.shape[:2], 1), 255, np.uint8)], axis=2)
    return np.ascontiguousarray(array).view(np.uint32).reshape(array.shape[:2])
