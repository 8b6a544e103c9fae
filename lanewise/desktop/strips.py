"""Primitives drawn into a strip: a few pixels of a tile that one thread holds as floats while it goes through them.

A strip is a row of a tile on a CPU, which its vector units like, and a short column on a GPU, where the threads of a
warp draw a square block of the tile together. Both are made by `make_strip` from one source, and each pixel sees the
same arithmetic. What does not touch the block is passed over: small blocks touch few letters and edges.
"""

from lanewise.desktop.colours import alpha_of, blue_of, green_of, mix, red_of
from lanewise.desktop.limits import BIN_ENTRIES, TILE
from lanewise.desktop.numbers import P_BOX, P_IMAGE, P_SHADOW, P_STROKE, P_TEXT
from lanewise.desktop.state import Bin, BinEntry, Desk, Glyph, Primitive, Typeface
from lanewise.lang import Ptr, device, f32, i32, sqrt, u32

PLAIN = 2
"""Stands in a bin for the number of glyphs where a box shows none of its edges in a tile."""


@device
def unit(x: f32) -> f32:
    """x, brought to 0 to 1."""
    return min(max(x, 0.0), 1.0)


@device
def box_distance(x: f32, y: f32, half_width: f32, half_height: f32, radius: f32) -> f32:
    """How far a point, seen from the middle, is outside of a box with round corners; negative inside."""
    over_x = abs(x) - (half_width - radius)
    over_y = abs(y) - (half_height - radius)
    out_x = max(over_x, 0.0)
    out_y = max(over_y, 0.0)
    return sqrt(out_x * out_x + out_y * out_y) + min(max(over_x, over_y), 0.0) - radius


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
def atlas_distance(face: Ptr[Typeface], u: f32, v: f32, glyph: Ptr[Glyph]) -> f32:
    """The distance stored in the atlas at this place of a glyph, between four neighbours; in pixels of the atlas."""
    within_u = min(max(u - 0.5, 0.0), f32(glyph.w) - 1.001)
    within_v = min(max(v - 0.5, 0.0), f32(glyph.h) - 1.001)
    column = u32(within_u)
    row = u32(within_v)
    part_u = within_u - f32(column)
    part_v = within_v - f32(row)
    at = face.atlas + ((u32(glyph.v) + row) * face.atlas_width + u32(glyph.u) + column)
    below = at + face.atlas_width
    upper = f32(at[0]) + (f32(at[1]) - f32(at[0])) * part_u
    lower = f32(below[0]) + (f32(below[1]) - f32(below[0])) * part_u
    return (upper + (lower - upper) * part_v - 128.0) * (face.spread / 127.0)


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
    """Whether a pixel is within what is seen of a primitive."""
    return u32(x - p.left) < u32(p.right - p.left) and u32(y - p.top) < u32(p.bottom - p.top)


@device
def shows_no_edge(p: Ptr[Primitive], left: i32, top: i32, right: i32, bottom: i32) -> bool:
    """Whether an area lies inside of a box, and no edge, border or corner of it is near."""
    if p.kind != P_BOX or left < p.left or top < p.top or right > p.right or bottom > p.bottom:
        return False
    edge = p.border + 0.5
    corner = max(p.radius, edge)
    near_x = min(f32(left) - p.ax, p.bx - f32(right))
    near_y = min(f32(top) - p.ay, p.by - f32(bottom))
    # A box without round corners whose edges lie on whole pixels ends sharply.
    square = p.radius == 0.0 and p.border == 0.0 and near_x >= 0.0 and near_y >= 0.0
    return square or (near_x >= corner and near_y >= edge) or (near_x >= edge and near_y >= corner)


