"""Phase 5, visibility and order: where each widget is on the screen, what is cut off, and what lies above what."""

from lanewise.desktop.choosing import LIST_MARGIN, popup_left, popup_top, show_row
from lanewise.desktop.limits import MAX_DEPTH, MAX_WIDGETS
from lanewise.desktop.look_parts import RING
from lanewise.desktop.numbers import CLIPS, HIDDEN, LIST, NONE, POPUP, REVEALS, ROW, WINDOW
from lanewise.desktop.scrolling import ROUNDED
from lanewise.desktop.state import Desk, GroupMemory
from lanewise.lang import Ptr, device, f32, i32, rint, threadgroup_barrier, u32

OUT_OF_SIGHT = 0xFFFFFFFF
"""The key of a widget that is not seen: sorted behind all others."""
ROW_END = 10.0
"""Pixels that rows of a list leave for its thumb."""


@device
def place(desk: Ptr[Desk], me: u32) -> bool:
    """Find where a widget is on the screen and which part of the screen may show it; False if none does."""
    widget = desk.widgets + me
    box = desk.boxes + me
    x = box.x
    y = box.y
    w = box.width
    h = box.height
    parent = (desk.links + me).parent
    if widget.kind == ROW:
        holder = desk.widgets + parent
        list_box = desk.boxes + parent
        x = f32(LIST_MARGIN)
        y = f32(widget.first_row) * holder.row_height + LIST_MARGIN
        w = list_box.width - 2.0 * LIST_MARGIN - ROW_END
        h = holder.row_height
        if widget.first_row >= holder.row_count:
            return False
    left = i32(0)
    top = i32(0)
    right = i32(desk.width)
    bottom = i32(desk.height)
    if widget.flags & HIDDEN != 0 or widget.kind == NONE:
        return False
    # From the parent up: each adds its place, takes its scrolling off, and may cut off. How far an ancestor is from the
    # screen's corner is not known yet, so edges are kept as seen from this widget's own corner first.
    seen = True
    popup = i32(me) if widget.kind == POPUP else i32(-1)  # reaches beyond whatever holds its menu
    beside_popup = f32(0)
    in_popup = f32(0)
    scrolls = False
    # What has to be seen for this to be reached: itself, or the outermost that scrolls around it, whose content comes.
    held_left = f32(0)
    held_top = f32(0)
    held_right = w
    held_bottom = h
    depth = u32(0)
    from_x = x
    from_y = y
    clip_left = f32(-1000000.0)
    clip_top = f32(-1000000.0)
    clip_right = f32(1000000.0)
    clip_bottom = f32(1000000.0)
    while parent >= 0 and depth < MAX_DEPTH:
        above = desk.widgets + parent
        above_box = desk.boxes + parent
        if above.flags & HIDDEN != 0:
            seen = False
        from_x -= above.scroll_x if above.flags & CLIPS != 0 else 0.0
        from_y -= above.scroll_y if above.flags & CLIPS != 0 else 0.0
        # Now from_x is how far this widget's corner is from the ancestor's.
        if (above.flags & CLIPS != 0 or above.kind == WINDOW) and popup < 0:
            edged = above.kind == LIST or above.kind == WINDOW
            inset = f32(1) if edged else f32(0)
            # Where nothing is scrolled out of what has no edge, the ring of the focus is seen around what lies there.
            beside = -f32(RING) if not edged and above_box.content_width <= above_box.width else inset
            over = -f32(RING) if not edged and above.scroll_y <= 0.0 else inset
            rest = above.content_height - above_box.height - above.scroll_y
            under = -f32(RING) if not edged and rest <= ROUNDED else inset
            first_x = beside - from_x
            first_y = over - from_y
            last_x = above_box.width - beside - from_x
            last_y = above_box.height - under - from_y
            clip_left = max(clip_left, first_x)
            clip_top = max(clip_top, first_y)
            clip_right = min(clip_right, last_x)
            clip_bottom = min(clip_bottom, last_y)
            seen = seen and first_x < held_right and last_x > held_left  # nothing scrolls sideways
            if above.kind == WINDOW:
                seen = seen and first_y < held_bottom and last_y > held_top
            else:
                scrolls = True
                held_left = -from_x
                held_top = -from_y
                held_right = above_box.width - from_x
                held_bottom = above_box.height - from_y
        if above.kind == POPUP:
            popup = parent
            beside_popup = from_x
            in_popup = from_y
        from_x += above_box.x
        from_y += above_box.y
        parent = (desk.links + parent).parent
        depth += 1
    if popup >= 0:
        corner = from_y - in_popup - (desk.boxes + popup).y
        from_y = in_popup + popup_top(desk, u32(popup), corner)
        laid = from_x - beside_popup
        from_x += popup_left(desk, u32(popup), laid - (desk.boxes + popup).x) - laid
    widget.x = i32(rint(from_x))
    widget.y = i32(rint(from_y))
    widget.w = i32(rint(from_x + w)) - widget.x
    widget.h = i32(rint(from_y + h)) - widget.y
    widget.clip_left = max(left, i32(rint(from_x + clip_left)))
    widget.clip_top = max(top, i32(rint(from_y + clip_top)))
    widget.clip_right = min(right, i32(rint(from_x + clip_right)))
    widget.clip_bottom = min(bottom, i32(rint(from_y + clip_bottom)))
    # What is scrolled out of sight can be reached: the focus goes there, and brings it into view.
    shown = scrolls or (widget.clip_left < widget.clip_right and widget.clip_top < widget.clip_bottom)
    return seen and shown and widget.w > 0 and widget.h > 0


@device
def find_visible(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32):
    """Place every widget, and ask for sorting if one has another key than when they were sorted last."""
    if me < MAX_WIDGETS:
        key = u32(OUT_OF_SIGHT)
        widget = desk.widgets + me
        if me < desk.frame.widgets:
            if place(desk, me):
                key = (desk.widgets + widget.window).layer << 16 | me
                if widget.flags & REVEALS != 0:
                    show_row(widget, widget.value)
                    widget.flags &= ~u32(REVEALS)
                    group.awake = 1
            else:
                widget.w = 0
                widget.h = 0
        if key != desk.scratch.keys[me]:
            desk.scratch.keys[me] = key
            group.resort = 1
            group.awake = 1  # another frame, which knows what is in front now
        group.keys[me] = key


@device
def sort_widgets(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32):
    """Sort the keys from the bottom to the top, bitonically, a pair a thread; only when they have changed."""
    if group.resort != 0:
        length = u32(2)
        while length <= MAX_WIDGETS:
            distance = length >> 1
            while distance > 0:
                if me < MAX_WIDGETS // 2:
                    low = me // distance * distance * 2 + me % distance
                    high = low + distance
                    rising = low & length == 0
                    first = group.keys[low]
                    second = group.keys[high]
                    if (first > second) == rising:
                        group.keys[low] = second
                        group.keys[high] = first
                threadgroup_barrier()
                distance >>= 1
            length <<= 1
        if me < MAX_WIDGETS:
            key = group.keys[me]
            desk.scratch.order[me] = key & 0xFFFF
            following = group.keys[me + 1] if me + 1 < MAX_WIDGETS else u32(OUT_OF_SIGHT)
            if key != OUT_OF_SIGHT and following == OUT_OF_SIGHT:
                desk.frame.visible = me + 1
        threadgroup_barrier()
