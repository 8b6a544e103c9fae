"""Phase 7, before pixels: which tiles must be drawn anew, and which primitives each of them shows."""

from lanewise.desktop.blocks import ALL_BLOCKS, glyph_blocks, is_opaque, plain_blocks, shows_no_edge, touched_blocks
from lanewise.desktop.extents import CHUNK, touching
from lanewise.desktop.limits import (
    BIN_ENTRIES,
    BLOCK,
    BLOCKS,
    BLOCKS_ACROSS,
    CHUNKS,
    MAX_PRIMITIVES,
    SLOTS,
    THREADS,
    TILE,
    TILE_WORDS,
)
from lanewise.desktop.numbers import P_NONE, P_TEXT
from lanewise.desktop.phases.geometry import add_up, count_before
from lanewise.desktop.primitives import WORDS
from lanewise.desktop.sheets import fill_sheets
from lanewise.desktop.state import Bin, BinEntry, Block, Desk, Glyph, GroupMemory, Primitive
from lanewise.desktop.strips import desk_primitive
from lanewise.lang import (
    ON_GPU,
    Ptr,
    atomic_add,
    atomic_or,
    device,
    i32,
    lane_id,
    lanes_below,
    leading_zeros,
    popcount,
    threadgroup_barrier,
    trailing_zeros,
    u16,
    u32,
    u64,
    warp_ballot,
    warp_reduce_or,
    warp_shuffle,
)

FIRST_COLUMN = sum(1 << row * BLOCKS_ACROSS for row in range(BLOCKS_ACROSS))
"""The blocks of a tile that are in its first column, a bit each."""
NO_BOX = 0xFFFFFFFF
"""Stands for the slot of a box that hides what is below, where there is none."""
DATA_WORD = Primitive.dtype.fields["data"][1] // 4
"""Where a primitive says which glyphs it has: others than before may be the same letters, told by its version."""