def make_strip(pixels, step_x, step_y, across, down):
    """`draw_strip(desk, bin, block, lane)` for strips of so many pixels that go this way.

    A tile is cut into blocks of `across` x `down` pixels, and a block into strips, one for each lane.
    """
    blocks_across = TILE // across
    strip_across = max(pixels * step_x, 1)
    strip_down = max(pixels * step_y, 1)
    strips_across = across // strip_across

    @device
    def draw_box(p: Ptr[Primitive], x: i32, y: i32, red: Ptr[f32], green: Ptr[f32], blue: Ptr[f32]):
        middle_x = (p.ax + p.bx) * 0.5
        middle_y = (p.ay + p.by) * 0.5
        half_x = (p.bx - p.ax) * 0.5
        half_y = (p.by - p.ay) * 0.5
        edge_alpha = alpha_of(p.edge) if p.border > 0.0 else 0.0
        for i in range(pixels):
            at_x = x + i * step_x
            at_y = y + i * step_y
            px = f32(at_x) + 0.5
            py = f32(at_y) + 0.5
            away = box_distance(px - middle_x, py - middle_y, half_x, half_y, p.radius)
            inside = holds(p, at_x, at_y)
            cover = unit(0.5 - away) if inside else 0.0
            edge = edge_alpha * (1.0 - unit(0.5 - away - p.border))
            part = unit((px - p.ax) * p.cx + (py - p.ay) * p.cy)
            fill = (alpha_of(p.fill) + (alpha_of(p.fill_end) - alpha_of(p.fill)) * part) * (1.0 - edge)
            keep = 1.0 - (edge + fill) * cover
            edge *= cover
            fill *= cover
            red[i] = (
                red[i] * keep
                + red_of(p.edge) * edge
                + (red_of(p.fill) + (red_of(p.fill_end) - red_of(p.fill)) * part) * fill
            )
            green[i] = (
                green[i] * keep
                + green_of(p.edge) * edge
                + (green_of(p.fill) + (green_of(p.fill_end) - green_of(p.fill)) * part) * fill
            )
            blue[i] = (
                blue[i] * keep
                + blue_of(p.edge) * edge
                + (blue_of(p.fill) + (blue_of(p.fill_end) - blue_of(p.fill)) * part) * fill
            )

    @device
    def draw_plain(p: Ptr[Primitive], x: i32, y: i32, red: Ptr[f32], green: Ptr[f32], blue: Ptr[f32]):
        """A box far from its edges: what `draw_box` comes to there, to the bit. Mostly nothing shines through it."""
        opaque = (p.fill & p.fill_end) >> 24 == 255
        for i in range(pixels):
            px = f32(x + i * step_x) + 0.5
            py = f32(y + i * step_y) + 0.5
            part = unit((px - p.ax) * p.cx + (py - p.ay) * p.cy)
            new_red = red_of(p.fill) + (red_of(p.fill_end) - red_of(p.fill)) * part
            new_green = green_of(p.fill) + (green_of(p.fill_end) - green_of(p.fill)) * part
            new_blue = blue_of(p.fill) + (blue_of(p.fill_end) - blue_of(p.fill)) * part
            if opaque:
                red[i] = new_red
                green[i] = new_green
                blue[i] = new_blue
            else:
                fill = alpha_of(p.fill) + (alpha_of(p.fill_end) - alpha_of(p.fill)) * part
                keep = 1.0 - fill
                red[i] = red[i] * keep + new_red * fill
                green[i] = green[i] * keep + new_green * fill
                blue[i] = blue[i] * keep + new_blue * fill

    @device
    def draw_shadow(p: Ptr[Primitive], x: i32, y: i32, red: Ptr[f32], green: Ptr[f32], blue: Ptr[f32]):
        """A box that fades over `border` pixels: the soft edge of a blurred box, near enough for the eye."""
        middle_x = (p.ax + p.bx) * 0.5
        middle_y = (p.ay + p.by) * 0.5
        half_x = (p.bx - p.ax) * 0.5
        half_y = (p.by - p.ay) * 0.5
        alpha = alpha_of(p.fill)
        for i in range(pixels):
            at_x = x + i * step_x
            at_y = y + i * step_y
            away = box_distance(f32(at_x) + 0.5 - middle_x, f32(at_y) + 0.5 - middle_y, half_x, half_y, p.radius)
            inside = holds(p, at_x, at_y)
            near = unit(0.5 - away / p.border)
            cover = near * near * (3.0 - 2.0 * near) * alpha if inside else 0.0
            red[i] += (red_of(p.fill) - red[i]) * cover
            green[i] += (green_of(p.fill) - green[i]) * cover
            blue[i] += (blue_of(p.fill) - blue[i]) * cover

    @device
    def draw_stroke(p: Ptr[Primitive], x: i32, y: i32, red: Ptr[f32], green: Ptr[f32], blue: Ptr[f32]):
        alpha = alpha_of(p.fill)
        for i in range(pixels):
            at_x = x + i * step_x
            at_y = y + i * step_y
            px = f32(at_x) + 0.5
            py = f32(at_y) + 0.5
            first = segment_distance(px, py, p.ax, p.ay, p.bx, p.by)
            second = segment_distance(px, py, p.bx, p.by, p.cx, p.cy)
            inside = holds(p, at_x, at_y)
            cover = unit(0.5 + p.radius - min(first, second)) * alpha if inside else 0.0
            red[i] += (red_of(p.fill) - red[i]) * cover
            green[i] += (green_of(p.fill) - green[i]) * cover
            blue[i] += (blue_of(p.fill) - blue[i]) * cover

    @device
    def draw_image(desk: Ptr[Desk], p: Ptr[Primitive], x: i32, y: i32, red: Ptr[f32], green: Ptr[f32], blue: Ptr[f32]):
        """A picture in a box with round corners: the nearest of its pixels, or between four where `edge` says so."""
        across = p.count & 0xFFFF
        down = p.count >> 16
        scale_x = f32(across) / (p.bx - p.ax)
        scale_y = f32(down) / (p.by - p.ay)
        half_x = (p.bx - p.ax) * 0.5
        half_y = (p.by - p.ay) * 0.5
        for i in range(pixels):
            at_x = x + i * step_x
            at_y = y + i * step_y
            if holds(p, at_x, at_y):
                from_left = f32(at_x) + 0.5 - p.ax
                from_top = f32(at_y) + 0.5 - p.ay
                u = from_left * scale_x
                v = from_top * scale_y
                colour = u32(0)
                if p.edge != 0:
                    colour = between_pixels(desk.pictures + p.data, across, down, u - 0.5, v - 0.5)
                else:
                    colour = desk.pictures[p.data + min(u32(v), down - 1) * across + min(u32(u), across - 1)]
                away = box_distance(from_left - half_x, from_top - half_y, half_x, half_y, p.radius)
                cover = unit(0.5 - away) * alpha_of(colour)
                red[i] += (red_of(colour) - red[i]) * cover
                green[i] += (green_of(colour) - green[i]) * cover
                blue[i] += (blue_of(colour) - blue[i]) * cover

    @device
    def draw_text(
        desk: Ptr[Desk],
        p: Ptr[Primitive],
        first: u32,
        count: u32,
        x: i32,
        y: i32,
        left: i32,
        top: i32,
        red: Ptr[f32],
        green: Ptr[f32],
        blue: Ptr[f32],
    ):
        """Glyphs `first` on. For what the primitive's numbers mean see `begin_text`."""
        face = desk.typeface
        alpha = alpha_of(p.fill)
        block_left = f32(left)
        block_top = f32(top)
        block_right = f32(left + across)
        block_bottom = f32(top + down)
        for k in range(count):
            glyph = glyph_at(desk, first + k)
            last_x = glyph.x + f32(glyph.w) * p.bx
            last_y = glyph.y + f32(glyph.h) * p.cx
            beside = glyph.x >= block_right or last_x <= block_left or glyph.y >= block_bottom or last_y <= block_top
            for i in range(0 if beside else pixels):
                at_x = x + i * step_x
                at_y = y + i * step_y
                px = f32(at_x) + 0.5
                py = f32(at_y) + 0.5
                seen = holds(p, at_x, at_y)
                if seen and px >= glyph.x and px < last_x and py >= glyph.y and py < last_y:
                    away = atlas_distance(face, (px - glyph.x) * p.ax, (py - glyph.y) * p.ay, glyph)
                    cover = unit(0.5 + away * p.bx + p.by) * alpha
                    red[i] += (red_of(p.fill) - red[i]) * cover
                    green[i] += (green_of(p.fill) - green[i]) * cover
                    blue[i] += (blue_of(p.fill) - blue[i]) * cover

    @device
    def draw_primitive(
        desk: Ptr[Desk],
        p: Ptr[Primitive],
        first: u32,
        count: u32,
        x: i32,
        y: i32,
        left: i32,
        top: i32,
        red: Ptr[f32],
        green: Ptr[f32],
        blue: Ptr[f32],
    ):
        """Draw a primitive into the strip from x, y on, which is one of the block whose corner is at left, top."""
        if p.left >= left + across or p.right <= left or p.top >= top + down or p.bottom <= top:
            return
        if p.kind == P_BOX:
            if count == PLAIN or shows_no_edge(p, left, top, left + across, top + down):
                draw_plain(p, x, y, red, green, blue)
            else:
                draw_box(p, x, y, red, green, blue)
        elif p.kind == P_TEXT:
            draw_text(desk, p, first, count, x, y, left, top, red, green, blue)
        elif p.kind == P_SHADOW:
            draw_shadow(p, x, y, red, green, blue)
        elif p.kind == P_STROKE:
            draw_stroke(p, x, y, red, green, blue)
        elif p.kind == P_IMAGE:
            draw_image(desk, p, x, y, red, green, blue)

    @device
    def draw_strip(desk: Ptr[Desk], found: Ptr[Bin], block: u32, lane: u32):
        """Draw the pixels of a strip through all primitives of the tile's bin, and store them."""
        left = u32(found.column) * TILE + block % blocks_across * across
        top = u32(found.row) * TILE + block // blocks_across * down
        x = left + lane % strips_across * strip_across
        y = top + lane // strips_across * strip_down
        if found.solid != 0:
            only = found.colour
            for i in range(pixels):
                at_x = x + u32(i * step_x)
                at_y = y + u32(i * step_y)
                if at_x < desk.width and at_y < desk.height:
                    desk.pixels[at_y * desk.width + at_x] = only
            return
        red: f32[pixels]
        green: f32[pixels]
        blue: f32[pixels]
        # One place that draws, whether primitives come from the bin or from the whole list: so the code that draws is
        # part of this function, and the strip stays in registers.
        listed = found.count <= BIN_ENTRIES
        entries = Ptr[BinEntry](found.entries) + (BIN_ENTRIES - min(found.count, BIN_ENTRIES))
        for k in range(found.count if listed else desk.frame.primitives):
            slot = u32(entries[k].slot) if listed else u32(desk.scratch.draw_list[k])
            p = desk_primitive(desk, slot)
            first = entries[k].first if listed else p.data
            glyphs = u32(entries[k].count) if listed else p.count if p.kind == P_TEXT else u32(0)
            draw_primitive(desk, p, first, glyphs, i32(x), i32(y), i32(left), i32(top), red, green, blue)
        for i in range(pixels):
            at_x = x + u32(i * step_x)
            at_y = y + u32(i * step_y)
            if at_x < desk.width and at_y < desk.height:
                more = dither(at_x, at_y)
                colour = u32(red[i] + more) | u32(green[i] + more) << 8 | u32(blue[i] + more) << 16 | 0xFF000000
                desk.pixels[at_y * desk.width + at_x] = colour

    return draw_strip


@device
def desk_primitive(desk: Ptr[Desk], slot: u32) -> Ptr[Primitive]:
    """The primitive of this slot."""
    return Ptr[Primitive](desk.scratch.primitives) + slot


@device
def glyph_at(desk: Ptr[Desk], index: u32) -> Ptr[Glyph]:
    """The glyph of this number."""
    return Ptr[Glyph](desk.scratch.glyphs) + index
