"""Where nodes come to lie on the screen: places are added up from the root down, however deep a tree is."""

import itertools

import numpy as np
import pytest

from lanewise.bench.layout import interface
from lanewise.bench.layout_kernels import lay_out_again
from lanewise.desktop.layout.style import Style
from lanewise.desktop.layout.tree import Layouts, Node, flatten


def boxes_of(device, root, rounding=True):
    layouts = Layouts(device, [flatten(root)], rounding=rounding)
    layouts.run()
    return layouts.boxes_of()


@pytest.mark.parametrize("depth", [7, 8, 9, 40])
def test_places_are_added_up_from_the_root_down(device, depth):
    """In 32 bits, so that the order of the sums can be told from what comes out."""
    margins = [0.1 + 0.01 * level for level in range(depth)]
    node = Node(Style(width=1, height=1))
    for margin in reversed(margins):
        node = Node(Style(), [Node(Style(margin=margin), [node])])
    boxes = boxes_of(device, node, rounding=False)
    sums = list(itertools.accumulate(map(np.float32, margins), initial=np.float32(0)))
    assert boxes["left"][:-1].tolist() == [float(each) for pair in itertools.pairwise(sums) for each in pair]


@pytest.mark.parametrize("depth", [3, 9, 20])
def test_nothing_is_seen_in_a_node_that_is_not_shown(device, depth):
    node = Node(Style(width=5, height=5))
    for _ in range(depth):
        node = Node(Style(padding=1), [node])
    boxes = boxes_of(device, Node(Style(width=50, height=50), [Node(Style(display="none", padding=1), [node])]))
    assert not any(boxes[side][1:].any() for side in ("x", "y", "left", "top", "width", "height"))


def test_layout_anew_in_one_launch_is_what_it_was(device):
    """Threads that go their own ways meet between rounds, and nobody goes on from what was there before."""
    layouts = Layouts(device, [flatten(interface(256))])
    layouts.run(1024)
    expected, rounds = layouts.boxes_of(), int(layouts.headers.get()["rounds"][0])
    for times in (1, 2, 20):
        lay_out_again[1024, 1024](layouts.headers, times)
        assert int(layouts.headers.get()["rounds"][0]) == rounds
        assert np.array_equal(layouts.boxes_of(), expected)
