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
from lanewise.desktop.layout.items_order import first_item, next_item, outer, wraps
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
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device
def by_baseline(tree: Ptr[LayoutTree], child: i32, cross: u32) -> bool:
    """Whether an item takes part in aligning a line by its baselines."""
    item = addressof((tree.work + child).item)
    free_to_move = has_auto_margin(item.flags, 2 * cross) or has_auto_margin(item.flags, 2 * cross + 1)
    return item.align == ALIGN_BASELINE and not free_to_move


@device
def above_baseline(tree: Ptr[LayoutTree], child: i32, cross: u32) -> f32:
    """How much of an item is above its baseline; in a column the baseline is its left edge."""
    item = addressof((tree.work + child).item)
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
        size = outer(tree, child, axis)
        largest = max(largest, size)
        if by_baseline(tree, child, axis):
            high = above_baseline(tree, child, axis)
            above = max(above, high)
            below = max(below, size - high)
        child = next_item(tree, child)
    line = addressof((tree.work + first).item)
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
    """Put the items of a line in their places along it, and have them find the rest."""
    work = tree.work + node
    axis = main_axis(tree.styles + node)
    block = is_block(tree.styles + node)
    room = work.width if axis == 0 else work.height
    gap = resolve_or_zero((tree.styles + node).gap[axis], work.width if axis == 0 else percent_height(tree.work + node))
    count = (tree.work + first).item.line_count
    free = room - line_length(tree, first, axis, gap)
    autos = u32(0)
    child = first
    for _ in range(count):
        flags = (tree.work + child).item.flags
        autos += u32(has_auto_margin(flags, 2 * axis)) + u32(has_auto_margin(flags, 2 * axis + 1))
        child = next_item(tree, child)
    each = max(free, 0.0) / f32(autos) if autos > 0 and not block else f32(0)
    before = f32(0)
    between = f32(0)
    if (autos == 0 or free < 0.0) and not block:
        before, between = share(
            u32((tree.styles + node).justify_content), free, count, reversed_main(tree.styles + node)
        )
    far = from_far_side(tree.styles + node, axis)
    near_side = 2 * axis + (u32(1) if far else u32(0))
    far_side = 2 * axis + (u32(0) if far else u32(1))
    at = before
    child = first
    for _ in range(count):
        item = addressof((tree.work + child).item)
        if autos > 0:
            for side in range(2 * axis, 2 * axis + 2):
                if has_auto_margin(item.flags, side):
                    item.margin[side] = each
        at += item.margin[near_side]
        item.place[axis] = room - at - item.used[axis] if far else at
        at += item.used[axis] + item.margin[far_side] + gap + between
        item.line_first = first
        child = next_item(tree, child)


@device(inline=False)
def begin_place(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Errand: stretch to the line, find the place across it, and have the children laid out."""
    parent = parent_of(tree, node)
    axis = main_axis(tree.styles + parent)
    cross = 1 - axis
    item = addressof((tree.work + node).item)
    if (item.flags & ITEM_STRETCHES) != 0:
        item.used[cross] = stretched(item, cross, (tree.work + item.line_first).item.line_size)
    elif (item.flags & ITEM_FITS) != 0 and wraps(tree.styles + parent):
        room = (tree.work + item.line_first).item.line_size - item.margin[0] - item.margin[1]
        item.used[0] = content_width(tree.styles + node, item, (tree.work + node).answers, room)
    place_across(tree, parent, node)
    definite = definite_in_row(tree, node) if axis == 0 else definite_in_column(tree, parent, node)
    width = content_size(item, u32(0), item.used[0])
    return ask_layout(tree, node, width, content_size(item, u32(1), item.used[1]), definite, u32(PLACE_END))


@device
def place_across(tree: Ptr[LayoutTree], node: i32, child: i32):
    """Where in its line an item goes, and how far it is moved from there."""
    work = tree.work + node
    cross = 1 - main_axis(tree.styles + node)
    item = addressof((tree.work + child).item)
    line = addressof((tree.work + item.line_first).item)
    far = from_far_side(tree.styles + node, cross)
    near_side = 2 * cross + (u32(1) if far else u32(0))
    far_side = 2 * cross + (u32(0) if far else u32(1))
    free = line.line_size - outer(tree, child, cross)
    near_auto = has_auto_margin(item.flags, near_side)
    far_auto = has_auto_margin(item.flags, far_side)
    if near_auto or far_auto:
        spare = max(free, 0.0)
        if near_auto:
            item.margin[near_side] = spare / 2.0 if far_auto else spare
        if far_auto:
            item.margin[far_side] = spare / 2.0 if near_auto else spare
        free = min(free, 0.0)
    offset = f32(0)
    if by_baseline(tree, child, cross):
        high = above_baseline(tree, child, cross)
        offset = line.line_baseline - (outer(tree, child, cross) - high if far else high)
    elif not near_auto and not far_auto:
        align = own_direction(tree.styles + node, tree.styles + child, cross, item.align)
        offset = offset_of(align, free, reversed_cross(tree.styles + node))
    at = line.line_place + offset + item.margin[near_side]
    room = work.width if cross == 0 else work.height
    item.place[cross] = room - at - item.used[cross] if far else at
    nudge(tree, node, child)


@device
def nudge(tree: Ptr[LayoutTree], node: i32, child: i32):
    """How far its insets move an item; where both sides say something, the side that reading begins at does."""
    style = tree.styles + child
    item = addressof((tree.work + child).item)
    for axis in range(u32(2)):
        whole = (tree.work + node).width if axis == 0 else percent_height(tree.work + node)
        start = not is_auto(style.inset[2 * axis], whole)
        end = not is_auto(style.inset[2 * axis + 1], whole)
        item.nudge[axis] = 0.0
        if end and (not start or (axis == 0 and (tree.styles + node).direction == RTL)):
            item.nudge[axis] = -resolve_or_zero(style.inset[2 * axis + 1], whole)
        elif start:
            item.nudge[axis] = resolve_or_zero(style.inset[2 * axis], whole)