@device
def mark_tiles(desk: Ptr[Desk], p: Ptr[Primitive]):
    """Mark all tiles that a primitive touches as dirty, up to 32 neighbours at a time."""
    if p.kind != P_NONE:
        for row in range(u32(p.top) // TILE, u32(p.bottom - 1) // TILE + 1):
            tile = row * desk.tiles_across + u32(p.left) // TILE
            last = row * desk.tiles_across + u32(p.right - 1) // TILE
            while tile <= last:
                ones = min(last - tile, 31 - tile % 32)
                atomic_or(
                    desk.scratch.dirty[tile // 32], (u32(0xFFFFFFFF) >> (31 - ones)) << (tile % 32), scope="group"
                )
                tile += ones + 1


@device
def find_dirty(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32):
    """Compare primitives that were made anew with those of before; what differs makes its tiles dirty, there and here.

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
        if group.remade[slot // SLOTS] != 0:
            differs = now.kind != before.kind
            # What an empty slot holds besides its kind is left over.
            for word in range(u32(WORDS) if now.kind != P_NONE else u32(0)):
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
    add_up(group, me)
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
def hiding_of_chunk(desk: Ptr[Desk], start: u32, column: u32, row: u32) -> u32:
    """Which primitives of a chunk hide all that is under them in a tile, as `hides` says, found by a warp."""
    covers = Ptr[u64](desk.scratch.covers) + start
    return touching(covers, column, row) | touching(covers + MAX_PRIMITIVES, column, row)


@device
def hides(p: Ptr[Primitive], left: i32, top: i32, right: i32, bottom: i32) -> bool:
    """Whether a primitive hides all that is under it in a tile."""
    return is_opaque(p) and shows_no_edge(p, left, top, right, bottom)


@device
def list_glyphs(
    desk: Ptr[Desk], p: Ptr[Primitive], entry: Ptr[BinEntry], left: i32, top: i32, right: i32, bottom: i32
) -> u32:
    """Write down which glyphs of a text touch a tile; gives the blocks that they touch.

    On a GPU all threads of a warp do this together. Each looks at every 32nd glyph, and after one column of blocks.
    """
    first = u32(0)
    beyond = u32(0)
    blocks = u32(0)
    glyphs = Ptr[Glyph](desk.scratch.glyphs) + p.data
    if ON_GPU:
        column = lane_id() % BLOCKS_ACROSS
        for start in range(u32(0), p.count, u32(32)):
            k = start + lane_id()
            mine = glyph_blocks(p, glyphs + k, left, top, right, bottom) if k < p.count else u32(0)
            blocks |= mine
            found = u32(0)
            for other in range(u32(BLOCKS_ACROSS)):
                touching_it = warp_ballot(mine & FIRST_COLUMN << other != 0)
                found = touching_it if other == column else found
            if found != 0:
                first = start + trailing_zeros(found) if beyond == 0 else first
                beyond = start + 32 - leading_zeros(found)
        if lane_id() < BLOCKS_ACROSS:
            entry.first[column] = u16(p.data + first)
            entry.count[column] = u16(beyond - first)
        blocks = warp_reduce_or(blocks)
    else:
        for k in range(p.count):
            mine = glyph_blocks(p, glyphs + k, left, top, right, bottom)
            if mine != 0:
                first = k if beyond == 0 else first
                beyond = k + 1
                blocks |= mine
        entry.first[0] = u16(p.data + first)
        entry.count[0] = u16(beyond - first)
    return blocks


@device
def fill_bin(desk: Ptr[Desk], number: u32):
    """For a dirty tile list what touches it, from the topmost primitive on to the one that hides all below it.

    On a GPU all threads of a warp come here with the same number. They draw blocks where just a box is seen at once,
    which is less work than to come back to them, and write down the others.
    """
    found = Ptr[Bin](desk.scratch.bins) + number
    column = u32(found.tile) % desk.tiles_across
    row = u32(found.tile) // desk.tiles_across
    left = i32(column * TILE)
    top = i32(row * TILE)
    right = min(left + TILE, i32(desk.width))
    bottom = min(top + TILE, i32(desk.height))
    count = u32(0)
    solid = u32(0)
    colour = u32(0)
    hidden = False
    chunk = u32(CHUNKS)
    chunks = u32(0)
    held = u32(0)
    while not hidden and (chunks != 0 or chunk > 0):
        if chunks == 0:
            # The next 32 chunks; those behind them have been looked through.
            chunk = (chunk - 1) // 32 * 32
            chunks = touching(Ptr[u64](desk.scratch.chunk_extents) + chunk, column, row)
        else:
            bit = 31 - leading_zeros(chunks)
            chunks ^= u32(1) << bit
            start = (chunk + bit) * CHUNK
            bits = touching(Ptr[u64](desk.scratch.extents) + start, column, row)
            if bits == 0:
                continue
            hiding = u32(0)
            if ON_GPU:
                hiding = bits & hiding_of_chunk(desk, start, column, row)
            else:
                rest = bits
                while rest != 0:
                    k = trailing_zeros(rest)
                    rest &= rest - 1
                    if hides(listed_primitive(desk, start + k), left, top, right, bottom):
                        hiding |= u32(1) << k
            if hiding != 0:
                hidden = True
                lowest = 31 - leading_zeros(hiding)
                bits = bits >> lowest << lowest
                if not ON_GPU:
                    p = listed_primitive(desk, start + lowest)
                    if count == 0 and bits == u32(1) << lowest and p.fill == p.fill_end:
                        solid = 1
                        colour = p.fill
            if ON_GPU:
                held = hold_slots(desk, start, bits, count, held)
            else:
                list_tile(desk, found, start, bits, count, left, top, right, bottom)
            count += popcount(bits)
    if not ON_GPU:
        found.solid = u16(solid)
        found.colour = colour
        found.count = count
    else:
        listed = count <= BIN_ENTRIES
        shown = u64(0)
        lowest_box = u32(NO_BOX)
        for above in range(u32(0), min(count, BIN_ENTRIES), u32(32)):
            shown, lowest_box = list_blocks(desk, number, left, top, held, above, count, shown, lowest_box)
        only_fill = listed and lowest_box != NO_BOX and shown & (shown - 1) == 0
        sheets = warp_ballot(only_fill) & ALL_BLOCKS
        if sheets != 0:
            fill_sheets(desk, u32(left), u32(top), sheets, lowest_box)
        if sheets != ALL_BLOCKS:
            note_busy(desk, number, u32(left), u32(top), sheets ^ ALL_BLOCKS, listed, shown)


@device
def note_busy(desk: Ptr[Desk], number: u32, left: u32, top: u32, busy: u32, listed: bool, shown: u64):
    """Write down which blocks of a tile are still to be drawn; thread b knows what block b shows."""
    start = u32(0)
    if lane_id() == 0:
        start = atomic_add(desk.scratch.busy_count, popcount(busy))
    start = warp_shuffle(start, 0)
    if busy >> lane_id() & 1 != 0:
        block = Ptr[Block](desk.scratch.busy) + (start + lanes_below(busy))
        block.x = u16(left + lane_id() % BLOCKS_ACROSS * BLOCK)
        block.y = u16(top + lane_id() // BLOCKS_ACROSS * BLOCK)
        block.bin = u16(number)
        block.number = u16(lane_id() if listed else u32(BLOCKS))
        block.shown = shown


@device
def listed_primitive(desk: Ptr[Desk], k: u32) -> Ptr[Primitive]:
    """The primitive at this place of the draw list."""
    return desk_primitive(desk, u32(desk.scratch.draw_list[k]))


@device
def entry_above(found: Ptr[Bin], above: u32) -> Ptr[BinEntry]:
    """The entry that has so many above it."""
    return Ptr[BinEntry](found.entries) + (BIN_ENTRIES - 1 - min(above, BIN_ENTRIES - 1))


@device
def list_tile(
    desk: Ptr[Desk], found: Ptr[Bin], start: u32, bits: u32, count: u32, left: i32, top: i32, right: i32, bottom: i32
):
    """Write down in a bin, which has `count` entries, what its tile shows of these primitives of a chunk."""
    rest = bits
    while rest != 0:
        k = trailing_zeros(rest)
        rest &= rest - 1
        above = count + popcount(bits >> k) - 1
        if above < BIN_ENTRIES:
            entry = entry_above(found, above)
            entry.slot = desk.scratch.draw_list[start + k]
            p = desk_primitive(desk, u32(entry.slot))
            entry.plain = u16(ALL_BLOCKS) if shows_no_edge(p, left, top, right, bottom) else u16(0)
            if p.kind == P_TEXT:
                list_glyphs(desk, p, entry, left, top, right, bottom)


@device
def hold_slots(desk: Ptr[Desk], start: u32, bits: u32, count: u32, held: u32) -> u32:
    """Take these primitives of a chunk, from the top, into a bin that has `count` by now: thread e holds the slot of e.

    That of e + 32 is in the upper half of what it holds.
    """
    rest = bits
    above = count
    mine = u32(desk.scratch.draw_list[start + lane_id()])
    while rest != 0:
        k = 31 - leading_zeros(rest)
        rest ^= u32(1) << k
        slot = warp_shuffle(mine, k)
        if above % 32 == lane_id() and above < BIN_ENTRIES:
            held |= slot << above // 32 * 16
        above += 1
    return held


@device(inline=False)
def list_blocks(
    desk: Ptr[Desk],
    number: u32,
    left: i32,
    top: i32,
    held: u32,
    above: u32,
    count: u32,
    shown: u64,
    lowest_box: u32,
) -> tuple[u64, u32]:
    """Write down in a bin what its tile shows of the 32 primitives that have `above` above them, or of all up to count.

    A thread looks after a primitive, and then after a block. Gives which entries the thread's block shows, and the slot
    of the box that hides what is below them, if there is one by now.
    """
    found = Ptr[Bin](desk.scratch.bins) + number
    right = min(left + TILE, i32(desk.width))
    bottom = min(top + TILE, i32(desk.height))
    here = min(count - above, u32(32))
    entry = entry_above(found, above + lane_id())
    slot = held >> above // 2 & 0xFFFF
    touched = u32(0)
    hidden = u32(0)
    is_text = False
    if lane_id() < here:
        # A copy, so that no load waits until what was loaded before it has been looked at.
        p: Primitive
        p = desk_primitive(desk, slot)[0]
        is_text = p.kind == P_TEXT
        plain = u32(ALL_BLOCKS) if shows_no_edge(p, left, top, right, bottom) else plain_blocks(p, left, top)
        touched = touched_blocks(p, left, top)
        hidden = plain if is_opaque(p) else u32(0)
        entry.slot = u16(slot)
        entry.plain = u16(plain)
    texts = warp_ballot(is_text)
    while texts != 0:
        k = trailing_zeros(texts)
        texts &= texts - 1
        text = desk_primitive(desk, warp_shuffle(slot, k))
        blocks = list_glyphs(desk, text, entry_above(found, above + k), left, top, right, bottom)
        if lane_id() == k:
            touched &= blocks
    for k in range(here):
        of_block = warp_shuffle(touched | hidden << 16, k) >> (lane_id() % BLOCKS)
        its_slot = warp_shuffle(slot, k)
        if lowest_box == NO_BOX:
            shown |= u64(of_block & 1) << (BIN_ENTRIES - 1 - above - k)
            lowest_box = its_slot if of_block >> 16 & 1 != 0 else lowest_box
    return shown, lowest_box
