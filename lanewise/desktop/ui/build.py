"""From a tree of nodes to the arrays that the device reads: widgets, styles, links, texts, rows, pictures."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lanewise.desktop import limits, numbers
from lanewise.desktop.choosing import POPUP_PADDING
from lanewise.desktop.layout.keywords import NO_NODE
from lanewise.desktop.layout.structures import NodeLinks
from lanewise.desktop.layout.style import Style, is_percentage, pack_styles
from lanewise.desktop.state import Row, Widget
from lanewise.desktop.ui.checking import is_number, name_of
from lanewise.desktop.ui.containers import FIRST_X, FIRST_Y, POPUP_LINE, THUMB_ROOM, Window
from lanewise.desktop.ui.controls import List, Radio
from lanewise.desktop.ui.events import code_points, one_line
from lanewise.desktop.ui.node import Node
from lanewise.errors import ArgumentError
from lanewise.lang.functions import DeviceFunction

OF_WINDOWS = (numbers.TITLE, numbers.CLOSE, numbers.GRIP)
"""What a window is moved, closed and resized by."""
CASCADE, CASCADES = 32, 8
"""How far windows of a cascade are apart, and after how many it begins anew."""
SINGLE_LINE = (numbers.FIELD, numbers.TITLE)
"""Widgets whose boxes do not follow their text."""


@dataclass
class Built:
    """A tree as arrays, and its nodes in the order of their numbers."""

    nodes: list[Node]
    arrays: dict[str, np.ndarray[Any, Any]]
    handlers: list[DeviceFunction] = field(default_factory=list)


def build(root: Node) -> Built:
    """Number the nodes of a tree, parents before children, and fill the arrays; says what is too much."""
    nodes, parents = _number(root)
    builder = _Builder(nodes, parents)
    for number in range(len(nodes)):
        builder.add(number)
    own = {node.number for node in nodes if node.flags & numbers.DISABLED}
    builder.widgets["flags"] |= np.where(disabled_flags(nodes, own), numbers.DISABLED, 0).astype(np.uint32)
    arrays = {
        "widgets": builder.widgets,
        "styles": pack_styles(builder.styles),
        "links": _links(parents),
        "texts": np.array(builder.texts, np.uint32),
        "rows": np.array(builder.rows, Row.dtype),
        "pictures": np.concatenate([np.zeros(limits.NO_PICTURE, np.uint32), *builder.pictures]),
    }
    taken = {"texts": len(builder.texts), "rows": len(builder.rows), "pictures": builder.pixels - limits.NO_PICTURE}
    for name, limit in (("texts", limits.TEXT_CODES), ("rows", limits.MAX_ROWS), ("pictures", limits.IMAGE_PIXELS)):
        if taken[name] > limit:
            raise ArgumentError(f"{name} take {taken[name]:,} elements; a desktop has room for {limit:,}")
    return Built(nodes, {name: array for name, array in arrays.items() if len(array)}, builder.handlers)


def forget(root: Node) -> None:
    """Let go of the nodes of a tree that did not get on a desktop, so that they can be tried again."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.desktop is None and node.number >= 0:
            node.number = -1
            waiting += node.children


def within(node: Node) -> list[int]:
    """The numbers of a widget and of all that it holds."""
    found, waiting = [], [node]
    while waiting:
        found.append(waiting[-1].number)
        waiting += waiting.pop().children
    return found


def disabled_flags(nodes: Sequence[Node], disabled: set[int]) -> list[bool]:
    """Which widgets hear nothing if these are disabled: they and what they hold, but for the bar of a window."""
    flags = [False] * len(nodes)
    for number in sorted(disabled):
        for at in within(nodes[number]):
            flags[at] = at == number or nodes[at].kind not in OF_WINDOWS
    return flags


