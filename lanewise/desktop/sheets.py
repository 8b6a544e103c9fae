"""Blocks that show nothing but the fill of one box, which most do: a warp fills all those of a tile at once.

A thread takes two pixels of every other row. What a row's colour is, both share; how a pixel is rounded repeats every
four rows and columns, so that a thread needs four values of it for the whole tile.
"""

from lanewise.desktop.limits import BLOCK, BLOCKS_ACROSS, TILE
from lanewise.desktop.state import Desk
from lanewise.desktop.strips import desk_primitive, dither, fill_at, pixel_of
from lanewise.lang import Ptr, device, i32, lane_id, u32, u64, warp_shuffle

PAIRS = TILE // 2
"""Threads that share a row; the others take the row below it."""


@device
def put_pair(desk: Ptr[Desk], whole: bool, x: u32, y: u32, first: u32, second: u32):
    """Store two pixels beside each other: with one store where all pairs of the tile are whole and lie evenly."""
    at = y * desk.width + x
    if whole:
        Ptr[u64](desk.pixels + at)[0] = u64(first) | u64(second) << 32
    elif y < desk.height:
        if x < desk.width:
            desk.pixels[at] = first
        if x + 1 < desk.width:
            desk.pixels[at + 1] = second


@device(inline=False)
def fill_sheets(desk: Ptr[Desk], left: u32, top: u32, sheets: u32, slot: u32):
    """Fill these blocks of a tile, a bit each; thread b knows the slot of the box that block b shows."""
    whole = left + TILE <= desk.width and top + TILE <= desk.height and desk.width % 2 == 0
    x = left + lane_id() % PAIRS * 2
    first_y = top + lane_id() // PAIRS
    # The pattern repeats after four rows; a thread meets every other one.
    here = dither(x, first_y)
    beside = dither(x + 1, first_y)
    here_below = dither(x, first_y + 2)
    beside_below = dither(x + 1, first_y + 2)
    for row in range(u32(BLOCKS_ACROSS)):
        block = row * BLOCKS_ACROSS + lane_id() % PAIRS * 2 // BLOCK
        p = desk_primitive(desk, warp_shuffle(slot, block))
        if sheets >> block & 1 != 0:
            start = first_y + row * BLOCK
            if p.fill == p.fill_end:
                for y in range(start, start + BLOCK, u32(2)):
                    put_pair(desk, whole, x, y, p.fill, p.fill)
            else:
                for y in range(start, start + BLOCK, u32(4)):
                    _, red, green, blue = fill_at(p, i32(y))
                    first = pixel_of(red, green, blue, here)
                    put_pair(desk, whole, x, y, first, pixel_of(red, green, blue, beside))
                    _, red, green, blue = fill_at(p, i32(y + 2))
                    first = pixel_of(red, green, blue, here_below)
                    put_pair(desk, whole, x, y + 2, first, pixel_of(red, green, blue, beside_below))
