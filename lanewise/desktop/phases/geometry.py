"""Phase 6, geometry: every visible widget says what it draws; then all of it is listed from the bottom to the top."""

from lanewise.desktop import numbers
from lanewise.desktop.extents import CHUNK, NOWHERE, around, covers_of, extent_of
from lanewise.desktop.limits import CHUNKS, MAX_GLYPHS, MAX_PRIMITIVES, MAX_WIDGETS, SLOTS, THREADS, WARPS
from lanewise.desktop.look_controls import (
    caret_is_shown,
    look_button,
    look_field,
    look_image,
    look_label,
    look_menu,
    look_tab,
)
from lanewise.desktop.look_frames import (
    look_box,
    look_close,
    look_grip,
    look_item,
    look_list,
    look_panel,
    look_popup,
    look_row,
    look_title,
    look_window,
)
from lanewise.desktop.look_marks import look_checkbox, look_progress, look_radio, look_slider, look_switch
from lanewise.desktop.phases.visibility import OUT_OF_SIGHT
from lanewise.desktop.primitives import clear_slots
from lanewise.desktop.state import Desk, GroupMemory, Primitive, Widget
from lanewise.desktop.strips import desk_primitive
from lanewise.lang import (
    ON_GPU,
    Ptr,
    bitcast,
    ceil,
    device,
    f32,
    i32,
    threadgroup_barrier,
    u16,
    u32,
    u64,
    warp_prefix_sum,
)

WIDGET_WORDS = Widget.size // 4
SHARE = MAX_WIDGETS // 32
"""Counts that a thread of a warp adds up."""
AROUND_TEXT = 2.0
"""Font sizes; lines are cut off within less of their widget, see `add_line` and `add_paragraph`."""
SUM_START = 0xCBF29CE484222325
SUM_FACTOR = 0x100000001B3


@device
def look(desk: Ptr[Desk], me: u32, first: u32) -> u32:
    """Draw a widget with glyphs from `first` on; gives how many slots it used."""
    kind = (desk.widgets + me).kind
    if kind == numbers.PANEL:
        return look_panel(desk, me)
    elif kind == numbers.LABEL:
        return look_label(desk, me, first)
    elif kind == numbers.BUTTON:
        return look_button(desk, me, first)
    elif kind == numbers.CHECKBOX:
        return look_checkbox(desk, me, first)
    elif kind == numbers.RADIO:
        return look_radio(desk, me, first)
    elif kind == numbers.SWITCH:
        return look_switch(desk, me, first)
    elif kind == numbers.SLIDER:
        return look_slider(desk, me)
    elif kind == numbers.PROGRESS:
        return look_progress(desk, me)
    elif kind == numbers.FIELD:
        return look_field(desk, me, first)
    elif kind == numbers.LIST:
        return look_list(desk, me)
    elif kind == numbers.ROW:
        return look_row(desk, me, first)
    elif kind == numbers.TAB:
        return look_tab(desk, me, first)
    elif kind == numbers.MENU:
        return look_menu(desk, me, first)
    elif kind == numbers.POPUP:
        return look_popup(desk, me)
    elif kind == numbers.ITEM:
        return look_item(desk, me, first)
    elif kind == numbers.IMAGE or kind == numbers.CANVAS:
        return look_image(desk, me)
    elif kind == numbers.WINDOW:
        return look_window(desk, me)
    elif kind == numbers.TITLE:
        return look_title(desk, me, first)
    elif kind == numbers.CLOSE:
        return look_close(desk, me)
    elif kind == numbers.GRIP:
        return look_grip(desk, me)
    elif kind == numbers.BOX:
        return look_box(desk, me)
    return 0


@device
def add_up(group: Ptr[GroupMemory], me: u32):
    """On a GPU one warp writes down the sums that `count_before` gives; all threads of the group come here."""
    if ON_GPU:
        if me < 32:
            first = me * SHARE
            mine = u32(0)
            for k in range(u32(SHARE)):
                mine += group.counts[first + k]
            before = warp_prefix_sum(mine) - mine
            for k in range(u32(SHARE)):
                group.sums[first + k] = before
                before += group.counts[first + k]
        threadgroup_barrier()


@device
def count_before(group: Ptr[GroupMemory], end: u32) -> u32:
    """The sum of the counts before this one."""
    if ON_GPU:
        return group.sums[end]
    total = u32(0)
    for k in range(end):
        total += group.counts[k]
    return total


