"""Handlers on the device: what they are called with, what they may do, and how a frame runs them.

A handler is a `@device` function `(desk: Ptr[Desk], event: Ptr[Notice])`. It hears of everything that happens to its
widget: `event.kind` says what (see `numbers`), `event.widget` to whom. It may change widgets of its own window, through
the functions here. Handlers of one window run one after the other, in the order of events; those of
different windows run at the same time, one lane each, and must leave each other's widgets alone.
"""

from lanewise.desktop import numbers
from lanewise.desktop.choosing import show_line, show_page
from lanewise.desktop.colours import mix
from lanewise.desktop.limits import MAX_NOTICES
from lanewise.desktop.phases.arrange import ask_for_layout
from lanewise.desktop.state import Desk, Notice
from lanewise.desktop.strips import segment_distance
from lanewise.lang import Ptr, atomic_add, device, f32, i32, rint, u32

WARP = 1
"""The warp of the group that runs handlers."""
DIGITS = 12
HASH, MINUS, ZERO = map(ord, "#-0")


@device
def value_of(desk: Ptr[Desk], number: u32) -> f32:
    """A widget's value: 0 or 1 for what can be checked, the row of a list, the line of a menu, the page of tabs."""
    holder = value_holder(desk, number)
    widget = desk.widgets + holder
    if can_be_checked(widget.kind):
        return f32(widget.flags & numbers.CHECKED != 0)
    return widget.value


@device
def value_holder(desk: Ptr[Desk], number: u32) -> u32:
    """The widget that has the value: the button of a menu, the one of some tabs that is chosen, else the widget."""
    kind = (desk.widgets + number).kind
    at = i32(number)
    if kind == numbers.CHOICE or kind == numbers.TABS:
        at = (desk.links + at).first_child
    if kind == numbers.TABS:
        at = (desk.links + at).first_child
        while (desk.widgets + at).flags & numbers.CHECKED == 0:
            at = (desk.links + at).next_sibling
    return u32(at)


@device
def can_be_checked(kind: u32) -> bool:
    return kind == numbers.CHECKBOX or kind == numbers.SWITCH or kind == numbers.RADIO


@device
def target_of(desk: Ptr[Desk], number: u32) -> u32:
    """The widget that was named as `target` of this one; it traps where none was."""
    target = (desk.widgets + number).target
    assert target >= 0, "a handler asks for the target of a widget that has none; write target= where it is made"
    return u32(target)


@device
def set_value(desk: Ptr[Desk], number: u32, value: f32):
    """Give a widget a value, within its limits; what can be checked is checked from 1 on.

    Of a list, a menu and tabs it is a row, a line and a page, or the nearest that there is; below 0 it is no row of a
    list. The row of a list comes into view. What is not a number is the least that the widget can have.
    """
    holder = value_holder(desk, number)
    widget = desk.widgets + holder
    known = value if value == value else widget.minimum
    if can_be_checked(widget.kind):
        check(desk, holder, value >= 1.0)
    elif widget.kind == numbers.MENU:
        lines = (desk.links + widget.target).first_child
        show_line(desk, holder, u32(lines) + nearest_of(widget.row_count, known))
    elif widget.kind == numbers.TAB:
        choose_page(desk, holder, known)
    elif widget.kind == numbers.LIST:
        widget.value = -1.0
        if value >= 0.0 and widget.row_count > 0:
            widget.value = f32(nearest_of(widget.row_count, value))
            widget.flags |= numbers.REVEALS
    else:
        widget.value = min(max(known, widget.minimum), widget.maximum) if widget.maximum > widget.minimum else known


@device
def nearest_of(count: u32, value: f32) -> u32:
    """The number below `count` that is nearest to a value."""
    return u32(rint(min(max(value, 0.0), f32(count) - 1.0)))


@device
def check(desk: Ptr[Desk], number: u32, on: bool):
    """Check a widget or not; of radio buttons one that is checked takes it from the others of its group."""
    widget = desk.widgets + number
    if on and widget.kind == numbers.RADIO:
        for other in range(desk.frame.widgets):
            mate = desk.widgets + other
            if mate.kind == numbers.RADIO and mate.group == widget.group:
                mate.flags &= ~u32(numbers.CHECKED)
    widget.flags = widget.flags | numbers.CHECKED if on else widget.flags & ~u32(numbers.CHECKED)


@device
def choose_page(desk: Ptr[Desk], chosen: u32, page: f32):
    """Show one page of the tabs of which this one is chosen, and take the others away."""
    first = (desk.links + (desk.links + chosen).parent).first_child
    count = u32(0)
    tab = first
    while tab >= 0:
        count += 1
        tab = (desk.links + tab).next_sibling
    wanted = nearest_of(count, page)
    tab = first
    while tab >= 0:
        widget = desk.widgets + tab
        seen = u32(widget.value) == wanted
        widget.flags = widget.flags | numbers.CHECKED if seen else widget.flags & ~u32(numbers.CHECKED)
        show_page(desk, u32(widget.target), seen)
        tab = (desk.links + tab).next_sibling


