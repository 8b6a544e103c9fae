"""Benchmark `layout`: a tree of 256 nodes laid out from scratch, and after a change of one of them; against Taffy."""

from __future__ import annotations

import importlib
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lanewise.bench.layout_kernels import lay_out_again, lay_out_changed
from lanewise.bench.result import Result, WrongResultError, figure
from lanewise.bench.timing import medians
from lanewise.desktop.layout.style import Style
from lanewise.desktop.layout.tree import Layouts, Node, flatten
from lanewise.devices import Device

NODES = 256
DEPTH = 8
GROUP_SIZE = 1024
STEP = 97
"""From one changed node to the next: no divisor of NODES, so that all nodes have their turn."""
_PEER = "Taffy (stretchable)"


def interface(count: int) -> Node:
    """Rows and columns in each other as windows have them, with leaves of fixed sizes; the same tree each time."""
    rng = random.Random(count)
    root = Node(Style(width=1920, height=1080, flex_direction="column"), [])
    boxes = [(root, 1)]
    made = 1
    while made < count:
        parent, depth = boxes[rng.randrange(len(boxes))]
        if depth < DEPTH - 1 and rng.random() < 0.4:
            direction: Any = "column" if depth % 2 else "row"
            child = Node(Style(flex_direction=direction, flex_grow=1, padding=4, row_gap=4, column_gap=4), [])
            boxes.append((child, depth + 1))
        else:
            child = Node(Style(width=20 + rng.randrange(40), height=20, margin=2))
        assert isinstance(parent.children, list)
        parent.children.append(child)
        made += 1
    return root


def run(device: Device, quick: bool) -> Iterator[Result]:
    """Measure on one device."""
    tree = interface(NODES)
    layouts = Layouts(device, [flatten(tree)])
    layouts.run(GROUP_SIZE)
    expected = layouts.boxes_of()
    times = 10 if quick else 100
    gpu = device.name.startswith("cuda")
    peer = _taffy_seconds(tree)
    whole = GROUP_SIZE, GROUP_SIZE
    ways: dict[str, tuple[Callable[[], object], float]] = {
        "from scratch": (lambda: lay_out_again[whole](layouts.headers, times).wait(), 500.0),
        "one changed": (lambda: lay_out_changed[whole](layouts.headers, times, STEP, 8.0).wait(), 100.0),
        "one changed, none moves": (lambda: lay_out_changed[whole](layouts.headers, times, STEP, 0.0).wait(), 100.0),
    }
    for what, (launch, below) in ways.items():
        taken = medians({"launch": launch})["launch"] / times
        if not np.array_equal(layouts.boxes_of(), expected):
            raise WrongResultError(f"benchmark layout ({device.name}) laid out the same tree in another way")
        yield figure(
            "layout",
            device.name,
            f"{NODES} nodes, {what}",
            taken * 1e6,
            "us",
            peer=_PEER if what == "from scratch" else None,
            peer_value=peer * 1e6 if peer and what == "from scratch" else None,
            below=below if gpu else None,
            detail=f"{int(layouts.headers.get()['rounds'][0])} rounds, {GROUP_SIZE:,} threads",
        )


def _taffy_seconds(tree: Node) -> float | None:
    """The seconds that Taffy takes for the tree on one core; None where stretchable is not installed."""
    try:
        taffy: Any = importlib.import_module("stretchable")
        library: Any = importlib.import_module("stretchable.taffylib")
    except ImportError:
        return None
    taken = []
    compute = library.node_compute_layout_with_measure

    def timed(*arguments: Any) -> Any:
        begun = time.perf_counter()
        result = compute(*arguments)
        taken.append(time.perf_counter() - begun)
        return result

    # What stretchable does in Python around Taffy's own work is left out.
    library.node_compute_layout_with_measure = timed
    try:
        for _ in range(5):
            _as_taffy(taffy, tree).compute_layout()
    finally:
        library.node_compute_layout_with_measure = compute
    return min(taken)


def _as_taffy(taffy: Any, node: Node) -> Any:
    style = node.style
    directions = taffy.style.FlexDirection
    said = {
        "flex_direction": directions.COLUMN if style.flex_direction == "column" else directions.ROW,
        "flex_grow": style.flex_grow,
        "padding": style.padding,
        "margin": style.margin,
        "gap": style.row_gap,
    }
    if style.width != "auto":
        said["size"] = (style.width, style.height)
    made = taffy.Node(**said)
    for child in node.children:
        made.add(_as_taffy(taffy, child))
    return made
