"""What looks are made of: each function adds one primitive to a widget's slots, cut to what is seen of the widget."""

from lanewise.desktop.limits import MAX_GLYPHS, SLOTS
from lanewise.desktop.numbers import BOLD, IMAGE, P_BOX, P_IMAGE, P_NONE, P_SHADOW, P_STROKE, P_TEXT, SECRET
from lanewise.desktop.state import Desk, Primitive
from lanewise.desktop.text import (
    LINE_HEIGHT,
    baseline_in,
    break_line,
    place_glyphs,
    scale_across,
    vertical_scale,
    width_of,
)
from lanewise.lang import Ptr, ceil, device, f32, floor, i32, u32

WORDS = Primitive.size // 4
WEIGHT = 0.022
"""How much bold letters are wider on each side, in font sizes."""
SMALL_SIZE = 16.0
SMALL_WEIGHT = 0.012
"""Letters below a size are drawn wider by this much a pixel of it, on each side: thin lines would look pale."""


@device(inline=False)
def claim(
    desk: Ptr[Desk], me: u32, used: u32, kind: u32, left: f32, top: f32, right: f32, bottom: f32
) -> tuple[Ptr[Primitive], bool]:
    """The next slot of a widget for something within these edges; False if nothing of it is seen or no slot is left."""
    widget = desk.widgets + me
    p = Ptr[Primitive](desk.scratch.primitives) + (me * SLOTS + min(used, SLOTS - 1))
    if used >= SLOTS:
        return p, False
    p.left = max(i32(floor(left)), widget.clip_left)
    p.top = max(i32(floor(top)), widget.clip_top)
    p.right = min(i32(ceil(right)), widget.clip_right)
    p.bottom = min(i32(ceil(bottom)), widget.clip_bottom)
    if p.left >= p.right or p.top >= p.bottom:
        p.kind = P_NONE
        return p, False
    p.kind = kind
    p.layer = desk.scratch.keys[me]
    p.radius = 0.0
    p.border = 0.0
    p.fill_end = 0
    p.edge = 0
    p.cx = 0.0
    p.cy = 0.0
    p.data = 0
    p.count = 0
    p.version = 0
    return p, True


@device(inline=False)
def add_edge(
    desk: Ptr[Desk],
    me: u32,
    used: u32,
    x: f32,
    y: f32,
    w: f32,
    h: f32,
    radius: f32,
    fill: u32,
    fill_end: u32,
    border: f32,
    edge: u32,
) -> u32:
    """A box with round corners and a border of this width inside its edges, filled from its top to its bottom."""
    p, seen = claim(desk, me, used, P_BOX, x, y, x + w, y + h)
    if not seen:
        return used
    p.ax = x
    p.ay = y
    p.bx = x + w
    p.by = y + h
    p.radius = min(radius, min(w, h) * 0.5)
    p.fill = fill
    p.fill_end = fill_end
    p.cy = 1.0 / h
    p.border = border
    p.edge = edge
    return used + 1


@device
def add_box(
    desk: Ptr[Desk], me: u32, used: u32, x: f32, y: f32, w: f32, h: f32, radius: f32, fill: u32, fill_end: u32
) -> u32:
    """A box with round corners and no border, filled from one colour at its top to another at its bottom."""
    return add_edge(desk, me, used, x, y, w, h, radius, fill, fill_end, 0.0, 0)


@device(inline=False)
def add_shadow(
    desk: Ptr[Desk], me: u32, used: u32, x: f32, y: f32, w: f32, h: f32, radius: f32, blur: f32, colour: u32
) -> u32:
    """The shadow of a box; it reaches half of `blur` beyond it."""
    reach = blur * 0.5
    p, seen = claim(desk, me, used, P_SHADOW, x - reach, y - reach, x + w + reach, y + h + reach)
    if not seen:
        return used
    p.ax = x
    p.ay = y
    p.bx = x + w
    p.by = y + h
    p.radius = min(radius, min(w, h) * 0.5)
    p.border = blur
    p.fill = colour
    return used + 1


@device(inline=False)
def add_stroke(
    desk: Ptr[Desk],
    me: u32,
    used: u32,
    ax: f32,
    ay: f32,
    bx: f32,
    by: f32,
    cx: f32,
    cy: f32,
    width: f32,
    colour: u32,
) -> u32:
    """A line from a over b to c with round ends."""
    reach = width * 0.5 + 1.0
    left = min(ax, bx, cx) - reach
    top = min(ay, by, cy) - reach
    right = max(ax, bx, cx) + reach
    bottom = max(ay, by, cy) + reach
    p, seen = claim(desk, me, used, P_STROKE, left, top, right, bottom)
    if not seen:
        return used
    p.ax = ax
    p.ay = ay
    p.bx = bx
    p.by = by
    p.cx = cx
    p.cy = cy
    p.radius = width * 0.5
    p.fill = colour
    return used + 1


