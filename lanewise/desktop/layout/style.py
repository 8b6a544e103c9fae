"""`Style`: how a node is laid out, said in Python with the words and names of CSS, and packed for the device.

A tree goes to the device as arrays of `NodeStyle` and `NodeLinks`, one entry a node, and comes back as an array of
`NodeBox`. A `LayoutTree` (all in `structures.py`) has the addresses of these arrays, of an array of `NodeWork` that
starts as zeros and is layout's own, and of text and fonts. `tree.py` shows how they are made:

    styles = pack_styles([Style(width=100, height="50%"), Style(flex_grow=1)])   # a NumPy array of NodeStyle.dtype

Device code calls `run_layout(tree)` (in `engine.py`) with all threads of one group; it begins and ends with a barrier.
Where a style, a text or a link has changed it calls `mark_dirty(tree, node)` (in `rechecking.py`) before, from any
thread: for the node, and for its parent where the node was put in or taken out. A change of `available` needs no mark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from lanewise.desktop.layout import keywords
from lanewise.desktop.layout.structures import NodeStyle
from lanewise.errors import ArgumentError, shown

Length: TypeAlias = float | str
"""Pixels as a number, a percentage such as "50%", or a word such as "auto"."""
Sides: TypeAlias = Length | tuple[Length, Length] | tuple[Length, Length, Length, Length]
"""One length for all sides; top and bottom, left and right; or top, right, bottom, left."""
Alignment: TypeAlias = str
"""A word of `keywords.ALIGNMENTS`, with "safe " or "unsafe " before it or not."""

LONGEST = 2.0**25
"""Lengths in pixels are brought within this, which is more than any screen has and far from where floats end."""
_SIZE_WORDS = ("auto", "min-content", "max-content", "fit-content", "stretch")


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a node is laid out. Names, words and initial values are those of CSS, but boxes are border boxes."""

    display: Literal["flex", "block", "none"] = "flex"
    position: Literal["relative", "absolute"] = "relative"
    direction: Literal["ltr", "rtl"] = "ltr"
    writing_mode: Literal["horizontal-tb", "vertical-lr"] = "horizontal-tb"
    box_sizing: Literal["border-box", "content-box"] = "border-box"
    overflow_x: Literal["visible", "clip", "hidden", "scroll"] = "visible"
    overflow_y: Literal["visible", "clip", "hidden", "scroll"] = "visible"
    scrollbar_width: float = 0

    width: Length = "auto"
    height: Length = "auto"
    min_width: Length = "auto"
    min_height: Length = "auto"
    max_width: Length = "auto"
    max_height: Length = "auto"
    aspect_ratio: float | None = None
    margin: Sides = 0
    padding: Sides = 0
    border: Sides = 0
    inset: Sides = "auto"

    flex_direction: Literal["row", "column", "row-reverse", "column-reverse"] = "row"
    flex_wrap: Literal["nowrap", "wrap", "wrap-reverse", "balance", "wrap-reverse balance"] = "nowrap"
    flex_line_count: int = 1
    flex_grow: float = 0
    flex_shrink: float = 1
    flex_basis: Length = "auto"
    row_gap: Length = 0
    column_gap: Length = 0
    justify_content: Alignment = "auto"
    align_items: Alignment = "auto"
    align_self: Alignment = "auto"
    align_content: Alignment = "auto"

    font_size: float = 16
    font: int = 0
    text_start: int = 0
    text_count: int = 0

    def pack(self, into: Any) -> None:
        """Write this style into a record of `NodeStyle.dtype`; an ArgumentError names a field that makes no sense."""
        for axis, name in enumerate(("width", "height")):
            self._length(into["size"][axis], name, _SIZE_WORDS)
            self._length(into["min_size"][axis], "min_" + name, _SIZE_WORDS)
            self._length(into["max_size"][axis], "max_" + name, (*_SIZE_WORDS, "none"))
        self._sides(into["margin"], "margin", ("auto",), negative=True)
        self._sides(into["padding"], "padding", ())
        self._sides(into["inset"], "inset", ("auto",), negative=True)
        borders = np.zeros(4, into["padding"].dtype)
        self._sides(borders, "border", (), percent=False)
        into["border"] = borders["value"]
        self._length(into["gap"][keywords.HORIZONTAL], "column_gap", ())
        self._length(into["gap"][keywords.VERTICAL], "row_gap", ())
        self._length(into["flex_basis"], "flex_basis", (*_SIZE_WORDS, "content"))
        into["aspect_ratio"] = 0 if self.aspect_ratio is None else self._number("aspect_ratio", positive=True)
        for name in ("flex_grow", "flex_shrink", "scrollbar_width", "font_size"):
            into[name] = self._number(name)
        for name in ("font", "text_start", "text_count"):
            into[name] = self._count(name)
        into["line_count"] = self._count("flex_line_count")
        into["display"] = self._word("display", keywords.DISPLAYS)
        into["position"] = self._word("position", keywords.POSITIONS)
        into["direction"] = self._word("direction", keywords.DIRECTIONS)
        into["writing_mode"] = self._word("writing_mode", keywords.WRITING_MODES)
        into["box_sizing"] = self._word("box_sizing", keywords.BOX_SIZINGS)
        into["overflow"][keywords.HORIZONTAL] = self._word("overflow_x", keywords.OVERFLOWS)
        into["overflow"][keywords.VERTICAL] = self._word("overflow_y", keywords.OVERFLOWS)
        into["flex_direction"] = self._word("flex_direction", keywords.FLEX_DIRECTIONS)
        into["flex_wrap"] = self._word("flex_wrap", keywords.FLEX_WRAPS)
        for name in ("justify_content", "align_items", "align_self", "align_content"):
            into[name] = self._alignment(name)

    def _word(self, name: str, words: tuple[str, ...]) -> int:
        word = getattr(self, name)
        if word not in words:
            raise ArgumentError(f"{name} is {shown(word)}; it is one of {', '.join(words)}")
        return words.index(word)

    def _alignment(self, name: str) -> int:
        said = getattr(self, name)
        word = said.removeprefix("safe ").removeprefix("unsafe ") if isinstance(said, str) else said
        word = "auto" if word == "normal" else word
        if word not in keywords.ALIGNMENTS:
            raise ArgumentError(
                f"{name} is {shown(said)}; it is one of {', '.join(keywords.ALIGNMENTS)}, or one of these after `safe`"
            )
        return keywords.ALIGNMENTS.index(word) + (keywords.ALIGN_SAFE if said.startswith("safe ") else 0)

    def _number(self, name: str, positive: bool = False) -> float:
        number = getattr(self, name)
        if not _is_number(number) or not 0 <= number < math.inf or (positive and number == 0):
            kind = "a number above 0" if positive else "a number, 0 or above"
            raise ArgumentError(f"{name} is {shown(number)}; it is {kind}")
        return float(min(number, LONGEST))

    def _count(self, name: str) -> int:
        number = getattr(self, name)
        if not _is_number(number) or not isinstance(number, int | np.integer) or not 0 <= number < 2**32:
            raise ArgumentError(f"{name} is {shown(number)}; it is a whole number from 0 to {2**32 - 1:,}")
        return int(number)

    def _length(self, into: Any, name: str, words: tuple[str, ...]) -> None:
        into["value"], into["unit"] = _parse(name, getattr(self, name), words, percent=True, negative=False)

    def _sides(
        self, into: Any, name: str, words: tuple[str, ...], percent: bool = True, negative: bool = False
    ) -> None:
        said = getattr(self, name)
        parts = said if isinstance(said, tuple | list) else (said,)
        if len(parts) == 1:
            parts = (parts[0],) * 4
        elif len(parts) == 2:
            parts = (parts[0], parts[1], parts[0], parts[1])
        elif len(parts) != 4:
            raise ArgumentError(f"{name} is {shown(said)}; it has one length, two or four (top, right, bottom, left)")
        in_order = (keywords.TOP, keywords.RIGHT, keywords.BOTTOM, keywords.LEFT)
        for side, part in zip(in_order, parts, strict=True):
            into[side]["value"], into[side]["unit"] = _parse(name, part, words, percent, negative)


