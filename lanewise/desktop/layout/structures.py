"""What layout reads and writes, defined once: Python fills it through the NumPy dtypes, device code by field."""

from lanewise.lang.structs import struct
from lanewise.lang.types import Ptr, f32, f64, i32, u8, u32


@struct
class Length:
    """How long something is: a number of a unit (`keywords.UNITS`). Of 50 % the value is 0.5; words have no value."""

    value: f32
    unit: u32


@struct
class NodeStyle:
    """How a node wants to be laid out. Pairs are horizontal, vertical; fours are left, right, top, bottom."""

    size: Length[2]
    min_size: Length[2]
    max_size: Length[2]
    margin: Length[4]
    padding: Length[4]
    border: f32[4]
    inset: Length[4]
    gap: Length[2]  # between columns, between rows
    flex_basis: Length
    flex_grow: f32
    flex_shrink: f32
    aspect_ratio: f32  # width / height; 0 for none
    scrollbar_width: f32
    font_size: f32
    font: u32  # index into LayoutTree.fonts
    text_start: u32  # the node's text: so many code points of LayoutTree.text; only nodes without children have text
    text_count: u32
    line_count: u32  # balanced wrapping: at least so many lines
    display: u8
    position: u8
    direction: u8
    writing_mode: u8
    box_sizing: u8
    flex_direction: u8
    flex_wrap: u8
    justify_content: u8
    align_items: u8
    align_self: u8
    align_content: u8
    overflow: u8[2]


@struct
class NodeLinks:
    """Where a node stands in the tree: indices of nodes, -1 for none. All three must agree with each other."""

    parent: i32
    first_child: i32
    next_sibling: i32


@struct
class NodeBox:
    """Where a node came to lie: its border box in whole pixels, seen from the parent's border box and from the root.

    All are rounded by themselves: left and top are what to draw at, since boxes that touch share their edges then.
    """

    x: f32
    y: f32
    width: f32
    height: f32
    left: f32  # from the root
    top: f32
    content_width: f32  # how far content reaches from the inner edge of the left and top border; for scrolling
    content_height: f32
    border: f32[4]  # left, right, top, bottom; not rounded
    padding: f32[4]
    scrollbar: f32[2]  # the width of the vertical scrollbar, the height of the horizontal one


@struct
class Font:
    """How wide text is, in multiples of the font size: one advance for each code point from 0 on."""

    advances: Ptr[f32]
    advance_count: u32  # at least 1; code points beyond have the last advance
    line_height: f32
    ascent: f32  # from the top of a line to its baseline


@struct
class Item:
    """A node as its parent lays it out; sizes are those of border boxes.

    The thread that has the node writes it while it is on an errand, the one that has the parent while it is not.
    """

    margin: f32[4]  # 0 where it is auto, until free space has been given to it
    padding: f32[4]
    frame: f32[2]  # padding and border of both sides
    edge: f32[2]  # those, and the scrollbar: what the content box is smaller by
    size: f32[2]  # as the style says; INDEFINITE where it does not
    least: f32[2]
    most: f32[2]
    base: f32  # flex base size
    used: f32[2]  # the size it gets
    place: f32[2]  # where the border box begins, seen from the parent's content box
    nudge: f32[2]  # how far its insets move it from there
    baseline: f32  # from the top of the border box
    contribution: f32[2]  # the least and the greatest width that it takes in its parent, margins included
    reach: f32[2]  # how far it and what overflows it reach from the beginning of its parent's content box
    flags: u32  # ITEM_...
    align: u32  # the alignment that holds for it across the line
    line_first: i32  # the first item of the line that it is in
    # Of the line that this item is the first of:
    line_end: i32  # the item that the next line begins with
    line_count: u32
    line_size: f32  # across
    line_place: f32
    line_baseline: f32  # where the baselines of its items meet, from the line's beginning
    # While balanced lines are sought:
    line_before: i32  # where the line before this one begins, if a line begins here
    weight: f32  # the size along the line
    score: f64  # how bad the best way is to break all lines before this item


@struct
class Answers:
    """What is known of a node whatever its parent does, so that it need not be found again until it is dirty."""

    known: u32  # KNOWN_...: which of the following hold
    stale: u32  # which of them held before a change, and may still
    lost: u32  # whether the parent may have used an answer in whose place is another one now
    next_height: u32  # which of the heights is forgotten next
    # Widths of the content: for a content height (INDEFINITE where it is not known), and lines no longer than a limit.
    widths_height: f32
    widths_limit: f32
    least_width: f32
    most_width: f32
    # Heights of the content, for widths of the content box.
    height_width: f32[4]
    height_limit: f32[4]
    height: f32[4]
    # Whether the children lie as they must for a size of the content box.
    layout_width: f32
    layout_height: f32
    layout_definite: u32
    layout_padding: f32[4]  # absolute children lie in the padding box
    baseline: f32  # from the top of the content box; NO_BASELINE
    reach: f32[2]  # how far content reaches: from the content box's start to its end edge, beyond it or not


@struct
class NodeWork:
    """What layout keeps of a node: the question that it works on, and what it found."""

    stage: u32  # what it does when its children are back
    pending: u32  # children that are on errands, if the board has no place for that
    entries: u32[2]  # not of this node: where the board's entries are that have no place there
    question: u32
    following: u32  # the stage that follows when the question is answered
    # The question: content width, content height (INDEFINITE: to be found), how long lines may get in a column.
    width: f32
    height: f32
    limit: f32
    definite: u32  # whether percentages of the height mean something
    first_item: i32  # of its children, the first that takes part in lines
    next_item: i32  # of its later siblings
    item_count: u32  # how many children take part in lines
    absolute_count: u32  # how many are absolute
    dirty: u32  # it or a node below it has changed
    suspect: u32  # its answers may be others: it has changed, or a child, or what a child answers
    asked: u32  # after a change: which of the stale answers is sought,
    before: f32[3]  # and what it was
    depth: u32
    linker: u32  # whose link leads to this node: twice its number, and one more if it is a sibling
    hidden: u32  # it or a node above it is not shown
    corner: f32[2]  # where its border box begins, from the parent's; not rounded
    absolute: f32[2]  # and from the root
    item: Item
    answers: Answers


@struct
class LayoutTree:
    """A tree of nodes and where its arrays are: `count` entries each, but text and fonts."""

    styles: Ptr[NodeStyle]
    links: Ptr[NodeLinks]
    boxes: Ptr[NodeBox]
    work: Ptr[NodeWork]
    text: Ptr[u32]
    fonts: Ptr[Font]
    count: u32
    root: i32
    available: f32[2]  # what the root may take; infinite for as much as it likes
    rounding: u32  # 1: boxes end at whole pixels; 0: as computed
    problem: u32  # 0, or what is wrong with the links: PROBLEM_... in the upper byte, UPMOST_NODE less the node below
    rounds: u32  # how many rounds the last layout took
