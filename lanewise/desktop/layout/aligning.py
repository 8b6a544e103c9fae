"""Where things go in the room that is left: one in its place, or several with space between them."""

from lanewise.desktop.layout.keywords import (
    ALIGN_BASELINE,
    ALIGN_CENTER,
    ALIGN_END,
    ALIGN_FLEX_END,
    ALIGN_FLEX_START,
    ALIGN_SAFE,
    ALIGN_SELF_END,
    ALIGN_SELF_START,
    ALIGN_SPACE_AROUND,
    ALIGN_SPACE_BETWEEN,
    ALIGN_SPACE_EVENLY,
    ALIGN_START,
    BALANCE_REVERSE,
    RTL,
    WRAP_REVERSE,
)
from lanewise.desktop.layout.lengths import is_block, main_axis
from lanewise.desktop.layout.structures import NodeStyle
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, u32


@device
def reversed_main(style: Ptr[NodeStyle]) -> bool:
    """Whether items follow each other against the direction of reading."""
    return not is_block(style) and (style.flex_direction & 2) != 0


@device
def reversed_cross(style: Ptr[NodeStyle]) -> bool:
    """Whether lines follow each other against the direction of reading."""
    wrap = style.flex_wrap
    return not is_block(style) and (wrap == WRAP_REVERSE or wrap == BALANCE_REVERSE)


@device
def from_far_side(style: Ptr[NodeStyle], axis: u32) -> bool:
    """Whether an axis of a container begins at the right or at the bottom."""
    backward = reversed_main(style) if main_axis(style) == axis else reversed_cross(style)
    return backward != (axis == 0 and style.direction == RTL)


@device
def offset_of(align: u32, free: f32, backward: bool) -> f32:
    """How far from the beginning of an axis something is put. `backward`: the axis runs against the reading."""
    word = align & ~u32(ALIGN_SAFE)
    if free < 0.0 and (align & ALIGN_SAFE) != 0:
        word = u32(ALIGN_START)
    if word == ALIGN_CENTER:
        return free / 2.0
    if word == ALIGN_FLEX_END:
        return free
    if word == ALIGN_START or word == ALIGN_BASELINE:
        return free if backward else f32(0)
    if word == ALIGN_END:
        return f32(0) if backward else free
    return f32(0)


@device
def own_direction(container: Ptr[NodeStyle], style: Ptr[NodeStyle], axis: u32, align: u32) -> u32:
    """self-start and self-end said as start and end: by the direction of the child, not that of its container."""
    safe = align & ALIGN_SAFE
    word = align & ~u32(ALIGN_SAFE)
    if word != ALIGN_SELF_START and word != ALIGN_SELF_END:
        return align
    against = axis == 0 and container.direction != style.direction
    return safe | (u32(ALIGN_START) if (word == ALIGN_SELF_START) != against else u32(ALIGN_END))


@device(inline=False)
def share(align: u32, free: f32, count: u32, backward: bool) -> tuple[f32, f32]:
    """Space before the first of several things, and between neighbours."""
    word = align & ~u32(ALIGN_SAFE)
    if word == ALIGN_SPACE_BETWEEN:
        if free > 0.0 and count > 1:
            return f32(0), free / f32(count - 1)
        return f32(0), f32(0)
    if word == ALIGN_SPACE_AROUND and free > 0.0:
        each = free / f32(count)
        return each / 2.0, each
    if word == ALIGN_SPACE_EVENLY and free > 0.0:
        each = free / f32(count + 1)
        return each, each
    if word == ALIGN_SPACE_AROUND or word == ALIGN_SPACE_EVENLY:
        return offset_of(u32(ALIGN_START), free, backward), f32(0)
    return offset_of(align, free, backward), f32(0)


@device
def alone(align: u32) -> u32:
    """How one thing alone is aligned by a word that shares space among several."""
    word = align & ~u32(ALIGN_SAFE)
    if word == ALIGN_SPACE_AROUND or word == ALIGN_SPACE_EVENLY:
        return u32(ALIGN_CENTER)
    if word == ALIGN_SPACE_BETWEEN:
        return u32(ALIGN_FLEX_START)
    return word
