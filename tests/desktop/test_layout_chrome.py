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


@pytest.mark.parametrize("keyword", ["fit-content", "min-content", "max-content"])
@pytest.mark.parametrize(
    ("style", "box"),
    [
        ({"margin": "auto"}, (125, 90, 50, 20)),
        ({}, (0, 0, 50, 20)),
        ({"margin": (0, "auto"), "inset": (10, 20, "auto", 0)}, (115, 10, 50, 20)),
        ({"align_self": "end"}, (0, 180, 50, 20)),
    ],
)
def test_what_lies_between_insets_may_have_the_size_of_its_content(device, keyword, style, box):
    said = {"position": "absolute", "inset": 0, "width": keyword, "height": keyword} | style
    assert boxes_of(device, node(node(width=50, height=20), **said))[0] == box


@pytest.mark.parametrize("style", [{"flex_grow": 1}, {"height": 300, "min_height": 0}])
def test_items_of_a_block_neither_grow_nor_shrink(device, style):
    block = node(node(**style), display="block", flex_grow=2, min_height=0)
    found = boxes_of(device, block, flex_direction="column")
    assert found == [(0, 0, 300, 200), (0, 0, 300, style.get("height", 0))]


def test_trees_that_are_dropped_at_once_are_laid_out_whole(device):
    trees = [flatten(node(*(node(flex_grow=1) for _ in range(200)), width=300, height=200)) for _ in range(20)]
    for _ in range(5):
        Layouts(device, trees).run()
    assert boxes_of(device, node(width=10, height=10))[0] == (0, 0, 10, 10)


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


@pytest.mark.parametrize(
    ("style", "size"),
    [
        ({"padding": (9, 0, 0, 0)}, (18, 9)),
        ({"border": (0, 0, 2, 1)}, (4, 2)),
        ({"padding": (9, 0, 0, 0), "box_sizing": "content-box"}, (0, 9)),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_padding_and_border_count_for_an_aspect_ratio(device, style, size, nested):
    item = node(aspect_ratio=2, align_self="flex-start", **style)
    boxes = boxes_of(device, node(item)) if nested else boxes_of(device, item)
    assert boxes[-1][2:] == size
    assert boxes[0][2] == size[0]


@pytest.mark.parametrize(
    ("style", "size"),
    [
        ({"height": 10}, (41, 10)),
        ({"height": 10, "max_height": 5}, (41, 5)),
        ({"height": 10, "min_width": 0}, (20, 10)),
        ({"height": 10, "max_width": 30}, (30, 10)),
        ({"height": 60}, (120, 60)),
        ({"flex_basis": 10}, (41, 20.5)),
        ({"flex_basis": 10, "min_height": 0}, (20, 10)),
    ],
)
def test_in_a_column_an_aspect_ratio_makes_nothing_narrower_than_its_content(device, style, size):
    item = node(node(width=41), aspect_ratio=2, align_self="flex-start", **style)
    assert boxes_of(device, item, flex_direction="column")[0][2:] == size


@pytest.mark.parametrize(
    ("style", "size"), [({"flex_basis": 60}, (41, 20.5)), ({"height": 60}, (41, 20.5)), ({"width": 120}, (120, 60))]
)
def test_in_a_column_that_is_full_an_aspect_ratio_shrinks_to_its_content(device, style, size):
    item = node(node(width=41, height=5), aspect_ratio=2, align_self="flex-start", **style)
    assert boxes_of(device, item, flex_direction="column", height=10)[0][2:] == size


@pytest.mark.parametrize(
    ("style", "child", "size"),
    [
        ({"max_width": 28}, {"width": 5, "height": 28}, (5, 28)),
        ({"max_width": 28, "width": 100}, {"height": 28}, (28, 28)),
        ({"max_width": 28, "flex_direction": "column"}, {"width": 40, "height": 28}, (28, 28)),
        ({"max_width": 28, "overflow_x": "hidden", "overflow_y": "hidden"}, {"width": 5, "height": 28}, (5, 2.5)),
        ({"max_height": 15, "align_self": "stretch"}, {"width": 70}, (70, 15)),
        ({"max_height": 15}, {"width": 70}, (30, 15)),
    ],
)
def test_an_aspect_ratio_grows_with_its_content_whatever_its_limits_make_of_it(device, style, child, size):
    item = node(node(**child), **{"aspect_ratio": 2, "align_self": "flex-start", **style})
    assert boxes_of(device, item)[0][2:] == size


def test_what_is_stretched_in_an_aspect_ratio_does_not_make_it_grow(device):
    stretched = node(node(node(height=40), width=15), width=15, aspect_ratio=2)
    beside = node(node(node(height=40), width=15), width=15, aspect_ratio=2, align_items="flex-start")
    boxes = boxes_of(device, stretched, beside, align_items="flex-start")
    assert [box[2:] for box in boxes[:2]] == [(15, 7.5), (15, 40)]


@pytest.mark.parametrize("align", ["stretch", "flex-end"])
def test_an_aspect_ratio_that_grows_in_a_column_that_wraps_makes_its_line_as_wide(device, align):
    item = node(aspect_ratio=0.5, flex_grow=2.5, align_self=align)
    x = 0 if align == "stretch" else 200
    width = 300 if align == "stretch" else 100
    assert boxes_of(device, item, flex_direction="column", flex_wrap="wrap") == [(x, 0, width, 200)]
    inner = node(node(aspect_ratio=0.5, flex_grow=1), flex_direction="column", flex_wrap="wrap")
    assert boxes_of(device, inner)[1] == (0, 0, 100, 200)


@pytest.mark.parametrize(("style", "width"), [({"flex_basis": 10}, 400), ({"height": 10}, 41)])
def test_a_row_is_as_wide_as_what_an_aspect_ratio_makes_of_its_height(device, style, width):
    children = [node(width=41)] if "height" in style else []
    assert boxes_of(device, node(node(*children, aspect_ratio=2, **style)))[0][2] == width
