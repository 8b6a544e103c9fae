"""Phase 3, event dispatch: one event after the other; every thread follows all, and its widget reacts to its own.

What an event means for the whole desktop (hover, capture, focus, clicks) every thread works out for itself, from the
same state to the same result. A barrier ends each event, so that the next one sees what this one has changed.
"""

from lanewise.desktop import numbers
from lanewise.desktop.actions import CLICK, DRAG, FOCUS, NOTHING, PRESS, SCROLL, TYPE_CHAR, TYPE_KEY
from lanewise.desktop.choosing import row_at
from lanewise.desktop.limits import (
    DOUBLE_CLICK_MS,
    DOUBLE_CLICK_PIXELS,
    DRAG_PIXELS,
    MAX_NOTICES,
    MAX_WIDGETS,
    POPUP_LAYER,
)
from lanewise.desktop.phases.react import close_popup, react
from lanewise.desktop.scrolling import scroller_of
from lanewise.desktop.state import Desk, FrameState, GroupMemory, InputEvent
from lanewise.desktop.tree import is_out_of_use, next_focus, takes_focus, target_of
from lanewise.lang import Ptr, addressof, bitcast, device, i32, threadgroup_barrier, u32

STATE_WORDS = FrameState.size // 4


@device
def follow(desk: Ptr[Desk], state: Ptr[FrameState], event: Ptr[InputEvent], hit: i32) -> tuple[u32, i32]:
    """Bring the state of the desktop up to an event; gives what it comes down to, and for which widget."""
    kind = u32(event.kind)
    target = target_of(desk, hit)
    state.modifiers = u32(event.modifiers)
    if kind == numbers.POINTER_MOVE or kind == numbers.POINTER_DOWN or kind == numbers.POINTER_UP:
        state.pointer_x = i32(event.x)
        state.pointer_y = i32(event.y)
        state.hovered = target if state.captured < 0 or state.captured == target else i32(-1)
    if kind == numbers.POINTER_MOVE:
        if state.captured < 0:
            return NOTHING, -1
        moved = abs(state.pointer_x - state.press_x) + abs(state.pointer_y - state.press_y)
        if moved > DRAG_PIXELS:
            state.dragging = 1
        return DRAG, state.captured
    elif kind == numbers.POINTER_DOWN and event.button == 1:
        away = max(abs(state.pointer_x - state.press_x), abs(state.pointer_y - state.press_y))
        again = target == state.click_widget and away <= DOUBLE_CLICK_PIXELS
        again = again and u32(event.time_ms) - state.click_time < DOUBLE_CLICK_MS
        state.click_count = state.click_count + 1 if again else u32(1)
        state.click_time = event.time_ms
        state.click_widget = target
        state.captured = target
        state.press_x = state.pointer_x
        state.press_y = state.pointer_y
        state.dragging = 0
        state.focus_shown = 0
        state.caret_time = state.time_ms
        if state.open_popup >= 0 and (hit < 0 or (desk.widgets + hit).window != state.open_popup):
            if target != (desk.widgets + state.open_popup).target:
                state.open_popup = -1
        focus = i32(-1)
        if target >= 0 and takes_focus(desk, u32(target)):
            focus = target
        elif target >= 0 and (desk.widgets + target).kind == numbers.ROW:
            focus = (desk.links + target).parent
        state.focused = focus
        if hit > 0:
            window = desk.widgets + (desk.widgets + hit).window
            if window.kind == numbers.WINDOW and window.layer != state.top_layer:
                state.top_layer += 1
        return PRESS, target
    elif kind == numbers.POINTER_UP and event.button == 1:
        held = state.captured
        state.captured = -1
        state.hovered = target
        if held >= 0 and held == target:
            return CLICK, held
    elif kind == numbers.POINTER_LEAVE:
        state.hovered = -1
    elif kind == numbers.WHEEL:
        return SCROLL, scroller_of(desk, hit, bitcast(i32, event.code))
    elif kind == numbers.KEY_DOWN:
        state.caret_time = state.time_ms
        if event.code == numbers.KEY_TAB:
            backward = state.modifiers & numbers.SHIFT != 0
            state.focused = next_focus(desk, state.focused, backward, state.top_layer)
            state.focus_shown = 1
            state.open_popup = -1
            return FOCUS, state.focused
        elif event.code == numbers.KEY_ESCAPE:
            state.open_popup = -1
        else:
            return TYPE_KEY, state.focused
    elif kind == numbers.CHAR:
        state.caret_time = state.time_ms
        return TYPE_CHAR, state.focused
    return NOTHING, -1


@device
def renumber_layers(desk: Ptr[Desk], state: Ptr[FrameState], me: u32):
    """Windows were raised so often that layers run out: number them from the bottom, in the order they have."""
    below = u32(0)
    is_window = False
    if me < desk.frame.widgets:
        widget = desk.widgets + me
        is_window = widget.kind == numbers.WINDOW
        for other in range(desk.frame.widgets):
            if (desk.widgets + other).kind == numbers.WINDOW and (desk.widgets + other).layer < widget.layer:
                below += 1
    threadgroup_barrier()
    if is_window:
        in_front = (desk.widgets + me).layer == state.top_layer
        (desk.widgets + me).layer = 1 + MAX_WIDGETS if in_front else 1 + below
    state.top_layer = 1 + MAX_WIDGETS
    threadgroup_barrier()


@device
def dispatch(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32, time_ms: u32):
    """Go through the events of the frame; then one thread writes the new state down."""
    state: FrameState
    mine = Ptr[u32](addressof(state))
    for word in range(u32(STATE_WORDS)):
        mine[word] = Ptr[u32](desk.frame)[word]
    state.time_ms = time_ms
    # Before events, of which none has hidden anything yet.
    if is_out_of_use(desk, state.focused):
        state.focused = -1
    if is_out_of_use(desk, state.captured):
        state.captured = -1
    if is_out_of_use(desk, state.hovered):
        state.hovered = -1
    if state.open_popup >= 0 and is_out_of_use(desk, (desk.widgets + state.open_popup).target):
        state.open_popup = -1
    if state.hovered >= 0 and (desk.widgets + state.hovered).kind == numbers.ROW:
        # The list may have been scrolled under a pointer that stays where it is.
        state.hovered = row_at(desk, u32((desk.links + state.hovered).parent), state.pointer_y)
    if me < MAX_NOTICES:
        desk.scratch.notices[me].kind = 0
    threadgroup_barrier()
    if me < desk.frame.widgets:
        close_popup(desk, addressof(state), me)
    # Before events, of which only threads with a widget keep track: here all agree, so all come to its barriers.
    if state.top_layer >= POPUP_LAYER - MAX_WIDGETS:
        renumber_layers(desk, addressof(state), me)
    for number in range(group.event_count):
        if me < MAX_WIDGETS:
            event = Ptr[InputEvent](group.events) + number
            hit = group.hits[number]
            action, target = follow(desk, addressof(state), event, hit)
            react(desk, addressof(state), me, action, target, hit, event, number)
        threadgroup_barrier()
    if me == 0:
        # What widgets write themselves stays; the rest is this thread's to write.
        state.notices = 0
        state.relayout = desk.frame.relayout
        state.clipboard_length = desk.frame.clipboard_length
        state.copies = desk.frame.copies
        for word in range(u32(STATE_WORDS)):
            Ptr[u32](desk.frame)[word] = mine[word]
    threadgroup_barrier()
