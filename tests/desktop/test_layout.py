"""Flexbox on the device: the suite that was measured in Chrome, its cases told in other ways, and what it lacks."""

import itertools
import math
import random

import layout_suite
import numpy as np
import pytest

import lanewise as lw
from lanewise.bench.layout import interface
from lanewise.desktop.layout import sharing
from lanewise.desktop.layout.engine import forget, run_layout
from lanewise.desktop.layout.structures import LayoutTree, NodeStyle
from lanewise.desktop.layout.style import LONGEST, Style, pack_styles
from lanewise.desktop.layout.tree import FlatTree, Layouts, Node, Typeface, flatten
from lanewise.lang import Ptr, group_id, kernel

NEEDS_SUITE = pytest.mark.skipif(
    not layout_suite.SUITE.is_dir(), reason="needs the flexbox suite in ../shared/suites/taffy-flex"
)
KNOWN_FAILURES = {
    "bevy_issue_10343_grid": "needs a grid",
    "bevy_issue_21240": "needs a grid",
}
"""Cases by name, and why they fail. One that passes after all fails the test too."""
NOT_MIRRORED = {"align_baseline_multiline_column", "align_baseline_multiline_column2"}
"""Cases that Chrome does not mirror from right to left: in a column baselines are left edges, both ways."""
SIZE = ("x", "y", "width", "height")


@pytest.fixture(scope="module")
def cases():
    return layout_suite.cases()


def boxes_of(device, roots, available=None, rounding=True, group_size=64):
    """The boxes of each tree, laid out in one launch."""
    layouts = Layouts(device, [flatten(root) for root in roots], available, rounding=rounding)
    layouts.run(group_size)
    return [layouts.boxes_of(index) for index in range(len(roots))]


def lay_out(device, root, **options):
    return boxes_of(device, [root], **options)[0]


def sizes(boxes):
    return [tuple(float(box[name]) for name in SIZE) for box in boxes]


@NEEDS_SUITE
def test_suite_is_laid_out_as_in_chrome(device, cases):
    assert len(cases) == 659
    failed = {}
    for rounding in (True, False):
        chosen = [case for case in cases if case.rounding == rounding]
        found = boxes_of(device, [case.root for case in chosen], [case.available for case in chosen], rounding)
        for case, boxes in zip(chosen, found, strict=True):
            if wrong := layout_suite.differences(case, boxes):
                failed[case.name] = wrong
    unexpected = {name: wrong for name, wrong in failed.items() if name not in KNOWN_FAILURES}
    assert not unexpected, "\n".join(f"{name}: {wrong[0]}" for name, wrong in list(unexpected.items())[:20])
    assert failed.keys() == KNOWN_FAILURES.keys(), "listed as known failures, but passed"


@NEEDS_SUITE
def test_suite_is_the_same_in_sizes_of_content_boxes(device, cases):
    """Every size is told without padding and border, where it can be: that must change no box."""
    retold = [layout_suite.by_content(case.root) for case in cases]
    available = [case.available for case in cases]
    changed = sum(node.style.box_sizing == "content-box" for root in retold for node in all_nodes(root))
    assert changed > 2000
    for case, before, after in zip(
        cases,
        boxes_of(device, [case.root for case in cases], available, rounding=False),
        boxes_of(device, retold, available, rounding=False),
        strict=True,
    ):
        assert np.allclose(sizes(before), sizes(after), atol=0.01), case.name


@NEEDS_SUITE
def test_suite_is_mirrored_from_right_to_left(device, cases):
    """With left and right exchanged, direction included, every box must lie where a mirror shows it."""
    available = [case.available for case in cases]
    shown = boxes_of(device, [case.root for case in cases], available, rounding=False)
    mirror = boxes_of(device, [layout_suite.mirrored(case.root) for case in cases], available, rounding=False)
    different = set()
    for case, before, after in zip(cases, shown, mirror, strict=True):
        parents = flatten(case.root).links["parent"]
        for index in range(1, len(before)):
            box = before[index]
            if hidden(case.root, parents, index):
                continue
            x = before[parents[index]]["width"] - box["x"] - box["width"]
            expected = (x, *sizes(before)[index][1:], box["content_width"])
            if not np.allclose((*sizes(after)[index], after[index]["content_width"]), expected, atol=0.01):
                different.add(case.name)
    assert different == NOT_MIRRORED


