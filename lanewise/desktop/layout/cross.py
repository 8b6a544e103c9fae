"""The questions HEIGHT and LAYOUT, second half: sizes across the lines, and where items go (section 9.4 to 9.6)."""

from lanewise.desktop.layout.aligning import (
    from_far_side,
    offset_of,
    own_direction,
    reversed_cross,
    reversed_main,
    share,
)
from lanewise.desktop.layout.asking import after, answer_height, ask_layout, parent_of
from lanewise.desktop.layout.columns import definite_in_column
from lanewise.desktop.layout.items import content_width, has_auto_margin, percent_height, stretched
from lanewise.desktop.layout.items_order import first_item, item_of, next_item, outer, wraps
from lanewise.desktop.layout.keywords import (
    ALIGN_AUTO,
    ALIGN_BASELINE,
    ALIGN_STRETCH,
    NO_NODE,
    RTL,
)
from lanewise.desktop.layout.lengths import content_size, is_auto, is_block, main_axis, resolve_or_zero
from lanewise.desktop.layout.lines import line_length
from lanewise.desktop.layout.numbers import FLOW_END, HEIGHT, ITEM_FITS, ITEM_STRETCHES, PLACE, PLACE_END
from lanewise.desktop.layout.rows import definite_in_row
from lanewise.desktop.layout.structures import Item, LayoutTree, Length, NodeStyle, NodeWork
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device
def by_baseline(item: Ptr[Item], cross: u32) -> bool:
    """Whether an item takes part in aligning a line by its baselines."""
    align, flags = item.align, item.flags
    free_to_move = has_auto_margin(flags, 2 * cross) or has_auto_margin(flags, 2 * cross + 1)
    return align == ALIGN_BASELINE and not free_to_move


@device
def above_baseline(item: Ptr[Item], cross: u32) -> f32:
    """How much of an item is above its baseline; in a column the baseline is its left edge."""
    return item.margin[2] + item.baseline if cross == 1 else item.margin[0]


@device(inline=False)
def measure_line(tree: Ptr[LayoutTree], node: i32, first: i32):
    """How large a line is across: as the largest of its items, those aligned by their baselines taken together."""
    axis = 1 - main_axis(tree.styles + node)
    largest = f32(0)
    above = f32(-1e30)
    below = f32(-1e30)
    child = first
    for _ in range((tree.work + first).item.line_count):
        item = item_of(tree, child)
        size = outer(item, axis)
        aligned = by_baseline(item, axis)
        child = next_item(tree, child)
        largest = max(largest, size)
        if aligned:
            high = above_baseline(item, axis)
            above = max(above, high)
            below = max(below, size - high)
    line = item_of(tree, first)
    line.line_baseline = below if from_far_side(tree.styles + node, axis) else above
    line.line_size = max(largest, above + below)