def _number(root: Node) -> tuple[list[Node], list[int]]:
    nodes: list[Node] = []
    parents: list[int] = []
    chosen: dict[int, Node] = {}
    waiting = [(root, NO_NODE, 0)]
    while waiting:
        node, parent, depth = waiting.pop()
        if node.number >= 0:
            where = path_of([*nodes, node], [*parents, parent], len(nodes))
            raise ArgumentError(f"{where}: it is in a tree already; every widget has one place")
        if depth >= limits.MAX_DEPTH:
            where = path_of([*nodes, node], [*parents, parent], len(nodes))
            raise ArgumentError(f"{where}: it is nested more than {limits.MAX_DEPTH} deep")
        if isinstance(node, Radio) and node.flags & numbers.CHECKED:
            group = node.fields["group"]
            if group in chosen:
                where = path_of([*nodes, node], [*parents, parent], len(nodes))
                raise ArgumentError(f"{where}: {name_of(chosen[group])} of its group is checked, too; one can be")
            chosen[group] = node
        if isinstance(node, List):
            node.make_places(height_of(root))
        node.number = len(nodes)
        nodes.append(node)
        parents.append(parent)
        waiting += [(child, node.number, depth + 1) for child in reversed(node.children)]
    if len(nodes) > limits.MAX_WIDGETS:
        rows = sum(node.kind == numbers.ROW for node in nodes)
        advice = f"; {rows} are places for rows of lists, which have fewer with most_visible=" if rows else ""
        raise ArgumentError(f"the tree has {len(nodes)} widgets; a desktop holds {limits.MAX_WIDGETS}{advice}")
    return nodes, parents


def height_of(root: Node) -> float:
    """How high the screen is."""
    return float(root.layout.height)


def path_of(nodes: Sequence[Node], parents: Sequence[int], number: int) -> str:
    """Where a widget is, in words: the widgets around it from the outermost on, without those that only hold others."""
    names = [name_of(nodes[number])]
    at = parents[number]
    while at > 0:  # the root is the desktop itself
        if type(nodes[at]) is not Node:
            names.append(name_of(nodes[at]))
        at = parents[at]
    return " > ".join(reversed(names))


def _links(parents: Sequence[int]) -> np.ndarray[Any, Any]:
    links = np.zeros(len(parents), NodeLinks.dtype)
    links["parent"] = parents
    links["first_child"] = links["next_sibling"] = NO_NODE
    for number in range(len(parents) - 1, 0, -1):
        links["next_sibling"][number] = links["first_child"][parents[number]]
        links["first_child"][parents[number]] = number
    return links


def _as_large_as_said(node: Node, layout: Style, holder: Node) -> Style:
    """Who says how long it is to be along the axis that it lies on does not grow and has no other basis.

    In what scrolls it does not shrink either: nothing has to, since all of it can be reached. Nor does what scrolls
    itself, of which nothing would be left, unless it has said a part of the room that others take from, too.
    """
    along = "height" if holder.layout.flex_direction.startswith("column") else "width"
    if along not in node.said or layout.position == "absolute":
        return layout
    usual: dict[str, Any] = {"flex_grow": 0.0, "flex_basis": "auto"}
    is_part = is_percentage(getattr(layout, along))
    if holder.flags & numbers.CLIPS or (node.flags & numbers.CLIPS and not is_part):
        usual["flex_shrink"] = 0.0
    return dataclasses.replace(layout, **{name: value for name, value in usual.items() if name not in node.said})


def _within_reach(window: Style, screen: Style) -> Style:
    """Where a window is whose bar would be off the screen: where it could be moved to. Others stay where they are."""
    match (*window.inset, window.width) if isinstance(window.inset, tuple) else ():
        case (y, "auto", "auto", x, width) if all(map(is_number, (y, x, width))):
            x = min(max(x, limits.REACH_ACROSS - width), max(float(screen.width) - limits.REACH_ACROSS, 0))
            y = min(max(y, 0), max(float(screen.height) - limits.REACH_DOWN, 0))
            return dataclasses.replace(window, inset=(y, "auto", "auto", x))
    return window


def _within_screen(popup: Node, screen: Style) -> Style:
    """A popup is as large as the screen at most; where its lines are more than that, they leave room for its thumb."""
    height = len(popup.children) * POPUP_LINE + 2 * POPUP_PADDING
    right = THUMB_ROOM if height > float(screen.height) else POPUP_PADDING
    padding = (POPUP_PADDING, right, POPUP_PADDING, POPUP_PADDING)
    return dataclasses.replace(popup.layout, max_width=screen.width, max_height=screen.height, padding=padding)