def all_nodes(root):
    """The nodes of a tree in the order in which `flatten` numbers them."""
    nodes = [root]
    for node in nodes:
        nodes.extend(node.children)
    return nodes


def hidden(root, parents, index):
    nodes = all_nodes(root)
    while index >= 0:
        if nodes[index].style.display == "none":
            return True
        index = parents[index]
    return False


def test_size_of_content_box_gets_padding_and_border(device):
    """Widths in pixels, in percent and from an aspect ratio, least and greatest ones, and a flex basis."""
    content = {"box_sizing": "content-box", "padding": 10, "border": 5, "flex_shrink": 0}
    children = [
        Node(Style(width=100, height=20, **content)),
        Node(Style(width="10%", height=20, **content)),
        Node(Style(width=100, aspect_ratio=2, align_self="start", **content)),
        Node(Style(min_width=50, max_height=20, height=90, **content)),
        Node(Style(flex_basis=70, height=20, **content)),
    ]
    boxes = lay_out(device, Node(Style(width=1000, height=300), children))
    assert sizes(boxes)[1:] == [
        (0, 0, 130, 50),
        (130, 0, 130, 50),
        (260, 0, 130, 80),
        (390, 0, 80, 50),
        (470, 0, 100, 50),
    ]


WORDS = "xxxx\u200bxx\u200bxxxxxx"  # 120 wide, 60 at least


@pytest.mark.parametrize(
    ("style", "container", "item"),
    [
        ({"flex_basis": 35.5}, 60, 60),
        ({"flex_basis": 35.5, "flex_grow": 1}, 120, 120),
        ({"flex_basis": 200}, 120, 120),
        ({"flex_basis": 200, "flex_shrink": 0}, 200, 200),
        ({"flex_basis": 20, "width": 50}, 50, 50),
        ({"flex_basis": "10%"}, 120, 60),
        ({"flex_basis": 0, "flex_grow": 1, "max_width": 50}, 50, 50),
    ],
)
def test_width_from_content_heeds_the_flex_basis(device, style, container, item):
    """As Chromium has it: what does not grow is no wider than its basis, what does not shrink no narrower."""
    inner = Node(Style(), [Node(Style(font_size=10, **style), text=WORDS)])
    boxes = lay_out(device, Node(Style(width=300, height=100, align_items="flex-start"), [inner]))
    assert (boxes[1]["width"], boxes[2]["width"]) == (container, item)


def test_percentage_of_an_unknown_height_is_no_stretching(device):
    inner = Node(Style(), [Node(Style(height="76%")), Node(Style(padding=(5, 0, 0, 0)))])
    boxes = lay_out(device, Node(Style(width=300, height=200, align_items="flex-end"), [inner]))
    assert sizes(boxes)[1:] == [(0, 195, 0, 5), (0, 0, 0, 0), (0, 0, 0, 5)]


def test_insets_move_an_item_and_not_its_baseline(device):
    moved = Node(Style(), [Node(Style(inset=(3, "auto", "auto", "auto"), height=10))])
    boxes = lay_out(device, Node(Style(width=300, height=200, align_items="baseline"), [moved, Node(Style(height=10))]))
    assert sizes(boxes)[1:] == [(0, 0, 0, 10), (0, 0, 0, 10), (0, 3, 0, 10)]


def test_absolute_child_is_aligned_between_its_insets(device):
    child = {"position": "absolute", "width": 40, "inset": (10, "auto", 20, 0)}
    children = [Node(Style(align_self=align, **child), [Node(Style(height=30))]) for align in ("auto", "center", "end")]
    boxes = lay_out(device, Node(Style(width=300, height=200), children))
    assert sizes(boxes)[1:4] == [(0, 10, 40, 170), (0, 80, 40, 30), (0, 150, 40, 30)]


