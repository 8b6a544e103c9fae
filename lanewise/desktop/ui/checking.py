"""What people give to widgets, checked where they give it: one sentence says what it is and what it should be."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lanewise.desktop import limits, theme
from lanewise.errors import ArgumentError, shown
from lanewise.lang.functions import DeviceFunction, Kernel

LARGEST_NUMBER = float(np.finfo(np.float32).max)
"""Widgets have numbers of 32 bits on the device."""

_MEANT = {
    **dict.fromkeys(("left", "right", "top", "bottom"), ("inset",)),
    **dict.fromkeys(("on_change", "on_press", "onclick", "command", "callback"), ("on_click", "on_change")),
    **dict.fromkeys(("bg", "bg_color", "background_color"), ("background",)),
    "min": ("minimum",), "max": ("maximum",), "flex": ("flex_grow",), "order": (), "visible": ("hidden",),
    "color": ("colour",), "font_size": ("size",),
}  # fmt: skip
"""Words that other toolkits have, or CSS, and those of this one that stand for them."""


@dataclass(frozen=True)
class Expected:
    """What an argument may be: in words that follow "it is", and as a test."""

    words: str
    fits: Callable[[Any], bool]
    otherwise: str = ""
    """The words for what it may be besides."""
    any_size: bool = False
    """Whether the words leave out how large numbers of a widget can be, which is said to who gives a larger one."""


def check(owner: object, expected: Expected, **given: Any) -> None:
    """Raise an ArgumentError that names the first of these arguments that is not what is expected.

    The owner is what they are given to: a widget or the desktop, or words for it.
    """
    for name, value in given.items():
        if not expected.fits(value):
            most = f", at most {LARGEST_NUMBER:.1e} from 0" if expected.any_size and _is_too_large(value) else ""
            words = f"{expected.words}{most}{expected.otherwise}"
            raise ArgumentError(f"{name_of(owner)}: {name} is {shown(value)}; it is {words}")


def name_of(owner: object) -> str:
    """What messages call a widget: its kind, and what it says where that is known already."""
    if isinstance(owner, str):
        return owner
    kind, said = type(owner).__name__.lstrip("_"), getattr(owner, "called", "")
    return f"{kind} {shown(said)}" if said else kind


def nearest(name: object, known: Iterable[str]) -> str:
    """The end of a sentence about a name that is not known: the one that may have been meant, or all there are."""
    names = list(known)
    if str(name) in _MEANT:
        meant = next((word for word in _MEANT[str(name)] if word in names), None)
        return f"did you mean {meant!r}?" if meant else f"there are {', '.join(names)}"
    lower = {known.lower(): known for known in names}
    near = difflib.get_close_matches(str(name).lower(), lower, 1)
    return f"did you mean {lower[near[0]]!r}?" if near else f"there are {', '.join(names)}"


def is_number(value: Any) -> bool:
    """Whether this is a finite number; True and False are none, for who gives them meant something else."""
    return (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and bool(-LARGEST_NUMBER <= value <= LARGEST_NUMBER)  # compared as it is: a long int has no float
    )


def _is_too_large(value: Any) -> bool:
    """Whether this is a number that a widget cannot have for its size alone."""
    is_one = isinstance(value, int | float | np.integer | np.floating)
    return is_one and bool(value > LARGEST_NUMBER or value < -LARGEST_NUMBER)


def is_whole(value: object) -> bool:
    """Whether this is a whole number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_texts(value: object) -> bool:
    """Whether this is a list, a tuple or the like with strings in it."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes) and all(isinstance(s, str) for s in value)


def or_none(expected: Expected) -> Expected:
    """The same, or None for what is usual."""
    fits = expected.fits
    return replace(expected, fits=lambda value: value is None or fits(value), otherwise=", or None")


def number_within(least: float, most: float) -> Expected:
    """A number that is not beyond two others, as the device rounds them: what it gave may be given back."""
    low, high = (float(np.float32(edge)) for edge in (least, most))
    return Expected(
        f"a number from {least:g} to {most:g}",
        lambda value: is_number(value) and low <= float(np.float32(value)) <= high,
    )


def number_from(least: float) -> Expected:
    """A number that is not below another."""
    return Expected(f"a number, {least:g} or above", lambda value: is_number(value) and value >= least, any_size=True)


def whole_within(least: int, most: int) -> Expected:
    """A whole number that is not beyond two others."""
    return Expected(
        f"a whole number from {least:,} to {most:,}", lambda value: is_whole(value) and least <= value <= most
    )


def place_within(least: int, most: int) -> Expected:
    """A place in a list, which may be written as a float: so events give it."""
    return Expected(
        f"a whole number from {least:,} to {most:,}",
        lambda value: is_number(value) and value == int(value) and least <= value <= most,
    )


def one_of(*words: str) -> Expected:
    """One of some words."""
    listed = " or ".join([", ".join(words[:-1]), words[-1]])
    return Expected(listed, lambda value: isinstance(value, str) and value in words)


def _is_colour(value: object) -> bool:
    try:
        return isinstance(value, str) and theme.rgba(value) >= 0
    except ValueError:
        return False


def _takes(function: Any, *given: str) -> bool:
    """Whether this can be called with so many arguments; what does not say what it takes, as some of C, is believed."""
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(*given)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _is_called(value: object, *given: str) -> bool:
    """Whether this can be called in Python with so many arguments, and has done all of it when it is back."""
    return not (isinstance(value, DeviceFunction) or inspect.iscoroutinefunction(value)) and _takes(value, *given)


def _handles(value: object) -> bool:
    if isinstance(value, DeviceFunction) and not isinstance(value, Kernel):  # it has threads of its own
        return _takes(value.function, "desk", "event")
    return _is_called(value, "event")


TEXT = Expected("a string", lambda value: isinstance(value, str))
TEXTS = Expected("a list of strings", is_texts)
FLAG = Expected("True or False", lambda value: isinstance(value, bool | np.bool_))
WHOLE = Expected("a whole number", is_whole)
NUMBER = Expected("a number", is_number, any_size=True)
POSITIVE = Expected("a number above 0", lambda value: is_number(value) and bool(np.float32(value) > 0), any_size=True)
NOT_NEGATIVE = number_from(0)
TEXT_SIZE = number_within(limits.SMALLEST_TEXT, limits.LARGEST_TEXT)
ON_OR_OFF = Expected("0 or 1", lambda value: isinstance(value, bool) or (is_number(value) and value in (0, 1)))
COLOUR = Expected("a colour, written #rrggbb or #rrggbbaa", _is_colour)
MAPPING = Expected("a dictionary", lambda value: isinstance(value, Mapping))
PATH = Expected("the path of a font", lambda value: isinstance(value, str | Path))
A_CALL = Expected("a function without arguments", _is_called)
HEARER = Expected("a function of one event", lambda value: _is_called(value, "event"))
HANDLER = Expected("a function of one event, or a device function of a desktop and an event, marked @device", _handles)
