"""Small trees of styles, and the boxes that Chromium 156 gives them; the suite has none of their kind."""

import pytest

from lanewise.desktop.layout.style import Style
from lanewise.desktop.layout.tree import Layouts, Node, flatten

SIZE = ("x", "y", "width", "height")


def node(*children, **style):
    return Node(Style(font_size=10, **style), list(children))


def boxes_of(device, *children, **style):
    """The boxes of a root of 300 by 200 pixels and of all that it holds, level by level, but for its own."""
    layouts = Layouts(device, [flatten(node(*children, **{"width": 300, "height": 200, **style}))], rounding=False)
    layouts.run()
    return [tuple(round(float(box[name]), 2) for name in SIZE) for box in layouts.boxes_of()[1:]]


@pytest.mark.parametrize(
    ("style", "y"),
    [
        ({"height": 38, "inset": (0, "auto", 0, 0), "align_self": "flex-end"}, 0),
        ({"height": 15, "inset": (10, "auto", 5, 0), "align_self": "end"}, 0),
        ({"height": 15, "inset": (10, "auto", 5, 0), "align_self": "start"}, 5),
        ({"height": 15, "inset": (-8, "auto", 20, 0), "align_self": "end"}, -8),
        ({"height": 38, "inset": (3, "auto", 7, 0), "align_self": "center"}, 0),
        ({"height": 38, "inset": (3, "auto", 7, 0), "align_self": "safe end"}, 3),
        ({"height": 1, "inset": (-3, "auto", 40, 0), "align_self": "end"}, -3),
        ({"border": (1, 0, 0, 0), "inset": (18, "auto", 10, 0), "align_self": "stretch"}, 18),
        ({"height": 38, "inset": (3, "auto", 7, 0)}, 3),
        ({"height": 38, "inset": (3, "auto", 7, 0), "margin": ("auto", 0, 0, 0)}, -25),
        ({"height": 38, "inset": (3, "auto", 7, 0), "margin": ("auto", 0)}, -11),
    ],
)
def test_what_is_too_high_to_lie_between_its_insets_stays_within_its_parent(device, style, y):
    parent = node(node(position="absolute", width=10, **style), width=50, height=20)
    assert boxes_of(device, parent, align_items="flex-start")[1][1] == y


@pytest.mark.parametrize(
    ("direction", "margin", "x"),
    [
        ("ltr", (0, "auto"), 5),
        ("rtl", (0, "auto"), -60),
        ("ltr", (0, 0, 0, "auto"), -60),
        ("rtl", (0, "auto", 0, 0), 5),
    ],
)
def test_what_is_too_wide_for_its_margins_overflows_at_its_end(device, direction, margin, x):
    child = node(position="absolute", width=100, height=5, inset=(0, 15, "auto", 5), margin=margin)
    assert boxes_of(device, node(child, width=55, height=20, direction=direction))[1][0] == x


def test_insets_that_cross_leave_no_room_but_that_of_negative_margins(device):
    child = node(position="absolute", height=5, inset=(0, 40, "auto", 30), margin=(0, -7, 0, -2))
    assert boxes_of(device, node(child, width=50, height=20))[1] == (28, 0, 9, 5)


@pytest.mark.parametrize(
    ("room", "items", "width"),
    [
        (300, [{"width": 52, "flex_basis": 21}], 52),
        (300, [{"width": 52, "flex_basis": 21}, {"width": 40}], 61),
        (300, [{"flex_basis": 60, "flex_shrink": 0}], 60),
        (40, [{"flex_basis": 60, "flex_shrink": 0}], 40),
    ],
)
def test_lines_that_wrap_are_no_narrower_than_the_content_of_an_item_whatever_its_basis(device, room, items, width):
    lines = node(*(node(**item) for item in items), flex_wrap="wrap")
    assert boxes_of(device, lines, width=room)[0][2] == width
