"""Phase 7, tile rendering: the bins of dirty tiles are filled, then their pixels drawn.

On a GPU a warp fills a bin, and then draws blocks of any tile; on a CPU a thread does a tile. The one group and all
groups share out tiles otherwise, but each tile is made alone: the pixels are the same.
"""

from lanewise.desktop.limits import BLOCK, BLOCKS, THREADS, TILE, WARPS
from lanewise.desktop.phases.tiles import fill_bin
from lanewise.desktop.state import Bin, Desk, GroupMemory
from lanewise.desktop.strips import make_strip
from lanewise.lang import (
    ON_GPU,
    Ptr,
    atomic_add,
    device,
    lanes_below,
    popcount,
    thread_count,
    thread_id,
    threadgroup_barrier,
    u32,
    warp_shuffle,
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
def note_busy(desk: Ptr[Desk], group: Ptr[GroupMemory], number: u32, busy: u32, lane: u32):
    """Write down which blocks of a tile are still to be drawn; all threads of a warp come here together."""
    start = u32(0)
    if lane == 0:
        start = atomic_add(group.busy, popcount(busy), scope="group")
    start = warp_shuffle(start, 0)
    if busy >> lane & 1 != 0:
        desk.scratch.busy[start + lanes_below(busy)] = number * BLOCKS + lane


@device
def render_alone(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32):
    """Draw the dirty tiles by the one group. Its warps share out blocks, so that no large tile holds them up."""
    count = desk.frame.dirty_tiles
    if ON_GPU:
        for number in range(me // 32, count, WARPS):
            note_busy(desk, group, number, fill_bin(desk, number), me % 32)
        threadgroup_barrier()
        for k in range(me // 32, group.busy, WARPS):
            draw_block(desk, desk.scratch.busy[k], me % 32)
    else:
        for number in range(me, count, THREADS):
            draw_tile(desk, number)


@device
def fill_together(desk: Ptr[Desk]):
    """Fill the bins of dirty tiles by all groups of a GPU, a warp each."""
    number = thread_id() // 32
    if number < desk.frame.dirty_tiles:
        fill_bin(desk, number)


@device
def render_together(desk: Ptr[Desk]):
    """Draw the dirty tiles by all groups. On a GPU their bins are filled, and there is a warp for each block."""
    count = desk.frame.dirty_tiles
    if ON_GPU:
        block = thread_id() // 32
        if block < count * BLOCKS and desk.scratch.bins[block // BLOCKS].busy >> (block % BLOCKS) & 1 != 0:
            draw_block(desk, block, thread_id() % 32)
    else:
        for number in range(thread_id(), count, thread_count()):
            draw_tile(desk, number)
