"""Numbers that the phases of layout share: questions, stages, flags, and values that stand for something else."""

import math

INDEFINITE = -1.0
"""A size that is not known. Sizes are never negative."""
INFINITE = math.inf
NO_BASELINE = -1e30

WIDTHS, HEIGHT, LAYOUT = range(3)
"""Questions to a node: how narrow and how wide its content may be; how high it is at a width; lay out its children."""

(
    BACK,
    DONE,
    BEGIN,
    WIDTHS_SUM,
    WIDTHS_LINES,
    FLOW_BASES,
    FLOW_LINES,
    FLOW_END,
    WIDTH_ITEM,
    WIDTH_ITEM_END,
    LINE_ITEM,
    LINE_ITEM_END,
    ROW_ITEM,
    ROW_ITEM_END,
    COLUMN_ITEM,
    COLUMN_ITEM_WIDTH,
    COLUMN_ITEM_END,
    ROW_HEIGHT,
    ROW_HEIGHT_FOUND,
    ROW_HEIGHT_END,
    PLACE,
    PLACE_END,
    ABSOLUTE,
    ABSOLUTE_WIDTH,
    ABSOLUTE_HEIGHT,
    ROOT,
    ROOT_WIDTH,
    ROOT_HEIGHT,
    RECHECK,
) = range(29)
"""What a node does next, once no child is pending. From BEGIN on it works on a question, from WIDTH_ITEM on it is on an
errand of its parent; DONE is the end of an errand, and BACK stands for whatever a node does when its children are back.
"""
STAGE_MASK = 255
ENTRY_SHIFT = 24
"""Above this an entry of the board has the errand, and below it the node; what a stage gives has the errand there too.
"""

KNOWN_WIDTHS, KNOWN_LAYOUT, KNOWN_HEIGHT = 1, 2, 4
"""What `Answers.known` says; KNOWN_HEIGHT is the first of HEIGHTS bits."""
HEIGHTS = 4

ITEM_AUTO_MARGIN = 1
"""The first of four bits, one a side."""
ITEM_LEAST_AUTO = 16
"""The least size along the main axis is found from the content."""
ITEM_BASE_CONTENT = 32
"""The flex base size is found from the content."""
ITEM_BASE_DEFINITE = 64
ITEM_STRETCHES = 128
"""Its size across is that of its line."""
ITEM_FITS = 4096
"""In a column its width comes from its content and the room there is."""
ITEM_FROZEN = 256
ITEM_LOW = 512
"""While lengths are flexed: it came out below its least size,"""
ITEM_HIGH = 1024
"""or above its greatest."""
ITEM_NEEDS_HEIGHT = 2048
"""Its height is found from its content, once its width is known."""

PROBLEM_BAD_LINK, PROBLEM_LINKED_TWICE, PROBLEM_CYCLE = range(1, 4)
"""What may be wrong with the links of a tree. Where something is, nothing is laid out."""
PROBLEM_SHIFT = 24
UPMOST_NODE = (1 << PROBLEM_SHIFT) - 1

DETACHED = 0xFFFFFFFF
"""The depth of a node that does not belong to the root: a place in the arrays that is not in use."""