def test_row_from_right_to_left(device):
    """The first item is at the right, start is the right, and the scrollbar stands at the left."""
    style = Style(direction="rtl", width=200, height=50, overflow_y="scroll", scrollbar_width=15, column_gap=5)
    boxes = lay_out(device, Node(style, [Node(Style(width=40, margin=(0, 3, 0, 7))), Node(Style(width=50))]))
    assert sizes(boxes)[1:] == [(157, 0, 40, 50), (95, 0, 50, 50)]


def random_style(rng, **fixed):
    """Something of everything that a style can say."""
    length = lambda: rng.choice((rng.randrange(60), rng.randrange(60) + 0.5, f"{rng.randrange(120)}%", "auto"))  # noqa: E731
    sides = lambda *more: tuple(rng.choice((0, 0, rng.randrange(8), f"{rng.randrange(9)}%", *more)) for _ in range(4))  # noqa: E731
    aligns = ("auto", "auto", "stretch", "flex-start", "flex-end", "start", "end", "center", "baseline")
    shares = (*aligns[:-1], "space-between", "space-around", "space-evenly", "safe end")
    said = {
        "display": rng.choice(("flex",) * 12 + ("none", "block")),
        "position": rng.choice(("relative",) * 7 + ("absolute",)),
        "direction": rng.choice(("ltr", "ltr", "rtl")),
        "box_sizing": rng.choice(("border-box", "content-box")),
        "overflow_x": rng.choice(("visible",) * 5 + ("hidden", "scroll")),
        "overflow_y": rng.choice(("visible",) * 5 + ("hidden", "scroll")),
        "scrollbar_width": rng.choice((0, 10)),
        "margin": sides("auto"),
        "padding": sides(),
        "border": tuple(rng.choice((0, 0, 1, 2)) for _ in range(4)),
        "inset": rng.choice(("auto", "auto", tuple(rng.choice(("auto", 3, "10%")) for _ in range(4)))),
        "flex_direction": rng.choice(("row", "column", "row-reverse", "column-reverse")),
        "flex_wrap": rng.choice(("nowrap", "nowrap", "nowrap", "wrap", "wrap-reverse", "balance")),
        "flex_grow": rng.choice((0, 0, 1, 2.5)),
        "flex_shrink": rng.choice((0, 1, 1)),
        "flex_basis": rng.choice(("auto", "auto", "content", length())),
        "row_gap": rng.choice((0, 4, "5%")),
        "column_gap": rng.choice((0, 4, "5%")),
        "justify_content": rng.choice(shares),
        "align_content": rng.choice(shares),
        "align_items": rng.choice(aligns),
        "align_self": rng.choice(aligns),
        "aspect_ratio": rng.choice((None,) * 9 + (0.5, 2)),
        "font_size": 10,
    }
    for name in ("width", "height"):
        said[name] = rng.choice(("auto", "auto", length()))
        said[f"min_{name}"] = rng.choice(("auto", "auto", "auto", length()))
        said[f"max_{name}"] = rng.choice(("auto", "auto", "auto", length()))
    return Style(**(said | fixed))


def random_tree(rng, count, depth=8):
    """A tree of about so many nodes."""
    root = Node(random_style(rng, display="flex", position="relative", width=300, height=200), [])
    open_nodes = [(root, 0)]
    made = 1
    while made < count:
        parent, level = rng.choice(open_nodes)
        text = " ".join("x" * rng.randrange(1, 7) for _ in range(rng.randrange(1, 5))) if rng.random() < 0.4 else ""
        child = Node(random_style(rng), [], text)
        parent.children.append(child)
        made += 1
        if not text and level + 1 < depth:
            open_nodes.append((child, level + 1))
    return root


def test_any_number_of_threads_gives_the_same_boxes(device):
    roots = [random_tree(random.Random(seed), 40) for seed in range(20)]
    expected = boxes_of(device, roots, group_size=1)
    for group_size in (7, 32, 256, 1024):
        found = boxes_of(device, roots, group_size=group_size)
        for before, after in zip(expected, found, strict=True):
            assert before.tobytes() == after.tobytes()


@kernel
def lay_out_together(trees: Ptr[LayoutTree]):
    run_layout(trees + group_id())


