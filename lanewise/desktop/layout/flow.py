"""The questions HEIGHT and LAYOUT, first half: how large items are along the main axis (section 9.2 to 9.7)."""

from lanewise.desktop.layout.asking import answer_height, answered_height, ask_height, ask_layout, ask_widths
from lanewise.desktop.layout.items import (
    content_unit,
    fitting,
    item_alignment,
    least_is_auto,
    line_limit,
    percent_height,
    stretched,
    stretches,
    style_base,
)
from lanewise.desktop.layout.keywords import (
    ALIGN_BASELINE,
    NO_NODE,
    UNIT_FIT_CONTENT,
    UNIT_MAX_CONTENT,
    UNIT_MIN_CONTENT,
)
from lanewise.desktop.layout.lengths import (
    across,
    clamp,
    content_size,
    main_axis,
    resolve_item,
    resolve_or_zero,
    transferred,
)
from lanewise.desktop.layout.lines import break_lines, first_item, flex_line, line_length, next_item, wraps
from lanewise.desktop.layout.numbers import (
    FLOW_BASES,
    FLOW_CROSS,
    FLOW_LINES,
    FLOW_WIDTHS,
    HEIGHT,
    INDEFINITE,
    ITEM_BASE_CONTENT,
    ITEM_BASE_DEFINITE,
    ITEM_LEAST_AUTO,
    ITEM_NEEDS_CROSS,
    ITEM_STRETCHES,
)
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device(inline=False)
def begin_flow(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Read the items' styles, and ask for the widths of those whose width comes from their content."""
    work = tree.work + node
    axis = main_axis(tree, node)
    whole = percent_height(tree, node)
    child = first_item(tree, node)
    while child != NO_NODE:
        resolve_item(tree, child, work.width, whole)
        if axis == 0:
            begin_row_item(tree, node, child, whole)
        else:
            begin_column_item(tree, node, child, whole)
        child = next_item(tree, child)
    return u32(FLOW_WIDTHS)


@device
def begin_item(tree: Ptr[LayoutTree], node: i32, child: i32, axis: u32, room: f32, across_room: f32):
    """What is the same in rows and columns: flags, and the flex base size if the style has one."""
    item = addressof((tree.work + child).item)
    item.align = item_alignment(tree, node, child)
    if stretches(tree, node, child, across_room):
        item.flags |= ITEM_STRETCHES
    if least_is_auto(tree, node, child, axis, room):
        item.flags |= ITEM_LEAST_AUTO
    item.base = style_base(tree, node, child, axis, room)
    item.flags |= u32(ITEM_BASE_DEFINITE if item.base >= 0.0 else ITEM_BASE_CONTENT)


@device(inline=False)
def begin_row_item(tree: Ptr[LayoutTree], node: i32, child: i32, whole: f32):
    work = tree.work + node
    style = tree.styles + child
    item = addressof((tree.work + child).item)
    begin_item(tree, node, child, u32(0), work.width, whole)
    height = clamp(item.size[1], item.least[1], item.most[1]) if item.size[1] >= 0.0 else f32(INDEFINITE)
    if height < 0.0 and whole >= 0.0 and (item.flags & ITEM_STRETCHES) != 0 and not wraps(tree, node):
        height = stretched(tree, child, u32(1), whole)
    item.used[1] = height
    if item.base < 0.0 and style.aspect_ratio > 0.0 and height >= 0.0:
        item.base = across(style, item, u32(0), height)
        item.flags &= ~u32(ITEM_BASE_CONTENT)
    if (item.flags & (ITEM_BASE_CONTENT | ITEM_LEAST_AUTO)) != 0:
        ask_widths(tree, child, content_size(item, u32(1), height), line_limit(tree, child))


@device(inline=False)
def begin_column_item(tree: Ptr[LayoutTree], node: i32, child: i32, whole: f32):
    work = tree.work + node
    style = tree.styles + child
    item = addressof((tree.work + child).item)
    begin_item(tree, node, child, u32(1), whole, work.width)
    width = f32(INDEFINITE)
    if item.size[0] >= 0.0:
        width = clamp(item.size[0], item.least[0], item.most[0])
    elif (item.flags & ITEM_STRETCHES) != 0 and not wraps(tree, node):
        width = stretched(tree, child, u32(0), work.width)
    elif style.aspect_ratio > 0.0 and item.base >= 0.0:
        height = clamp(item.base, item.least[1], item.most[1])
        width = clamp(across(style, item, u32(0), height), item.least[0], item.most[0])
    item.used[0] = width
    if width < 0.0:
        height = clamp(item.size[1], item.least[1], item.most[1]) if item.size[1] >= 0.0 else f32(INDEFINITE)
        ask_widths(tree, child, content_size(item, u32(1), height), line_limit(tree, child))


@device(inline=False)
def find_widths(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The widths are answered: in a row they give the base sizes, in a column they are sizes across."""
    if main_axis(tree, node) == 0:
        child = first_item(tree, node)
        while child != NO_NODE:
            row_item_base(tree, node, child)
            child = next_item(tree, child)
    else:
        child = first_item(tree, node)
        while child != NO_NODE:
            column_item_width(tree, node, child)
            child = next_item(tree, child)
    return u32(FLOW_BASES)


@device(inline=False)
def row_item_base(tree: Ptr[LayoutTree], node: i32, child: i32):
    style = tree.styles + child
    item = addressof((tree.work + child).item)
    answers = addressof((tree.work + child).answers)
    if (item.flags & ITEM_BASE_CONTENT) != 0:
        unit = content_unit(tree, node, child, u32(0))
        room = (tree.work + node).width - item.margin[0] - item.margin[1] - item.edge[0]
        size = answers.most_width
        if unit == UNIT_MIN_CONTENT:
            size = answers.least_width
        elif unit == UNIT_FIT_CONTENT:
            size = fitting(answers.least_width, room, answers.most_width)
        item.base = transferred(style, item, u32(0), size + item.edge[0])
    if (item.flags & ITEM_LEAST_AUTO) != 0:
        set_least(tree, child, u32(0), answers.least_width + item.edge[0])
    item.used[0] = clamp(item.base, item.least[0], item.most[0])


@device
def set_least(tree: Ptr[LayoutTree], child: i32, axis: u32, content: f32):
    """The least size that is found from the content; a size that the style says, and the greatest, hold it down."""
    item = addressof((tree.work + child).item)
    least = transferred(tree.styles + child, item, axis, content)
    if item.size[axis] >= 0.0:
        least = min(least, item.size[axis])
    item.least[axis] = max(min(least, item.most[axis]), item.frame[axis])


@device(inline=False)
def column_item_width(tree: Ptr[LayoutTree], node: i32, child: i32):
    style = tree.styles + child
    item = addressof((tree.work + child).item)
    if item.used[0] < 0.0:
        answers = addressof((tree.work + child).answers)
        room = (tree.work + node).width - item.margin[0] - item.margin[1] - item.edge[0]
        width = fitting(answers.least_width, room, answers.most_width)
        if style.size[0].unit == UNIT_MIN_CONTENT:
            width = answers.least_width
        elif style.size[0].unit == UNIT_MAX_CONTENT:
            width = answers.most_width
        width = transferred(style, item, u32(0), width + item.edge[0])
        item.used[0] = clamp(width, item.least[0], item.most[0])
    if (item.flags & ITEM_BASE_CONTENT) != 0 and style.aspect_ratio > 0.0:
        item.base = across(style, item, u32(1), item.used[0])
        item.flags &= ~u32(ITEM_BASE_CONTENT)
        item.flags |= ITEM_BASE_DEFINITE
    if (item.flags & (ITEM_BASE_CONTENT | ITEM_LEAST_AUTO)) != 0:
        ask_height(tree, child, content_size(item, u32(0), item.used[0]), line_limit(tree, child))


@device(inline=False)
def find_bases(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Make lines and share out their free space; a column that is asked for its height has found it then."""
    work = tree.work + node
    axis = main_axis(tree, node)
    room = work.width
    gap = resolve_or_zero((tree.styles + node).gap[axis], work.width if axis == 0 else percent_height(tree, node))
    if axis == 1:
        child = first_item(tree, node)
        while child != NO_NODE:
            column_item_base(tree, child)
            child = next_item(tree, child)
        room = work.height if work.height >= 0.0 else work.limit
    lines = break_lines(tree, node, axis, room, gap)
    first = first_item(tree, node)
    if axis == 1 and work.question == HEIGHT:
        highest = f32(0)
        for _ in range(lines):
            highest = max(highest, line_length(tree, first, axis, gap))
            first = (tree.work + first).item.line_end
        return answer_height(tree, node, highest)
    for _ in range(lines):
        flex_line(tree, first, axis, room, gap)
        first = (tree.work + first).item.line_end
    child = first_item(tree, node)
    while child != NO_NODE:
        if axis == 0:
            row_item_height(tree, node, child)
        else:
            column_item_flexed(tree, child)
        child = next_item(tree, child)
    return u32(FLOW_CROSS)


@device(inline=False)
def column_item_base(tree: Ptr[LayoutTree], child: i32):
    item = addressof((tree.work + child).item)
    if (item.flags & (ITEM_BASE_CONTENT | ITEM_LEAST_AUTO)) != 0:
        width = content_size(item, u32(0), item.used[0])
        content = answered_height(tree, child, width, line_limit(tree, child)) + item.edge[1]
        if (item.flags & ITEM_BASE_CONTENT) != 0:
            item.base = transferred(tree.styles + child, item, u32(1), content)
        if (item.flags & ITEM_LEAST_AUTO) != 0:
            set_least(tree, child, u32(1), content)
    item.used[1] = clamp(item.base, item.least[1], item.most[1])


@device
def column_item_flexed(tree: Ptr[LayoutTree], child: i32):
    """The width of an item in a column that has an aspect ratio follows its height, unless something else says it."""
    style = tree.styles + child
    item = addressof((tree.work + child).item)
    if style.aspect_ratio > 0.0 and item.size[0] < 0.0 and (item.flags & ITEM_STRETCHES) == 0:
        item.used[0] = clamp(across(style, item, u32(0), item.used[1]), item.least[0], item.most[0])


@device(inline=False)
def row_item_height(tree: Ptr[LayoutTree], node: i32, child: i32):
    """The height of an item in a row, once its width is known; asks for it where it comes from the content."""
    work = tree.work + node
    style = tree.styles + child
    item = addressof((tree.work + child).item)
    if item.size[1] >= 0.0:
        item.used[1] = clamp(item.size[1], item.least[1], item.most[1])
    elif (item.flags & ITEM_STRETCHES) != 0 and work.height >= 0.0 and not wraps(tree, node):
        item.used[1] = stretched(tree, child, u32(1), work.height)
    elif style.aspect_ratio > 0.0:
        item.used[1] = clamp(across(style, item, u32(1), item.used[0]), item.least[1], item.most[1])
    else:
        item.flags |= ITEM_NEEDS_CROSS
        ask_height(tree, child, content_size(item, u32(0), item.used[0]), line_limit(tree, child))


@device
def definite_in_row(tree: Ptr[LayoutTree], child: i32) -> u32:
    """Whether percentages of an item's height mean something to its children."""
    item = addressof((tree.work + child).item)
    known = item.size[1] >= 0.0 or (item.flags & ITEM_STRETCHES) != 0 or (tree.styles + child).aspect_ratio > 0.0
    return u32(1) if known else u32(0)


@device(inline=False)
def find_cross(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The heights are answered. Items that are aligned by their baselines are laid out to find those."""
    if main_axis(tree, node) == 0:
        child = first_item(tree, node)
        while child != NO_NODE:
            item = addressof((tree.work + child).item)
            width = content_size(item, u32(0), item.used[0])
            if (item.flags & ITEM_NEEDS_CROSS) != 0:
                content = answered_height(tree, child, width, line_limit(tree, child))
                item.used[1] = clamp(content + item.edge[1], item.least[1], item.most[1])
            if item.align == ALIGN_BASELINE:
                height = content_size(item, u32(1), item.used[1])
                ask_layout(tree, child, width, height, definite_in_row(tree, child))
            child = next_item(tree, child)
    return u32(FLOW_LINES)
