"""Phase 3, continued: what a widget does about an event, its own or one that happened to another.

Thread `me` changes widget `me` and nothing else, so that no order among threads can be seen.
"""

from lanewise.desktop import numbers
from lanewise.desktop.actions import CLICK, DRAG, FOCUS, PRESS, SCROLL, TYPE_CHAR, TYPE_KEY
from lanewise.desktop.choosing import (
    choose_line,
    choose_row,
    show_line,
    show_page,
    tell,
    type_in_list,
)
from lanewise.desktop.drawing import begin_stroke, lead_stroke
from lanewise.desktop.editing import edit_key, insert_code, point_caret, select_word, show_caret
from lanewise.desktop.layout.keywords import (
    LEFT,
    POSITION_ABSOLUTE,
    TOP,
    UNIT_AUTO,
    UNIT_PX,
)
from lanewise.desktop.layout.rechecking import mark_dirty
from lanewise.desktop.limits import REACH_ACROSS, REACH_DOWN, SMALLEST_WINDOW
from lanewise.desktop.phases.arrange import ask_for_layout
from lanewise.desktop.scrolling import bring_into_view, drag_thumb, grab_thumb, scroll_limit
from lanewise.desktop.state import Desk, FrameState, InputEvent
from lanewise.lang import Ptr, bitcast, device, f32, i32, rint, u8, u32

SPACE = 32
KNOB = 18.0


@device
def press_slider(desk: Ptr[Desk], me: u32, x: i32, number: u32):
    """Bring the knob under the pointer; values go in steps."""
    widget = desk.widgets + me
    part = (f32(x - widget.x) - KNOB * 0.5) / max(f32(widget.w) - KNOB, 1.0)
    slide_to(desk, me, widget.minimum + part * (widget.maximum - widget.minimum), number)


@device(inline=False)
def slide_to(desk: Ptr[Desk], me: u32, wanted: f32, number: u32):
    """Give a slider a value, within its limits and at one of its steps."""
    widget = desk.widgets + me
    value = wanted
    if widget.step > 0.0:
        value = widget.minimum + rint((value - widget.minimum) / widget.step) * widget.step
    value = min(max(value, widget.minimum), widget.maximum)
    if value != widget.value:
        widget.value = value
        tell(desk, me, number, numbers.CHANGED, value, 0)


@device
def toggle(desk: Ptr[Desk], me: u32, number: u32):
    """Turn a checkbox or switch over."""
    widget = desk.widgets + me
    widget.flags ^= numbers.CHECKED
    tell(desk, me, number, numbers.CHANGED, f32(widget.flags & numbers.CHECKED != 0), 0)


@device
def be_pressed(desk: Ptr[Desk], state: Ptr[FrameState], me: u32, number: u32):
    """The pointer went down on this widget."""
    widget = desk.widgets + me
    if widget.kind == numbers.SLIDER:
        press_slider(desk, me, state.pointer_x, number)
    elif widget.kind == numbers.FIELD:
        point_caret(desk, me, f32(state.pointer_x), state.modifiers & numbers.SHIFT != 0)
        if state.click_count == 2:
            select_word(desk, me)
        elif state.click_count > 2:
            widget.anchor = 0
            widget.caret = widget.length
    elif widget.kind == numbers.CANVAS:
        begin_stroke(desk, me, state.pointer_x, state.pointer_y, number)
    elif widget.flags & numbers.CLIPS != 0:
        grab_thumb(desk, me, state.pointer_x, state.pointer_y)


@device
def be_dragged(desk: Ptr[Desk], state: Ptr[FrameState], me: u32, number: u32):
    """The pointer moves while it holds this widget."""
    widget = desk.widgets + me
    if widget.kind == numbers.SLIDER:
        press_slider(desk, me, state.pointer_x, number)
    elif widget.kind == numbers.FIELD and state.dragging != 0:
        point_caret(desk, me, f32(state.pointer_x), True)
        show_caret(desk, me)
    elif widget.kind == numbers.CANVAS:
        lead_stroke(desk, me, state.pointer_x, state.pointer_y, number)
    elif widget.flags & numbers.CLIPS != 0:
        drag_thumb(desk, me, state.pointer_y)


