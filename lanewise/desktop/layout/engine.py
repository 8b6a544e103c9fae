"""Layout as one group of threads does it: every node has a thread, which works whenever its children are back.

Errands go down the tree and what was found comes up, so that all siblings, and all nodes of a level, are worked on at
the same time. No thread waits for another: it looks at its nodes once a round, and rounds end at a barrier.
"""

from lanewise.desktop.layout.absolute import begin_absolute, find_absolute_height, find_absolute_width
from lanewise.desktop.layout.asking import answer_height, answer_widths, come_back, mark_dirty
from lanewise.desktop.layout.checking import check_links
from lanewise.desktop.layout.columns import begin_column_item, end_column_item, find_column_width
from lanewise.desktop.layout.cross import begin_place, find_lines
from lanewise.desktop.layout.ending import end_layout, end_place, lay_out_leaf
from lanewise.desktop.layout.flow import begin_flow, find_bases
from lanewise.desktop.layout.items_order import find_order
from lanewise.desktop.layout.keywords import NO_NODE
from lanewise.desktop.layout.numbers import (
    ABSOLUTE,
    ABSOLUTE_HEIGHT,
    ABSOLUTE_WIDTH,
    BEGIN,
    COLUMN_ITEM,
    COLUMN_ITEM_END,
    COLUMN_ITEM_WIDTH,
    DONE,
    FLOW_BASES,
    FLOW_END,
    FLOW_LINES,
    HEIGHT,
    IDLE,
    KNOWN_LAYOUT,
    LAYOUT,
    LINE_ITEM,
    LINE_ITEM_END,
    PLACE,
    PLACE_END,
    ROOT,
    ROOT_HEIGHT,
    ROOT_WIDTH,
    ROW_HEIGHT,
    ROW_HEIGHT_END,
    ROW_HEIGHT_FOUND,
    ROW_ITEM,
    ROW_ITEM_END,
    WIDTH_ITEM,
    WIDTH_ITEM_END,
    WIDTHS,
    WIDTHS_LINES,
    WIDTHS_SUM,
)
from lanewise.desktop.layout.placing import place_box
from lanewise.desktop.layout.root import begin_root, find_root_height, find_root_width
from lanewise.desktop.layout.rows import (
    begin_row_height,
    begin_row_item,
    end_row_height,
    end_row_item,
    find_row_height,
)
from lanewise.desktop.layout.sharing import first_of_mine, meet, nodes_apart
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.desktop.layout.text import text_height, text_widths
from lanewise.desktop.layout.widths import (
    begin_line_item,
    begin_width_item,
    begin_widths,
    end_line_item,
    end_width_item,
    sum_lines,
    sum_widths,
)
from lanewise.lang.atomics import atomic_load
from lanewise.lang.functions import device, kernel
from lanewise.lang.intrinsics import ON_GPU
from lanewise.lang.types import Ptr, i32, u32
from lanewise.lang.vocabulary import group_id, local_id, shared, threadgroup_barrier

ROUND_LIMIT = 1 << 20
"""Far more rounds than any tree takes: a mistake here must not hold a GPU for ever."""


