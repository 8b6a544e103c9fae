"""Layout as one group of threads does it: nodes that have something to do are shared out among them, round by round.

Errands go down the tree and what was found comes up, so that all siblings, and all nodes of a level, are worked on at
the same time. No thread waits for another: what a round leaves to do stands on the board, and rounds end at a barrier.
"""

from lanewise.desktop.layout.absolute import begin_absolute, find_absolute_height, find_absolute_width
from lanewise.desktop.layout.asking import answer_height, answer_widths
from lanewise.desktop.layout.board import (
    clear_after,
    come_back,
    entries_of,
    entry_of,
    errand_of,
    node_of,
    put_back,
    send,
)
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
    BACK,
    BEGIN,
    COLUMN_ITEM,
    COLUMN_ITEM_END,
    COLUMN_ITEM_WIDTH,
    DONE,
    FLOW_BASES,
    FLOW_END,
    FLOW_LINES,
    HEIGHT,
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
    STAGE_MASK,
    WIDTH_ITEM,
    WIDTH_ITEM_END,
    WIDTHS,
    WIDTHS_LINES,
    WIDTHS_SUM,
)
from lanewise.desktop.layout.placing import place_boxes
from lanewise.desktop.layout.rechecking import begin_rechecks, mark_dirty, recheck
from lanewise.desktop.layout.root import begin_root, find_root_height, find_root_width
from lanewise.desktop.layout.rows import (
    begin_row_height,
    begin_row_item,
    end_row_height,
    end_row_item,
    find_row_height,
)
from lanewise.desktop.layout.sharing import (
    end_of_slots,
    first_of_mine,
    first_slot,
    meet,
    nodes_apart,
    slots_apart,
    takes_part,
    work_alone,
)
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
from lanewise.lang.functions import device, kernel
from lanewise.lang.types import Ptr, i32, u32
from lanewise.lang.vocabulary import group_id, local_id, threadgroup_barrier

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
            return answer_height(tree, node, min(text_height(tree, node, work.width), work.limit))
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
    return recheck(tree, node)


@device
def work_on(tree: Ptr[LayoutTree], turn: u32, entry: u32, alone: bool):
    """Go on with a node as far as it goes without its children; who comes back last goes on as the parent.

    Where threads of a warp work on different nodes, parents go on in the next round instead, a warp each if they can.
    """
    node = node_of(entry)
    stage = errand_of(entry)
    while node != NO_NODE:
        if stage == BACK:
            stage = (tree.work + node).stage
        while stage != DONE:
            found = advance(tree, node, stage)
            stage = found & STAGE_MASK
            errand = errand_of(found)
            if errand != 0 and send(tree, turn, node, errand):
                (tree.work + node).stage = stage
                return
        node = come_back(tree, node)
        if node != NO_NODE and not alone:
            put_back(tree, turn, node)
            return
        stage = u32(BACK)


@device
def rounds(tree: Ptr[LayoutTree]) -> u32:
    """Do what stands on the board, round after round, until nothing does; gives how many rounds that took."""
    turn = u32(0)
    count = entries_of(turn)
    while count > 0:
        slot = first_slot(count)
        end = end_of_slots(count)
        alone = work_alone(count)
        while slot < end:  # a range would divide to find how often it goes round
            work_on(tree, turn, entry_of(tree, turn, slot), alone)
            slot += slots_apart()
        clear_after(turn)
        meet()
        turn += 1
        count = entries_of(turn)
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
            begin_rechecks(tree, i32(node))
        meet()
        turns = u32(0)
        if takes_part():
            turns = rounds(tree)
        place_boxes(tree, deepest)
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