class _Builder:
    def __init__(self, nodes: list[Node], parents: list[int]) -> None:
        self.nodes = nodes
        self.parents = parents
        self.widgets = np.zeros(len(nodes), Widget.dtype)
        self.styles: list[Any] = []
        self.texts: list[int] = []
        self.rows: list[tuple[int, int]] = []
        self.pictures: list[np.ndarray[Any, Any]] = []
        self.pixels = limits.NO_PICTURE
        self.handlers: list[DeviceFunction] = []
        self.layers = 0
        self.cascading = 0

    def add(self, number: int) -> None:
        node = self.nodes[number]
        widget = self.widgets[number]
        widget["kind"], widget["flags"] = node.kind, node.flags
        for name, value in node.fields.items():
            widget[name] = value
        widget["target"] = -1 if node.target is None else node.target.number
        if node.target is not None and node.target.number < 0:
            where = path_of(self.nodes, self.parents, number)
            raise ArgumentError(f"{where}: its target, {name_of(node.target)}, is not on the desktop")
        self._take_place(number, widget)
        start, length = self._add_text(node.initial_text if node.kind == numbers.LABEL else one_line(node.initial_text))
        widget["text"], widget["length"] = start, length
        self.texts += [0] * (int(widget["capacity"]) - length)
        measured = 0 if node.kind in SINGLE_LINE or node.children else length
        font_size = float(node.fields["font_size"])
        layout = self._place_window(node) if isinstance(node, Window) else node.layout
        if node.kind == numbers.POPUP:
            layout = _within_screen(node, self.nodes[0].layout)
        if isinstance(node, List):
            layout = node.within_places(layout, height_of(self.nodes[0]))
        if self.parents[number] >= 0:
            layout = _as_large_as_said(node, layout, self.nodes[self.parents[number]])
        self.styles.append(dataclasses.replace(layout, text_start=start, text_count=measured, font_size=font_size))
        if node.rows:
            widget["first_row"] = len(self.rows)
            self.rows += [self._add_text(one_line(row)) for row in node.rows]
        if node.picture is not None:
            widget["picture"] = self.pixels
            widget["picture_height"], widget["picture_width"] = node.picture.shape
            self.pictures.append(node.picture.ravel())
            self.pixels += node.picture.size
        if node.device_handler is not None:
            if node.device_handler not in self.handlers:
                self.handlers.append(node.device_handler)
            widget["handler"] = 1 + self.handlers.index(node.device_handler)

    def _add_text(self, text: str) -> tuple[int, int]:
        """Where a text begins and how long it is."""
        codes = code_points(text)
        start = len(self.texts)
        self.texts += codes.tolist()
        return start, len(codes)

    def _place_window(self, window: Window) -> Style:
        """Where a window lies: those that do not say where lie in a cascade, and of all of them the bar is seen."""
        layout = window.layout
        if window.cascades:
            step = CASCADE * (self.cascading % CASCADES)
            layout = dataclasses.replace(layout, inset=(FIRST_Y + step, "auto", "auto", FIRST_X + step))
            self.cascading += 1
        return _within_reach(layout, self.nodes[0].layout)

    def _take_place(self, number: int, widget: Any) -> None:
        """Windows, popups and what is not in one stand in layers, the later above the earlier."""
        node = self.nodes[number]
        parent = self.parents[number]
        if node.kind == numbers.WINDOW and parent > 0:
            where = path_of(self.nodes, self.parents, number)
            raise ArgumentError(
                f"{where}: a window stands on the desktop by itself; write ui.Panel(...) for a part of one"
            )
        if node.kind == numbers.POPUP:
            widget["window"], widget["layer"] = number, limits.POPUP_LAYER
        elif parent <= 0:
            self.layers += node.kind == numbers.WINDOW
            widget["window"] = number
            widget["layer"] = self.layers if node.kind == numbers.WINDOW else 0
        else:
            widget["window"] = self.widgets["window"][parent]
