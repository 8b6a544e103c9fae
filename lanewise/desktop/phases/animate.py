"""Phase 3, its end: everything that moves goes on by the time that has passed, widget by widget."""

from lanewise.desktop import numbers
from lanewise.desktop.choosing import LIST_MARGIN, follow_choice
from lanewise.desktop.editing import follow_text
from lanewise.desktop.limits import MAX_WIDGETS
from lanewise.desktop.phases.palette import LONGEST_STEP, approach
from lanewise.desktop.scrolling import scroll_limit
from lanewise.desktop.state import Desk, GroupMemory, Widget
from lanewise.desktop.tree import front_window
from lanewise.lang import Ptr, device, f32, i32, u32

HOVER_SECONDS = 0.12
PRESS_SECONDS = 0.08
TOGGLE_SECONDS = 0.16
FOCUS_SECONDS = 0.12
SCROLL_RATE = 16.0
"""How much of the way to go is scrolled a second."""


@device
def animate(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32, before_ms: u32):
    """Bring widget `me` nearer to what its state says; note whether it is there."""
    if me < desk.frame.widgets:
        widget = desk.widgets + me
        frame = desk.frame
        delta = min(f32(frame.time_ms - before_ms) * 0.001, LONGEST_STEP)
        number = i32(me)
        hovered = frame.hovered == number
        pressed = frame.captured == number and (hovered or widget.kind == numbers.SLIDER)
        on = widget.flags & numbers.CHECKED != 0
        if widget.kind == numbers.WINDOW:
            on = front_window(desk, frame.top_layer) == number
        elif widget.kind == numbers.MENU:
            on = frame.open_popup >= 0 and frame.open_popup == widget.target
        focused = frame.focused == number and (frame.focus_shown != 0 or widget.kind == numbers.FIELD)
        widget.hover = approach(widget.hover, f32(hovered), delta / HOVER_SECONDS)
        widget.press = approach(widget.press, f32(pressed), delta / PRESS_SECONDS)
        widget.toggle = approach(widget.toggle, f32(on), delta / TOGGLE_SECONDS)
        widget.focus = approach(widget.focus, f32(focused), delta / FOCUS_SECONDS)
        if widget.kind == numbers.POPUP and widget.flags & numbers.HIDDEN == 0:
            follow_choice(desk, me)
        if widget.flags & numbers.CLIPS != 0:
            if widget.kind == numbers.LIST:
                widget.content_height = f32(widget.row_count) * widget.row_height + 2.0 * LIST_MARGIN
            widget.scroll_to = min(max(widget.scroll_to, 0.0), scroll_limit(widget))
            way = widget.scroll_to - widget.scroll_y
            moved = widget.scroll_y + way * min(delta * SCROLL_RATE, 1.0)
            widget.scroll_y = moved if abs(widget.scroll_to - moved) > 0.5 else widget.scroll_to
            if way != 0.0:
                group.awake = 1  # another frame, in which what is under the pointer now is found
        moves = widget.hover != f32(hovered) or widget.press != f32(pressed) or widget.scroll_y != widget.scroll_to
        moves = moves or widget.toggle != f32(on) or widget.focus != f32(focused)
        if widget.kind == numbers.FIELD:
            follow_text(desk, me, focused)
            if focused:
                group.blinks = 1
        if moves or group.theme_mix != f32(frame.theme):
            group.awake = 1


@device
def fill_rows(desk: Ptr[Desk], me: u32):
    """A row of a list shows the row of the table that its place among the visible ones stands for.

    It is marked where it is chosen, and so is a line of a menu.
    """
    if me < MAX_WIDGETS:
        widget = desk.widgets + me
        if widget.kind == numbers.ITEM:
            menu = desk.widgets + (desk.widgets + widget.window).target
            mark(widget, menu.value == widget.value)
        elif widget.kind == numbers.ROW:
            parent = u32((desk.links + me).parent)
            holder = desk.widgets + parent
            first = u32(holder.scroll_y / max(holder.row_height, 1.0))
            # Row r is shown by place r modulo the number of places, so that scrolling keeps most of them as they are.
            places = widget.row_count
            place = widget.group
            shown = first // places * places + place
            if shown < first:
                shown += places
            widget.first_row = shown
            if shown < holder.row_count:
                row = desk.rows + (holder.first_row + shown)
                widget.text = row.text
                widget.length = row.length
            mark(widget, holder.value == f32(shown))


@device
def mark(widget: Ptr[Widget], chosen: bool):
    """Say of a row or a line whether it is the chosen one."""
    widget.flags = widget.flags | numbers.CHECKED if chosen else widget.flags & ~u32(numbers.CHECKED)
