"""The words of CSS that layout knows, each a small number: device code compares the numbers, Python says the words."""

from __future__ import annotations

DISPLAYS = ("flex", "block", "none")
DISPLAY_FLEX, DISPLAY_BLOCK, DISPLAY_NONE = range(3)

POSITIONS = ("relative", "absolute")
POSITION_RELATIVE, POSITION_ABSOLUTE = range(2)

DIRECTIONS = ("ltr", "rtl")
LTR, RTL = range(2)

WRITING_MODES = ("horizontal-tb", "vertical-lr")
HORIZONTAL_TEXT, VERTICAL_TEXT = range(2)
"""Which way a node's own text runs. The axes of a container are always those of horizontal text."""

BOX_SIZINGS = ("border-box", "content-box")
BORDER_BOX, CONTENT_BOX = range(2)

OVERFLOWS = ("visible", "clip", "hidden", "scroll")
OVERFLOW_VISIBLE, OVERFLOW_CLIP, OVERFLOW_HIDDEN, OVERFLOW_SCROLL = range(4)
"""From OVERFLOW_HIDDEN on a node scrolls: its content does not keep it large. Only "scroll" has a scrollbar."""

FLEX_DIRECTIONS = ("row", "column", "row-reverse", "column-reverse")
ROW, COLUMN, ROW_REVERSE, COLUMN_REVERSE = range(4)
"""The lowest bit is the main axis, the next one says that it is reversed."""

FLEX_WRAPS = ("nowrap", "wrap", "wrap-reverse", "balance", "wrap-reverse balance")
NOWRAP, WRAP, WRAP_REVERSE, BALANCE, BALANCE_REVERSE = range(5)

ALIGNMENTS = (
    "auto",
    "stretch",
    "flex-start",
    "flex-end",
    "start",
    "end",
    "center",
    "baseline",
    "self-start",
    "self-end",
    "space-between",
    "space-around",
    "space-evenly",
)
(
    ALIGN_AUTO,
    ALIGN_STRETCH,
    ALIGN_FLEX_START,
    ALIGN_FLEX_END,
    ALIGN_START,
    ALIGN_END,
    ALIGN_CENTER,
    ALIGN_BASELINE,
    ALIGN_SELF_START,
    ALIGN_SELF_END,
    ALIGN_SPACE_BETWEEN,
    ALIGN_SPACE_AROUND,
    ALIGN_SPACE_EVENLY,
) = range(13)
ALIGN_SAFE = 16
"""Added to an alignment: what would overflow is put at the start, so that nobody has to scroll to where one cannot."""

UNITS = ("auto", "px", "%", "min-content", "max-content", "fit-content", "stretch", "content")
UNIT_AUTO, UNIT_PX, UNIT_PERCENT, UNIT_MIN_CONTENT, UNIT_MAX_CONTENT, UNIT_FIT_CONTENT, UNIT_STRETCH, UNIT_CONTENT = (
    range(8)
)

HORIZONTAL, VERTICAL = range(2)
"""Axes: the index into every pair such as `NodeStyle.size`."""

LEFT, RIGHT, TOP, BOTTOM = range(4)
"""Sides: the index into every four such as `NodeStyle.margin`. Those of an axis are 2 * axis and 2 * axis + 1."""

NO_NODE = -1
"""Where a link between nodes leads nowhere."""
