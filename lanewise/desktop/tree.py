"""Who is who among widgets, on the device: ancestors, what can be pressed, where the focus goes."""

from lanewise.desktop import numbers
from lanewise.desktop.limits import MAX_DEPTH
from lanewise.desktop.scrolling import scroll_limit
from lanewise.desktop.state import Desk, Widget
from lanewise.lang import Ptr, device, i32, u32


@device
def reacts(widget: Ptr[Widget]) -> bool:
    """Whether a widget does something when it is pressed; others pass it on to what holds them."""
    kind = widget.kind
    return (
        (widget.flags & numbers.CLIPS != 0 and scroll_limit(widget) > 0.0)  # it has a thumb
        or (kind >= numbers.BUTTON and kind <= numbers.SLIDER)
        or (kind >= numbers.FIELD and kind <= numbers.MENU)
        or kind == numbers.ITEM
        or (kind >= numbers.CANVAS and kind <= numbers.GRIP and kind != numbers.WINDOW)
    )


@device(inline=False)
def target_of(desk: Ptr[Desk], hit: i32) -> i32:
    """The widget that reacts to what happens at `hit`: itself or the nearest that holds it; -1 for none."""
    at = hit
    depth = u32(0)
    while at >= 0 and depth < MAX_DEPTH:
        widget = desk.widgets + at
        if reacts(widget):
            return at if widget.flags & numbers.DISABLED == 0 else -1
        at = (desk.links + at).parent
        depth += 1
    return -1


@device
def whole_of(desk: Ptr[Desk], number: u32) -> u32:
    """The widget that people know: a menu for its button, tabs for one of them, else the widget itself."""
    kind = (desk.widgets + number).kind
    at = i32(number)
    if kind == numbers.MENU or kind == numbers.TAB:
        at = (desk.links + at).parent
    if kind == numbers.TAB:
        at = (desk.links + at).parent
    return u32(at)


@device
def takes_focus(desk: Ptr[Desk], number: u32) -> bool:
    """Whether the focus may come here now."""
    widget = desk.widgets + number
    wanted = u32(numbers.FOCUSABLE)
    return widget.flags & (wanted | numbers.DISABLED) == wanted and widget.w > 0


@device
def is_out_of_use(desk: Ptr[Desk], number: i32) -> bool:
    """Whether a widget is disabled, or it or one that holds it is hidden: a closed window, a page that is not shown.

    Such a widget has no focus, and nothing holds it.
    """
    at = number
    if at >= 0 and (desk.widgets + at).flags & numbers.DISABLED != 0:
        return True
    depth = u32(0)
    while at >= 0 and depth < MAX_DEPTH:
        if (desk.widgets + at).flags & numbers.HIDDEN != 0:
            return True
        at = (desk.links + at).parent
        depth += 1
    return False


@device
def front_window(desk: Ptr[Desk], top_layer: u32) -> i32:
    """The window above all others, of those that the last frame showed; -1 where none was to be seen.

    Its layer is the top layer, if its window is still there: one that an event raised in this frame has that, too.
    """
    front = i32(-1)
    layer = u32(0)
    rank = desk.frame.visible
    while rank > 0 and layer < top_layer:
        rank -= 1
        number = (desk.widgets + desk.scratch.order[rank]).window
        window = desk.widgets + number
        if window.kind == numbers.WINDOW and window.layer > layer:
            front = number
            layer = window.layer
    return front


@device
def window_of(desk: Ptr[Desk], number: i32) -> i32:
    """The window that holds a widget; -1 for those that stand on the wall, all of which belong together."""
    window = (desk.widgets + number).window
    return window if (desk.widgets + window).kind == numbers.WINDOW else -1


@device(inline=False)
def next_focus(desk: Ptr[Desk], start: i32, backward: bool, top_layer: u32) -> i32:
    """The widget that Tab goes to from this one: the next in the order of the tree in its window, in a circle.

    Where none has the focus it is the first, or the last, of the window in front.
    """
    count = i32(desk.frame.widgets)
    window = window_of(desk, start) if start >= 0 else front_window(desk, top_layer)
    at = start
    for _ in range(count):
        at += -1 if backward else 1
        if at >= count:
            at = 0
        if at < 0:
            at = count - 1
        if takes_focus(desk, u32(at)) and window_of(desk, at) == window:
            return at
    return start
