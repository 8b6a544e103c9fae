"""After a change: what must be found anew, from the changed nodes up.

A node that has changed, and its parent, which sees its style, are asked again what they were asked before. Where all
answers are what they were, nothing above has to be found anew. Where one is not, or one is kept no more that the node
above may have used, that node is asked again. Only if the root itself has another answer everything goes its usual way
from there.
"""

from lanewise.desktop.layout.asking import ask_height, ask_layout, ask_widths, parent_of
from lanewise.desktop.layout.board import add_pending, board, pending_of, put_first
from lanewise.desktop.layout.keywords import NO_NODE
from lanewise.desktop.layout.numbers import (
    BACK,
    DETACHED,
    DONE,
    HEIGHTS,
    KNOWN_HEIGHT,
    KNOWN_LAYOUT,
    KNOWN_WIDTHS,
    RECHECK,
    ROOT,
)
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, i32, u32
from lanewise.lang.vocabulary import addressof


@device
def mark_dirty(tree: Ptr[LayoutTree], node: i32):
    """Say that a node's style, text or children have changed. Any thread may, also several for the same nodes."""
    (tree.work + node).suspect = 1
    parent = parent_of(tree, node)
    if parent != NO_NODE:
        (tree.work + parent).suspect = 1
    at = node
    while at != NO_NODE:
        work = tree.work + at
        if work.answers.known != 0:
            work.answers.stale = work.answers.known
            work.answers.known = 0
        work.dirty = 1
        at = parent_of(tree, at)


@device
def forget_answers(tree: Ptr[LayoutTree], node: i32):
    """Know nothing of a node, as in the beginning; it is said of all nodes or of none."""
    work = tree.work + node
    work.answers.known = 0
    work.answers.lost = 0
    forget_change(tree, node)


@device
def forget_change(tree: Ptr[LayoutTree], node: i32):
    work = tree.work + node
    work.answers.stale = 0
    work.asked = 0
    work.dirty = 0
    work.suspect = 0


@device
def is_rechecked(tree: Ptr[LayoutTree], node: i32) -> bool:
    work = tree.work + node
    return work.dirty != 0 and work.depth != DETACHED


@device
def count_dirty(tree: Ptr[LayoutTree], node: i32):
    """A dirty node has its parent wait for it. Where that is not dirty, links were changed and nobody said so."""
    if is_rechecked(tree, node) and node != tree.root:
        parent = parent_of(tree, node)
        if (tree.work + parent).dirty != 0:
            add_pending(tree, parent)
        else:
            board().unmarked = 1


@device
def begin_rechecks(tree: Ptr[LayoutTree], node: i32):
    """Put the lowest dirty nodes on the board, or the root: if nothing is dirty, or not all that should be."""
    if board().unmarked != 0:
        forget_change(tree, node)
    if is_rechecked(tree, node):
        (tree.work + node).stage = u32(RECHECK)
        if pending_of(tree, node) == 0:
            put_first(tree, node, u32(BACK))
    elif node == tree.root:
        put_first(tree, node, u32(ROOT))


@device(inline=False)
def recheck(tree: Ptr[LayoutTree], node: i32) -> u32:
    """All dirty nodes below are done with this. Ask the next question of before, until an answer is another one."""
    work = tree.work + node
    answers = addressof(work.answers)
    differs = False
    if work.suspect == 0:
        answers.known = answers.stale
    else:
        differs = answers.stale == 0 or answers.lost != 0 or (work.asked != 0 and answer_differs(tree, node))
        answers.stale &= ~work.asked
        if not differs and answers.stale != 0:
            return ask_again(tree, node)
    forget_change(tree, node)
    if node == tree.root:
        return u32(ROOT)
    if differs:
        answers.lost = 0  # the parent asks anew for all that it has used
        (tree.work + parent_of(tree, node)).suspect = 1
    return u32(DONE)


@device
def ask_again(tree: Ptr[LayoutTree], node: i32) -> u32:
    """Ask one of the questions whose answers are stale: the layout last, since the others write over it."""
    work = tree.work + node
    answers = addressof(work.answers)
    if (answers.stale & KNOWN_WIDTHS) != 0:
        work.asked = KNOWN_WIDTHS
        work.before[0] = answers.least_width
        work.before[1] = answers.most_width
        return ask_widths(tree, node, answers.widths_height, answers.widths_limit, u32(RECHECK))
    for slot in range(u32(HEIGHTS)):
        bit = u32(KNOWN_HEIGHT) << slot
        if (answers.stale & bit) != 0:
            work.asked = bit
            work.before[0] = answers.height[slot]
            answers.next_height = slot  # where the answer goes
            return ask_height(tree, node, answers.height_width[slot], answers.height_limit[slot], u32(RECHECK))
    work.asked = KNOWN_LAYOUT
    work.before[0] = answers.reach[0]
    work.before[1] = answers.reach[1]
    work.before[2] = answers.baseline
    width = answers.layout_width
    return ask_layout(tree, node, width, answers.layout_height, answers.layout_definite, u32(RECHECK))


@device
def answer_differs(tree: Ptr[LayoutTree], node: i32) -> bool:
    """Whether the answer that was found is another one than before."""
    work = tree.work + node
    answers = addressof(work.answers)
    if work.asked == KNOWN_WIDTHS:
        return answers.least_width != work.before[0] or answers.most_width != work.before[1]
    if work.asked == KNOWN_LAYOUT:
        moved = answers.reach[0] != work.before[0] or answers.reach[1] != work.before[1]
        return moved or answers.baseline != work.before[2]
    for slot in range(u32(HEIGHTS)):
        if work.asked == u32(KNOWN_HEIGHT) << slot:
            return answers.height[slot] != work.before[0]
    return True
