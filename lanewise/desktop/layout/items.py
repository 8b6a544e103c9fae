"""What a container asks of its items' styles: how they are aligned, and what their flex base size is."""

from lanewise.desktop.layout.asking import is_empty
from lanewise.desktop.layout.items_order import wraps
from lanewise.desktop.layout.keywords import (
    ALIGN_AUTO,
    ALIGN_SAFE,
    ALIGN_STRETCH,
    OVERFLOW_HIDDEN,
    UNIT_AUTO,
    UNIT_CONTENT,
    UNIT_MAX_CONTENT,
    UNIT_MIN_CONTENT,
    UNIT_PERCENT,
    UNIT_PX,
    UNIT_STRETCH,
)
from lanewise.desktop.layout.lengths import (
    across,
    boxed,
    clamp,
    content_size,
    is_block,
    main_axis,
    resolve,
    resolve_item,
    transferred,
    write_resolved,
)
from lanewise.desktop.layout.numbers import (
    INDEFINITE,
    INFINITE,
    ITEM_AUTO_MARGIN,
    ITEM_BASE_CONTENT,
    ITEM_BASE_DEFINITE,
    ITEM_LEAST_AUTO,
    ITEM_STRETCHES,
)
from lanewise.desktop.layout.structures import Answers, Item, LayoutTree, NodeStyle, NodeWork
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32


@device
def has_auto_margin(flags: u32, side: u32) -> bool:
    return (flags & (u32(ITEM_AUTO_MARGIN) << side)) != 0


@device
def item_alignment(container: Ptr[NodeStyle], style: Ptr[NodeStyle]) -> u32:
    """How a child is aligned across its line; ALIGN_STRETCH only if it is really stretched."""
    align = u32(style.align_self if style.align_self != ALIGN_AUTO else container.align_items)
    word = align & ~u32(ALIGN_SAFE)
    stretched = align == ALIGN_AUTO or word == ALIGN_STRETCH or is_block(container)
    return u32(ALIGN_STRETCH) if stretched else align


@device
def stretches(container: Ptr[NodeStyle], style: Ptr[NodeStyle], flags: u32, align: u32, axis: u32) -> bool:
    """Whether a child of this alignment is as large as its line, along the axis across it."""
    unit = style.size[axis].unit
    if unit == UNIT_STRETCH:
        return True
    free_to_move = has_auto_margin(flags, 2 * axis) or has_auto_margin(flags, 2 * axis + 1)
    return unit == UNIT_AUTO and (is_block(container) or (not free_to_move and align == ALIGN_STRETCH))


@device
def line_limit(style: Ptr[NodeStyle], item: Ptr[Item]) -> f32:
    """How long the lines of a child may get while its height is not known; it matters to columns that wrap."""
    if main_axis(style) == 0 or not wraps(style):
        return f32(INFINITE)
    return content_size(item, u32(1), max(item.most[1], item.least[1]))


@device
def height_limit(style: Ptr[NodeStyle], item: Ptr[Item]) -> f32:
    """What a child's content is measured in while its height is not known, but its width is.

    As in Chrome an aspect ratio gives a row a height that its children are stretched to before it grows with them.
    """
    if style.aspect_ratio > 0.0 and main_axis(style) == 0 and not wraps(style):
        return content_size(item, u32(1), across(style, item, u32(1), item.used[0]))
    return line_limit(style, item)


@device
def style_base(container: Ptr[NodeStyle], style: Ptr[NodeStyle], item: Ptr[Item], axis: u32, whole: f32) -> f32:
    """The flex base size that a style gives; INDEFINITE if it comes from the content."""
    filled = max(whole - item.margin[2 * axis] - item.margin[2 * axis + 1], item.frame[axis])
    if is_block(container) or style.flex_basis.unit == UNIT_AUTO:
        size = item.size[axis]
        return filled if size < 0.0 and style.size[axis].unit == UNIT_STRETCH and whole >= 0.0 else size
    if style.flex_basis.unit == UNIT_STRETCH and whole >= 0.0:
        return filled
    return boxed(style, item, axis, resolve(style.flex_basis, whole))


@device
def content_unit(container: Ptr[NodeStyle], style: Ptr[NodeStyle], axis: u32) -> u32:
    """By which of its content's sizes an item is sized whose flex base size comes from its content."""
    unit = style.flex_basis.unit
    if is_block(container) or unit == UNIT_AUTO:
        unit = style.size[axis].unit
    return u32(UNIT_CONTENT) if unit == UNIT_AUTO or unit == UNIT_PERCENT or unit == UNIT_PX else unit


