"""Trees of styles in Python, put on a device and laid out there; what tests and tools use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lanewise.desktop.layout import keywords, numbers
from lanewise.desktop.layout.engine import forget, lay_out
from lanewise.desktop.layout.structures import Font, LayoutTree, NodeBox, NodeLinks, NodeStyle, NodeWork
from lanewise.desktop.layout.style import Style, pack_styles
from lanewise.devices.base import Device
from lanewise.errors import ArgumentError
from lanewise.lang.types import f32, u32

GROUP_SIZE = 64
"""Threads that lay out a tree, unless said otherwise."""


@dataclass
class Node:
    """A style with its children and its text, to build a tree from. A node with text has no children."""

    style: Style = field(default_factory=Style)
    children: Sequence[Node] = ()
    text: str = ""


@dataclass(frozen=True)
class Typeface:
    """How wide text is, in multiples of the font size: advances of code points from 0 on, the last for all others."""

    advances: Sequence[float] = (1.0,)
    line_height: float = 1.0
    ascent: float = 0.8


@dataclass
class FlatTree:
    """A tree as arrays: styles and links by node, parents before their children, and all text one after the other."""

    styles: np.ndarray[Any, Any]
    links: np.ndarray[Any, Any]
    text: np.ndarray[Any, Any]

    @property
    def count(self) -> int:
        return len(self.styles)


def flatten(root: Node) -> FlatTree:
    """Number the nodes of a tree level by level; an ArgumentError says which node makes no sense."""
    nodes: list[Node] = [root]
    parents = [keywords.NO_NODE]
    seen = {id(root)}
    for index, node in enumerate(nodes):
        if node.text and node.children:
            raise ArgumentError(f"node {index} has text and children; give the text to a child of its own")
        for child in node.children:
            if id(child) in seen:
                raise ArgumentError(f"a child of node {index} is in the tree already; every node has one place in it")
            if len(nodes) >= numbers.UPMOST_NODE:
                raise ArgumentError(f"the tree has more than {numbers.UPMOST_NODE:,} nodes")
            seen.add(id(child))
            nodes.append(child)
            parents.append(index)
    styles = pack_styles([node.style for node in nodes])
    counts = [len(node.text) for node in nodes]
    styles["text_count"] = counts
    styles["text_start"] = np.concatenate(([0], np.cumsum(counts)[:-1]))
    links = np.zeros(len(nodes), NodeLinks.dtype)
    links["parent"] = parents
    links["first_child"] = keywords.NO_NODE
    links["next_sibling"] = keywords.NO_NODE
    for index in range(len(nodes) - 1, 0, -1):
        links["next_sibling"][index] = links["first_child"][parents[index]]
        links["first_child"][parents[index]] = index
    text = np.frombuffer("".join(node.text for node in nodes).encode("utf-32-le"), np.uint32)
    return FlatTree(styles, links, text)


class Layouts:
    """Trees on a device, each laid out by a group of its own. Arrays of all trees stand one behind the other."""

    def __init__(
        self,
        device: Device,
        trees: Sequence[FlatTree],
        available: Sequence[tuple[float, float]] | None = None,
        typefaces: Sequence[Typeface] = (Typeface(),),
        rounding: bool = True,
    ) -> None:
        if not trees:
            raise ArgumentError("there is no tree to lay out; give one or more")
        self.device = device
        counts = [tree.count for tree in trees]
        self.starts = np.concatenate(([0], np.cumsum(counts)))
        text_starts = np.concatenate(([0], np.cumsum([len(tree.text) for tree in trees])))
        self.styles = device.array(np.concatenate([tree.styles for tree in trees]), NodeStyle)
        self.links = device.array(np.concatenate([tree.links for tree in trees]), NodeLinks)
        self.boxes = device.zeros(int(self.starts[-1]), NodeBox)
        self.work = device.zeros(int(self.starts[-1]), NodeWork)
        self.text = device.array(np.concatenate([tree.text for tree in trees] + [np.zeros(1, np.uint32)]), u32)
        self._advances = [device.array(np.asarray(face.advances, np.float32), f32) for face in typefaces]
        fonts = np.zeros(len(typefaces), Font.dtype)
        for index, face in enumerate(typefaces):
            fonts[index] = (self._advances[index].address, len(face.advances), face.line_height, face.ascent)
        self.fonts = device.array(fonts, Font)
        headers = np.zeros(len(trees), LayoutTree.dtype)
        for index, count in enumerate(counts):
            start = int(self.starts[index])
            header = headers[index]
            header["styles"] = self.styles.address + start * NodeStyle.size
            header["links"] = self.links.address + start * NodeLinks.size
            header["boxes"] = self.boxes.address + start * NodeBox.size
            header["work"] = self.work.address + start * NodeWork.size
            header["text"] = self.text.address + int(text_starts[index]) * 4
            header["fonts"] = self.fonts.address
            header["count"] = count
            header["root"] = 0
            header["available"] = available[index] if available else (math.inf, math.inf)
            header["rounding"] = rounding
        self.headers = device.array(headers, LayoutTree)

    def run(self, group_size: int = GROUP_SIZE) -> None:
        """Lay out all trees; what was found before and is not dirty is used again."""
        lay_out[len(self.headers) * group_size, group_size](self.headers).wait()  # which has addresses of all arrays

    def change(self, node: int, style: Style, tree: int = 0) -> None:
        """Give a node another style; the next `run` lays out what depends on it. Its text stays what it is."""
        if not 0 <= node < self.starts[tree + 1] - self.starts[tree]:
            raise ArgumentError(f"there is no node {node} in tree {tree}")
        styles = self.styles.get()
        at = int(self.starts[tree]) + node
        text = styles[["text_start", "text_count"]][at].tolist()
        styles[at] = pack_styles([style])[0]
        styles["text_start"][at], styles["text_count"][at] = text
        self.styles.set(styles)
        forget[1](self.headers, tree, node)

    def boxes_of(self, tree: int = 0) -> np.ndarray[Any, Any]:
        """The boxes of a tree, an array of `NodeBox.dtype`; an ArgumentError says what is wrong with its links."""
        problem = int(self.headers.get()["problem"][tree])
        if problem:
            raise ArgumentError(describe_problem(problem))
        return self.boxes.get()[self.starts[tree] : self.starts[tree + 1]]


def describe_problem(problem: int) -> str:
    """What `LayoutTree.problem` says, in words."""
    node = numbers.UPMOST_NODE - (problem & numbers.UPMOST_NODE)
    said = {
        numbers.PROBLEM_BAD_LINK: "a link leads to a node that is not its child or sibling",
        numbers.PROBLEM_LINKED_TWICE: "two links lead to it; a node has one place in the tree",
        numbers.PROBLEM_CYCLE: "its parents go round in a circle",
    }[problem >> numbers.PROBLEM_SHIFT]
    return f"the links of node {node} are wrong: {said}"
