"""Lines of a flex container: which items they have, and how free space is shared among the items (section 9.7)."""

from lanewise.desktop.layout.balance import balances, break_balanced
from lanewise.desktop.layout.items_order import first_item, item_of, next_item, outer, wraps
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
    work = tree.work
    child = first_item(tree, node)
    if child == NO_NODE:
        return u32(0)
    if balances(tree.styles + node):
        return break_balanced(tree, node, axis, limit, gap)
    if not wraps(tree.styles + node) or limit == INFINITE:
        (work + child).item.line_count = (work + node).item_count
        (work + child).item.line_end = NO_NODE
        return u32(1)
    lines = u32(0)
    first = child
    count = u32(0)
    length = f32(0)
    while child != NO_NODE:
        size = outer(addressof((work + child).item), axis)
        if count == 0 or length + gap + size > limit + SMALL:
            if count > 0:
                (work + first).item.line_end = child
                (work + first).item.line_count = count
            first = child
            count = u32(0)
            lines += 1
            length = size
        else:
            length += gap + size
        count += 1
        child = (work + child).next_item
    (work + first).item.line_end = NO_NODE
    (work + first).item.line_count = count
    return lines


@device(inline=False)
def line_length(tree: Ptr[LayoutTree], first: i32, axis: u32, gap: f32) -> f32:
    """How long a line is: its items with their margins, and the gaps between them."""
    length = f32(0)
    child = first
    count = (tree.work + first).item.line_count
    for index in range(count):
        length += outer(item_of(tree, child), axis)
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
    styles = tree.styles
    count = (work + first).item.line_count
    room -= f32(count - 1) * gap
    grows = line_length(tree, first, axis, f32(0)) < room
    flexible = u32(0)
    free = room
    child = first
    for _ in range(count):
        item = addressof((work + child).item)
        grow, shrink = (styles + child).flex_grow, (styles + child).flex_shrink
        margins = item.margin[2 * axis] + item.margin[2 * axis + 1]
        base, used, flags = item.base, item.used[axis], item.flags
        child = (work + child).next_item
        factor = grow if grows else shrink
        if factor == 0.0 or (base > used if grows else base < used):
            item.flags = flags | ITEM_FROZEN
            free -= used + margins
        else:
            item.flags = flags & ~u32(ITEM_FROZEN)
            flexible += 1
            free -= base + margins
    at_first = free
    for _ in range(count):  # every round freezes an item or more
        if flexible == 0:
            break
        free = room
        factors = f32(0)
        weighted = f32(0)
        child = first
        for _ in range(count):
            item = addressof((work + child).item)
            grow, shrink = (styles + child).flex_grow, (styles + child).flex_shrink
            margins = item.margin[2 * axis] + item.margin[2 * axis + 1]
            base, used, frame, flags = item.base, item.used[axis], item.frame[axis], item.flags
            child = (work + child).next_item
            free -= margins
            if (flags & ITEM_FROZEN) != 0:
                free -= used
            else:
                free -= base
                factors += grow if grows else shrink
                weighted += shrink * max(base - frame, 0.0)
        if factors < 1.0 and abs(at_first * factors) < abs(free):
            free = at_first * factors
        violation = f32(0)
        child = first
        for _ in range(count):
            item = addressof((work + child).item)
            grow, shrink = (styles + child).flex_grow, (styles + child).flex_shrink
            base, frame, flags = item.base, item.frame[axis], item.flags
            least, most = item.least[axis], item.most[axis]
            child = (work + child).next_item
            if (flags & ITEM_FROZEN) == 0:
                target = base
                if grows:
                    if factors > 0.0:
                        target += free * (grow / factors)
                elif weighted > 0.0:
                    target += free * (shrink * max(base - frame, 0.0) / weighted)
                held = clamp(target, least, most)
                flags &= ~u32(ITEM_LOW | ITEM_HIGH)
                if held > target:
                    flags |= ITEM_LOW
                elif held < target:
                    flags |= ITEM_HIGH
                violation += held - target
                item.flags = flags
                item.used[axis] = held
        if violation == 0.0:  # all are frozen now
            break
        wrong = u32(ITEM_LOW if violation > 0.0 else ITEM_HIGH if violation < 0.0 else 0)
        child = first
        for _ in range(count):
            item = addressof((work + child).item)
            flags = item.flags
            child = (work + child).next_item
            if (flags & ITEM_FROZEN) == 0 and (flags & wrong) != 0:
                item.flags = flags | ITEM_FROZEN
                flexible -= 1
