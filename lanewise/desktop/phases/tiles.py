"""Phase 7, before pixels: which tiles must be drawn anew, and which primitives each of them shows."""

from lanewise.desktop.limits import BIN_ENTRIES, MAX_PRIMITIVES, THREADS, TILE, TILE_WORDS
from lanewise.desktop.numbers import P_BOX, P_NONE, P_TEXT
from lanewise.desktop.phases.geometry import count_before
from lanewise.desktop.primitives import WORDS
from lanewise.desktop.state import Bin, Desk, Glyph, GroupMemory, Primitive
from lanewise.desktop.strips import PLAIN, desk_primitive
from lanewise.lang import (
    Ptr,
    atomic_add,
    atomic_or,
    device,
    f32,
    i32,
    popcount,
    threadgroup_barrier,
    trailing_zeros,
    u16,
    u32,
)

DATA_WORD = Primitive.dtype.fields["data"][1] // 4
"""Where a primitive says which glyphs it has: others than before may be the same letters, told by its version."""


@device
def mark_tiles(desk: Ptr[Desk], p: Ptr[Primitive]):
    """Mark all tiles that a primitive touches as dirty."""
    if p.kind != P_NONE:
        for row in range(u32(p.top) // TILE, u32(p.bottom - 1) // TILE + 1):
            for column in range(u32(p.left) // TILE, u32(p.right - 1) // TILE + 1):
                tile = row * desk.tiles_across + column
                atomic_or(desk.scratch.dirty[tile // 32], u32(1) << (tile % 32), scope="group")


@device
def find_dirty(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32):
    """Compare every primitive with that of the frame before; what differs makes its tiles dirty, there and here.

    Then give each dirty tile a bin, in the order of tiles.
    """
    if me < TILE_WORDS:
        tiles = desk.tiles_across * desk.tiles_down
        full = u32(0)
        if desk.frame.full_redraw != 0:
            rest = tiles - min(me * 32, tiles)
            full = u32(0xFFFFFFFF) if rest >= 32 else (u32(1) << rest) - 1
        desk.scratch.dirty[me] = full
    threadgroup_barrier()
    for slot in range(me, u32(MAX_PRIMITIVES), THREADS):
        now = desk_primitive(desk, slot)
        before = Ptr[Primitive](desk.scratch.before) + slot
        differs = False
        for word in range(u32(WORDS)):
            if word != DATA_WORD and Ptr[u32](now)[word] != Ptr[u32](before)[word]:
                differs = True
        if differs:
            mark_tiles(desk, before)
            mark_tiles(desk, now)
            for word in range(u32(WORDS)):
                Ptr[u32](before)[word] = Ptr[u32](now)[word]
    threadgroup_barrier()
    if me < TILE_WORDS:
        group.counts[me] = popcount(desk.scratch.dirty[me])
    threadgroup_barrier()
    if me < TILE_WORDS:
        at = count_before(group, me)
        rest = desk.scratch.dirty[me]
        while rest != 0:
            desk.scratch.bins[at].tile = u16(me * 32 + trailing_zeros(rest))
            rest &= rest - 1
            at += 1
        if me == TILE_WORDS - 1:
            desk.frame.dirty_tiles = at
    threadgroup_barrier()


@device
def shows_no_edge(p: Ptr[Primitive], left: i32, top: i32, right: i32, bottom: i32) -> bool:
    """Whether a tile lies inside of a box, and no edge, border or corner of it is near."""
    if p.kind != P_BOX or left < p.left or top < p.top or right > p.right or bottom > p.bottom:
        return False
    edge = p.border + 0.5
    corner = max(p.radius, edge)
    near_x = min(f32(left) - p.ax, p.bx - f32(right))
    near_y = min(f32(top) - p.ay, p.by - f32(bottom))
    # A box without round corners whose edges lie on whole pixels ends sharply.
    square = p.radius == 0.0 and p.border == 0.0 and near_x >= 0.0 and near_y >= 0.0
    return square or (near_x >= corner and near_y >= edge) or (near_x >= edge and near_y >= corner)


@device
def hides(p: Ptr[Primitive], left: i32, top: i32, right: i32, bottom: i32) -> bool:
    """Whether a primitive hides all that is under it in a tile."""
    return p.fill >> 24 == 255 and p.fill_end >> 24 == 255 and shows_no_edge(p, left, top, right, bottom)


@device
def touching_glyphs(
    desk: Ptr[Desk], p: Ptr[Primitive], left: i32, top: i32, right: i32, bottom: i32
) -> tuple[u32, u32]:
    """The first glyph of a text that touches a tile, and how many there are up to the last one that does."""
    first = u32(0)
    beyond = u32(0)
    for k in range(p.count):
        glyph = Ptr[Glyph](desk.scratch.glyphs) + (p.data + k)
        across = glyph.x < f32(right) and glyph.x + f32(glyph.w) * p.bx > f32(left)
        if across and glyph.y < f32(bottom) and glyph.y + f32(glyph.h) * p.cx > f32(top):
            first = k if beyond == 0 else first
            beyond = k + 1
    return p.data + first, beyond - first


@device
def fill_bins(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32):
    """For each dirty tile list what touches it, from the topmost primitive that hides all below it on."""
    for number in range(me, desk.frame.dirty_tiles, THREADS):
        found = Ptr[Bin](desk.scratch.bins) + number
        left = i32(u32(found.tile) % desk.tiles_across * TILE)
        top = i32(u32(found.tile) // desk.tiles_across * TILE)
        right = min(left + TILE, i32(desk.width))
        bottom = min(top + TILE, i32(desk.height))
        lowest = desk.frame.primitives
        hidden = False
        topmost = True
        found.solid = 0
        while lowest > 0 and not hidden:
            lowest -= 1
            p = desk_primitive(desk, u32(desk.scratch.draw_list[lowest]))
            if p.left < right and p.right > left and p.top < bottom and p.bottom > top:
                hidden = hides(p, left, top, right, bottom)
                if hidden and topmost and p.fill == p.fill_end:
                    found.solid = 1
                    found.colour = p.fill
                    atomic_add(group.solid, 1, scope="group")
                topmost = False
        count = u32(0)
        if found.solid == 0:
            for k in range(lowest, desk.frame.primitives):
                slot = desk.scratch.draw_list[k]
                p = desk_primitive(desk, u32(slot))
                if p.left < right and p.right > left and p.top < bottom and p.bottom > top:
                    first = u32(0)
                    glyphs = u32(1)
                    if p.kind == P_TEXT:
                        first, glyphs = touching_glyphs(desk, p, left, top, right, bottom)
                    elif shows_no_edge(p, left, top, right, bottom):
                        glyphs = u32(PLAIN)
                    if glyphs > 0:
                        if count < BIN_ENTRIES:
                            found.entries[count].slot = slot
                            found.entries[count].first = first
                            found.entries[count].count = u16(glyphs)
                        count += 1
        found.count = count
