"""The questions HEIGHT and LAYOUT, first half: items find their base sizes, and lines share out their free space."""

from lanewise.desktop.layout.asking import after, answer_height
from lanewise.desktop.layout.columns import width_of_flexed
from lanewise.desktop.layout.items import percent_height
from lanewise.desktop.layout.items_order import first_item, next_item
from lanewise.desktop.layout.keywords import NO_NODE
from lanewise.desktop.layout.lengths import is_block, main_axis, resolve_or_zero
from lanewise.desktop.layout.lines import break_lines, flex_line, longest_line
from lanewise.desktop.layout.numbers import COLUMN_ITEM, FLOW_BASES, FLOW_LINES, HEIGHT, ROW_HEIGHT, ROW_ITEM
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, i32, u32


@device(inline=False)
def begin_flow(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Have the items find their base sizes."""
    errand = u32(ROW_ITEM if main_axis(tree.styles + node) == 0 else COLUMN_ITEM)
    return after(u32(FLOW_BASES), errand)


@device(inline=False)
def find_bases(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Make lines and share out their free space; a column that is asked for its height has found it then."""
    work = tree.work + node
    axis = main_axis(tree.styles + node)
    room = work.width
    whole = work.width
    if axis == 1:
        room = work.height if work.height >= 0.0 else work.limit
        whole = percent_height(tree.work + node)
    gap = resolve_or_zero((tree.styles + node).gap[axis], whole)
    lines = break_lines(tree, node, axis, room, gap)
    if axis == 1 and work.question == HEIGHT:
        return answer_height(tree, node, longest_line(tree, node, lines, axis, gap))
    first = first_item(tree, node)
    if is_block(tree.styles + node):
        lines = u32(0)  # whose items neither grow nor shrink
    for _ in range(lines):
        flex_line(tree, first, axis, room, gap)
        first = (tree.work + first).item.line_end
    if axis == 0:
        return after(u32(FLOW_LINES), u32(ROW_HEIGHT))
    child = first_item(tree, node)
    while child != NO_NODE:
        width_of_flexed(tree, node, child)
        child = next_item(tree, child)
    return u32(FLOW_LINES)
