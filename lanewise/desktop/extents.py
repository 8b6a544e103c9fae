"""Which tiles primitives touch or hide, so short that a warp looks at 32 with one load: columns and rows in a word.

Primitives are listed in the order of drawing and cut into chunks of 32. A chunk has an extent too, which holds those of
its primitives: most tiles find with one look that most chunks are elsewhere.
"""

from lanewise.desktop.blocks import edge_reach, is_opaque
from lanewise.desktop.limits import TILE
from lanewise.desktop.numbers import P_BOX
from lanewise.desktop.state import Desk, Primitive
from lanewise.lang import ON_GPU, Ptr, ceil, device, f32, floor, i32, lane_id, u32, u64, warp_ballot

CHUNK = 32
NOWHERE = 0x00000000FFFFFFFF
"""The extent of nothing: its first column and row are behind its last ones."""


@device
def make_extent(left: u32, top: u32, right: u32, bottom: u32) -> u64:
    """The extent from the first column and row to the last ones."""
    return u64(left | top << 16) | u64(right | bottom << 16) << 32


@device
def extent_of(p: Ptr[Primitive]) -> u64:
    """The tiles that a primitive touches."""
    return make_extent(u32(p.left) // TILE, u32(p.top) // TILE, u32(p.right - 1) // TILE, u32(p.bottom - 1) // TILE)


@device
def cover_of(desk: Ptr[Desk], p: Ptr[Primitive], beside: f32, above: f32) -> u64:
    """The tiles that are hidden by an opaque box so far from its edges; those that the screen cuts off count too."""
    left = max(p.left, i32(ceil(p.ax + beside)))
    top = max(p.top, i32(ceil(p.ay + above)))
    right = min(p.right, i32(floor(p.bx - beside)))
    bottom = min(p.bottom, i32(floor(p.by - above)))
    columns = i32(desk.tiles_across) if right >= i32(desk.width) else right // TILE
    rows = i32(desk.tiles_down) if bottom >= i32(desk.height) else bottom // TILE
    first_column = (left + TILE - 1) // TILE
    first_row = (top + TILE - 1) // TILE
    if first_column >= columns or first_row >= rows:
        return u64(NOWHERE)
    return make_extent(u32(first_column), u32(first_row), u32(columns - 1), u32(rows - 1))


@device
def covers_of(desk: Ptr[Desk], p: Ptr[Primitive]) -> tuple[u64, u64]:
    """The tiles that a primitive hides: beside the reach of its corners, and between them."""
    if p.kind != P_BOX or not is_opaque(p):
        return u64(NOWHERE), u64(NOWHERE)
    edge, corner = edge_reach(p)
    return cover_of(desk, p, corner, edge), cover_of(desk, p, edge, corner)


@device
def around(extents: Ptr[u64]) -> u64:
    """The extent that holds those of a chunk."""
    left = u32(0xFFFF)
    top = u32(0xFFFF)
    right = u32(0)
    bottom = u32(0)
    for k in range(u32(CHUNK)):
        first = u32(extents[k])
        last = u32(extents[k] >> 32)
        left = min(left, first & 0xFFFF)
        top = min(top, first >> 16)
        right = max(right, last & 0xFFFF)
        bottom = max(bottom, last >> 16)
    return make_extent(left, top, right, bottom)


@device
def touches(extent: u64, column: u32, row: u32) -> bool:
    """Whether a tile is within an extent."""
    first = u32(extent)
    last = u32(extent >> 32)
    across = column >= first & 0xFFFF and column <= last & 0xFFFF
    return across and row >= first >> 16 and row <= last >> 16


@device
def touching(extents: Ptr[u64], column: u32, row: u32) -> u32:
    """Which of 32 extents hold a tile, a bit each. On a GPU all threads of a warp ask together."""
    if ON_GPU:
        return warp_ballot(touches(extents[lane_id()], column, row))
    found = u32(0)
    for k in range(u32(CHUNK)):
        found |= u32(touches(extents[k], column, row)) << k
    return found
