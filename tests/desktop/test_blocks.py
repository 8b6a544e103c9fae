"""Blocks of a tile: what is said of all sixteen at once is what is true of each; and alpha is a quotient to the bit."""

import numpy as np

from lanewise.desktop.blocks import glyph_blocks, plain_blocks, shows_no_edge, touched_blocks
from lanewise.desktop.colours import alpha_of
from lanewise.desktop.extents import covers_of, touches
from lanewise.desktop.limits import BLOCK, BLOCKS, BLOCKS_ACROSS, TILE
from lanewise.desktop.numbers import P_BOX, P_TEXT
from lanewise.desktop.phases.tiles import hides
from lanewise.desktop.state import Desk, Glyph, Primitive
from lanewise.desktop.strips import beside
from lanewise.lang import Ptr, f32, i32, kernel, thread_id, u32

CASES = 4000


@kernel
def ask_all(boxes: Ptr[Primitive], plain: Ptr[u32], touched: Ptr[u32], count: u32):
    me = thread_id()
    if me < count:
        plain[me] = plain_blocks(boxes + me, TILE, TILE)
        touched[me] = touched_blocks(boxes + me, TILE, TILE)


@kernel
def ask_each(boxes: Ptr[Primitive], plain: Ptr[u32], touched: Ptr[u32], count: u32):
    me = thread_id()
    if me < count:
        for block in range(u32(BLOCKS)):
            left = i32(TILE + block % BLOCKS_ACROSS * BLOCK)
            top = i32(TILE + block // BLOCKS_ACROSS * BLOCK)
            p = boxes + me
            plain[me] |= u32(shows_no_edge(p, left, top, left + BLOCK, top + BLOCK)) << block
            touched[me] |= u32(not beside(p, left, top, left + BLOCK, top + BLOCK)) << block


@kernel
def ask_glyphs(text: Ptr[Primitive], glyphs: Ptr[Glyph], out: Ptr[u32], count: u32):
    me = thread_id()
    if me < count:
        out[me] = glyph_blocks(text, glyphs + me, TILE, TILE, 2 * TILE, 2 * TILE)


@kernel
def ask_covers(desk: Ptr[Desk], boxes: Ptr[Primitive], said: Ptr[u32], true: Ptr[u32], count: u32):
    me = thread_id()
    if me < count:
        across, down = covers_of(desk, boxes + me)
        for tile in range(desk.tiles_across * desk.tiles_down):
            column = tile % desk.tiles_across
            row = tile // desk.tiles_across
            left, top = i32(column * TILE), i32(row * TILE)
            right, bottom = min(left + TILE, i32(desk.width)), min(top + TILE, i32(desk.height))
            said[me] |= u32(touches(across, column, row) or touches(down, column, row)) << tile
            true[me] |= u32(hides(boxes + me, left, top, right, bottom)) << tile


@kernel
def ask_alpha(out: Ptr[f32]):
    out[thread_id()] = alpha_of(thread_id() << 24)


def boxes_at_the_tile() -> np.ndarray:
    """Boxes whose edges and corners lie in or near the tile from TILE to 2 * TILE, all of which touch it."""
    chosen = np.random.default_rng(7)
    boxes = np.zeros(CASES, Primitive.dtype)
    boxes["kind"] = P_BOX
    for low, high, first, last in (("ax", "bx", "left", "right"), ("ay", "by", "top", "bottom")):
        boxes[low] = chosen.integers(0, 4 * TILE, CASES) / 2
        boxes[high] = np.maximum(boxes[low] + 1, chosen.integers(2 * TILE + 2, 6 * TILE, CASES) / 2)
        boxes[first] = np.floor(boxes[low]) + chosen.integers(0, 2, CASES) * chosen.integers(0, 9, CASES)
        boxes[last] = np.maximum(np.ceil(boxes[high]) - chosen.integers(0, 2, CASES), boxes[first] + 1)
    boxes["radius"] = chosen.choice([0, 0, 3, 7.5], CASES)
    boxes["border"] = chosen.choice([0, 0, 1, 1.25], CASES)
    inside = (boxes["left"] < 2 * TILE) & (boxes["right"] > TILE) & (boxes["top"] < 2 * TILE) & (boxes["bottom"] > TILE)
    return boxes[inside]


def test_what_is_said_of_all_blocks_is_true_of_each(device):
    boxes = boxes_at_the_tile()
    answers = []
    for ask in (ask_all, ask_each):
        plain, touched = (device.zeros(len(boxes), u32) for _ in range(2))
        ask[len(boxes)](device.array(boxes), plain, touched, len(boxes))
        answers.append((plain.get(), touched.get()))
    (plain, touched), (plain_each, touched_each) = answers
    assert len(boxes) > CASES // 2
    assert len(np.unique(plain)) > 50
    np.testing.assert_array_equal(plain, plain_each)
    np.testing.assert_array_equal(touched, touched_each)


def test_covers_say_which_tiles_a_box_hides(device):
    """Also of tiles that the screen cuts off, as it does with boxes; and where a box lets something through, none."""
    desk = np.zeros(1, Desk.dtype)
    desk["width"], desk["height"], desk["tiles_across"], desk["tiles_down"] = 3 * TILE - 4, 2 * TILE + 7, 3, 3
    boxes = boxes_at_the_tile()
    boxes["right"] = np.minimum(boxes["right"], desk["width"])
    boxes["bottom"] = np.minimum(boxes["bottom"], desk["height"])
    boxes["fill"] = boxes["fill_end"] = np.random.default_rng(9).choice(
        [0xFF000000, 0xFE000000], len(boxes), p=[0.9, 0.1]
    )
    said, true = (device.zeros(len(boxes), u32) for _ in range(2))
    ask_covers[len(boxes)](device.array(desk), device.array(boxes), said, true, len(boxes))
    assert len(np.unique(true.get())) > 10
    np.testing.assert_array_equal(said.get(), true.get())


def test_no_block_misses_a_letter(device):
    chosen = np.random.default_rng(8)
    text = np.zeros(1, Primitive.dtype)
    text["kind"], text["bx"], text["cx"] = P_TEXT, 0.21875, 0.234375
    glyphs = np.zeros(CASES, Glyph.dtype)
    glyphs["x"], glyphs["y"] = chosen.uniform(0, 3 * TILE, (2, CASES))
    glyphs["w"], glyphs["h"] = chosen.integers(10, 80, (2, CASES))
    found = device.zeros(CASES, u32)
    ask_glyphs[CASES](device.array(text), device.array(glyphs), found, CASES)
    middles = np.arange(TILE, 2 * TILE) + 0.5
    columns = (middles >= glyphs["x"][:, None]) & (middles < (glyphs["x"] + glyphs["w"] * text["bx"])[:, None])
    rows = (middles >= glyphs["y"][:, None]) & (middles < (glyphs["y"] + glyphs["h"] * text["cx"])[:, None])
    columns, rows = (part.reshape(CASES, BLOCKS_ACROSS, BLOCK).any(2) for part in (columns, rows))
    needed = (rows[:, :, None] & columns[:, None, :]).reshape(CASES, BLOCKS)
    said = (found.get()[:, None] >> np.arange(BLOCKS)) & 1 != 0
    assert needed.any()
    assert not said.all()
    assert (said | ~needed).all()


def test_alpha_is_a_255th_to_the_last_bit(device):
    found = device.zeros(256, f32)
    ask_alpha[256](found)
    np.testing.assert_array_equal(found.get(), np.arange(256, dtype=np.float32) / np.float32(255))
