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
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device
def has_auto_margin(flags: u32, side: u32) -> bool:
    return (flags & (u32(ITEM_AUTO_MARGIN) << side)) != 0


@device(inline=False)
def item_alignment(tree: Ptr[LayoutTree], node: i32, child: i32) -> u32:
    """How a child is aligned across its line; ALIGN_STRETCH only if it is really stretched."""
    if is_block(tree, node):
        return u32(ALIGN_STRETCH)
    align = u32((tree.styles + child).align_self)
    if align == ALIGN_AUTO:
        align = u32((tree.styles + node).align_items)
    if align == ALIGN_AUTO:
        align = u32(ALIGN_STRETCH)
    if (align & ~u32(ALIGN_SAFE)) == ALIGN_STRETCH:
        return u32(ALIGN_STRETCH)
    return align


@device
def stretches(tree: Ptr[LayoutTree], node: i32, child: i32) -> bool:
    """Whether a child is as large across as its line."""
    axis = 1 - main_axis(tree, node)
    style = tree.styles + child
    if style.size[axis].unit == UNIT_STRETCH:
        return True
    if style.size[axis].unit != UNIT_AUTO:
        return False
    if is_block(tree, node):
        return True
    flags = (tree.work + child).item.flags
    if has_auto_margin(flags, 2 * axis) or has_auto_margin(flags, 2 * axis + 1):
        return False
    return item_alignment(tree, node, child) == ALIGN_STRETCH


@device
def line_limit(tree: Ptr[LayoutTree], child: i32) -> f32:
    """How long the lines of a child may get while its height is not known; it matters to columns that wrap."""
    if main_axis(tree, child) == 0 or not wraps(tree, child):
        return f32(INFINITE)
    item = addressof((tree.work + child).item)
    return content_size(item, u32(1), max(item.most[1], item.least[1]))


@device(inline=False)
def style_base(tree: Ptr[LayoutTree], node: i32, child: i32, axis: u32, whole: f32) -> f32:
    """The flex base size that a style gives; INDEFINITE if it comes from the content."""
    style = tree.styles + child
    item = addressof((tree.work + child).item)
    if is_block(tree, node) or style.flex_basis.unit == UNIT_AUTO:
        size = item.size[axis]
        if size < 0.0 and style.size[axis].unit == UNIT_STRETCH and whole >= 0.0:
            size = max(whole - item.margin[2 * axis] - item.margin[2 * axis + 1], item.frame[axis])
        return size
    if style.flex_basis.unit == UNIT_STRETCH and whole >= 0.0:
        return max(whole - item.margin[2 * axis] - item.margin[2 * axis + 1], item.frame[axis])
    return boxed(style, item, axis, resolve(style.flex_basis, whole))


@device
def content_unit(tree: Ptr[LayoutTree], node: i32, child: i32, axis: u32) -> u32:
    """By which of its content's sizes an item is sized whose flex base size comes from its content."""
    style = tree.styles + child
    unit = style.flex_basis.unit
    if is_block(tree, node) or unit == UNIT_AUTO:
        unit = style.size[axis].unit
    return u32(UNIT_CONTENT) if unit == UNIT_AUTO or unit == UNIT_PERCENT or unit == UNIT_PX else unit


@device
def least_is_auto(tree: Ptr[LayoutTree], node: i32, child: i32, axis: u32) -> bool:
    """Whether an item's least size comes from its content: its style says none, and it does not scroll."""
    style = tree.styles + child
    if is_block(tree, node) or style.min_size[axis].unit != UNIT_AUTO:
        return False
    return style.overflow[0] < OVERFLOW_HIDDEN and style.overflow[1] < OVERFLOW_HIDDEN


@device
def stretched(tree: Ptr[LayoutTree], child: i32, axis: u32, room: f32) -> f32:
    """The size of an item that fills the room with its margins, within its limits."""
    item = addressof((tree.work + child).item)
    size = max(room - item.margin[2 * axis] - item.margin[2 * axis + 1], 0.0)
    return clamp(size, item.least[axis], item.most[axis])


@device
def fitting(least: f32, room: f32, most: f32) -> f32:
    """fit-content: as wide as there is room, but no wider than the content wants to be nor narrower than it can."""
    return max(least, min(room, most))


@device
def content_width(tree: Ptr[LayoutTree], node: i32, room: f32) -> f32:
    """The width of a node that its content says, with this room for its border box; the widths have been asked for."""
    style = tree.styles + node
    item = addressof((tree.work + node).item)
    answers = addressof((tree.work + node).answers)
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
def content_height(tree: Ptr[LayoutTree], node: i32, content: f32) -> f32:
    """The height of a node whose width is known, from the height of its content and its aspect ratio, if it has one."""
    style = tree.styles + node
    item = addressof((tree.work + node).item)
    height = content + item.edge[1]
    if style.aspect_ratio > 0.0:
        height = max(across(style, item, u32(1), item.used[0]), transferred(style, item, u32(1), height))
    return clamp(height, item.least[1], item.most[1])


@device
def auto_least(tree: Ptr[LayoutTree], child: i32, axis: u32, content: f32) -> f32:
    """The least size that is found from the content; a size that the style says, and the greatest, hold it down."""
    item = addressof((tree.work + child).item)
    least = transferred(tree.styles + child, item, axis, content)
    if item.size[axis] >= 0.0:
        least = min(least, item.size[axis])
    return max(min(least, item.most[axis]), item.frame[axis])


@device(inline=False)
def begin_item(tree: Ptr[LayoutTree], node: i32, child: i32, axis: u32):
    """What is the same in rows and columns: what the style says, flags, and the flex base size if it says one."""
    width = (tree.work + node).width
    height = percent_height(tree, node)
    resolve_item(tree, child, width, height)
    room = width if axis == 0 else height
    item = addressof((tree.work + child).item)
    item.align = item_alignment(tree, node, child)
    if stretches(tree, node, child):
        item.flags |= ITEM_STRETCHES
    if least_is_auto(tree, node, child, axis):
        item.flags |= ITEM_LEAST_AUTO
    item.base = style_base(tree, node, child, axis, room)
    item.flags |= u32(ITEM_BASE_DEFINITE if item.base >= 0.0 else ITEM_BASE_CONTENT)


@device
def percent_height(tree: Ptr[LayoutTree], node: i32) -> f32:
    """What percentages of a container's height are parts of."""
    work = tree.work + node
    return work.height if work.definite != 0 else f32(INDEFINITE)
