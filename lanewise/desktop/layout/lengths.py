"""Lengths of a style in pixels, and what an item's style says about its size in a given container.

These are called with copies of a thread's own, which a GPU has in registers. Read from device memory one after the
other, with stores in between that might have changed them, fields are what a thread waits for most of the time.
"""

from lanewise.desktop.layout.keywords import (
    CONTENT_BOX,
    DISPLAY_BLOCK,
    DISPLAY_NONE,
    OVERFLOW_SCROLL,
    POSITION_ABSOLUTE,
    UNIT_AUTO,
    UNIT_PERCENT,
    UNIT_PX,
)
from lanewise.desktop.layout.numbers import INDEFINITE, INFINITE, ITEM_AUTO_MARGIN
from lanewise.desktop.layout.structures import Item, Length, NodeStyle
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, u32


@device
def resolve(length: Ptr[Length], whole: f32) -> f32:
    """A size in pixels; INDEFINITE for words, and for a part of a whole that is not known."""
    value, unit = length.value, length.unit
    part = value * whole if unit == UNIT_PERCENT and whole >= 0.0 else f32(INDEFINITE)
    return value if unit == UNIT_PX else part


@device
def resolve_or_zero(length: Ptr[Length], whole: f32) -> f32:
    """A length that may be negative in pixels; 0 for words, and for a part of a whole that is not known."""
    value, unit = length.value, length.unit
    part = value * whole if unit == UNIT_PERCENT and whole >= 0.0 else f32(0)
    return value if unit == UNIT_PX else part


@device
def is_auto(length: Ptr[Length], whole: f32) -> bool:
    """Whether a length says nothing: a word, or a part of a whole that is not known."""
    unit = length.unit
    return unit != UNIT_PX and (unit != UNIT_PERCENT or whole < 0.0)


@device
def clamp(size: f32, least: f32, most: f32) -> f32:
    """A size within its limits; the lower one wins."""
    return max(min(size, most), least)


@device
def in_flow(style: Ptr[NodeStyle]) -> bool:
    """Whether a node takes part in its parent's lines."""
    return style.display != DISPLAY_NONE and style.position != POSITION_ABSOLUTE


@device
def is_absolute(style: Ptr[NodeStyle]) -> bool:
    """Whether a node lies in its parent's padding box, beside all lines."""
    return style.position == POSITION_ABSOLUTE and style.display != DISPLAY_NONE


@device
def is_block(style: Ptr[NodeStyle]) -> bool:
    return style.display == DISPLAY_BLOCK


@device
def main_axis(style: Ptr[NodeStyle]) -> u32:
    """The axis along which a container puts its children: a block is a column."""
    if style.display == DISPLAY_BLOCK:
        return u32(1)
    return u32(style.flex_direction) & 1


@device
def gutter(style: Ptr[NodeStyle], axis: u32) -> f32:
    """What a scrollbar takes along an axis: that of the other axis stands in its way."""
    return style.scrollbar_width if style.overflow[1 - axis] == OVERFLOW_SCROLL else f32(0)


@device
def content_size(item: Ptr[Item], axis: u32, size: f32) -> f32:
    """The content box of a border box; INDEFINITE stays so."""
    return max(size - item.edge[axis], 0.0) if size >= 0.0 else f32(INDEFINITE)


@device
def boxed(style: Ptr[NodeStyle], item: Ptr[Item], axis: u32, size: f32) -> f32:
    """The border box that a size of the style means; no smaller than padding and border."""
    if size < 0.0:
        return size
    if style.box_sizing == CONTENT_BOX:
        return size + item.frame[axis]
    return max(size, item.frame[axis])


@device
def across(style: Ptr[NodeStyle], item: Ptr[Item], axis: u32, size: f32) -> f32:
    """The size along an axis that the aspect ratio makes of a size along the other."""
    other = 1 - axis
    content = style.box_sizing == CONTENT_BOX
    given = max(size - item.frame[other], 0.0) if content else size
    found = given * style.aspect_ratio if axis == 0 else given / style.aspect_ratio
    return found + item.frame[axis] if content else max(found, item.frame[axis])


@device
def resolve_item(style: Ptr[NodeStyle], item: Ptr[Item], width: f32, height: f32):
    """What a style says of an item in a content box of this size; INDEFINITE where that is not known.

    Margins and padding that are percentages are parts of the container's width.
    """
    item.flags = 0
    for side in range(u32(4)):
        if style.margin[side].unit == UNIT_AUTO:
            item.flags |= u32(ITEM_AUTO_MARGIN) << side
        item.margin[side] = resolve_or_zero(style.margin[side], width)
        item.padding[side] = resolve_or_zero(style.padding[side], width)
    for axis in range(u32(2)):
        frame = (
            item.padding[2 * axis] + item.padding[2 * axis + 1] + style.border[2 * axis] + style.border[2 * axis + 1]
        )
        item.frame[axis] = frame
        item.edge[axis] = frame + gutter(style, axis)
        whole = width if axis == 0 else height
        item.size[axis] = boxed(style, item, axis, resolve(style.size[axis], whole))
        item.least[axis] = max(boxed(style, item, axis, resolve(style.min_size[axis], whole)), frame)
        most = boxed(style, item, axis, resolve(style.max_size[axis], whole))
        item.most[axis] = most if most >= 0.0 else f32(INFINITE)


@device
def write_resolved(item: Ptr[Item], found: Ptr[Item]):
    """Write what `resolve_item` found."""
    for side in range(4):
        item.margin[side] = found.margin[side]
        item.padding[side] = found.padding[side]
    for axis in range(2):
        item.frame[axis] = found.frame[axis]
        item.edge[axis] = found.edge[axis]
        item.size[axis] = found.size[axis]
        item.least[axis] = found.least[axis]
        item.most[axis] = found.most[axis]
    item.flags = found.flags


@device
def transferred(style: Ptr[NodeStyle], item: Ptr[Item], axis: u32, size: f32) -> f32:
    """A size found from content, within the limits that the aspect ratio makes of those of the other axis."""
    if style.aspect_ratio > 0.0:
        other = 1 - axis
        if item.most[other] < INFINITE:
            size = min(size, across(style, item, axis, item.most[other]))
        size = max(size, across(style, item, axis, item.least[other]))
    return size