@device
def be_clicked(desk: Ptr[Desk], me: u32, number: u32, count: u32):
    """The pointer went down and up on this widget for the `count`th time in a row, or Space or Enter was typed."""
    widget = desk.widgets + me
    if widget.kind == numbers.CHECKBOX or widget.kind == numbers.SWITCH:
        toggle(desk, me, number)
    elif widget.kind == numbers.RADIO or widget.kind == numbers.TAB:
        if widget.flags & numbers.CHECKED == 0:
            widget.flags |= numbers.CHECKED
            tell(desk, me, number, numbers.CHANGED, widget.value if widget.kind == numbers.TAB else 1.0, 0)
    elif widget.kind == numbers.BUTTON:
        tell(desk, me, number, numbers.CLICKED, f32(count), 0)
        if count == 2:
            tell(desk, me, number, numbers.DOUBLE_CLICKED, 2.0, 0)


@device
def hear_of_click(desk: Ptr[Desk], state: Ptr[FrameState], me: u32, target: u32, number: u32):
    """Another widget was clicked: mates of a group, the window, the list or the menu that it belongs to react."""
    widget = desk.widgets + me
    other = desk.widgets + target
    if (other.kind == numbers.RADIO or other.kind == numbers.TAB) and other.group == widget.group:
        if widget.kind == other.kind:
            widget.flags &= ~u32(numbers.CHECKED)
        elif widget.kind == numbers.PAGE and other.kind == numbers.TAB:
            show_page(desk, me, other.target == i32(me))
    elif other.kind == numbers.CLOSE and other.window == i32(me):
        widget.flags |= numbers.HIDDEN
        tell(desk, me, number, numbers.CLOSED, 0.0, 0)
    elif other.kind == numbers.ROW and (desk.links + target).parent == i32(me):
        if state.click_count == 2:
            tell(desk, me, number, numbers.SUBMITTED, f32(other.first_row), 0)
        else:
            choose_row(desk, me, f32(other.first_row), number)
    elif other.kind == numbers.ITEM and (desk.widgets + other.window).target == i32(me):
        show_line(desk, me, target)
        tell(desk, me, number, numbers.CHANGED, widget.value, 0)


@device
def type_key(desk: Ptr[Desk], state: Ptr[FrameState], me: u32, code: u32, number: u32):
    """A key was typed while this widget has the focus."""
    widget = desk.widgets + me
    if widget.kind == numbers.FIELD:
        if code == numbers.KEY_ENTER:
            tell(desk, me, number, numbers.SUBMITTED, 0.0, 0)
        elif edit_key(desk, me, code, state.modifiers):
            tell(desk, me, number, numbers.CHANGED, f32(widget.length), 0)
        show_caret(desk, me)
    elif widget.kind == numbers.SLIDER:
        step = widget.step if widget.step > 0.0 else (widget.maximum - widget.minimum) * 0.05
        page = max(widget.step, (widget.maximum - widget.minimum) * 0.1)
        if code == numbers.KEY_LEFT or code == numbers.KEY_DOWN_ARROW:
            slide_to(desk, me, widget.value - step, number)
        elif code == numbers.KEY_RIGHT or code == numbers.KEY_UP_ARROW:
            slide_to(desk, me, widget.value + step, number)
        elif code == numbers.KEY_PAGE_DOWN:
            slide_to(desk, me, widget.value - page, number)
        elif code == numbers.KEY_PAGE_UP:
            slide_to(desk, me, widget.value + page, number)
        elif code == numbers.KEY_HOME:
            slide_to(desk, me, widget.minimum, number)
        elif code == numbers.KEY_END:
            slide_to(desk, me, widget.maximum, number)
    elif widget.kind == numbers.LIST:
        type_in_list(desk, me, code, number)
    elif widget.kind == numbers.MENU:
        if code == numbers.KEY_UP_ARROW:
            choose_line(desk, me, widget.value - 1.0, number)
        elif code == numbers.KEY_DOWN_ARROW:
            choose_line(desk, me, widget.value + 1.0, number)


@device
def lie_at(desk: Ptr[Desk], me: u32, x: f32, y: f32):
    """Window `me` lies there at once, and in every layout from now on, whatever its style has said of its place."""
    box = desk.boxes + me
    style = desk.styles + me
    leaves_its_place = style.position != POSITION_ABSOLUTE
    box.x = x
    box.y = y
    style.position = u8(POSITION_ABSOLUTE)
    for side in range(u32(4)):
        style.margin[side].value = 0.0
        style.margin[side].unit = UNIT_PX
        style.inset[side].unit = UNIT_PX if side == LEFT or side == TOP else u32(UNIT_AUTO)
    style.inset[LEFT].value = x
    style.inset[TOP].value = y
    if leaves_its_place:  # which others take
        ask_for_layout(desk, me)
    else:
        mark_dirty(desk.layout, i32(me))