@device
def set_shown(desk: Ptr[Desk], number: u32, shown: bool):
    """Show a widget, or hide it; its place stays."""
    widget = desk.widgets + number
    widget.flags = widget.flags & ~u32(numbers.HIDDEN) if shown else widget.flags | numbers.HIDDEN


@device
def set_theme(desk: Ptr[Desk], dark: bool):
    """Fade the desktop to the dark theme, or to the light one."""
    desk.frame.theme = u32(dark)


@device
def paint_line(desk: Ptr[Desk], event: Ptr[Notice], radius: f32, colour: u32):
    """Draw on a canvas where the pointer goes: call it for every event DRAWN of the canvas."""
    canvas = desk.widgets + event.widget
    x = f32(event.detail & 0xFFFF) + 0.5
    y = f32(event.detail >> 16) + 0.5
    if event.value == 0.0:  # a stroke begins here; later it comes from where it was
        canvas.pen_x = x
        canvas.pen_y = y
    reach = radius + 1.0
    for row in range(
        u32(max(min(y, canvas.pen_y) - reach, 0.0)), min(u32(max(y, canvas.pen_y) + reach), canvas.picture_height)
    ):
        for column in range(
            u32(max(min(x, canvas.pen_x) - reach, 0.0)), min(u32(max(x, canvas.pen_x) + reach), canvas.picture_width)
        ):
            away = segment_distance(f32(column) + 0.5, f32(row) + 0.5, canvas.pen_x, canvas.pen_y, x, y)
            at = canvas.picture + row * canvas.picture_width + column
            desk.pictures[at] = mix(desk.pictures[at], colour, radius + 0.5 - away)
    canvas.pen_x = x
    canvas.pen_y = y


@device
def set_number(desk: Ptr[Desk], number: u32, value: i32):
    """Write a whole number as the text of a label or a field; where there is no room for it, `#` in its place.

    It traps for other widgets, whose texts stay.
    """
    widget = desk.widgets + number
    written = widget.kind == numbers.LABEL or widget.kind == numbers.FIELD
    assert written, "a handler writes a number on a widget whose text stays; set_number is for labels and fields"
    digits: u32[DIGITS]
    rest = u32(abs(value)) if value >= 0 else u32(0) - u32(value)
    count = u32(0)
    while count == 0 or rest > 0:
        digits[count] = ZERO + rest % 10
        rest //= 10
        count += 1
    codes = desk.texts + widget.text
    sign = u32(value < 0)
    length = min(sign + count, widget.capacity)
    if sign + count > widget.capacity:  # some of its digits would be another number
        for k in range(length):
            codes[k] = HASH
    else:
        if value < 0:
            codes[0] = MINUS
        for k in range(count):
            codes[sign + k] = digits[count - 1 - k]
    set_length(desk, number, length)


@device
def set_length(desk: Ptr[Desk], number: u32, length: u32):
    """Say how long a widget's text is now; its box is found anew."""
    widget = desk.widgets + number
    widget.length = length
    widget.text_version += 1
    widget.caret = min(widget.caret, length)
    widget.anchor = min(widget.anchor, length)
    if (desk.styles + number).text_count != length and widget.kind != numbers.FIELD:
        (desk.styles + number).text_count = length
        ask_for_layout(desk, number)


def chain(handlers):
    """One device function that calls handler number n, counted from 1, with what it takes."""

    @device
    def nobody(number: u32, desk: Ptr[Desk], event: Ptr[Notice]):
        pass

    called = nobody
    for number, handler in enumerate(handlers, 1):
        called = _before(number, handler, called)
    return called


def _before(wanted, handler, others):
    @device
    def call(number: u32, desk: Ptr[Desk], event: Ptr[Notice]):
        if number == wanted:
            handler(desk, event)
        else:
            others(number, desk, event)

    return call


def make_handling(handlers):
    """The step of a frame that runs these handlers."""
    call = chain(handlers)

    @device
    def handle(desk: Ptr[Desk], me: u32):
        """Lane l of one warp runs the handlers of windows l, l + 32 and so on; it counts notices for the host too."""
        if me // 32 == WARP:
            lane = me % 32
            for number in range(u32(MAX_NOTICES)):
                notice = Ptr[Notice](desk.scratch.notices) + number
                if notice.kind != 0:
                    widget = desk.widgets + notice.widget
                    if u32(widget.window) % 32 == lane:
                        atomic_add(desk.frame.notices, 1, scope="group")
                        if widget.handler != 0:
                            call(widget.handler, desk, notice)

    return handle
