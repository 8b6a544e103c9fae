"""What layout reads and writes, defined once: Python fills it through the NumPy dtypes, device code by field."""

from lanewise.lang.structs import struct
from lanewise.lang.types import Ptr, f32, i32, u8, u32


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
    """Where a node came to lie: its border box in whole pixels, seen from the parent's border box and from the root."""

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