@device
def least_is_auto(container: Ptr[NodeStyle], style: Ptr[NodeStyle], axis: u32) -> bool:
    """Whether an item's least size comes from its content: its style says none, and it does not scroll."""
    if is_block(container) or style.min_size[axis].unit != UNIT_AUTO:
        return False
    return style.overflow[0] < OVERFLOW_HIDDEN and style.overflow[1] < OVERFLOW_HIDDEN


@device
def stretched(item: Ptr[Item], axis: u32, room: f32) -> f32:
    """The size of an item that fills the room with its margins, within its limits."""
    size = max(room - item.margin[2 * axis] - item.margin[2 * axis + 1], 0.0)
    return clamp(size, item.least[axis], item.most[axis])


@device
def fitting(least: f32, room: f32, most: f32) -> f32:
    """fit-content: as wide as there is room, but no wider than the content wants to be nor narrower than it can."""
    return max(least, min(room, most))


@device
def content_width(style: Ptr[NodeStyle], item: Ptr[Item], answers: Ptr[Answers], room: f32) -> f32:
    """The width of a node that its content says, with this room for its border box; the widths have been asked for."""
    width = fitting(answers.least_width, room - item.edge[0], answers.most_width)
    if style.size[0].unit == UNIT_MIN_CONTENT:
        width = answers.least_width
    elif style.size[0].unit == UNIT_MAX_CONTENT:
        width = answers.most_width
    width = transferred(style, item, u32(0), width + item.edge[0])
    return clamp(width, item.least[0], item.most[0])


@device
def grows_with_content(tree: Ptr[LayoutTree], node: i32, axis: u32) -> bool:
    """Whether a size that the aspect ratio makes is no smaller than the content: nothing else is said, nor scrolled."""
    style = tree.styles + node
    if style.min_size[axis].unit != UNIT_AUTO or is_empty(tree, node):
        return False
    return style.overflow[0] < OVERFLOW_HIDDEN and style.overflow[1] < OVERFLOW_HIDDEN


@device
def content_height(style: Ptr[NodeStyle], item: Ptr[Item], content: f32) -> f32:
    """The height of a node whose width is known, from the height of its content and its aspect ratio, if it has one."""
    height = content + item.edge[1]
    if style.aspect_ratio > 0.0:
        height = max(across(style, item, u32(1), item.used[0]), height)
    return clamp(height, item.least[1], item.most[1])


@device
def auto_least(item: Ptr[Item], axis: u32, content: f32) -> f32:
    """The least size that is found from the content; a size that the style says, and the greatest, hold it down."""
    least = content
    if item.size[axis] >= 0.0:
        least = min(least, item.size[axis])
    return max(min(least, item.most[axis]), item.frame[axis])


@device
def narrowest(style: Ptr[NodeStyle], item: Ptr[Item], narrow: f32, by_ratio: f32) -> f32:
    """The least width that content makes. Where a known height makes one of the aspect ratio, it is no less than that.

    Where none does, the limits of the height hold for what the content makes.
    """
    content = narrow + item.edge[0]
    return max(content, by_ratio) if by_ratio >= 0.0 else transferred(style, item, u32(0), content)


@device
def begin_item(around: Ptr[NodeWork], container: Ptr[NodeStyle], style: Ptr[NodeStyle], item: Ptr[Item], axis: u32):
    """What is the same in rows and columns: what the style says, flags, and the flex base size if it says one."""
    height = percent_height(around)
    resolve_item(style, item, around.width, height)
    item.align = item_alignment(container, style)
    if stretches(container, style, item.flags, item.align, 1 - axis):
        item.flags |= ITEM_STRETCHES
    if least_is_auto(container, style, axis):
        item.flags |= ITEM_LEAST_AUTO
    item.base = style_base(container, style, item, axis, around.width if axis == 0 else height)
    item.flags |= u32(ITEM_BASE_DEFINITE if item.base >= 0.0 else ITEM_BASE_CONTENT)


@device
def write_item(item: Ptr[Item], found: Ptr[Item]):
    """Write what an item finds when it begins to find its base size."""
    write_resolved(item, found)
    item.align = found.align
    item.base = found.base
    item.used[0] = found.used[0]


@device
def percent_height(work: Ptr[NodeWork]) -> f32:
    """What percentages of a container's height are parts of."""
    height = work.height
    return height if work.definite != 0 else f32(INDEFINITE)