@pytest.mark.parametrize("group_size", [5, 64, 1024])
def test_threads_of_a_group_find_together_what_one_finds(device, monkeypatch, group_size):
    """A GPU shares the nodes among the threads and a CPU does not: here a CPU does, so that both ways are compared."""
    monkeypatch.setattr(sharing, "ON_GPU", True)
    roots = [random_tree(random.Random(seed), 60) for seed in range(20)]
    roots.append(wide_tree())  # has more nodes than shared memory has places
    layouts = Layouts(device, [flatten(root) for root in roots])
    lay_out_together[len(roots) * group_size, group_size](layouts.headers)
    monkeypatch.undo()
    for tree, expected in enumerate(boxes_of(device, roots)):
        assert layouts.boxes_of(tree).tobytes() == expected.tobytes()


def test_change_gives_the_boxes_that_the_whole_tree_gives(device):
    """After each of many changes of one style, what is laid out again is to the bit what is laid out from scratch."""
    rng = random.Random(7)
    roots = [random_tree(rng, 40) for _ in range(12)]
    layouts = Layouts(device, [flatten(root) for root in roots])
    layouts.run()
    for _ in range(15):
        for tree, root in enumerate(roots):
            nodes = all_nodes(root)
            index = rng.randrange(1, len(nodes))
            nodes[index].style = random_style(rng)
            layouts.change(index, nodes[index].style, tree)
        layouts.run()
        for tree, scratch in enumerate(boxes_of(device, roots)):
            assert layouts.boxes_of(tree).tobytes() == scratch.tobytes()


@pytest.mark.parametrize(("seed", "tree", "steps"), [(5087, 0, 7), (5141, 4, 24)])
def test_change_is_felt_where_an_answer_was_used_that_is_kept_no_more(device, seed, tree, steps):
    """A node keeps a few answers; those that it has given besides may have changed as well."""
    rng = random.Random(seed)
    count, depth = rng.choice((30, 60, 120)), rng.choice((5, 8, 14))
    roots = [random_tree(rng, count, depth) for _ in range(8)]
    layouts = Layouts(device, [flatten(roots[tree])])
    layouts.run()
    for _ in range(steps):
        for root in roots:
            nodes = all_nodes(root)
            index = rng.randrange(1, len(nodes))
            nodes[index].style = random_style(rng)
            if root is roots[tree]:
                layouts.change(index, nodes[index].style)
        layouts.run()
        assert layouts.boxes_of().tobytes() == boxes_of(device, [roots[tree]])[0].tobytes()


def test_forgetting_any_node_changes_no_box(device):
    """Answers are kept for a few sizes only: what is asked again must not spoil what was laid out before."""
    layouts = Layouts(device, [flatten(interface(256))])
    layouts.run()
    expected = layouts.boxes_of().tobytes()
    for node in range(256):
        forget[1](layouts.headers, 0, node)
        layouts.run()
        assert layouts.boxes_of().tobytes() == expected, node


def test_nothing_is_laid_out_where_nothing_changed(device):
    layouts = Layouts(device, [flatten(wide_tree())])
    layouts.run()
    layouts.run()
    assert layouts.headers.get()["rounds"][0] == 1


def nested(depth):
    """So many boxes in each other, rows and columns in turns, with a leaf in the innermost, which has a size."""
    node = Node(Style(width=40, height=40), [Node(Style(width=10, height=10))])
    for level in range(1, depth):
        node = Node(Style(flex_direction="column" if level % 2 else "row", padding=1), [node])
    return node


def test_change_that_nobody_feels_goes_no_further_up(device):
    """The leaf at the bottom is put elsewhere in its box: the box is as large as before, and nothing above is asked."""
    root = nested(30)
    layouts = Layouts(device, [flatten(root)])
    layouts.run()
    whole = int(layouts.headers.get()["rounds"][0])
    layouts.change(30, Style(width=10, height=10, inset=(2, "auto", "auto", 3)))
    layouts.run()
    near = int(layouts.headers.get()["rounds"][0])
    assert sizes(layouts.boxes_of())[30] == (3, 2, 10, 10)
    layouts.change(29, Style(width=50, height=40))
    layouts.run()
    felt = int(layouts.headers.get()["rounds"][0])
    assert sizes(layouts.boxes_of())[0] == (0, 0, 108, 98)
    assert near < 50  # the box takes some rounds, and being told takes each node above one at most
    assert near < felt / 2
    assert near < whole / 2