@device(inline=False)
def find_lines(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Lines across: their sizes give the height that was asked for, or they and their items are put in their places."""
    work = tree.work + node
    style = tree.styles + node
    axis = main_axis(tree.styles + node)
    cross = 1 - axis
    room = work.width if cross == 0 else work.height
    gap = resolve_or_zero(style.gap[cross], work.width if cross == 0 else percent_height(tree.work + node))
    total = f32(0)
    lines = u32(0)
    first = first_item(tree, node)
    while first != NO_NODE:
        measure_line(tree, node, first)
        total += (tree.work + first).item.line_size
        lines += 1
        first = (tree.work + first).item.line_end
    if lines > 1:
        total += gap * f32(lines - 1)
    if work.question == HEIGHT:
        return answer_height(tree, node, total)
    place_lines(tree, node, cross, room, gap, total, lines)
    first = first_item(tree, node)
    while first != NO_NODE:
        place_line(tree, node, first)
        first = (tree.work + first).item.line_end
    return after(u32(FLOW_END), u32(PLACE))


@device
def place_lines(tree: Ptr[LayoutTree], node: i32, cross: u32, room: f32, gap: f32, total: f32, lines: u32):
    """Where lines begin, from the beginning of the axis across; a single line that cannot wrap has all the room."""
    style = tree.styles + node
    first = first_item(tree, node)
    if not wraps(tree.styles + node):
        if first != NO_NODE:
            (tree.work + first).item.line_size = room
            (tree.work + first).item.line_place = 0.0
        return
    free = room - total
    align = u32(style.align_content)
    before = f32(0)
    between = f32(0)
    more = f32(0)
    if align == ALIGN_AUTO or align == ALIGN_STRETCH:
        more = max(free, 0.0) / f32(max(lines, 1))
    else:
        before, between = share(align, free, lines, reversed_cross(tree.styles + node))
    at = before
    while first != NO_NODE:
        line = addressof((tree.work + first).item)
        line.line_size += more
        line.line_place = at
        at += line.line_size + gap + between
        first = line.line_end


@device(inline=False)
def place_line(tree: Ptr[LayoutTree], node: i32, first: i32):
    """Put the items of a line in their places along it."""
    around = tree.work + node
    work = tree.work
    style: NodeStyle
    style = (tree.styles + node)[0]
    axis = main_axis(style)
    block = is_block(style)
    room = around.width if axis == 0 else around.height
    column_gap = resolve_or_zero(style.gap[0], around.width)
    gap = column_gap if axis == 0 else resolve_or_zero(style.gap[1], percent_height(around))
    count = (work + first).item.line_count
    free = room - line_length(tree, first, axis, gap)
    autos = u32(0)
    child = first
    for _ in range(count):
        flags = (work + child).item.flags
        autos += u32(has_auto_margin(flags, 2 * axis)) + u32(has_auto_margin(flags, 2 * axis + 1))
        child = (work + child).next_item
    each = max(free, 0.0) / f32(autos) if autos > 0 and not block else f32(0)
    before = f32(0)
    between = f32(0)
    if (autos == 0 or free < 0.0) and not block:
        before, between = share(u32(style.justify_content), free, count, reversed_main(style))
    far = from_far_side(style, axis)
    at = before
    child = first
    for _ in range(count):
        item = addressof((work + child).item)
        low, high, used, flags = item.margin[2 * axis], item.margin[2 * axis + 1], item.used[axis], item.flags
        child = (work + child).next_item
        if has_auto_margin(flags, 2 * axis):
            low = each
            item.margin[2 * axis] = each
        if has_auto_margin(flags, 2 * axis + 1):
            high = each
            item.margin[2 * axis + 1] = each
        at += high if far else low
        item.place[axis] = room - at - used if far else at
        at += used + (low if far else high) + gap + between
        item.line_first = first


@device(inline=False)
def begin_place(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Errand: stretch to the line, find the place across it, and have the children laid out."""
    parent = parent_of(tree, node)
    if main_axis(tree.styles + parent) == 0:
        return place_across(tree, parent, node, u32(1))
    return place_across(tree, parent, node, u32(0))


@device
def place_across(tree: Ptr[LayoutTree], parent: i32, node: i32, cross: u32) -> u32:
    """Where in its line an item goes, and how far it is moved from there. The axis is a constant: it is a choice of
    registers."""
    around: NodeWork
    around = (tree.work + parent)[0]
    container: NodeStyle
    container = (tree.styles + parent)[0]
    style: NodeStyle
    style = (tree.styles + node)[0]
    work: NodeWork
    work = (tree.work + node)[0]
    item = addressof(work.item)
    line: Item
    line = (tree.work + item.line_first).item
    if (item.flags & ITEM_STRETCHES) != 0:
        item.used[cross] = stretched(item, cross, line.line_size)
    elif cross == 0 and (item.flags & ITEM_FITS) != 0 and wraps(container):
        item.used[0] = content_width(style, item, work.answers, line.line_size - item.margin[0] - item.margin[1])
    far = from_far_side(container, cross)
    near_margin = item.margin[2 * cross + 1] if far else item.margin[2 * cross]
    far_margin = item.margin[2 * cross] if far else item.margin[2 * cross + 1]
    low_auto = has_auto_margin(item.flags, 2 * cross)
    high_auto = has_auto_margin(item.flags, 2 * cross + 1)
    near_auto = high_auto if far else low_auto
    far_auto = low_auto if far else high_auto
    size = outer(item, cross)
    free = line.line_size - size
    if near_auto or far_auto:
        spare = max(free, 0.0)
        if near_auto:
            near_margin = spare / 2.0 if far_auto else spare
        if far_auto:
            far_margin = spare / 2.0 if near_auto else spare
        free = min(free, 0.0)
    offset = f32(0)
    if by_baseline(item, cross):
        high = above_baseline(item, cross)
        offset = line.line_baseline - (size - high if far else high)
    elif not near_auto and not far_auto:
        align = own_direction(container, style, cross, item.align)
        offset = offset_of(align, free, reversed_cross(container))
    at = line.line_place + offset + near_margin
    room = around.width if cross == 0 else around.height
    kept = item_of(tree, node)
    kept.used[cross] = item.used[cross]
    kept.margin[2 * cross] = far_margin if far else near_margin
    kept.margin[2 * cross + 1] = near_margin if far else far_margin
    kept.place[cross] = room - at - item.used[cross] if far else at
    backward = container.direction == RTL
    kept.nudge[0] = nudge(style.inset[0], style.inset[1], around.width, backward)
    kept.nudge[1] = nudge(style.inset[2], style.inset[3], percent_height(around), False)
    definite = definite_in_row(style, item) if cross == 1 else definite_in_column(around, container, item)
    width = content_size(item, u32(0), item.used[0])
    return ask_layout(tree, node, width, content_size(item, u32(1), item.used[1]), definite, u32(PLACE_END))


@device
def nudge(start: Ptr[Length], end: Ptr[Length], whole: f32, backward: bool) -> f32:
    """How far its insets move an item; where both sides say something, the side that reading begins at does."""
    from_start = not is_auto(start, whole)
    from_end = not is_auto(end, whole)
    if from_end and (not from_start or backward):
        return -resolve_or_zero(end, whole)
    return resolve_or_zero(start, whole) if from_start else f32(0)
