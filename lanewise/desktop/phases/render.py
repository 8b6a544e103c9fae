"""Phase 7, tile rendering: the bins of dirty tiles are filled, then their pixels drawn.

On a GPU a warp fills a bin, and then draws blocks of any tile; on a CPU a thread does a tile. The one group and all
groups share out tiles otherwise, but each tile is made alone: the pixels are the same.
"""

from lanewise.desktop.limits import BIN_ENTRIES, BLOCK, BLOCKS, THREADS, TILE, WARPS
from lanewise.desktop.phases.tiles import fill_bin
from lanewise.desktop.state import Bin, Block, Desk
from lanewise.desktop.strips import make_strip
from lanewise.lang import ON_GPU, Ptr, device, local_id, thread_count, thread_id, threadgroup_barrier, u32, u64

STRIP = 2
"""Pixels of a strip on a GPU: more of them share what is read of a primitive, and take more registers."""
STRIPS = BLOCK // STRIP

draw_row = make_strip(TILE, True)
draw_row_of_all = make_strip(TILE, False)
draw_piece = make_strip(STRIP, True)
draw_piece_of_all = make_strip(STRIP, False)


@device
def draw_tile(desk: Ptr[Desk], number: u32):
    """Fill the bin of a tile and draw it, by one thread."""
    fill_bin(desk, number)
    found = Ptr[Bin](desk.scratch.bins) + number
    x = u32(found.tile) % desk.tiles_across * TILE
    y = u32(found.tile) // desk.tiles_across * TILE
    for row in range(min(desk.height - y, u32(TILE))):
        if found.solid != 0:
            for k in range(min(desk.width - x, u32(TILE))):
                desk.pixels[(y + row) * desk.width + x + k] = found.colour
        elif found.count <= BIN_ENTRIES:
            draw_row(desk, found, 0, entries_in_use(found.count), x, y + row)
        else:
            draw_row_of_all(desk, found, 0, 0, x, y + row)


@device
def entries_in_use(count: u32) -> u64:
    """The entries of a bin with so many, a bit each."""
    return u64(0xFFFFFFFFFFFFFFFF) << (BIN_ENTRIES - count) if count != 0 else u64(0)


@device
def draw_block(desk: Ptr[Desk], k: u32, lane: u32):
    """Draw a block, of those that are still to be drawn, by a warp."""
    block = Ptr[Block](desk.scratch.busy) + k
    number = u32(block.number)
    found = Ptr[Bin](desk.scratch.bins) + u32(block.bin)
    x = u32(block.x) + lane % STRIPS * STRIP
    y = u32(block.y) + lane // STRIPS
    if number < BLOCKS:
        draw_piece(desk, found, number, block.shown, x, y)
    else:
        draw_crowded(desk, found, x, y)


@device(inline=False)
def draw_crowded(desk: Ptr[Desk], found: Ptr[Bin], x: u32, y: u32):
    """Draw a strip of a tile whose bin is too small: apart, so that what is seldom needed takes no registers."""
    draw_piece_of_all(desk, found, 0, 0, x, y)


@device
def render_alone(desk: Ptr[Desk], me: u32):
    """Draw the dirty tiles by the one group. Its warps share out blocks, so that no large tile holds them up."""
    count = desk.frame.dirty_tiles
    if ON_GPU:
        for number in range(me // 32, count, WARPS):
            fill_bin(desk, number)
        threadgroup_barrier()
        for k in range(me // 32, desk.scratch.busy_count, WARPS):
            draw_block(desk, k, me % 32)
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
    """Draw the dirty tiles by all groups. On a GPU their bins are filled, and there are warps for all blocks."""
    if ON_GPU:
        if thread_id() // 32 < desk.scratch.busy_count:
            draw_block(desk, thread_id() // 32, local_id() % 32)
    else:
        for number in range(thread_id(), desk.frame.dirty_tiles, thread_count()):
            draw_tile(desk, number)