@device(inline=False)
def begin(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The first step of an answer; a node without children gives it at once."""
    work = tree.work + node
    if (tree.links + node).first_child == NO_NODE:
        if work.question == LAYOUT:
            return lay_out_leaf(tree, node)
        if work.question == HEIGHT:
            return answer_height(tree, node, text_height(tree, node, work.width))
        least, most = text_widths(tree, node, work.height)
        return answer_widths(tree, node, least, most)
    # What the children find for this question is written over what they found when they were laid out.
    work.answers.known &= ~u32(KNOWN_LAYOUT)
    if work.question == WIDTHS:
        return begin_widths(tree, node)
    return begin_flow(tree, node)


@device(inline=False)
def advance(tree: Ptr[LayoutTree], node: i32, stage: u32) -> u32:
    """Do what a stage says, and give the next."""
    if stage == BEGIN:
        return begin(tree, node)
    if stage == WIDTHS_SUM:
        return sum_widths(tree, node)
    if stage == WIDTHS_LINES:
        return sum_lines(tree, node)
    if stage == FLOW_BASES:
        return find_bases(tree, node)
    if stage == FLOW_LINES:
        return find_lines(tree, node)
    if stage == FLOW_END:
        return end_layout(tree, node)
    if stage == WIDTH_ITEM:
        return begin_width_item(tree, node)
    if stage == WIDTH_ITEM_END:
        return end_width_item(tree, node)
    if stage == LINE_ITEM:
        return begin_line_item(tree, node)
    if stage == LINE_ITEM_END:
        return end_line_item(tree, node)
    if stage == ROW_ITEM:
        return begin_row_item(tree, node)
    if stage == ROW_ITEM_END:
        return end_row_item(tree, node)
    if stage == COLUMN_ITEM:
        return begin_column_item(tree, node)
    if stage == COLUMN_ITEM_WIDTH:
        return find_column_width(tree, node)
    if stage == COLUMN_ITEM_END:
        return end_column_item(tree, node)
    if stage == ROW_HEIGHT:
        return begin_row_height(tree, node)
    if stage == ROW_HEIGHT_FOUND:
        return find_row_height(tree, node)
    if stage == ROW_HEIGHT_END:
        return end_row_height(tree, node)
    if stage == PLACE:
        return begin_place(tree, node)
    if stage == PLACE_END:
        return end_place(tree, node)
    if stage == ABSOLUTE:
        return begin_absolute(tree, node)
    if stage == ABSOLUTE_WIDTH:
        return find_absolute_width(tree, node)
    if stage == ABSOLUTE_HEIGHT:
        return find_absolute_height(tree, node)
    if stage == ROOT:
        return begin_root(tree, node)
    if stage == ROOT_WIDTH:
        return find_root_width(tree, node)
    if stage == ROOT_HEIGHT:
        return find_root_height(tree, node)
    return u32(DONE)


@device
def work_on(tree: Ptr[LayoutTree], node: i32):
    """Go on with a node as far as it goes without its children."""
    work = tree.work + node
    stage = atomic_load(work.stage, order="acquire", scope="group")
    while stage != IDLE and atomic_load(work.pending, order="acquire", scope="group") == 0:
        stage = advance(tree, node, stage)
        if stage == DONE:
            come_back(tree, node)
            return
        work.stage = stage


@device
def rounds_together(tree: Ptr[LayoutTree]) -> u32:
    """All threads look at their nodes, round after round, until the root is done; gives how many rounds that took."""
    ended = shared(u32[2])
    turn = u32(0)
    while True:
        for node in range(first_of_mine(tree), tree.count, nodes_apart()):
            work_on(tree, i32(node))
            if i32(node) == tree.root:
                # Two words in turns: a thread may still read the one while the next round writes the other.
                ended[turn & 1] = u32((tree.work + node).stage == IDLE)
        threadgroup_barrier()
        if ended[turn & 1] != 0:
            return turn + 1
        turn += 1
        assert turn < ROUND_LIMIT, "layout does not come to an end"


@device
def rounds_alone(tree: Ptr[LayoutTree]) -> u32:
    """One thread goes through all nodes, down the tree and up again, until the root is done."""
    turn = u32(0)
    last = tree.count - 1
    while first_of_mine(tree) < tree.count and (tree.work + tree.root).stage != IDLE:
        for index in range(tree.count):
            work_on(tree, i32(index if (turn & 1) == 0 else last - index))
        turn += 1
        assert turn < ROUND_LIMIT, "layout does not come to an end"
    return turn


@device
def run_layout(tree: Ptr[LayoutTree]):
    """Lay out a tree: all threads of a group call this, and behind it all of them see the boxes.

    If the links are wrong, `tree.problem` says so and the boxes stay as they were.
    """
    threadgroup_barrier()
    deepest = check_links(tree)
    if tree.problem == 0:
        for node in range(first_of_mine(tree), tree.count, nodes_apart()):
            find_order(tree, i32(node))
        meet()
        turns = rounds_together(tree) if ON_GPU else rounds_alone(tree)
        for depth in range(deepest + 1):
            for node in range(first_of_mine(tree), tree.count, nodes_apart()):
                if (tree.work + node).depth == depth:
                    place_box(tree, i32(node))
            meet()
        if local_id() == 0:
            tree.rounds = turns
    threadgroup_barrier()


@kernel
def lay_out(trees: Ptr[LayoutTree]):
    """Lay out many trees, one a group."""
    run_layout(trees + group_id())


@kernel
def forget(trees: Ptr[LayoutTree], tree: u32, node: i32):
    """A node of a tree has changed. One thread of one launch a change; device code calls `mark_dirty` itself."""
    mark_dirty(trees + tree, node)
