"""Primitives drawn into a strip: a few pixels of a row that one thread holds as floats while it goes through them.

A strip is a row of a tile on a CPU, which its vector units like, and a short piece of one on a GPU, where the threads
of a warp draw a square block of the tile together. Both are made by `make_strip` from one source, and each pixel sees
the same arithmetic. What does not touch the block is passed over: small blocks touch few letters and edges.
"""

from lanewise.desktop.blocks import is_opaque, shows_no_edge
from lanewise.desktop.colours import alpha_of, blue_of, green_of, mix, red_of
from lanewise.desktop.limits import BLOCKS_ACROSS
from lanewise.desktop.numbers import P_BOX, P_IMAGE, P_SHADOW, P_STROKE, P_TEXT
from lanewise.desktop.state import Bin, BinEntry, Desk, Glyph, Primitive, Typeface
from lanewise.lang import ON_GPU, Ptr, device, f32, i32, sqrt, trailing_zeros, u32, u64


@device
def unit(x: f32) -> f32:
    """x, brought to 0 to 1. In this order a GPU does it with two instructions: what is no number becomes 0."""
    return min(1.0, max(0.0, x))


@device
def number(x: f32) -> f32:
    """x, a part of a colour, so that it is no less than 0.

    What is stored has one NaN on all devices, and a look at each value for that. A GPU saves it where this says that
    there is none; a CPU does it with no more than this would take.
    """
    if ON_GPU:
        return max(-1.0, x)
    return x


@device
def box_distance(x: f32, y: f32, half_width: f32, half_height: f32, radius: f32) -> f32:
    """How far a point, seen from the middle, is outside of a box with round corners; negative inside."""
    over_x = abs(x) - (half_width - radius)
    over_y = abs(y) - (half_height - radius)
    out_x = max(0.0, over_x)
    out_y = max(0.0, over_y)
    # Beside a straight edge the root is that of a square; a GPU takes that of 0 by a call.
    corner = out_x > 0.0 and out_y > 0.0
    root = sqrt(out_x * out_x + out_y * out_y if corner else 1.0)
    return (root if corner else out_x + out_y) + min(0.0, max(over_x, over_y)) - radius


@device
def segment_distance(x: f32, y: f32, ax: f32, ay: f32, bx: f32, by: f32) -> f32:
    """How far a point is from the segment a to b."""
    along_x = bx - ax
    along_y = by - ay
    length = max(along_x * along_x + along_y * along_y, 0.000001)
    part = unit(((x - ax) * along_x + (y - ay) * along_y) / length)
    off_x = x - ax - along_x * part
    off_y = y - ay - along_y * part
    return sqrt(off_x * off_x + off_y * off_y)


@device
def atlas_value(face: Ptr[Typeface], u: f32, v: f32, glyph: Ptr[Glyph]) -> f32:
    """What the atlas says of a place of a glyph, between four neighbours: how far it is inside of the letter."""
    within_u = min(f32(glyph.w) - 1.001, max(0.0, u - 0.5))
    within_v = min(f32(glyph.h) - 1.001, max(0.0, v - 0.5))
    column = u32(within_u)
    row = u32(within_v)
    part_u = within_u - f32(column)
    part_v = within_v - f32(row)
    at = face.atlas + ((u32(glyph.v) + row) * face.atlas_width + u32(glyph.u) + column)
    below = at + face.atlas_width
    upper = f32(at[0]) + (f32(at[1]) - f32(at[0])) * part_u
    lower = f32(below[0]) + (f32(below[1]) - f32(below[0])) * part_u
    return upper + (lower - upper) * part_v - 128.0


@device
def letter_cover(
    face: Ptr[Typeface], p: Ptr[Primitive], glyph: Ptr[Glyph], px: f32, py: f32, pixels_of_value: f32
) -> f32:
    """How much of the pixel around a place a letter covers."""
    value = atlas_value(face, (px - glyph.x) * p.ax, (py - glyph.y) * p.ay, glyph)
    return unit(0.5 + value * pixels_of_value * p.bx + p.by)


