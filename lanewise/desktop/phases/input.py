"""Phase 1, input collection: one warp takes new events from the ring into the group's memory."""

from lanewise.desktop.limits import FRAME_EVENTS, RING_EVENTS
from lanewise.desktop.state import Desk, GroupMemory
from lanewise.lang import Ptr, device, u32


@device
def collect_input(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32):
    """Copy at most FRAME_EVENTS events; the last phase moves the tail, so that all threads still see the old one."""
    tail = desk.frame.tail
    count = min(desk.ring.head - tail, FRAME_EVENTS)
    if me < count:
        source = Ptr[u32](desk.ring.events) + (tail + me) % RING_EVENTS * 4
        target = Ptr[u32](group.events) + me * 4
        for word in range(4):
            target[word] = source[word]
    if me == 0:
        group.event_count = count
        group.awake = 0
        group.blinks = 0
        group.resort = 0
        desk.scratch.busy_count = 0
