"""Phase 2, hit testing: each warp takes an event, and its ballots find the topmost widget under the pointer."""

from lanewise.desktop.limits import WARPS
from lanewise.desktop.numbers import CHAR, KEY_DOWN, KEY_UP, NONE
from lanewise.desktop.state import Desk, GroupMemory
from lanewise.lang import Ptr, device, i32, leading_zeros, u32, warp_ballot


@device
def hit_test(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32):
    """Write the widget under each event to the group's memory, -1 where there is none."""
    lane = me % 32
    for number in range(me // 32, group.event_count, WARPS):
        event = group.events[number]
        found = i32(-1)
        if event.kind != KEY_DOWN and event.kind != KEY_UP and event.kind != CHAR:
            # From the top down, 32 widgets at a time. All lanes see the same ballots and leave together.
            beyond = desk.frame.visible
            while beyond > 0 and found < 0:
                chunk = (beyond - 1) // 32 * 32
                rank = chunk + lane
                hit = False
                if rank < beyond:
                    hit = is_under(desk, desk.scratch.order[rank], i32(event.x), i32(event.y))
                hits = warp_ballot(hit)
                if hits != 0:
                    found = i32(desk.scratch.order[chunk + 31 - leading_zeros(hits)])
                beyond = chunk
        if lane == 0:
            group.hits[number] = found


@device
def is_under(desk: Ptr[Desk], number: u32, x: i32, y: i32) -> bool:
    """Whether what is seen of a widget holds a point."""
    widget = desk.widgets + number
    across = x >= max(widget.x, widget.clip_left) and x < min(widget.x + widget.w, widget.clip_right)
    down = y >= max(widget.y, widget.clip_top) and y < min(widget.y + widget.h, widget.clip_bottom)
    return widget.kind != NONE and across and down