@device
def move_window(desk: Ptr[Desk], state: Ptr[FrameState], me: u32, target: u32, action: u32):
    """The title bar or the grip of window `me` is held: the window goes with the pointer, or grows with it."""
    widget = desk.widgets + me
    box = desk.boxes + me
    style = desk.styles + me
    kind = (desk.widgets + target).kind
    x = f32(state.pointer_x)
    y = f32(state.pointer_y)
    if kind == numbers.TITLE:
        if action == PRESS:
            widget.grab_x = x - box.x
            widget.grab_y = y - box.y
        else:
            left = min(max(x - widget.grab_x, REACH_ACROSS - box.width), f32(desk.width) - REACH_ACROSS)
            lie_at(desk, me, left, min(max(y - widget.grab_y, 0.0), f32(desk.height) - REACH_DOWN))
    elif kind == numbers.GRIP:
        if action == PRESS:
            widget.grab_x = box.width - x
            widget.grab_y = box.height - y
        else:
            lie_at(desk, me, box.x, box.y)  # its upper left corner stays, whichever side it was placed by
            style.size[0].value = max(x + widget.grab_x, f32(SMALLEST_WINDOW))
            style.size[1].value = max(y + widget.grab_y, f32(SMALLEST_WINDOW))
            ask_for_layout(desk, me)


@device(inline=False)
def react(
    desk: Ptr[Desk],
    state: Ptr[FrameState],
    me: u32,
    action: u32,
    target: i32,
    hit: i32,
    event: Ptr[InputEvent],
    number: u32,
):
    """Let widget `me` do what an event means for it."""
    widget = desk.widgets + me
    here = target == i32(me)
    if action == PRESS:
        if hit > 0 and (desk.widgets + hit).window == i32(me) and widget.kind == numbers.WINDOW:
            widget.layer = state.top_layer
        if here:
            be_pressed(desk, state, me, number)
    if (action == PRESS or action == DRAG) and target >= 0 and widget.kind == numbers.WINDOW:
        if (desk.widgets + target).window == i32(me):
            move_window(desk, state, me, u32(target), action)
    if action == DRAG and here:
        be_dragged(desk, state, me, number)
    pressed_key = action == TYPE_KEY and (event.code == numbers.KEY_ENTER or event.code == SPACE)
    if target >= 0 and pressed_key:
        kind = (desk.widgets + target).kind
        pressed_key = kind != numbers.FIELD and kind != numbers.LIST
    if target >= 0 and (action == CLICK or pressed_key):
        if here:
            be_clicked(desk, me, number, u32(1) if pressed_key else state.click_count)
        else:
            hear_of_click(desk, state, me, u32(target), number)
        open_menu(desk, state, u32(target))
        if widget.kind == numbers.POPUP and state.open_popup == i32(me):
            widget.flags &= ~u32(numbers.HIDDEN)
    elif here and action == TYPE_KEY:
        type_key(desk, state, me, event.code, number)
    elif here and action == TYPE_CHAR and widget.kind == numbers.FIELD:
        if insert_code(desk, me, event.code):
            tell(desk, me, number, numbers.CHANGED, f32(widget.length), 0)
        show_caret(desk, me)
    elif here and action == SCROLL:
        widget.scroll_to = min(max(widget.scroll_to + f32(bitcast(i32, event.code)), 0.0), scroll_limit(widget))
    elif action == FOCUS and target >= 0 and widget.flags & numbers.CLIPS != 0:
        bring_into_view(desk, me, u32(target))
    close_popup(desk, state, me)


@device
def close_popup(desk: Ptr[Desk], state: Ptr[FrameState], me: u32):
    """A popup that is not the open one is not seen."""
    widget = desk.widgets + me
    if widget.kind == numbers.POPUP and state.open_popup != i32(me):
        widget.flags |= numbers.HIDDEN


@device
def open_menu(desk: Ptr[Desk], state: Ptr[FrameState], target: u32):
    """A click on a menu opens its popup, or closes it; a click on one of its lines closes it."""
    other = desk.widgets + target
    if other.kind == numbers.MENU:
        state.open_popup = i32(-1) if state.open_popup == other.target else other.target
    elif other.kind == numbers.ITEM:
        state.open_popup = -1
