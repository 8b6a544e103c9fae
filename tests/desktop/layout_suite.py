"""Cases of the flexbox suite as trees, with the boxes that Chrome gave; and the same cases told in other ways."""

import dataclasses
import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from lanewise.desktop.layout.style import Style
from lanewise.desktop.layout.tree import Node

SUITE = Path(__file__).parents[3] / "shared" / "suites" / "taffy-flex"
SIDES = ("top", "right", "bottom", "left")
NUMBERS = ("flex-grow", "flex-shrink", "aspect-ratio", "scrollbar-width")
SEEN = ("x", "y", "width", "height", "scroll_width", "scroll_height")


@dataclass(frozen=True)
class Case:
    """A tree, the room that its root has, and what is expected of each node, level by level."""

    name: str
    root: Node
    available: tuple[float, float]
    expected: tuple[dict[str, float], ...]
    rounding: bool


def length(said):
    return float(said.removesuffix("px")) if said.endswith("px") else said


def style_of(element):
    said = dict(element.attrib)
    style = {
        "inset": tuple(length(said.pop(side, "auto")) for side in SIDES),
        "font_size": 10,  # text of the suite is set in squares of 10 pixels
    }
    for name in ("margin", "padding", "border"):
        style[name] = tuple(length(said.pop(f"{name}-{side}", "0px")) for side in SIDES)
    for name in NUMBERS:
        if name in said:
            style[name.replace("-", "_")] = float(said.pop(name))
    if "flex-line-count" in said:
        style["flex_line_count"] = int(said.pop("flex-line-count"))
    if said.get("display") == "grid":
        del said["display"]  # as flex; those that need a grid are listed by name
    for name, value in said.items():
        if not name.startswith("grid-"):
            style[name.replace("-", "_")] = length(value)
    return Style(**style)


def node_of(element):
    text = (element.text or "").strip() if element.tag == "text" else ""
    return Node(style_of(element), [node_of(child) for child in element], text)


def read_case(path):
    test = ET.parse(path).getroot()
    room = test.find("viewport").attrib
    available = tuple(math.inf if room[side] == "max-content" else length(room[side]) for side in ("width", "height"))
    levels = [test.find("expectations")[0]]
    for node in levels:
        levels.extend(node)
    expected = tuple({name: float(node.attrib[name]) for name in SEEN if name in node.attrib} for node in levels)
    name = path.name.partition("__")[0]
    return Case(name, node_of(test.find("input")[0]), available, expected, test.attrib["use-rounding"] == "true")


def cases():
    """All cases of the suite; none where its folder is absent."""
    return [read_case(path) for path in sorted(SUITE.glob("*.xml"))]


def seen(box):
    """A box in the words of the suite: how far it scrolls is what its content has over what shows of it."""
    values = {name: float(box[name]) for name in ("x", "y", "width", "height")}
    for axis, name in enumerate(("width", "height")):
        frame = box["border"][2 * axis] + box["border"][2 * axis + 1] + box["scrollbar"][axis]
        values[f"scroll_{name}"] = max(0.0, float(box[f"content_{name}"] - (box[name] - frame)))
    return values


def differences(case, boxes):
    """What came out other than expected, a line a node. Chrome measures in 1/64 of a pixel, which shows unrounded."""
    near = 0 if case.rounding else 0.1
    wrong = []
    for index, (box, expected) in enumerate(zip(boxes, case.expected, strict=True)):
        found = seen(box)
        if any(abs(found[name] - value) > near for name, value in expected.items()):
            wrong.append(f"node {index} is { ({name: found[name] for name in expected}) }, expected {expected}")
    return wrong


def mirrored(node):
    """The same tree, left and right exchanged in everything that it says."""
    style = node.style
    sides = {
        name: tuple(getattr(style, name)[side] for side in (0, 3, 2, 1))
        for name in ("margin", "padding", "border", "inset")
    }
    direction = "ltr" if style.direction == "rtl" else "rtl"
    return Node(
        dataclasses.replace(style, direction=direction, **sides), [mirrored(c) for c in node.children], node.text
    )


def by_content(node):
    """The same tree, with sizes of content boxes in place of border boxes, wherever that can be said in pixels."""
    style = node.style
    frames = frame_of(style)
    children = [by_content(child) for child in node.children]
    if frames is None or style.box_sizing == "content-box":
        return Node(style, children, node.text)
    changed = {"box_sizing": "content-box"}
    for name, frame in zip(("width", "height"), frames, strict=True):
        for full in (name, f"min_{name}", f"max_{name}"):
            said = getattr(style, full)
            if isinstance(said, float):
                changed[full] = max(said - frame, 0)
    return Node(dataclasses.replace(style, **changed), children, node.text)


def frame_of(style):
    """Padding and border of both axes; None where a size cannot be said without them."""
    if any(isinstance(side, str) for side in style.padding):
        return None
    wide = style.padding[1] + style.padding[3] + style.border[1] + style.border[3]
    high = style.padding[0] + style.padding[2] + style.border[0] + style.border[2]
    sizes = (style.width, style.min_width, style.max_width, style.height, style.min_height, style.max_height)
    parts = any(isinstance(size, str) and size.endswith("%") for size in sizes)
    if (wide or high) and (parts or style.aspect_ratio or style.flex_basis not in ("auto", "content")):
        return None
    return wide, high
