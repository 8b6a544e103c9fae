"""Balanced lines: as few as fit, or as many as are asked for, with the free space spread as evenly as can be.

Of all ways to break lines the one with the least sum of squares of free space is taken, and of equals the one that has
the most items in its first lines. Scores are f64, so that ways that are equally good are equal to the last bit.
"""

from lanewise.desktop.layout.items_order import first_item, next_item, outer
from lanewise.desktop.layout.keywords import BALANCE, BALANCE_REVERSE, NO_NODE
from lanewise.desktop.layout.lengths import is_block
from lanewise.desktop.layout.numbers import INFINITE
from lanewise.desktop.layout.structures import LayoutTree, NodeStyle
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, f64, i32, u32
from lanewise.lang.vocabulary import addressof

UNIT = 1 / 64
"""The step in which limits are tried: what browsers measure in."""
WORST = 1e300


@device
def balances(style: Ptr[NodeStyle]) -> bool:
    wrap = style.flex_wrap
    return not is_block(style) and (wrap == BALANCE or wrap == BALANCE_REVERSE)


@device(inline=False)
def wanted_lines(tree: Ptr[LayoutTree], node: i32) -> u32:
    """How many lines a container must have at least; no more than it has items."""
    if not balances(tree.styles + node):
        return u32(1)
    wanted = (tree.styles + node).line_count
    items = u32(0)
    child = first_item(tree, node)
    while child != NO_NODE and items < wanted:
        items += 1
        child = next_item(tree, child)
    return max(items, 1)


@device(inline=False)
def greedy_count(tree: Ptr[LayoutTree], node: i32, limit: f32, gap: f32) -> u32:
    """How many lines there are if each takes what fits. The weight of an item is its size here."""
    lines = u32(0)
    length = f32(0)
    child = first_item(tree, node)
    while child != NO_NODE:
        size = (tree.work + child).item.weight
        if lines == 0 or length + gap + size > limit:
            lines += 1
            length = size
        else:
            length += gap + size
        child = next_item(tree, child)
    return lines


@device(inline=False)
def narrower_limit(tree: Ptr[LayoutTree], node: i32, limit: f32, gap: f32, wanted: u32) -> f32:
    """The least limit at which what fits makes no more lines than are wanted."""
    total = f32(0)
    child = first_item(tree, node)
    while child != NO_NODE:
        total += (tree.work + child).item.weight + gap
        child = next_item(tree, child)
    low = u32(0)
    high = u32(min(limit, total) / f32(UNIT)) + 1
    while low < high:
        middle = low + (high - low) // 2
        if greedy_count(tree, node, f32(middle) * f32(UNIT), gap) > wanted:
            low = middle + 1
        else:
            high = middle
    return f32(high) * f32(UNIT)


@device(inline=False)
def break_full_lines(tree: Ptr[LayoutTree], node: i32, limit: f32, gap: f32, wanted: u32):
    """Where items of one size go from too few lines to too many: those that just fit no longer do, the last first."""
    rounds = wanted
    while rounds > 0 and greedy_count(tree, node, limit, gap) < wanted:
        rounds -= 1
        last = i32(NO_NODE)
        count = 0
        length = f32(0)
        child = first_item(tree, node)
        while child != NO_NODE:
            size = (tree.work + child).item.weight
            if count == 0 or length + gap + size > limit:
                count = 0
                length = size
            else:
                length += gap + size
                if length == limit:
                    last = child
            count += 1
            child = next_item(tree, child)
        if last == NO_NODE:
            return
        (tree.work + last).item.weight += f32(UNIT)


@device(inline=False)
def break_balanced(tree: Ptr[LayoutTree], node: i32, axis: u32, limit: f32, gap: f32) -> u32:
    """Put items into balanced lines; gives how many lines there are."""
    child = first_item(tree, node)
    if child == NO_NODE:
        return u32(0)
    while child != NO_NODE:
        item = addressof((tree.work + child).item)
        item.weight = max(outer(item, axis), 0.0)
        item.score = WORST
        child = next_item(tree, child)
    wanted = wanted_lines(tree, node)
    if greedy_count(tree, node, limit, gap) < wanted:
        limit = narrower_limit(tree, node, limit, gap, wanted)
        break_full_lines(tree, node, limit, gap, wanted)
    if limit == INFINITE:
        first = first_item(tree, node)
        (tree.work + first).item.line_before = NO_NODE
        return link_lines(tree, first)
    return link_lines(tree, best_breaks(tree, node, limit, gap))


@device(inline=False)
def best_breaks(tree: Ptr[LayoutTree], node: i32, limit: f32, gap: f32) -> i32:
    """Find for each item the best beginning of the line before it; gives the beginning of the last line."""
    last = i32(NO_NODE)
    best = f64(WORST)
    start = first_item(tree, node)
    (tree.work + start).item.score = 0.0
    (tree.work + start).item.line_before = NO_NODE
    while start != NO_NODE:
        begun = (tree.work + start).item.score
        length = f32(0)
        end = start
        while end != NO_NODE:
            size = (tree.work + end).item.weight
            length = size if end == start else length + gap + size
            if length > limit and end != start:
                break
            free = f64(max(limit - length, 0.0))
            score = begun + free * free
            end = next_item(tree, end)
            if end == NO_NODE:
                if score <= best:
                    best = score
                    last = start
            elif score <= (tree.work + end).item.score:
                (tree.work + end).item.score = score
                (tree.work + end).item.line_before = start
        start = next_item(tree, start)
    return last


@device(inline=False)
def link_lines(tree: Ptr[LayoutTree], last: i32) -> u32:
    """Write the lines that the best breaks make, from the last back to the first."""
    lines = u32(0)
    following = i32(NO_NODE)
    first = last
    while first != NO_NODE:
        line = addressof((tree.work + first).item)
        line.line_end = following
        line.line_count = 0
        child = first
        while child != following:
            line.line_count += 1
            child = next_item(tree, child)
        lines += 1
        following = first
        first = line.line_before
    return lines