def test_links_changed_without_a_mark_hold_from_the_next_mark_on(device):
    """A node with a changed child is hung into the tree and nobody says so: layout ends, and finds it when told."""
    tree = flatten(Node(Style(width=100, height=50), [Node(Style(width=10)), Node(Style(width=20), [Node(Style())])]))
    links = tree.links.copy()
    tree.links["next_sibling"][1] = -1
    tree.links["parent"][2] = -1
    layouts = Layouts(device, [tree])
    layouts.run()
    layouts.change(3, Style(width=5, height=5))
    layouts.links.set(links)
    layouts.run()
    forget[1](layouts.headers, 0, 2)
    layouts.run()
    assert sizes(layouts.boxes_of())[1:] == [(0, 0, 10, 50), (10, 0, 20, 50), (0, 0, 5, 5)]


def wide_tree():
    """1,024 nodes and one more: more than a group has threads."""
    rows = [Node(Style(flex_grow=1), [Node(Style(flex_grow=1)) for _ in range(31)]) for _ in range(32)]
    return Node(Style(flex_direction="column", width=310, height=320), rows)


def test_tree_of_more_nodes_than_threads(device):
    boxes = lay_out(device, wide_tree(), group_size=64)
    assert len(boxes) == 1025
    assert {(box["width"], box["height"]) for box in boxes[33:]} == {(10, 10)}
    assert (boxes[-1]["left"], boxes[-1]["top"]) == (300, 310)


def test_deep_tree_takes_time_in_proportion(device):
    """Each node asks what its parent asked: if nothing were kept, 40 levels would take 2 to the 40 steps."""
    node = Node(Style(font_size=10), text="deep")
    for level in range(40):
        direction = "column" if level % 2 else "row"
        node = Node(
            Style(flex_direction=direction, flex_wrap="wrap" if level % 5 == 0 else "nowrap", padding=1), [node]
        )
    boxes = lay_out(device, node)
    assert sizes(boxes)[0] == (0, 0, 120, 90)
    assert sizes(boxes)[-1] == (1, 1, 40, 10)


def test_text_is_broken_between_words(device):
    """Spaces at the end of a line take no room, a newline ends one, and the table of advances counts."""
    advances = [0.5] * 128
    advances[ord("m")] = 1.5
    tree = Node(Style(width=100, flex_direction="column", align_items="start"), [])
    for text in ("aa aa", "aaaaaaaa aaaaaaaa aaa", "mm", "a\naa", "é"):
        tree.children.append(Node(Style(font_size=10), text=text))
    layouts = Layouts(device, [flatten(tree)], typefaces=[Typeface(advances, 1.2, 0.9)])
    layouts.run()
    assert sizes(layouts.boxes_of())[1:] == [
        (0, 0, 25, 12),
        (0, 12, 100, 24),
        (0, 36, 30, 12),
        (0, 48, 10, 24),
        (0, 72, 5, 12),
    ]


def test_content_tells_how_far_to_scroll(device):
    style = Style(width=100, height=100, overflow_x="hidden", overflow_y="hidden", padding=10, flex_wrap="wrap")
    boxes = lay_out(device, Node(style, [Node(Style(width=70, height=150, flex_shrink=0)) for _ in range(2)]))
    assert (boxes[0]["content_width"], boxes[0]["content_height"]) == (100, 320)


def test_touching_boxes_share_their_edges(device):
    """Seven in 100 pixels: left and top are what to draw at, and leave neither gap nor overlap."""
    boxes = lay_out(device, Node(Style(width=100, height=10), [Node(Style(flex_grow=1)) for _ in range(7)]))
    for before, after in itertools.pairwise(boxes[1:]):
        assert before["left"] + before["width"] == after["left"]


