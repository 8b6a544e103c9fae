"""Which blocks of a tile something touches: a bit each, row by row, for the lists that blocks have in a bin.

Columns and rows are asked apart: what is known of four of each says it of all sixteen blocks.
"""

from lanewise.desktop.limits import BLOCK, BLOCKS_ACROSS, TILE
from lanewise.desktop.numbers import P_BOX
from lanewise.desktop.state import Glyph, Primitive
from lanewise.lang import Ptr, device, f32, i32, u32

ALL_BLOCKS = (1 << BLOCKS_ACROSS**2) - 1


@device
def crossing(columns: u32, rows: u32) -> u32:
    """The blocks that are in one of these columns and in one of these rows."""
    first_of_rows = rows & 1 | (rows & 2) << 3 | (rows & 4) << 6 | (rows & 8) << 9
    return first_of_rows * columns


@device
def span(first: u32, last: u32) -> u32:
    """The bits from the first to the last."""
    return (u32(2) << last) - (u32(1) << first)


@device
def touched_blocks(p: Ptr[Primitive], left: i32, top: i32) -> u32:
    """The blocks that a primitive touches, in a tile at `left`, `top` that it touches."""
    columns = span(u32(max(p.left - left, 0)) // BLOCK, u32(min(p.right - 1 - left, TILE - 1)) // BLOCK)
    rows = span(u32(max(p.top - top, 0)) // BLOCK, u32(min(p.bottom - 1 - top, TILE - 1)) // BLOCK)
    return crossing(columns, rows)


@device
def is_opaque(p: Ptr[Primitive]) -> bool:
    """Whether the fill of a box lets nothing through."""
    return (p.fill & p.fill_end) >> 24 == 255


@device
def edge_reach(p: Ptr[Primitive]) -> tuple[f32, f32]:
    """How near to its edges, and to its corners, a box is not just its fill."""
    # A box without round corners whose edges lie on whole pixels ends sharply.
    edge = f32(0) if p.radius == 0.0 and p.border == 0.0 else p.border + 0.5
    return edge, max(p.radius, edge)


@device
def shows_no_edge(p: Ptr[Primitive], left: i32, top: i32, right: i32, bottom: i32) -> bool:
    """Whether an area lies inside of a box, and no edge, border or corner of it is near."""
    if p.kind != P_BOX or left < p.left or top < p.top or right > p.right or bottom > p.bottom:
        return False
    edge, corner = edge_reach(p)
    near_x = min(f32(left) - p.ax, p.bx - f32(right))
    near_y = min(f32(top) - p.ay, p.by - f32(bottom))
    return (near_x >= corner and near_y >= edge) or (near_x >= edge and near_y >= corner)


@device
def far_from(edge: f32, corner: f32, start: i32, low: i32, high: i32, first: f32, last: f32) -> u32:
    """Which columns, or rows, of a tile are seen as a whole and this far from both edges of a box.

    Those that are beyond the reach of edges are in the low bits, those beyond that of corners above them.
    """
    found = u32(0)
    for k in range(u32(BLOCKS_ACROSS)):
        begin = start + i32(k) * BLOCK
        if begin >= low and begin + BLOCK <= high:
            near = min(f32(begin) - first, last - f32(begin + BLOCK))
            found |= u32(near >= edge) << k | u32(near >= corner) << (k + BLOCKS_ACROSS)
    return found


@device
def plain_blocks(p: Ptr[Primitive], left: i32, top: i32) -> u32:
    """The blocks in which a box shows no edge, as `shows_no_edge` says of one."""
    if p.kind != P_BOX:
        return 0
    edge, corner = edge_reach(p)
    columns = far_from(edge, corner, left, p.left, p.right, p.ax, p.bx)
    rows = far_from(edge, corner, top, p.top, p.bottom, p.ay, p.by)
    inner = u32((1 << BLOCKS_ACROSS) - 1)
    return crossing(columns >> BLOCKS_ACROSS, rows & inner) | crossing(columns & inner, rows >> BLOCKS_ACROSS)


@device
def glyph_blocks(p: Ptr[Primitive], glyph: Ptr[Glyph], left: i32, top: i32, right: i32, bottom: i32) -> u32:
    """The blocks of a tile that a glyph of a text touches; none if it is beside the tile."""
    from_left = glyph.x - f32(left)
    from_top = glyph.y - f32(top)
    to_right = glyph.x + f32(glyph.w) * p.bx - f32(left)
    to_bottom = glyph.y + f32(glyph.h) * p.cx - f32(top)
    if from_left >= f32(right - left) or to_right <= 0.0 or from_top >= f32(bottom - top) or to_bottom <= 0.0:
        return 0
    edge = f32(TILE - 1)
    columns = span(u32(max(from_left, 0.0)) // BLOCK, u32(min(to_right, edge)) // BLOCK)
    rows = span(u32(max(from_top, 0.0)) // BLOCK, u32(min(to_bottom, edge)) // BLOCK)
    return crossing(columns, rows)