@device
def look_sum(desk: Ptr[Desk], me: u32, first: u32, theme_mix: f32) -> u64:
    """A sum over all that a widget's look depends on: if it is that of the frame before, so is the look."""
    if desk.scratch.keys[me] == OUT_OF_SIGHT:
        return 0
    widget = desk.widgets + me
    total = u64(SUM_START)
    words = Ptr[u32](widget)
    for word in range(u32(WIDGET_WORDS)):
        total = (total ^ u64(words[word])) * SUM_FACTOR
    padding = Ptr[u32]((desk.boxes + me).padding)
    for side in range(u32(4)):
        total = (total ^ u64(padding[side])) * SUM_FACTOR
    focused = desk.frame.focused == i32(me)
    state = u32(focused) | u32(focused and caret_is_shown(desk)) << 1
    total = (total ^ u64(state)) * SUM_FACTOR
    total = (total ^ u64(desk.scratch.keys[me])) * SUM_FACTOR
    total = (total ^ u64(first)) * SUM_FACTOR
    total = (total ^ u64(bitcast(u32, theme_mix))) * SUM_FACTOR
    total = (total ^ u64(bitcast(u32, (desk.widgets + widget.window).toggle))) * SUM_FACTOR
    return total ^ total >> 29


@device
def shows_text(desk: Ptr[Desk], me: u32) -> bool:
    """Whether glyphs are kept for a widget's text: not where all of it is scrolled out of sight.

    A text reaches less than AROUND_TEXT font sizes beyond its widget, so what has no glyphs here claims none.
    """
    widget = desk.widgets + me
    around = i32(ceil(widget.font_size * AROUND_TEXT))
    across = widget.x - around < widget.clip_right and widget.x + widget.w + around > widget.clip_left
    down = widget.y - around < widget.clip_bottom and widget.y + widget.h + around > widget.clip_top
    return desk.scratch.keys[me] != OUT_OF_SIGHT and across and down


@device
def make_geometry(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32):
    """Count glyphs to share them out, draw each widget into its slots, then list the slots in drawing order."""
    if me < MAX_WIDGETS:
        group.counts[me] = (desk.widgets + me).length if shows_text(desk, me) else 0
    for k in range(me, u32(MAX_PRIMITIVES), THREADS):
        desk.scratch.extents[k] = NOWHERE
    threadgroup_barrier()
    add_up(group, me)
    used = u32(0)
    # Neighbours, which are often of different kinds, go to different warps: threads of a warp wait for each other's.
    widget = me % 32 * WARPS + me // 32
    if widget < MAX_WIDGETS:
        first = count_before(group, widget)
        sum_now = look_sum(desk, widget, first, group.theme_mix)
        remade = sum_now != desk.scratch.looks[widget] or desk.frame.full_redraw != 0
        if not remade:
            used = desk.scratch.used[widget]
        else:
            if desk.scratch.keys[widget] != OUT_OF_SIGHT:
                used = look(desk, widget, first)
            clear_slots(desk, widget, used)
            desk.scratch.looks[widget] = sum_now
            desk.scratch.used[widget] = used
        if widget == MAX_WIDGETS - 1:
            group.glyphs = min(first + group.counts[widget], MAX_GLYPHS)
        group.remade[widget] = u32(remade)
        group.keys[widget] = used
    threadgroup_barrier()
    if me < MAX_WIDGETS:
        group.counts[me] = group.keys[desk.scratch.order[me]] if me < desk.frame.visible else 0
    threadgroup_barrier()
    add_up(group, me)
    if me < desk.frame.visible:
        start = count_before(group, me)
        slot = desk.scratch.order[me] * SLOTS
        for k in range(group.counts[me]):
            desk.scratch.draw_list[start + k] = u16(slot + k)
            p: Primitive
            p = desk_primitive(desk, slot + k)[0]
            desk.scratch.extents[start + k] = extent_of(p)
            if ON_GPU:
                across, down = covers_of(desk, p)
                desk.scratch.covers[start + k] = across
                desk.scratch.covers[MAX_PRIMITIVES + start + k] = down
        if me == desk.frame.visible - 1:
            desk.frame.primitives = start + group.counts[me]
    threadgroup_barrier()
    if me < CHUNKS:
        desk.scratch.chunk_extents[me] = around(Ptr[u64](desk.scratch.extents) + me * CHUNK)
