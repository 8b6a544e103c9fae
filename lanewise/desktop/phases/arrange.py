"""Phase 4, layout: run when a style, a text or the screen has changed; the boxes of before hold otherwise."""

from lanewise.desktop.layout.engine import run_layout
from lanewise.desktop.layout.rechecking import forget_answers, mark_dirty
from lanewise.desktop.numbers import CLIPS, LIST
from lanewise.desktop.state import Desk
from lanewise.lang import Ptr, device, i32, threadgroup_barrier, u32

MARKED = 1
ALL_ANEW = 2
"""Stand in FrameState.relayout. The second is the host's, which marks nothing: what was found before holds nowhere."""


@device
def arrange(desk: Ptr[Desk], me: u32):
    """Lay out the tree if something asked for it; all threads of the group take part."""
    if desk.frame.relayout != 0:
        if desk.frame.relayout == ALL_ANEW and me < desk.frame.widgets:
            forget_answers(desk.layout, i32(me))
        threadgroup_barrier()
        run_layout(desk.layout)
        threadgroup_barrier()
        if me < desk.frame.widgets:
            widget = desk.widgets + me
            box = desk.boxes + me
            parent = (desk.links + me).parent
            if parent >= 0:  # so that boxes which touch share their edges, however deep they are
                box.x = box.left - (desk.boxes + parent).left
                box.y = box.top - (desk.boxes + parent).top
            widget.rest = (desk.layout.work + me).absolute[1] - box.top
            if widget.flags & CLIPS != 0 and widget.kind != LIST:
                widget.content_height = box.content_height
        if me == 0:
            desk.frame.relayout = 0
        threadgroup_barrier()


@device
def ask_for_layout(desk: Ptr[Desk], node: u32):
    """Say that a widget's style or text has changed; any thread may, in a phase before this one."""
    mark_dirty(desk.layout, i32(node))
    desk.frame.relayout = max(desk.frame.relayout, MARKED)  # what the host asks for still holds
