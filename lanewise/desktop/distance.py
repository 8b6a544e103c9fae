"""Device code that makes fields of distances from the outlines of characters: how far each place is from the edge."""

from lanewise.lang import Ptr, device, f32, i32, kernel, sqrt, struct, thread_id, u8, u16, u32

FINE = 4
"""Pixels of an outline per pixel of the atlas, along one side."""
SPREAD = 4
"""Pixels of the atlas over which distances are known, to either side of an edge."""
REACH = FINE * SPREAD
FAR = 2 * REACH * REACH


@struct
class Cell:
    """A character: where its outline starts among all outlines, and its field's place and size in the atlas."""

    outline: u32
    columns: u32
    """Where its results of the first step start."""
    u: u16
    v: u16
    w: u16
    h: u16


@device
def nearest(outline: Ptr[u8], width: u32, height: i32, x: u32, y: i32, inside: bool) -> u32:
    """How far, squared and in half pixels, the nearest pixel of a kind is above or below a line between two pixels."""
    best = u32(FAR * 4)
    for step in range(-REACH, REACH):
        row = y + step
        filled = False
        if row >= 0 and row < height:
            filled = outline[u32(row) * width + x] >= 128
        if filled == inside:
            distance = 2 * step + 1
            best = min(best, u32(distance * distance))
    return best


@kernel
def measure_columns(cells: Ptr[Cell], count: u32, outlines: Ptr[u8], columns: Ptr[u16], total: u32):
    """For each line of pixels of the atlas and each fine column: the nearest filled and empty pixel above or below."""
    me = thread_id()
    if me < total:
        cell = cell_of(cells, count, me, True)
        at = me - cell.columns
        width = u32(cell.w) * FINE
        x = at % width
        y = i32(at // width * FINE + FINE // 2)
        outline = outlines + cell.outline
        height = i32(cell.h) * FINE
        columns[me * 2] = u16(nearest(outline, width, height, x, y, True))
        columns[me * 2 + 1] = u16(nearest(outline, width, height, x, y, False))


@kernel
def measure_fields(cells: Ptr[Cell], count: u32, columns: Ptr[u16], atlas: Ptr[u8], atlas_width: u32, total: u32):
    """For each pixel of the atlas: 128 at an edge, more inside and less outside, SPREAD pixels to either end."""
    me = thread_id()
    if me < total:
        cell = cell_of(cells, count, me, False)
        at = me - cell.columns // FINE
        x = at % u32(cell.w)
        y = at // u32(cell.w)
        width = i32(cell.w) * FINE
        line = columns + (cell.columns + y * u32(cell.w) * FINE) * 2
        filled = u32(FAR * 4)
        empty = u32(FAR * 4)
        for step in range(-REACH, REACH):
            column = i32(x * FINE + FINE // 2) + step
            aside = 2 * step + 1
            if column >= 0 and column < width:
                filled = min(filled, u32(line[column * 2]) + u32(aside * aside))
                empty = min(empty, u32(line[column * 2 + 1]) + u32(aside * aside))
            else:
                empty = min(empty, u32(aside * aside) + 1)
        to_filled = sqrt(f32(filled)) * 0.5
        to_empty = sqrt(f32(empty)) * 0.5
        away = to_empty - 0.5 if to_empty > to_filled else 0.5 - to_filled
        away = f32(0) if to_empty == to_filled else away
        value = 128.0 + away / FINE * (127.0 / SPREAD)
        atlas[(u32(cell.v) + y) * atlas_width + u32(cell.u) + x] = u8(min(max(value + 0.5, 0.0), 255.0))


@device
def cell_of(cells: Ptr[Cell], count: u32, index: u32, fine: bool) -> Ptr[Cell]:
    """The cell that an index belongs to: cells are in the order of their first index."""
    low = u32(0)
    high = count
    while high - low > 1:
        middle = (low + high) >> 1
        start = cells[middle].columns if fine else cells[middle].columns // FINE
        if start <= index:
            low = middle
        else:
            high = middle
    return cells + low