def _is_number(value: object) -> bool:
    """Whether this is a number of Python or NumPy; True and False are none, for who gives them meant something else."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_percentage(said: Length) -> bool:
    """Whether a length is a part of something else; numbers may have more digits than Python writes."""
    return isinstance(said, str) and said.strip().endswith("%")


def _parse(name: str, said: Length, words: tuple[str, ...], percent: bool, negative: bool) -> tuple[float, int]:
    """The value and unit of a length; the words are those that this field may have."""
    if isinstance(said, str) and said in words:
        return 0.0, keywords.UNIT_AUTO if said == "none" else keywords.UNITS.index(said)
    number = math.nan
    unit = keywords.UNIT_PX
    if _is_number(said):
        number = float(max(-LONGEST, min(said, LONGEST))) if said == said else math.nan
    elif isinstance(said, str):
        text = said.strip()
        if percent and is_percentage(said):
            unit = keywords.UNIT_PERCENT
        try:
            number = float(text.removesuffix("%" if unit == keywords.UNIT_PERCENT else "px"))
        except ValueError:
            number = math.nan
    if math.isnan(number) or (number < 0 and not negative):
        allowed = ["pixels" if negative else "pixels, 0 or above", *(["a percentage"] if percent else []), *words]
        raise ArgumentError(
            f"{name} is {shown(said)}; it is {', '.join(allowed[:-1])}{' or ' * (len(allowed) > 1)}{allowed[-1]}"
        )
    if unit == keywords.UNIT_PERCENT:
        number /= 100
    return max(-LONGEST, min(number, LONGEST)), unit


def pack_styles(styles: Sequence[Style]) -> np.ndarray[Any, Any]:
    """The styles as the device reads them: an array of `NodeStyle.dtype`; an ArgumentError says which node is wrong."""
    packed = np.zeros(len(styles), NodeStyle.dtype)
    for index, style in enumerate(styles):
        try:
            style.pack(packed[index])
        except ArgumentError as error:
            raise ArgumentError(f"node {index}: {error}") from None
    return packed