@device
def add_image(desk: Ptr[Desk], me: u32, used: u32, x: f32, y: f32, w: f32, h: f32, radius: f32) -> u32:
    """The widget's picture, stretched over a box."""
    p, seen = claim(desk, me, used, P_IMAGE, x, y, x + w, y + h)
    widget = desk.widgets + me
    if not seen or widget.picture_width == 0:
        return used
    p.ax = x
    p.ay = y
    p.bx = x + w
    p.by = y + h
    p.radius = min(radius, min(w, h) * 0.5)
    p.fill = 0
    p.edge = u32(widget.kind == IMAGE)  # a canvas shows its pixels as they are
    p.data = widget.picture
    p.count = widget.picture_width | widget.picture_height << 16
    p.version = widget.picture_version
    return used + 1


@device
def begin_text(
    desk: Ptr[Desk], me: u32, used: u32, left: f32, top: f32, right: f32, bottom: f32, colour: u32, first: u32
) -> tuple[Ptr[Primitive], bool]:
    """A primitive for glyphs from `first` on, cut off at these edges; False if nothing of it is seen.

    Its ax and ay are pixels of the atlas per pixel, bx and cx the inverse of that, by the weight.
    """
    p, seen = claim(desk, me, used, P_TEXT, left, top, right, bottom)
    if not seen or first >= MAX_GLYPHS:
        return p, False
    widget = desk.widgets + me
    across = scale_across(desk.typeface, widget.font_size)
    down = vertical_scale(desk.typeface, widget.font_size)
    p.ax = 1.0 / across
    p.ay = 1.0 / down
    p.bx = across
    p.by = max(SMALL_SIZE - widget.font_size, 0.0) * SMALL_WEIGHT
    if widget.flags & BOLD != 0:
        p.by += WEIGHT * widget.font_size
    p.cx = down
    p.fill = colour
    p.data = first
    return p, True


@device(inline=False)
def add_line(
    desk: Ptr[Desk],
    me: u32,
    used: u32,
    x: f32,
    baseline: f32,
    colour: u32,
    first: u32,
    cut_left: f32,
    cut_right: f32,
) -> u32:
    """The widget's text in one line, cut off at two edges; its glyphs go to `first` on."""
    widget = desk.widgets + me
    size = widget.font_size
    above = baseline - size * 1.2
    p, seen = begin_text(desk, me, used, cut_left, above, cut_right, baseline + size * 0.5, colour, first)
    if not seen or widget.length == 0:
        return used
    secret = widget.flags & SECRET != 0
    codes = desk.texts + widget.text
    p.count, p.version = place_glyphs(desk, codes, 0, widget.length, x, baseline, size, secret, first)
    return used + 1


@device(inline=False)
def add_paragraph(desk: Ptr[Desk], me: u32, used: u32, x: f32, y: f32, w: f32, h: f32, colour: u32, first: u32) -> u32:
    """The widget's text in a box: lines end at newlines and, where they would be too long, between words.

    Lines that are scrolled out of sight take no glyphs, with a line to spare for what reaches beyond its own.
    """
    widget = desk.widgets + me
    size = widget.font_size
    face = desk.typeface
    p, seen = begin_text(desk, me, used, x - size, y - size * 0.5, x + w + size, y + h + size * 0.5, colour, first)
    if not seen or widget.length == 0:
        return used
    codes = desk.texts + widget.text
    start = u32(0)
    line = u32(0)
    height = size * LINE_HEIGHT
    while start <= widget.length and y + (f32(line) - 1.0) * height < f32(widget.clip_bottom):
        end, following = break_line(face, codes, start, widget.length, size, w)
        if y + (f32(line) + 2.0) * height > f32(widget.clip_top):
            width = width_of(face, codes, start, end, size, False)
            indent = (w - width) * 0.5 if widget.align == 1 else w - width if widget.align == 2 else f32(0)
            baseline = baseline_in(face, y + f32(line) * height, height, size)
            count, version = place_glyphs(desk, codes, start, end, x + indent, baseline, size, False, first + p.count)
            p.count += count
            p.version = (p.version * 31) ^ version
        start = following
        line += 1
    return used + 1


@device
def clear_slots(desk: Ptr[Desk], me: u32, used: u32):
    """The slots that a widget did not use are empty; what else is left in them nobody looks at."""
    for k in range(used, SLOTS):
        (Ptr[Primitive](desk.scratch.primitives) + (me * SLOTS + k)).kind = P_NONE
