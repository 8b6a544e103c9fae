"""Phase 7, tile rendering: threads share out the dirty tiles, and each draws its strips of them.

No thread waits for another here, so any number of groups may do it: the pixels are the same.
"""

from lanewise.desktop.limits import TILE
from lanewise.desktop.state import Bin, Desk
from lanewise.desktop.strips import make_strip
from lanewise.lang import ON_GPU, Ptr, device, u32

COLUMN = 2
"""Pixels of a strip on a GPU: more of them share what is read of a primitive, and take more registers."""

draw_row = make_strip(TILE, 1, 0)
draw_column = make_strip(COLUMN, 0, 1)


@device
def render_tiles(desk: Ptr[Desk], me: u32, threads: u32):
    """Draw this thread's share of the dirty tiles, as thread `me` of so many."""
    bins = Ptr[Bin](desk.scratch.bins)
    count = desk.frame.dirty_tiles
    if ON_GPU:
        strips = count * (TILE // COLUMN)
        for strip in range(me // 32, strips, threads // 32):
            draw_column(desk, bins + strip // (TILE // COLUMN), me % 32, strip % (TILE // COLUMN) * COLUMN)
    else:
        for tile in range(me, count, threads):
            for row in range(u32(TILE)):
                draw_row(desk, bins + tile, 0, row)
