"""How nodes talk: a parent sends its children on errands, and what a child finds on the way it keeps.

On an errand a node finds what its parent wants to know of it as an item: for that it asks itself questions (how wide is
my content, how high at this width, do my children lie as they must), and sends its own children on errands to answer
them. A node is on one errand at a time.
"""

from lanewise.desktop.layout.keywords import NO_NODE
from lanewise.desktop.layout.numbers import (
    BEGIN,
    ENTRY_SHIFT,
    HEIGHT,
    HEIGHTS,
    INDEFINITE,
    KNOWN_HEIGHT,
    KNOWN_LAYOUT,
    KNOWN_WIDTHS,
    LAYOUT,
    WIDTHS,
)
from lanewise.desktop.layout.structures import Answers, LayoutTree, NodeWork
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, f32, i32, u32
from lanewise.lang.vocabulary import addressof


@device
def parent_of(tree: Ptr[LayoutTree], node: i32) -> i32:
    return (tree.links + node).parent


@device
def after(stage: u32, errand: u32) -> u32:
    """The stage that follows when all items are back from an errand: a stage gives this to have them sent."""
    return stage | errand << ENTRY_SHIFT


@device
def is_empty(tree: Ptr[LayoutTree], node: i32) -> bool:
    """Whether a node has neither children nor text."""
    child, text = (tree.links + node).first_child, (tree.styles + node).text_count
    return child == NO_NODE and text == 0


@device
def _ask(tree: Ptr[LayoutTree], node: i32, question: u32, following: u32) -> u32:
    work = tree.work + node
    work.question = question
    work.following = following
    return u32(BEGIN)


@device(inline=False)
def ask_widths(tree: Ptr[LayoutTree], node: i32, height: f32, limit: f32, following: u32) -> u32:
    """Find the least and the greatest width of a node's content; gives the stage that comes first."""
    work = tree.work + node
    answers: Answers
    answers = work.answers
    if (answers.known & KNOWN_WIDTHS) != 0 and answers.widths_height == height and answers.widths_limit == limit:
        return following
    empty = is_empty(tree, node)
    work.height = height
    work.limit = limit
    if empty:
        answer_widths(tree, node, f32(0), f32(0))
        return following
    return _ask(tree, node, u32(WIDTHS), following)


@device
def height_slot(answers: Ptr[Answers], width: f32, limit: f32) -> i32:
    """Where the answers have the height for this width of the content box; -1 where they do not."""
    found = -1
    for slot in range(i32(HEIGHTS)):
        known = (answers.known & (u32(KNOWN_HEIGHT) << u32(slot))) != 0
        if known and answers.height_width[slot] == width and answers.height_limit[slot] == limit:
            found = slot
    return found


@device(inline=False)
def ask_height(tree: Ptr[LayoutTree], node: i32, width: f32, limit: f32, following: u32) -> u32:
    """Find the height of a node's content at a width; gives the stage that comes first."""
    work = tree.work + node
    answers: Answers
    answers = work.answers
    if height_slot(answers, width, limit) >= 0:
        return following
    empty = is_empty(tree, node)
    work.width = width
    work.height = INDEFINITE
    work.limit = limit
    work.definite = 0
    if empty:
        answer_height(tree, node, f32(0))
        return following
    return _ask(tree, node, u32(HEIGHT), following)


@device(inline=False)
def answered_height(tree: Ptr[LayoutTree], node: i32, width: f32, limit: f32) -> f32:
    """The height that was asked for."""
    answers: Answers
    answers = (tree.work + node).answers
    slot = height_slot(answers, width, limit)
    assert slot >= 0, "a height was used before it was asked for"
    return (tree.work + node).answers.height[slot]


@device(inline=False)
def ask_layout(tree: Ptr[LayoutTree], node: i32, width: f32, height: f32, definite: u32, following: u32) -> u32:
    """Have a node's children lie as they must in a content box of this size; gives the stage that comes first."""
    work: NodeWork
    work = (tree.work + node)[0]
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
        return following
    kept = tree.work + node
    kept.width = width
    kept.height = height
    kept.definite = definite
    return _ask(tree, node, u32(LAYOUT), following)


@device(inline=False)
def answer_widths(tree: Ptr[LayoutTree], node: i32, least: f32, most: f32) -> u32:
    """Answer the question for widths; gives the stage that follows."""
    work = tree.work + node
    answers = addressof(work.answers)
    if (answers.known & KNOWN_WIDTHS) != 0:
        answers.lost = 1
    answers.widths_height = work.height
    answers.widths_limit = work.limit
    answers.least_width = least
    answers.most_width = max(most, least)
    answers.known |= KNOWN_WIDTHS
    return work.following


@device(inline=False)
def answer_height(tree: Ptr[LayoutTree], node: i32, height: f32) -> u32:
    """Answer the question for a height, in place of the oldest that is known; gives the stage that follows."""
    work = tree.work + node
    answers = addressof(work.answers)
    slot = answers.next_height % HEIGHTS
    answers.next_height = slot + 1
    if (answers.known & (u32(KNOWN_HEIGHT) << slot)) != 0:
        answers.lost = 1
    answers.height_width[slot] = work.width
    answers.height_limit[slot] = work.limit
    answers.height[slot] = height
    answers.known |= u32(KNOWN_HEIGHT) << slot
    return work.following


@device(inline=False)
def answer_layout(tree: Ptr[LayoutTree], node: i32, baseline: f32, right: f32, bottom: f32) -> u32:
    """Say that all children lie as they must; gives the stage that follows."""
    work: NodeWork
    work = (tree.work + node)[0]
    answers = addressof((tree.work + node).answers)
    if (answers.known & KNOWN_LAYOUT) != 0:
        answers.lost = 1
    answers.layout_width = work.width
    answers.layout_height = work.height
    answers.layout_definite = work.definite
    for side in range(4):
        answers.layout_padding[side] = work.item.padding[side]
    answers.baseline = baseline
    answers.reach[0] = right
    answers.reach[1] = bottom
    answers.known = work.answers.known | KNOWN_LAYOUT
    return work.following
