"""Phase 8, finalisation: the frame is numbered, and what the host and the next frame must know is written down."""

from lanewise.desktop.state import Desk, GroupMemory
from lanewise.lang import Ptr, device, u32


@device
def finish_frame(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32):
    """Count the frame, say how far events were read, and whether something still moves."""
    if me == 0:
        frame = desk.frame
        frame.theme_mix = group.theme_mix
        frame.frame += 1
        frame.tail += group.event_count
        frame.awake = group.awake
        frame.blinks = group.blinks
        frame.glyphs = group.glyphs
        frame.full_redraw = 0
