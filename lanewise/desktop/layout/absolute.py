"""Absolute children: sized and placed in their parent's padding box, once that is known."""

from lanewise.desktop.layout.aligning import (
    alone,
    from_far_side,
    offset_of,
    own_direction,
    reversed_cross,
    reversed_main,
)
from lanewise.desktop.layout.asking import answered_height, ask_height, ask_layout, ask_widths, parent_of
from lanewise.desktop.layout.items import (
    content_height,
    content_width,
    grows_with_content,
    has_auto_margin,
    height_limit,
    item_alignment,
    line_limit,
)
from lanewise.desktop.layout.items_order import outer
from lanewise.desktop.layout.keywords import (
    ALIGN_AUTO,
    ALIGN_SAFE,
    ALIGN_STRETCH,
    BOTTOM,
    RTL,
    TOP,
    UNIT_FIT_CONTENT,
    UNIT_MAX_CONTENT,
    UNIT_MIN_CONTENT,
    UNIT_STRETCH,
)
from lanewise.desktop.layout.lengths import (
    across,
    clamp,
    content_size,
    is_auto,
    is_block,
    main_axis,
    resolve_item,
    resolve_or_zero,
)
from lanewise.desktop.layout.numbers import (
    ABSOLUTE_HEIGHT,
    ABSOLUTE_WIDTH,
    INDEFINITE,
    ITEM_BASE_DEFINITE,
    ITEM_NEEDS_HEIGHT,
    PLACE_END,
)
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device
def padding_box(tree: Ptr[LayoutTree], node: i32, axis: u32) -> f32:
    """The size of the box that absolute children lie in."""
    work = tree.work + node
    content = work.width if axis == 0 else work.height
    return content + work.item.padding[2 * axis] + work.item.padding[2 * axis + 1]


@device
def room_between(tree: Ptr[LayoutTree], node: i32, child: i32, axis: u32) -> f32:
    """What is left of the padding box between a child's insets and margins."""
    style = tree.styles + child
    item = addressof((tree.work + child).item)
    whole = padding_box(tree, node, axis)
    taken = resolve_or_zero(style.inset[2 * axis], whole) + resolve_or_zero(style.inset[2 * axis + 1], whole)
    return max(max(whole - taken, 0.0) - item.margin[2 * axis] - item.margin[2 * axis + 1], 0.0)


@device
def aligned_between(tree: Ptr[LayoutTree], child: i32) -> bool:
    """Whether a child says itself how it is aligned between its upper and lower inset."""
    align = (tree.styles + child).align_self
    return align != ALIGN_AUTO and align != ALIGN_STRETCH


@device
def held_between(tree: Ptr[LayoutTree], child: i32, axis: u32) -> bool:
    """Whether both insets of an axis say something, and with it the size: not if it is aligned between them, or has
    the size of its content."""
    style = tree.styles + child
    unit = style.size[axis].unit
    if unit == UNIT_MIN_CONTENT or unit == UNIT_MAX_CONTENT or unit == UNIT_FIT_CONTENT:
        return False
    if axis == 1 and aligned_between(tree, child):
        return False
    return not is_auto(style.inset[2 * axis], f32(0)) and not is_auto(style.inset[2 * axis + 1], f32(0))


@device
def limited(tree: Ptr[LayoutTree], child: i32, axis: u32, size: f32) -> f32:
    item = addressof((tree.work + child).item)
    return clamp(size, item.least[axis], item.most[axis])


@device
def said_size(tree: Ptr[LayoutTree], node: i32, child: i32, axis: u32) -> f32:
    """The size that a child's style says; INDEFINITE where it says none."""
    item = addressof((tree.work + child).item)
    if item.size[axis] >= 0.0:
        return limited(tree, child, axis, item.size[axis])
    if (tree.styles + child).size[axis].unit == UNIT_STRETCH:
        return limited(tree, child, axis, room_between(tree, node, child, axis))
    return f32(INDEFINITE)


