"""Lists, menus and tabs on the device: which row, line or page is chosen, where a popup opens; and notices."""

from lanewise.desktop import numbers
from lanewise.desktop.layout.keywords import DISPLAY_FLEX, DISPLAY_NONE
from lanewise.desktop.limits import NOTICES_PER_EVENT
from lanewise.desktop.phases.arrange import ask_for_layout
from lanewise.desktop.state import Desk, Widget
from lanewise.desktop.tree import whole_of
from lanewise.lang import Ptr, device, f32, i32, rint, u8, u32

LIST_MARGIN = 6.0
"""Pixels between the edge of a list and its rows."""
POPUP_GAP = 4.0
"""Pixels between a menu and its popup."""
POPUP_PADDING = 5.0
"""Pixels around the lines of a popup."""


@device(inline=False)
def tell(desk: Ptr[Desk], me: u32, number: u32, kind: u32, value: f32, detail: u32):
    """Note what an event did, for handlers and the host; the first notice of an event, then a second."""
    at = number * NOTICES_PER_EVENT
    told = whole_of(desk, me)
    if desk.scratch.notices[at].kind != 0 and desk.scratch.notices[at].widget == told:
        at += 1
    desk.scratch.notices[at].widget = told
    desk.scratch.notices[at].value = value
    desk.scratch.notices[at].detail = detail
    desk.scratch.notices[at].kind = kind


@device
def show_page(desk: Ptr[Desk], page: u32, shown: bool):
    """Show a page of tabs, or take it away."""
    widget = desk.widgets + page
    widget.flags = widget.flags & ~u32(numbers.HIDDEN) if shown else widget.flags | numbers.HIDDEN
    (desk.styles + page).display = u8(DISPLAY_FLEX if shown else DISPLAY_NONE)
    ask_for_layout(desk, page)


@device(inline=False)
def choose_row(desk: Ptr[Desk], me: u32, row: f32, number: u32):
    """Choose a row of list `me` and bring it into view."""
    widget = desk.widgets + me
    chosen = min(max(row, 0.0), f32(widget.row_count) - 1.0)
    show_row(widget, chosen)
    if chosen != widget.value:
        widget.value = chosen
        tell(desk, me, number, numbers.CHANGED, chosen, 0)


@device
def show_row(widget: Ptr[Widget], row: f32):
    """Bring a row of a list into view."""
    top = row * widget.row_height
    room = f32(widget.h) - 2.0 * LIST_MARGIN
    widget.scroll_to = min(widget.scroll_to, top)
    widget.scroll_to = max(widget.scroll_to, top + widget.row_height - room)


@device
def row_at(desk: Ptr[Desk], me: u32, y: i32) -> i32:
    """The widget of the row of list `me` that is at a height of the screen, or the list where none is."""
    widget = desk.widgets + me
    first = (desk.links + me).first_child
    row = (f32(y - widget.y) - LIST_MARGIN + widget.scroll_y) / max(widget.row_height, 1.0)
    if row < 0.0 or row >= f32(widget.row_count):
        return i32(me)
    return first + i32(u32(row) % (desk.widgets + first).row_count)  # see `fill_rows`


@device(inline=False)
def type_in_list(desk: Ptr[Desk], me: u32, code: u32, number: u32):
    """A key was typed while list `me` has the focus."""
    widget = desk.widgets + me
    page = max(f32(widget.h) / max(widget.row_height, 1.0) - 1.0, 1.0)
    if code == numbers.KEY_UP_ARROW:
        choose_row(desk, me, widget.value - 1.0, number)
    elif code == numbers.KEY_DOWN_ARROW:
        choose_row(desk, me, widget.value + 1.0, number)
    elif code == numbers.KEY_PAGE_UP:
        choose_row(desk, me, widget.value - rint(page), number)
    elif code == numbers.KEY_PAGE_DOWN:
        choose_row(desk, me, widget.value + rint(page), number)
    elif code == numbers.KEY_HOME:
        choose_row(desk, me, 0.0, number)
    elif code == numbers.KEY_END:
        choose_row(desk, me, f32(widget.row_count), number)
    elif code == numbers.KEY_ENTER and widget.value >= 0.0:
        tell(desk, me, number, numbers.SUBMITTED, widget.value, 0)


@device
def choose_line(desk: Ptr[Desk], me: u32, line: f32, number: u32):
    """Choose a line of menu `me` by its number."""
    widget = desk.widgets + me
    chosen = min(max(line, 0.0), f32(widget.row_count) - 1.0)
    if chosen != widget.value:
        show_line(desk, me, u32((desk.links + widget.target).first_child) + u32(chosen))  # they are numbered on
        tell(desk, me, number, numbers.CHANGED, chosen, 0)


@device
def show_line(desk: Ptr[Desk], me: u32, line: u32):
    """Menu `me` shows this line of its popup as the chosen one."""
    widget = desk.widgets + me
    item = desk.widgets + line
    widget.text = item.text
    widget.length = item.length
    widget.value = item.value


@device
def follow_choice(desk: Ptr[Desk], me: u32):
    """Popup `me`, which is open, brings the chosen line of its menu into view when it opens and when another is chosen.

    Its own value is the line that it has seen last: whoever chooses, keys, a handler or the host, says so in the menu
    alone. One that opens has no height yet, and is at its line at once.
    """
    widget = desk.widgets + me
    menu = desk.widgets + widget.target
    opens = widget.h == 0
    if opens or widget.value != menu.value:
        line = desk.boxes + (u32((desk.links + me).first_child) + u32(menu.value))  # they are numbered on
        height = (desk.boxes + me).height
        lowest = line.y + line.height + POPUP_PADDING - height
        scroll = min(max(widget.scroll_to, lowest), line.y - POPUP_PADDING)
        widget.scroll_to = min(max(scroll, 0.0), max(widget.content_height - height, 0.0))
        if opens:
            widget.scroll_y = widget.scroll_to
        widget.value = menu.value


@device
def popup_left(desk: Ptr[Desk], popup: u32, corner: f32) -> f32:
    """Where a popup begins on the screen: where its menu does, or as near to that as all of it can be seen."""
    return min(max(corner, 0.0), max(f32(desk.width) - (desk.boxes + popup).width, 0.0))


@device
def popup_top(desk: Ptr[Desk], popup: u32, corner: f32) -> f32:
    """Where a popup begins on the screen: below its menu, above it where there is no room below, or else over it.

    The corner is that of what holds both. Layout gives a popup its size alone, for it knows no screen, nor how far its
    menu is scrolled.
    """
    height = (desk.boxes + popup).height
    menu = desk.boxes + (desk.widgets + popup).target
    above = corner + menu.y - POPUP_GAP - height
    below = corner + menu.y + menu.height + POPUP_GAP
    lowest = f32(desk.height) - height
    if below <= lowest:
        return below
    return above if above >= 0.0 else max(lowest, 0.0)