@pytest.mark.parametrize(
    ("style", "said"),
    [
        ({"width": math.nan}, "node 1: width is nan; it is pixels, 0 or above, a percentage, auto,"),
        ({"height": "5 furlongs"}, "node 1: height is '5 furlongs'; it is"),
        ({"padding": -1}, "node 1: padding is -1; it is pixels, 0 or above or a percentage"),
        ({"border": "10%"}, "node 1: border is '10%'; it is pixels, 0 or above"),
        ({"margin": (1, 2, 3)}, "node 1: margin is (1, 2, 3); it has one length, two or four"),
        ({"flex_grow": math.inf}, "node 1: flex_grow is inf; it is a number, 0 or above"),
        ({"aspect_ratio": 0}, "node 1: aspect_ratio is 0; it is a number above 0"),
        ({"display": "grid"}, "node 1: display is 'grid'; it is one of flex, block, none"),
        ({"align_items": "middle"}, "node 1: align_items is 'middle'; it is one of auto, stretch,"),
        ({"flex_line_count": -1}, "node 1: flex_line_count is -1; it is a whole number from 0 to 4,294,967,295"),
        ({"width": -(10**5000)}, "node 1: width is a whole number of 16,610 bits; it is pixels, 0 or above"),
        ({"flex_shrink": True}, "node 1: flex_shrink is True; it is a number, 0 or above"),
    ],
)
def test_style_that_makes_no_sense_is_refused(style, said):
    with pytest.raises(lw.ArgumentError) as refused:
        flatten(Node(Style(), [Node(Style(**style))]))
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize("number", [np.int64, np.float32, np.uint8])
def test_numbers_of_numpy_are_numbers_to_a_style(number):
    said = {"width": 30, "flex_grow": 2, "flex_line_count": 3, "aspect_ratio": 2, "inset": (1, 2), "row_gap": 4}
    of_numpy = {name: (number(1), number(2)) if name == "inset" else number(value) for name, value in said.items()}
    if number is np.float32:
        of_numpy["flex_line_count"] = 3
    assert pack_styles([Style(**of_numpy)]) == pack_styles([Style(**said)])


@pytest.mark.parametrize("much", [10**400, 10**5000, "1e999px"], ids=["long", "longer", "as a word"])
def test_lengths_beyond_all_screens_are_the_longest_there_is(much):
    assert pack_styles([Style(width=much)]) == pack_styles([Style(width=LONGEST)])
    assert np.isfinite(pack_styles([Style(width="inf%")])["size"]["value"]).all()


def test_tree_that_makes_no_sense_is_refused():
    child = Node()
    with pytest.raises(lw.ArgumentError, match="every node has one place in it"):
        flatten(Node(Style(), [child, child]))
    with pytest.raises(lw.ArgumentError, match="node 0 has text and children"):
        flatten(Node(Style(), [child], "text"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([(1, "parent", 2), (2, "parent", 1)], "the links of node 1 are wrong: its parents go round in a circle"),
        ([(3, "next_sibling", 1), (1, "next_sibling", 3), (3, "parent", 0)], "two links lead to it"),
        ([(2, "first_child", 99)], "the links of node 2 are wrong: a link leads to a node that is not its child"),
    ],
)
def test_links_that_are_no_tree_are_refused_on_the_device(device, changes, said):
    tree = flatten(Node(Style(), [Node(), Node(Style(), [Node()])]))
    for node, link, value in changes:
        tree.links[link][node] = value
    layouts = Layouts(device, [tree])
    layouts.run()
    with pytest.raises(lw.ArgumentError) as refused:
        layouts.boxes_of()
    assert said in str(refused.value)


def test_nodes_that_do_not_hang_on_the_root_are_left_out(device):
    """Places in the arrays that are not in use."""
    tree = flatten(Node(Style(width=10, height=10), [Node(Style(flex_grow=1))]))
    links = np.concatenate([tree.links, np.array([(-1, -1, -1)], tree.links.dtype)])
    styles = np.concatenate([tree.styles, pack_styles([Style(width=5)])])
    layouts = Layouts(device, [FlatTree(styles, links, tree.text)])
    layouts.run()
    assert sizes(layouts.boxes_of())[1:] == [(0, 0, 10, 10), (0, 0, 0, 0)]


def test_style_is_documented_where_it_is_defined():
    assert NodeStyle.doc
    assert "size" in NodeStyle.describe()