@device(inline=False)
def begin_absolute(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Errand: the size and the place of an absolute child. First what the style and the insets say of its size."""
    parent = parent_of(tree, node)
    style = tree.styles + node
    item = addressof((tree.work + node).item)
    resolve_item(style, item, padding_box(tree, parent, u32(0)), padding_box(tree, parent, u32(1)))
    width = said_size(tree, parent, node, u32(0))
    height = said_size(tree, parent, node, u32(1))
    ratio = style.aspect_ratio > 0.0
    if width < 0.0:
        if ratio and height >= 0.0:
            width = limited(tree, node, u32(0), across(style, item, u32(0), height))
        elif held_between(tree, node, u32(0)):
            width = limited(tree, node, u32(0), room_between(tree, parent, node, u32(0)))
    if height < 0.0:
        if ratio and width >= 0.0 and not grows_with_content(tree, node, u32(1)):
            height = limited(tree, node, u32(1), across(style, item, u32(1), width))
        elif held_between(tree, node, u32(1)) and not (ratio and width >= 0.0):
            height = limited(tree, node, u32(1), room_between(tree, parent, node, u32(1)))
            if ratio:
                width = limited(tree, node, u32(0), across(style, item, u32(0), height))
    item.used[0] = width
    item.used[1] = height
    if width >= 0.0:
        return find_absolute_width(tree, node)
    return ask_widths(
        tree, node, content_size(item, u32(1), height), line_limit(tree.styles + node, item), u32(ABSOLUTE_WIDTH)
    )


@device(inline=False)
def find_absolute_width(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The widths of the content are known where they matter."""
    style = tree.styles + node
    item = addressof((tree.work + node).item)
    if item.used[0] < 0.0:
        item.used[0] = content_width(
            style, item, (tree.work + node).answers, room_between(tree, parent_of(tree, node), node, u32(0))
        )
        if item.used[1] < 0.0 and style.aspect_ratio > 0.0 and not grows_with_content(tree, node, u32(1)):
            item.used[1] = limited(tree, node, u32(1), across(style, item, u32(1), item.used[0]))
    if item.used[1] >= 0.0:
        item.flags |= ITEM_BASE_DEFINITE
        return find_absolute_height(tree, node)
    item.flags |= ITEM_NEEDS_HEIGHT
    width = content_size(item, u32(0), item.used[0])
    return ask_height(tree, node, width, height_limit(tree.styles + node, item), u32(ABSOLUTE_HEIGHT))


@device(inline=False)
def find_absolute_height(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The size is known: find the place, and have the children laid out."""
    parent = parent_of(tree, node)
    item = addressof((tree.work + node).item)
    width = content_size(item, u32(0), item.used[0])
    if (item.flags & ITEM_NEEDS_HEIGHT) != 0:
        content = answered_height(tree, node, width, height_limit(tree.styles + node, item))
        item.used[1] = content_height(tree.styles + node, item, content)
    place_absolute(tree, parent, node, u32(0))
    place_absolute(tree, parent, node, u32(1))
    definite = u32(1) if (item.flags & ITEM_BASE_DEFINITE) != 0 else u32(0)
    return ask_layout(tree, node, width, content_size(item, u32(1), item.used[1]), definite, u32(PLACE_END))


@device(inline=False)
def place_absolute(tree: Ptr[LayoutTree], node: i32, child: i32, axis: u32):
    """Where along an axis an absolute child lies, seen from its parent's content box."""
    work = tree.work + node
    style = tree.styles + child
    item = addressof((tree.work + child).item)
    whole = padding_box(tree, node, axis)
    start, end = 2 * axis, 2 * axis + 1
    from_start = not is_auto(style.inset[start], whole)
    from_end = not is_auto(style.inset[end], whole)
    size = item.used[axis]
    if from_start and from_end:
        first = has_auto_margin(item.flags, start)
        last = has_auto_margin(item.flags, end)
        backward = axis == 0 and (tree.styles + node).direction == RTL
        taken = resolve_or_zero(style.inset[start], whole) + resolve_or_zero(style.inset[end], whole)
        free = max(whole - taken, 0.0) - size - item.margin[start] - item.margin[end]
        part = f32(0.5)
        if axis == 0 and free < 0.0:  # what is too wide overflows at its end
            part = f32(1) if backward else f32(0)
        if first:
            item.margin[start] = free * part if last else free
        if last:
            item.margin[end] = free * (1.0 - part) if first else free
        if axis == 1 and not first and not last and style.align_self != ALIGN_AUTO:
            item.place[1] = aligned_place(tree, node, child) + item.margin[start] - work.item.padding[start]
            item.nudge[1] = 0.0
            return
        # Where too much is said, the side that reading begins at holds.
        from_start = not backward
    if from_start:
        item.place[axis] = resolve_or_zero(style.inset[start], whole) + item.margin[start] - work.item.padding[start]
    elif from_end:
        at = whole - resolve_or_zero(style.inset[end], whole) - item.margin[end] - size
        item.place[axis] = at - work.item.padding[start]
    else:
        item.place[axis] = static_place(tree, node, child, axis)
    item.nudge[axis] = 0.0


@device
def aligned_place(tree: Ptr[LayoutTree], node: i32, child: i32) -> f32:
    """Where a child that says how it is aligned between its upper and lower inset begins, margins included.

    If it is too large for the room between them, it stays within its parent's padding box or, too large for that as
    well, begins with it: the insets count as part of that box where they reach beyond it.
    """
    style = tree.styles + child
    item = addressof((tree.work + child).item)
    whole = padding_box(tree, node, u32(1))
    size = outer(item, u32(1))
    first = resolve_or_zero(style.inset[TOP], whole)
    last = whole - resolve_or_zero(style.inset[BOTTOM], whole)
    align = own_direction(tree.styles + node, style, u32(1), u32(style.align_self))
    last = max(last, first)  # insets that cross hold nothing, where the first one ends
    at = first + offset_of(align, last - first - size, False)
    if (align & ALIGN_SAFE) != 0 and last - first < size:
        return at
    return max(min(at, max(last, whole) - size), min(first, 0.0))


@device
def static_place(tree: Ptr[LayoutTree], node: i32, child: i32, axis: u32) -> f32:
    """Where along an axis a child would lie as the only item of its container."""
    work = tree.work + node
    item = addressof((tree.work + child).item)
    room = work.width if axis == 0 else work.height
    start, end = 2 * axis, 2 * axis + 1
    free = room - item.used[axis] - item.margin[start] - item.margin[end]
    offset = f32(0)
    if not is_block(tree.styles + node):
        if axis == main_axis(tree.styles + node):
            offset = offset_of(
                alone(u32((tree.styles + node).justify_content)), free, reversed_main(tree.styles + node)
            )
        else:
            align = own_direction(
                tree.styles + node, tree.styles + child, axis, item_alignment(tree.styles + node, tree.styles + child)
            )
            offset = offset_of(align, free, reversed_cross(tree.styles + node))
    if from_far_side(tree.styles + node, axis):
        return room - offset - item.margin[end] - item.used[axis]
    return offset + item.margin[start]
