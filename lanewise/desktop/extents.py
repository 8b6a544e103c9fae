"""Which tiles primitives touch, so short that a warp looks at 32 of them with one load: columns and rows in one word.

Primitives are listed in the order of drawing and cut into chunks of 32. A chunk has an extent too, which holds those of
its primitives: most tiles find with one look that most chunks are elsewhere.
"""

from lanewise.desktop.limits import TILE
from lanewise.desktop.state import Primitive
from lanewise.lang import ON_GPU, Ptr, device, lane_id, u32, u64, warp_ballot

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
