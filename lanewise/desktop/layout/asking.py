"""How nodes talk: a parent asks, the child's own thread answers, and what was answered is not asked again.

A node works on one question at a time, its parent's. Who asks writes the question, then `stage`; who answers writes the
answer, then takes one off the parent's `pending`. Both publish with release and look with acquire, so that a thread that
sees the mark sees what was written before it.
"""

from lanewise.desktop.layout.keywords import NO_NODE
from lanewise.desktop.layout.numbers import (
    ASKED,
    HEIGHT,
    HEIGHTS,
    IDLE,
    KNOWN_HEIGHT,
    KNOWN_LAYOUT,
    KNOWN_WIDTHS,
    LAYOUT,
    WIDTHS,
)
from lanewise.desktop.layout.structures import LayoutTree
from lanewise.lang.atomics import atomic_add, atomic_store, atomic_sub
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device
def work_of_parent(tree: Ptr[LayoutTree], node: i32) -> u32:
    """The entry of `work` that asks this node: the parent's, or the screen's for the root."""
    parent = (tree.links + node).parent
    return tree.count if node == tree.root or parent == NO_NODE else u32(parent)


@device
def is_empty(tree: Ptr[LayoutTree], node: i32) -> bool:
    """Whether a node has neither children nor text."""
    return (tree.links + node).first_child == NO_NODE and (tree.styles + node).text_count == 0


@device
def _send(tree: Ptr[LayoutTree], node: i32, question: u32, width: f32, height: f32, limit: f32, definite: u32):
    work = tree.work + node
    work.question = question
    work.width = width
    work.height = height
    work.limit = limit
    work.definite = definite
    atomic_add((tree.work + work_of_parent(tree, node)).pending, 1, scope="group")
    atomic_store(work.stage, u32(ASKED), order="release", scope="group")


@device(inline=False)
def ask_widths(tree: Ptr[LayoutTree], node: i32, height: f32, limit: f32):
    """Have the least and the greatest width of a node's content in its answers, once nothing is pending."""
    answers = addressof((tree.work + node).answers)
    if (answers.known & KNOWN_WIDTHS) != 0 and answers.widths_height == height and answers.widths_limit == limit:
        return
    if is_empty(tree, node):
        answers.known |= KNOWN_WIDTHS
        answers.widths_height = height
        answers.widths_limit = limit
        answers.least_width = 0.0
        answers.most_width = 0.0
        return
    _send(tree, node, u32(WIDTHS), f32(0), height, limit, u32(0))


@device
def height_slot(tree: Ptr[LayoutTree], node: i32, width: f32, limit: f32) -> i32:
    """Where the answers have the height for this width of the content box; -1 where they do not."""
    answers = addressof((tree.work + node).answers)
    for slot in range(i32(HEIGHTS)):
        if (
            (answers.known & (u32(KNOWN_HEIGHT) << u32(slot))) != 0
            and answers.height_width[slot] == width
            and answers.height_limit[slot] == limit
        ):
            return slot
    return -1


@device(inline=False)
def remember_height(tree: Ptr[LayoutTree], node: i32, width: f32, limit: f32, height: f32):
    answers = addressof((tree.work + node).answers)
    slot = answers.next_height % HEIGHTS
    answers.next_height = slot + 1
    answers.height_width[slot] = width
    answers.height_limit[slot] = limit
    answers.height[slot] = height
    answers.known |= u32(KNOWN_HEIGHT) << slot


@device(inline=False)
def ask_height(tree: Ptr[LayoutTree], node: i32, width: f32, limit: f32):
    """Have the height of a node's content at a width in its answers, once nothing is pending."""
    if height_slot(tree, node, width, limit) >= 0:
        return
    if is_empty(tree, node):
        remember_height(tree, node, width, limit, f32(0))
        return
    _send(tree, node, u32(HEIGHT), width, f32(-1), limit, u32(0))


@device(inline=False)
def answered_height(tree: Ptr[LayoutTree], node: i32, width: f32, limit: f32) -> f32:
    """The height that was asked for."""
    slot = height_slot(tree, node, width, limit)
    assert slot >= 0, "a height was used before it was asked for"
    return (tree.work + node).answers.height[slot]


@device(inline=False)
def ask_layout(tree: Ptr[LayoutTree], node: i32, width: f32, height: f32, definite: u32):
    """Have a node's children lie as they must in a content box of this size, once nothing is pending."""
    work = tree.work + node
    answers = addressof(work.answers)
    known = (
        (answers.known & KNOWN_LAYOUT) != 0
        and answers.layout_width == width
        and answers.layout_height == height
        and answers.layout_definite == definite
    )
    for side in range(4):
        known = known and answers.layout_padding[side] == work.item.padding[side]
    if known:
        return
    _send(tree, node, u32(LAYOUT), width, height, f32(0), definite)


@device(inline=False)
def answer_widths(tree: Ptr[LayoutTree], node: i32, least: f32, most: f32) -> u32:
    """Answer the question for widths; gives the stage that follows."""
    work = tree.work + node
    answers = addressof(work.answers)
    answers.widths_height = work.height
    answers.widths_limit = work.limit
    answers.least_width = least
    answers.most_width = max(most, least)
    answers.known |= KNOWN_WIDTHS
    return u32(IDLE)


@device(inline=False)
def answer_height(tree: Ptr[LayoutTree], node: i32, height: f32) -> u32:
    """Answer the question for a height; gives the stage that follows."""
    work = tree.work + node
    remember_height(tree, node, work.width, work.limit, height)
    return u32(IDLE)


@device(inline=False)
def answer_layout(tree: Ptr[LayoutTree], node: i32, baseline: f32, right: f32, bottom: f32) -> u32:
    """Say that all children lie as they must; gives the stage that follows."""
    work = tree.work + node
    answers = addressof(work.answers)
    answers.layout_width = work.width
    answers.layout_height = work.height
    answers.layout_definite = work.definite
    for side in range(4):
        answers.layout_padding[side] = work.item.padding[side]
    answers.baseline = baseline
    answers.reach[0] = right
    answers.reach[1] = bottom
    answers.known |= KNOWN_LAYOUT
    return u32(IDLE)


@device
def finish(tree: Ptr[LayoutTree], node: i32):
    """Tell the parent that its question is answered. Afterwards the parent may ask the next one at any moment."""
    atomic_store((tree.work + node).stage, u32(IDLE), order="relaxed", scope="group")
    atomic_sub((tree.work + work_of_parent(tree, node)).pending, 1, order="release", scope="group")


@device
def mark_dirty(tree: Ptr[LayoutTree], node: i32):
    """Forget what was found for a node and all above it: its style, its text or its children have changed."""
    at = node
    while at != NO_NODE:
        (tree.work + at).answers.known = 0
        at = (tree.links + at).parent
