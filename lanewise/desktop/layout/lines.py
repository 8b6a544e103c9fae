"""Lines of a flex container: which items they have, and how free space is shared among the items (section 9.7)."""

from lanewise.desktop.layout.balance import balances, break_balanced
from lanewise.desktop.layout.items_order import first_item, next_item, outer, wraps
from lanewise.desktop.layout.keywords import NO_NODE
from lanewise.desktop.layout.lengths import clamp
from lanewise.desktop.layout.numbers import INFINITE, ITEM_FROZEN, ITEM_HIGH, ITEM_LOW
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof

SMALL = 1 / 64
"""Free space below this comes of rounding, and makes no item wrap."""


@device(inline=False)
def break_lines(tree: Ptr[LayoutTree], node: i32, axis: u32, limit: f32, gap: f32) -> u32:
    """Put items into lines no longer than a limit, if that can be; gives how many lines there are.

    The first item of each line says how many it has and where the next one begins.
    """
    if balances(tree.styles + node):
        return break_balanced(tree, node, axis, limit, gap)
    several = wraps(tree.styles + node) and limit < INFINITE
    lines = u32(0)
    first = i32(NO_NODE)
    length = f32(0)
    child = first_item(tree, node)
    while child != NO_NODE:
        size = outer(tree, child, axis)
        if first == NO_NODE or (several and length + gap + size > limit + SMALL):
            if first != NO_NODE:
                (tree.work + first).item.line_end = child
            first = child
            (tree.work + first).item.line_count = 0
            lines += 1
            length = size
        else:
            length += gap + size
        (tree.work + first).item.line_count += 1
        child = next_item(tree, child)
    if first != NO_NODE:
        (tree.work + first).item.line_end = NO_NODE
    return lines


@device(inline=False)
def line_length(tree: Ptr[LayoutTree], first: i32, axis: u32, gap: f32) -> f32:
    """How long a line is: its items with their margins, and the gaps between them."""
    length = f32(0)
    child = first
    count = (tree.work + first).item.line_count
    for index in range(count):
        length += outer(tree, child, axis)
        if index > 0:
            length += gap
        child = next_item(tree, child)
    return length


@device
def longest_line(tree: Ptr[LayoutTree], node: i32, lines: u32, axis: u32, gap: f32) -> f32:
    """The length of the longest of a container's lines."""
    longest = f32(0)
    first = first_item(tree, node)
    for _ in range(lines):
        longest = max(longest, line_length(tree, first, axis, gap))
        first = (tree.work + first).item.line_end
    return longest


@device(inline=False)
def flex_line(tree: Ptr[LayoutTree], first: i32, axis: u32, room: f32, gap: f32):
    """Grow or shrink the items of a line so that it is as long as the room, where they may."""
    work = tree.work
    count = (work + first).item.line_count
    room -= f32(count - 1) * gap
    grows = line_length(tree, first, axis, f32(0)) < room
    flexible = u32(0)
    free = room
    child = first
    for _ in range(count):
        style = tree.styles + child
        item = addressof((work + child).item)
        factor = style.flex_grow if grows else style.flex_shrink
        margins = item.margin[2 * axis] + item.margin[2 * axis + 1]
        if factor == 0.0 or (item.base > item.used[axis] if grows else item.base < item.used[axis]):
            item.flags |= ITEM_FROZEN
            free -= item.used[axis] + margins
        else:
            item.flags &= ~u32(ITEM_FROZEN)
            flexible += 1
            free -= item.base + margins
        child = next_item(tree, child)
    at_first = free
    for _ in range(count):  # every round freezes an item or more
        if flexible == 0:
            break
        free = room
        factors = f32(0)
        weighted = f32(0)
        child = first
        for _ in range(count):
            style = tree.styles + child
            item = addressof((work + child).item)
            free -= item.margin[2 * axis] + item.margin[2 * axis + 1]
            if (item.flags & ITEM_FROZEN) != 0:
                free -= item.used[axis]
            else:
                free -= item.base
                factors += style.flex_grow if grows else style.flex_shrink
                weighted += style.flex_shrink * max(item.base - item.frame[axis], 0.0)
            child = next_item(tree, child)
        if factors < 1.0 and abs(at_first * factors) < abs(free):
            free = at_first * factors
        violation = f32(0)
        child = first
        for _ in range(count):
            style = tree.styles + child
            item = addressof((work + child).item)
            if (item.flags & ITEM_FROZEN) == 0:
                target = item.base
                if grows:
                    if factors > 0.0:
                        target += free * (style.flex_grow / factors)
                elif weighted > 0.0:
                    target += free * (style.flex_shrink * max(item.base - item.frame[axis], 0.0) / weighted)
                held = clamp(target, item.least[axis], item.most[axis])
                item.flags &= ~u32(ITEM_LOW | ITEM_HIGH)
                if held > target:
                    item.flags |= ITEM_LOW
                elif held < target:
                    item.flags |= ITEM_HIGH
                violation += held - target
                item.used[axis] = held
            child = next_item(tree, child)
        child = first
        for _ in range(count):
            item = addressof((work + child).item)
            if (item.flags & ITEM_FROZEN) == 0:
                low = (item.flags & ITEM_LOW) != 0
                high = (item.flags & ITEM_HIGH) != 0
                if violation == 0.0 or (violation > 0.0 and low) or (violation < 0.0 and high):
                    item.flags |= ITEM_FROZEN
                    flexible -= 1
            child = next_item(tree, child)