@device(inline=False)
def between_pixels(picture: Ptr[u32], across: u32, down: u32, u: f32, v: f32) -> u32:
    """The colour between the four pixels of a picture around a place."""
    column = min(u32(max(u, 0.0)), across - 1)
    row = min(u32(max(v, 0.0)), down - 1)
    right = min(column + 1, across - 1)
    below = min(row + 1, down - 1)
    part_u = unit(u - f32(column))
    upper = mix(picture[row * across + column], picture[row * across + right], part_u)
    lower = mix(picture[below * across + column], picture[below * across + right], part_u)
    return mix(upper, lower, unit(v - f32(row)))


@device
def dither(x: u32, y: u32) -> f32:
    """What to add before a fraction is cut off: 0.5 on average, other for neighbours, so that gradients have no bands.

    It stays within 0.05 to 0.95, so that what is a whole number, or nearly, becomes that number everywhere.
    """
    order = ((x ^ y) & 1) << 3 | (y & 1) << 2 | ((x ^ y) & 2) | (y & 2) >> 1
    return 0.05 + f32(order) * 0.06


@device
def holds(p: Ptr[Primitive], x: i32, y: i32) -> bool:
    """Whether a pixel is within what is seen of a primitive. All is read first, so that pixels of a strip share it."""
    left, top, right, bottom = p.left, p.top, p.right, p.bottom
    return u32(x - left) < u32(right - left) and u32(y - top) < u32(bottom - top)


@device
def pixel_of(red: f32, green: f32, blue: f32, more: f32) -> u32:
    """A colour as a pixel, where `more` is added before fractions are cut off."""
    return u32(red + more) | u32(green + more) << 8 | u32(blue + more) << 16 | 0xFF000000


@device
def lay_over(colour: u32, cover: f32, red: Ptr[f32], green: Ptr[f32], blue: Ptr[f32]):
    """Mix a pixel with a colour that covers this part of it."""
    red[0] = number(red[0] + (red_of(colour) - red[0]) * cover)
    green[0] = number(green[0] + (green_of(colour) - green[0]) * cover)
    blue[0] = number(blue[0] + (blue_of(colour) - blue[0]) * cover)


@device
def fill_at(p: Ptr[Primitive], y: i32) -> tuple[f32, f32, f32, f32]:
    """How far down in a box the middle of a row of pixels is, 0 to 1, and the colour that fills the box there."""
    part = unit((f32(y) + 0.5 - p.ay) * p.cy)
    red = red_of(p.fill) + (red_of(p.fill_end) - red_of(p.fill)) * part
    green = green_of(p.fill) + (green_of(p.fill_end) - green_of(p.fill)) * part
    blue = blue_of(p.fill) + (blue_of(p.fill_end) - blue_of(p.fill)) * part
    return part, red, green, blue


