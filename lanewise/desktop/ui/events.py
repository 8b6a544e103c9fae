"""Events as people and displays say them, in the vocabulary of rendercanvas, and as the device reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from lanewise.desktop import numbers
from lanewise.desktop.ui.checking import MAPPING, NUMBER, TEXT, TEXTS, check, nearest
from lanewise.errors import ArgumentError

OF_OTHERS = ("resize", "close", "pointer_enter", "double_click", "before_draw", "animate")
"""Kinds of rendercanvas that mean nothing to a desktop: they are left out."""
_PLACE = ("x", "y")
NEEDED = {
    numbers.POINTER_MOVE: _PLACE,
    numbers.POINTER_DOWN: (*_PLACE, "button"),
    numbers.POINTER_UP: (*_PLACE, "button"),
    numbers.POINTER_LEAVE: (),
    numbers.WHEEL: (*_PLACE, "dy"),
    numbers.KEY_DOWN: ("key",),
    numbers.KEY_UP: ("key",),
    numbers.CHAR: ("data",),
}
"""What an event of each kind must say; the rest has a value of its own."""


class Input(NamedTuple):
    """An event as `Machine.send` takes it, without its time."""

    kind: int
    x: int
    y: int
    button: int
    modifiers: int
    code: int


def read_event(event: Mapping[str, Any]) -> list[Input]:
    """What an event comes to: nothing, one input, or one for each character; an ArgumentError says what is wrong."""
    check("send", MAPPING, event=event)
    check("send", TEXT, **{"event_type of the event": event.get("event_type")})
    name = event["event_type"]
    if name in OF_OTHERS:
        return []
    if name not in numbers.EVENT_NAMES:
        raise ArgumentError(f"send: there is no event_type {name!r}; {nearest(name, numbers.EVENT_NAMES)}")
    kind = numbers.EVENT_NAMES[name]
    for part in NEEDED[kind]:
        if part not in event:
            raise ArgumentError(f"send: the event {name} has no {part!r}; it needs {', '.join(NEEDED[kind])}")
    owner = f"send: the event {name}"
    places = {part: event.get(part, 0) for part in ("x", "y", "button", "dy")}
    check(owner, NUMBER, **places)
    words = {part: event.get(part, "") for part in ("key", "data")}
    check(owner, TEXT, **words)
    x, y, button, turned = (round(float(place)) for place in places.values())
    modifiers = _modifiers(owner, event.get("modifiers", ()))
    codes = [0]
    if kind in (numbers.KEY_DOWN, numbers.KEY_UP):
        key = words["key"]
        codes = [numbers.KEY_NAMES.get(key, ord(key) if len(key) == 1 else numbers.KEY_OTHER)]
    elif kind == numbers.WHEEL:
        codes = [turned]
    elif kind == numbers.CHAR:
        codes = code_points(words["data"]).tolist()
    return [Input(kind, x, y, button, modifiers, code) for code in codes]


def _modifiers(owner: str, said: Any) -> int:
    named = list(said) if isinstance(said, set | frozenset) else said
    check(owner, TEXTS, modifiers=named)
    for name in named:
        if name not in numbers.MODIFIER_NAMES:
            raise ArgumentError(f"{owner}: there is no modifier {name!r}; {nearest(name, numbers.MODIFIER_NAMES)}")
    return sum(numbers.MODIFIER_NAMES[name] for name in set(named))


def one_line(text: str) -> str:
    """A text for a widget that has one line: ends of lines are spaces."""
    return " ".join(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


def code_points(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """The code points of a text; halves of surrogate pairs, which no text should hold, are left out."""
    return np.frombuffer(text.encode("utf-32-le", errors="ignore"), np.uint32)
