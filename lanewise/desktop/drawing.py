"""Drawing on canvases: where the pointer goes over one while it is pressed, from edge to edge."""

from lanewise.desktop import numbers
from lanewise.desktop.choosing import tell
from lanewise.desktop.state import Desk
from lanewise.lang import Ptr, device, f32, i32, rint, u32

BEGUN, LED = 0.0, 1.0
"""The value of a notice: a stroke begins here, or comes here from where it was."""


@device
def begin_stroke(desk: Ptr[Desk], me: u32, x: i32, y: i32, number: u32):
    """The pointer went down on canvas `me`."""
    canvas = desk.widgets + me
    canvas.grab_x = f32(x - canvas.x)
    canvas.grab_y = f32(y - canvas.y)
    tell_place(desk, me, canvas.grab_x, canvas.grab_y, number, BEGUN)


@device
def lead_stroke(desk: Ptr[Desk], me: u32, x: i32, y: i32, number: u32):
    """The pointer that holds canvas `me` has moved: the part of its way that is over the canvas is told.

    So a stroke that leaves ends at the edge, and one that comes back begins anew there. What is outside nobody hears.
    """
    canvas = desk.widgets + me
    from_x = canvas.grab_x
    from_y = canvas.grab_y
    canvas.grab_x = f32(x - canvas.x)
    canvas.grab_y = f32(y - canvas.y)
    first_x, last_x = part_within(from_x, canvas.grab_x, f32(canvas.w - 1))
    first_y, last_y = part_within(from_y, canvas.grab_y, f32(canvas.h - 1))
    first = max(first_x, first_y)
    last = min(last_x, last_y)
    way_x = canvas.grab_x - from_x
    way_y = canvas.grab_y - from_y
    if first <= last:
        if first > 0.0:
            tell_place(desk, me, from_x + way_x * first, from_y + way_y * first, number, BEGUN)
        tell_place(desk, me, from_x + way_x * last, from_y + way_y * last, number, LED)


@device
def part_within(start: f32, end: f32, edge: f32) -> tuple[f32, f32]:
    """Between which parts of the way from `start` to `end` it is from 0 to `edge`; the first is larger if never."""
    way = end - start
    if way == 0.0:
        return f32(0), f32(1) if start >= 0.0 and start <= edge else f32(-1)
    enters = (0.0 if way > 0.0 else edge) - start
    leaves = (edge if way > 0.0 else 0.0) - start
    return max(enters / way, 0.0), min(leaves / way, 1.0)


@device(inline=False)
def tell_place(desk: Ptr[Desk], me: u32, x: f32, y: f32, number: u32, value: f32):
    """Say where on canvas `me` the pointer is, in its own pixels: x in the lower half of the detail, y in the upper."""
    canvas = desk.widgets + me
    # Where it goes over the edge is rounded, as the pointer itself is in whole pixels.
    column = u32(min(max(rint(x), 0.0), f32(canvas.w - 1)) * f32(canvas.picture_width) / f32(max(canvas.w, 1)))
    row = u32(min(max(rint(y), 0.0), f32(canvas.h - 1)) * f32(canvas.picture_height) / f32(max(canvas.h, 1)))
    canvas.picture_version += 1
    column = min(column, canvas.picture_width - 1)
    row = min(row, canvas.picture_height - 1)
    tell(desk, me, number, numbers.DRAWN, value, column | row << 16)
