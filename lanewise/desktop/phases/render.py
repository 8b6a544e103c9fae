"""Phase 7, tile rendering: the bins of dirty tiles are filled, then their pixels drawn.

On a GPU a warp fills a bin, and draws blocks of a tile; on a CPU a thread does a tile. The one group and all groups
share out tiles otherwise, but each tile is made alone: the pixels are the same.
"""

from lanewise.desktop.limits import BLOCK, BLOCKS, THREADS, TILE, WARPS
from lanewise.desktop.phases.tiles import fill_bin
from lanewise.desktop.state import Bin, Desk
from lanewise.desktop.strips import make_strip
from lanewise.lang import (
    ON_GPU,
    Ptr,
    device,
    group_id,
    local_id,
    thread_count,
    thread_id,
    threadgroup_barrier,
    threadgroup_size,
    u32,
)

STRIP = 2
"""Pixels of a strip on a GPU: more of them share what is read of a primitive, and take more registers."""

draw_row = make_strip(TILE, TILE, 1)
draw_piece = make_strip(STRIP, BLOCK, BLOCK)


@device
def draw_tile(desk: Ptr[Desk], number: u32):
    """Fill the bin of a tile and draw it, by one thread."""
    fill_bin(desk, number)
    for row in range(u32(TILE)):
        draw_row(desk, Ptr[Bin](desk.scratch.bins) + number, row, 0)


@device
def draw_block(desk: Ptr[Desk], block: u32, lane: u32):
    """Draw a block, of those of all dirty tiles."""
    draw_piece(desk, Ptr[Bin](desk.scratch.bins) + block // BLOCKS, block % BLOCKS, lane)


@device
def render_alone(desk: Ptr[Desk], me: u32):
    """Draw the dirty tiles by the one group. Its warps share out blocks, so that no large tile holds them up."""
    count = desk.frame.dirty_tiles
    if ON_GPU:
        for number in range(me // 32, count, WARPS):
            fill_bin(desk, number)
        threadgroup_barrier()
        for block in range(me // 32, count * BLOCKS, WARPS):
            draw_block(desk, block, me % 32)
    else:
        for number in range(me, count, THREADS):
            draw_tile(desk, number)


@device
def render_together(desk: Ptr[Desk]):
    """Draw the dirty tiles by all groups. On a GPU there are as many groups as tiles, and a group draws one."""
    count = desk.frame.dirty_tiles
    if ON_GPU:
        number = group_id()
        if number < count:
            if local_id() < 32:
                fill_bin(desk, number)
            threadgroup_barrier()
            for block in range(local_id() // 32, u32(BLOCKS), threadgroup_size() // 32):
                draw_block(desk, number * BLOCKS + block, local_id() % 32)
    else:
        for number in range(thread_id(), count, thread_count()):
            draw_tile(desk, number)
