"""Scrolling on the device: what has room for it, by the wheel, by its thumb, and until something is in view."""

from lanewise.desktop.limits import MAX_DEPTH
from lanewise.desktop.numbers import CLIPS, DISABLED
from lanewise.desktop.state import Desk, Widget
from lanewise.lang import Ptr, device, f32, i32, u32

THUMB_EDGE = 4.0
"""Pixels that a thumb keeps from the upper and the lower edge."""
SHORTEST_THUMB = 24.0
THUMB_COLUMN = 16.0
"""Pixels at the right edge where the pointer takes hold of the thumb."""
ROUNDED = 1.0
"""Pixels that content may be higher than a box that has room for it, since both are rounded."""
AROUND = 6.0
"""Pixels around what is brought into view that are seen, too: the ring of the focus is there."""


@device
def scroll_limit(widget: Ptr[Widget]) -> f32:
    """How far a widget can be scrolled down."""
    beyond = widget.content_height - f32(widget.h)
    return beyond if beyond > ROUNDED else f32(0)


@device(inline=False)
def scroller_of(desk: Ptr[Desk], hit: i32, way: i32) -> i32:
    """The nearest widget around `hit` that can be scrolled on, up where `way` is below 0; -1 for none."""
    at = hit
    depth = u32(0)
    while at >= 0 and depth < MAX_DEPTH:
        widget = desk.widgets + at
        # Of an event's threads some may have changed `scroll_to` already; `scroll_y` stays while there are events.
        left = widget.scroll_y if way < 0 else scroll_limit(widget) - widget.scroll_y
        if widget.flags & (CLIPS | DISABLED) == CLIPS and left > 0.0:
            return at
        at = (desk.links + at).parent
        depth += 1
    return -1


@device
def thumb_of(widget: Ptr[Widget]) -> tuple[f32, f32]:
    """How far the thumb of a widget with room to scroll can go, and how long it is."""
    room = f32(widget.h) - 2.0 * THUMB_EDGE
    length = max(room * f32(widget.h) / widget.content_height, SHORTEST_THUMB)
    return room - length, length


@device
def grab_thumb(desk: Ptr[Desk], me: u32, x: i32, y: i32):
    """The pointer went down on a widget that scrolls: it holds the thumb, which comes to it if it is elsewhere."""
    widget = desk.widgets + me
    limit = scroll_limit(widget)
    widget.grab_y = -1.0  # holds nothing
    if limit > 0.0 and x - widget.x >= widget.w - i32(THUMB_COLUMN):
        way, length = thumb_of(widget)
        inside = f32(y - widget.y) - THUMB_EDGE - way * (widget.scroll_y / limit)
        if inside >= 0.0 and inside < length:
            widget.grab_y = inside
        else:
            widget.grab_y = length * 0.5
            drag_thumb(desk, me, y)


@device
def drag_thumb(desk: Ptr[Desk], me: u32, y: i32):
    """Scroll a widget so that its thumb is where the pointer holds it, if it does."""
    widget = desk.widgets + me
    if widget.grab_y >= 0.0:
        way, _ = thumb_of(widget)
        part = (f32(y - widget.y) - THUMB_EDGE - widget.grab_y) / max(way, 1.0)
        widget.scroll_to = min(max(part, 0.0), 1.0) * scroll_limit(widget)


@device
def scroll_for(widget: Ptr[Widget], top: f32, height: f32) -> f32:
    """How far a widget is to be scrolled so that this part of its content is seen, the upper edge before the lower."""
    lowest = top + height + AROUND - f32(widget.h)
    scroll = min(max(widget.scroll_to, lowest), top - AROUND)
    return min(max(scroll, 0.0), scroll_limit(widget))


@device(inline=False)
def bring_into_view(desk: Ptr[Desk], me: u32, number: u32):
    """Scroll widget `me` so that a widget is seen, if that is in it.

    What is scrolled in between brings it into view, too. Whether its own thread has done so already makes no
    difference: what is in view stays.
    """
    box = desk.boxes + number
    top = box.y
    at = (desk.links + number).parent
    depth = u32(0)
    while at >= 0 and at != i32(me) and depth < MAX_DEPTH:
        above = desk.widgets + at
        if above.flags & CLIPS != 0:
            top -= scroll_for(above, top, box.height)
        top += (desk.boxes + at).y
        at = (desk.links + at).parent
        depth += 1
    if at == i32(me):
        widget = desk.widgets + me
        widget.scroll_to = scroll_for(widget, top, box.height)
