"""Blocks that show nothing but the fill of one box, which most do: a warp fills all those of a tile at once.

A thread takes two pixels of every other row. What a row's colour is, both share; how a pixel is rounded repeats every
four rows and columns, so that a thread needs four values of it for the whole tile.
"""

from lanewise.desktop.limits import BLOCK, BLOCKS_ACROSS, TILE
from lanewise.desktop.state import Desk, Primitive
from lanewise.desktop.strips import dither, fill_at, pixel_of
from lanewise.lang import Ptr, device, f32, i32, lane_id, u32, u64, warp_shuffle

PAIRS = TILE // 2
"""Threads that share a row; the others take the row below it."""


@device
def put_pair(pixels: Ptr[u32], whole: bool, seen: u32, first: u32, second: u32):
    """Store two pixels beside each other: with one store where all pairs of the tile are whole and lie evenly.

    Otherwise `seen` says how many of the two are on the screen.
    """
    if whole:
        Ptr[u64](pixels)[0] = u64(first) | u64(second) << 32
    else:
        if seen > 0:
            pixels[0] = first
        if seen > 1:
            pixels[1] = second


@device
def shades(p: Ptr[Primitive], y: u32, here: f32, beside: f32) -> tuple[u32, u32]:
    """The pixels of a pair in this row of a box."""
    _, red, green, blue = fill_at(p, i32(y))
    return pixel_of(red, green, blue, here), pixel_of(red, green, blue, beside)


@device(inline=False)
def fill_sheets(desk: Ptr[Desk], left: u32, top: u32, sheets: u32, slot: u32):
    """Fill these blocks of a tile, a bit each; thread b knows the slot of the box that block b shows."""
    # A pixel that is stored might be any of what is read here, for all that a compiler knows: so it is read once.
    width = desk.width
    height = desk.height
    pixels = desk.pixels
    scratch = desk.scratch
    whole = left + TILE <= width and top + TILE <= height and width % 2 == 0
    x = left + lane_id() % PAIRS * 2
    across = min(width - min(x, width), 2)
    first_y = top + lane_id() // PAIRS
    # The pattern repeats after four rows; a thread meets every other one.
    here = dither(x, first_y)
    beside = dither(x + 1, first_y)
    here_below = dither(x, first_y + 2)
    beside_below = dither(x + 1, first_y + 2)
    for row in range(u32(BLOCKS_ACROSS)):
        block = row * BLOCKS_ACROSS + lane_id() % PAIRS * 2 // BLOCK
        of_block = warp_shuffle(slot, block)
        if sheets >> block & 1 != 0:
            p: Primitive
            p = (Ptr[Primitive](scratch.primitives) + of_block)[0]
            start = first_y + row * BLOCK
            at = pixels + (start * width + x)
            first = p.fill
            second = p.fill
            below = p.fill
            beside_it = p.fill
            for y in range(start, start + BLOCK, u32(4)):
                if p.fill != p.fill_end:
                    first, second = shades(p, y, here, beside)
                    below, beside_it = shades(p, y + 2, here_below, beside_below)
                put_pair(at, whole, across if y < height else u32(0), first, second)
                at += 2 * width
                put_pair(at, whole, across if y + 2 < height else u32(0), below, beside_it)
                at += 2 * width