def make_strip(pixels, listed):
    """`draw_strip` for strips of so many pixels, for tiles whose bin lists all that they show or for the others."""

    @device
    def draw_box(p: Ptr[Primitive], x: i32, y: i32, red: Ptr[f32], green: Ptr[f32], blue: Ptr[f32]):
        middle_x = (p.ax + p.bx) * 0.5
        half_x = (p.bx - p.ax) * 0.5
        half_y = (p.by - p.ay) * 0.5
        from_middle = f32(y) + 0.5 - (p.ay + p.by) * 0.5
        edge_alpha = alpha_of(p.edge) if p.border > 0.0 else 0.0
        part, fill_red, fill_green, fill_blue = fill_at(p, y)
        fill_alpha = alpha_of(p.fill) + (alpha_of(p.fill_end) - alpha_of(p.fill)) * part
        for i in range(pixels):
            away = box_distance(f32(x + i) + 0.5 - middle_x, from_middle, half_x, half_y, p.radius)
            cover = unit(0.5 - away) if holds(p, x + i, y) else 0.0
            edge = edge_alpha * (1.0 - unit(0.5 - away - p.border))
            fill = fill_alpha * (1.0 - edge)
            keep = 1.0 - (edge + fill) * cover
            edge *= cover
            fill *= cover
            red[i] = number(red[i] * keep + red_of(p.edge) * edge + fill_red * fill)
            green[i] = number(green[i] * keep + green_of(p.edge) * edge + fill_green * fill)
            blue[i] = number(blue[i] * keep + blue_of(p.edge) * edge + fill_blue * fill)

    @device
    def draw_plain(p: Ptr[Primitive], y: i32, red: Ptr[f32], green: Ptr[f32], blue: Ptr[f32]):
        """A box far from its edges: what `draw_box` comes to there, to the bit. Mostly nothing shines through it."""
        part, fill_red, fill_green, fill_blue = fill_at(p, y)
        if is_opaque(p):
            for i in range(pixels):
                red[i] = number(fill_red)
                green[i] = number(fill_green)
                blue[i] = number(fill_blue)
        else:
            fill = alpha_of(p.fill) + (alpha_of(p.fill_end) - alpha_of(p.fill)) * part
            keep = 1.0 - fill
            for i in range(pixels):
                red[i] = number(red[i] * keep + fill_red * fill)
                green[i] = number(green[i] * keep + fill_green * fill)
                blue[i] = number(blue[i] * keep + fill_blue * fill)

    @device
    def draw_shadow(p: Ptr[Primitive], x: i32, y: i32, red: Ptr[f32], green: Ptr[f32], blue: Ptr[f32]):
        """A box that fades over `border` pixels: the soft edge of a blurred box, near enough for the eye."""
        middle_x = (p.ax + p.bx) * 0.5
        half_x = (p.bx - p.ax) * 0.5
        half_y = (p.by - p.ay) * 0.5
        from_middle = f32(y) + 0.5 - (p.ay + p.by) * 0.5
        alpha = alpha_of(p.fill)
        for i in range(pixels):
            away = box_distance(f32(x + i) + 0.5 - middle_x, from_middle, half_x, half_y, p.radius)
            near = unit(0.5 - away / p.border)
            cover = near * near * (3.0 - 2.0 * near) * alpha if holds(p, x + i, y) else 0.0
            lay_over(p.fill, cover, red + i, green + i, blue + i)

    @device
    def draw_stroke(p: Ptr[Primitive], x: i32, y: i32, red: Ptr[f32], green: Ptr[f32], blue: Ptr[f32]):
        alpha = alpha_of(p.fill)
        py = f32(y) + 0.5
        for i in range(pixels):
            px = f32(x + i) + 0.5
            first = segment_distance(px, py, p.ax, p.ay, p.bx, p.by)
            second = segment_distance(px, py, p.bx, p.by, p.cx, p.cy)
            cover = unit(0.5 + p.radius - min(first, second)) * alpha if holds(p, x + i, y) else 0.0
            lay_over(p.fill, cover, red + i, green + i, blue + i)

    @device
    def draw_image(desk: Ptr[Desk], p: Ptr[Primitive], x: i32, y: i32, red: Ptr[f32], green: Ptr[f32], blue: Ptr[f32]):
        """A picture in a box with round corners: the nearest of its pixels, or between four where `edge` says so."""
        across = p.count & 0xFFFF
        down = p.count >> 16
        scale_x = f32(across) / (p.bx - p.ax)
        half_x = (p.bx - p.ax) * 0.5
        half_y = (p.by - p.ay) * 0.5
        from_top = f32(y) + 0.5 - p.ay
        v = from_top * (f32(down) / (p.by - p.ay))
        for i in range(pixels):
            if holds(p, x + i, y):
                from_left = f32(x + i) + 0.5 - p.ax
                u = from_left * scale_x
                colour = u32(0)
                if p.edge != 0:
                    colour = between_pixels(desk.pictures + p.data, across, down, u - 0.5, v - 0.5)
                else:
                    colour = desk.pictures[p.data + min(u32(v), down - 1) * across + min(u32(u), across - 1)]
                away = box_distance(from_left - half_x, from_top - half_y, half_x, half_y, p.radius)
                cover = unit(0.5 - away) * alpha_of(colour)
                lay_over(colour, cover, red + i, green + i, blue + i)

    @device
    def draw_text(
        desk: Ptr[Desk],
        p: Ptr[Primitive],
        first: u32,
        count: u32,
        x: i32,
        y: i32,
        red: Ptr[f32],
        green: Ptr[f32],
        blue: Ptr[f32],
    ):
        """Glyphs `first` on. For what the primitive's numbers mean see `begin_text`."""
        face = desk.typeface
        pixels_of_value = face.spread / 127.0
        py = f32(y) + 0.5
        alpha = alpha_of(p.fill)
        shown: f32[pixels]
        if ON_GPU:
            for i in range(pixels):
                shown[i] = alpha if holds(p, x + i, y) else 0.0
        for k in range(count):
            glyph = glyph_at(desk, first + k)
            last_x = glyph.x + f32(glyph.w) * p.bx
            last_y = glyph.y + f32(glyph.h) * p.cx
            if glyph.x > f32(x + (pixels - 1)) + 0.5 or last_x <= f32(x) + 0.5 or glyph.y > py or last_y <= py:
                continue
            for i in range(pixels):
                px = f32(x + i) + 0.5
                if ON_GPU:
                    # The two pixels share what is read: to draw both is less work than to ask for each.
                    cover = letter_cover(face, p, glyph, px, py, pixels_of_value) * shown[i]
                    cover = cover if px >= glyph.x else 0.0
                    cover = cover if px < last_x else 0.0
                    lay_over(p.fill, cover, red + i, green + i, blue + i)
                else:
                    if holds(p, x + i, y) and px >= glyph.x and px < last_x:
                        cover = letter_cover(face, p, glyph, px, py, pixels_of_value) * alpha
                        lay_over(p.fill, cover, red + i, green + i, blue + i)

    @device
    def draw_strip(desk: Ptr[Desk], found: Ptr[Bin], block: u32, shown: u64, x: u32, y: u32):
        """Draw the pixels of a strip through these entries of a bin, a bit each, and store them.

        Where the bin does not list everything the strip goes through all primitives that there are.
        """
        red: f32[pixels]
        green: f32[pixels]
        blue: f32[pixels]
        k = u32(0)
        while shown != 0 if listed else k < desk.frame.primitives:
            entry = Ptr[BinEntry](found.entries) + (u32(trailing_zeros(shown)) if listed else u32(0))
            p = desk_primitive(desk, u32(entry.slot) if listed else u32(desk.scratch.draw_list[k]))
            shown &= shown - 1
            k += 1
            plain = listed and is_plain(entry, block)
            # The lists of a GPU are those of a block: they hold only what touches it, and know where boxes are plain.
            if not (ON_GPU and listed):
                if beside(p, i32(x), i32(y), i32(x + pixels), i32(y + 1)):
                    continue
                plain = plain or shows_no_edge(p, i32(x), i32(y), i32(x + pixels), i32(y + 1))
            if p.kind == P_BOX:
                if plain:
                    draw_plain(p, i32(y), red, green, blue)
                else:
                    draw_box(p, i32(x), i32(y), red, green, blue)
            elif p.kind == P_TEXT:
                first = u32(entry.first[block % BLOCKS_ACROSS]) if listed else p.data
                count = u32(entry.count[block % BLOCKS_ACROSS]) if listed else p.count
                draw_text(desk, p, first, count, i32(x), i32(y), red, green, blue)
            elif p.kind == P_SHADOW:
                draw_shadow(p, i32(x), i32(y), red, green, blue)
            elif p.kind == P_STROKE:
                draw_stroke(p, i32(x), i32(y), red, green, blue)
            elif p.kind == P_IMAGE:
                draw_image(desk, p, i32(x), i32(y), red, green, blue)
        width = desk.width
        row = desk.pixels + y * width
        beyond = width if y < desk.height else u32(0)
        for i in range(pixels):
            if x + u32(i) < beyond:
                row[x + u32(i)] = pixel_of(red[i], green[i], blue[i], dither(x + u32(i), y))

    return draw_strip


@device
def is_plain(entry: Ptr[BinEntry], block: u32) -> bool:
    """Whether a bin says of a block that it shows no edge of a box."""
    return u32(entry.plain) >> block & 1 != 0


@device
def beside(p: Ptr[Primitive], left: i32, top: i32, right: i32, bottom: i32) -> bool:
    """Whether an area shows nothing of a primitive."""
    return p.left >= right or p.right <= left or p.top >= bottom or p.bottom <= top


@device
def desk_primitive(desk: Ptr[Desk], slot: u32) -> Ptr[Primitive]:
    """The primitive of this slot."""
    return Ptr[Primitive](desk.scratch.primitives) + slot


@device
def glyph_at(desk: Ptr[Desk], index: u32) -> Ptr[Glyph]:
    """The glyph of this number."""
    return Ptr[Glyph](desk.scratch.glyphs) + index
