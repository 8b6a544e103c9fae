"""What a desktop is made of in device memory: each structure is defined here once, for the device and for the host."""

from lanewise.desktop.layout.structures import LayoutTree, NodeBox, NodeLinks, NodeStyle
from lanewise.desktop.limits import (
    BIN_ENTRIES,
    BLOCKS,
    BLOCKS_ACROSS,
    CHUNKS,
    FRAME_EVENTS,
    MAX_GLYPHS,
    MAX_NOTICES,
    MAX_PRIMITIVES,
    MAX_TILES,
    MAX_WIDGETS,
    RING_EVENTS,
    TILE_WORDS,
)
from lanewise.desktop.theme import COUNT
from lanewise.lang import Ptr, f32, i16, i32, struct, u8, u16, u32, u64


@struct
class InputEvent:
    """Something that a person did. Where it happened is in pixels; `code` is a key, a character or wheel steps."""

    kind: u8
    button: u8
    modifiers: u16
    x: i16
    y: i16
    code: u32
    time_ms: u32


@struct
class InputRing:
    """Events on their way to the device. The host alone writes here; how far they were read is in FrameState."""

    head: u32
    events: InputEvent[RING_EVENTS]


@struct
class Widget:
    """One widget. The host makes it; from then on frames alone change it, save for what the host asks by name."""

    kind: u32
    flags: u32
    window: i32
    """The window, or other child of the root, that it belongs to; itself for such."""
    layer: u32
    """Of a window: the later it was raised, the higher."""
    handler: u32
    """1 more than the number of its handler on the device; 0 for none."""

    # Where it is on the screen, and which part of that is not cut off.
    x: i32
    y: i32
    w: i32
    h: i32
    clip_left: i32
    clip_top: i32
    clip_right: i32
    clip_bottom: i32
    rest: f32
    """How far below its whole pixel its box begins, as layout has it: lines of text that are not whole pixels high."""

    # What it says.
    text: u32
    """Where its code points start."""
    length: u32
    capacity: u32
    """How many code points may be typed; 0 where the text is not editable."""
    caret: u32
    anchor: u32
    """The other end of the selection."""
    text_version: u32
    """Goes up when code points change in their place."""
    seen_version: u32
    """Of a field: the text with which its caret was brought into view last."""
    font_size: f32
    align: u32
    """0 start, 1 centre, 2 end."""

    # What it means.
    value: f32
    minimum: f32
    maximum: f32
    step: f32
    group: u32
    """Radio buttons of one group exclude each other; a tab and the pages of its group belong together."""
    first_row: u32
    """Of a list: where its rows are in the table of rows; of a row: which row it shows."""
    row_count: u32
    row_height: f32
    target: i32
    """The widget that this one acts on: the popup of a menu, the page of a tab, the menu of a popup."""

    # How it looks.
    background: u32
    """0 for what the theme says."""
    foreground: u32
    radius: f32
    picture: u32
    picture_width: u32
    picture_height: u32
    picture_version: u32

    grab_x: f32
    grab_y: f32
    """Of a window that is dragged: where the pointer holds it, as seen from its corner; below the upper edge of its
    thumb where something is scrolled by that, and -1 where it is not. Of a canvas: where the pointer was, so seen."""
    pen_x: f32
    pen_y: f32
    """Of a canvas: where a line of `paint_line` has come to, in its own pixels."""

    # What moves: scrolling, and 0 to 1 on the way to where its state says.
    scroll_x: f32
    scroll_y: f32
    scroll_to: f32
    content_height: f32
    hover: f32
    press: f32
    toggle: f32
    focus: f32


@struct
class FrameState:
    """What lasts from frame to frame. Only frames write it."""

    frame: u32
    time_ms: u32
    tail: u32
    """How many events were ever read from the ring."""
    pointer_x: i32
    pointer_y: i32
    modifiers: u32
    hovered: i32
    captured: i32
    """The widget that was pressed, and that hears of the pointer until it is released."""
    focused: i32
    focus_shown: u32
    """Whether the focus came by keyboard, so that a ring shows it."""
    top_layer: u32
    click_time: u32
    click_widget: i32
    click_count: u32
    press_x: i32
    press_y: i32
    dragging: u32
    open_popup: i32
    theme: u32
    theme_mix: f32
    awake: u32
    """Whether something still moves, so that the next frame differs even without input."""
    blinks: u32
    """Whether a caret blinks, so that a frame in a while differs."""
    clipboard_length: u32
    copies: u32
    """How many times something was copied to the clipboard by a widget."""
    visible: u32
    primitives: u32
    glyphs: u32
    dirty_tiles: u32
    notices: u32
    """How many notices the frame has for the host."""
    widgets: u32
    full_redraw: u32
    """Set by the host when pixels are not those of the frame before."""
    relayout: u32
    """1 when styles or texts have changed whose nodes are marked, 2 when any may have: boxes are found anew."""
    caret_time: u32
    """Since when the caret stands still; it blinks from then on."""


@struct
class Notice:
    """Something that happened to a widget: for its handlers, then for the host."""

    widget: u32
    kind: u32
    value: f32
    detail: u32


@struct
class Primitive:
    """Something to draw: what is within `left` to `bottom` of a shape with these points, radii and colours."""

    kind: u32
    left: i32
    top: i32
    right: i32
    bottom: i32
    ax: f32
    ay: f32
    bx: f32
    by: f32
    radius: f32
    border: f32
    fill: u32
    fill_end: u32
    edge: u32
    cx: f32
    cy: f32
    data: u32
    """The first glyph, or the first pixel of a picture."""
    count: u32
    """How many glyphs, or the picture's width and height in 16 bits each."""
    version: u32
    """A sum over what `data` leads to: primitives that are equal in all but `data` look the same."""
    layer: u32


@struct
class Glyph:
    """A character with its place: the upper left corner of its field of distances on the screen and in the atlas."""

    x: f32
    y: f32
    u: u16
    v: u16
    w: u16
    h: u16


@struct
class GlyphShape:
    """A character of the font: where it is in the atlas, and how it stands to the pen in parts of the font size."""

    u: u16
    v: u16
    w: u16
    h: u16
    left: f32
    top: f32
    advance: f32
    before: u16
    after: u16
    """Its row in the table of kerning as the first of a pair, and its column as the second."""


@struct
class Typeface:
    """The font: code points to shapes, and how high small letters are, in parts of the font size."""

    x_height: f32
    em: f32
    """Pixels of the atlas per font size."""
    spread: f32
    """Pixels of the atlas over which distances are known."""
    atlas_width: u32
    code_count: u32
    codes: Ptr[u16]
    """For each code point below `code_count` its shape; 0 is the shape of what the font does not have."""
    shapes: Ptr[GlyphShape]
    kerning: Ptr[f32]
    """By how much the pen moves more between two characters, in font sizes; a row for all that are kerned alike."""
    kerning_columns: u32
    atlas: Ptr[u8]


@struct
class BinEntry:
    """A primitive that touches a tile, which of its glyphs do, and in which blocks a box shows none of its edges.

    A CPU knows no blocks: it has the glyphs of the tile in the place of the first column, and all bits set or none.
    """

    slot: u16
    plain: u16
    """A bit for each block."""
    first: u16[BLOCKS_ACROSS]
    count: u16[BLOCKS_ACROSS]
    """The glyphs from the first that touches a column of blocks to the last one that does."""


@struct
class Bin:
    """What a dirty tile shows. `solid` tiles have one colour; `count` above BIN_ENTRIES: go through all primitives.

    Entries are found from the top and drawn from the bottom: the last `count` of the array are in use.
    """

    tile: u16
    solid: u16
    count: u32
    colour: u32
    entries: BinEntry[BIN_ENTRIES]


@struct
class Block:
    """A block that is still to be drawn when its tile's bin is filled, on a GPU: all that a warp must know at first."""

    x: u16
    y: u16
    bin: u16
    number: u16
    """Which block of its tile it is; BLOCKS where the bin does not list all that the tile shows."""
    shown: u64
    """The entries of the bin that it shows, a bit each."""


@struct
class Row:
    """A row of a list: where its text is."""

    text: u32
    length: u32


@struct
class Scratch:
    """What one frame makes and the next one compares with."""

    palette: u32[COUNT]
    keys: u32[MAX_WIDGETS]
    """The layer and number of each widget, by which they were sorted last."""
    order: u32[MAX_WIDGETS]
    """The widgets from the bottom to the top; only the first `visible` are seen."""
    looks: u64[MAX_WIDGETS]
    """A sum over all that the primitives of a widget were made from; while it stays, they stay."""
    used: u32[MAX_WIDGETS]
    """How many slots each widget uses."""
    primitives: Primitive[MAX_PRIMITIVES]
    before: Primitive[MAX_PRIMITIVES]
    glyphs: Glyph[MAX_GLYPHS]
    notices: Notice[MAX_NOTICES]
    """NOTICES_PER_EVENT for each event of the frame, in its order; kind 0 for none."""
    dirty: u32[TILE_WORDS]
    draw_list: u16[MAX_PRIMITIVES]
    extents: u64[MAX_PRIMITIVES]
    """Which tiles the primitives of the draw list touch."""
    chunk_extents: u64[CHUNKS]
    covers: u64[2 * MAX_PRIMITIVES]
    """On a GPU, which tiles they hide: as far as corners let them across, then as far as corners let them down."""
    bins: Bin[MAX_TILES]
    busy_count: u32
    busy: Block[MAX_TILES * BLOCKS]
    """The blocks that are still to be drawn when bins are filled, in no order."""


@struct
class Desk:
    """The desktop: where everything is. Kernels get one pointer to this."""

    width: u32
    height: u32
    tiles_across: u32
    tiles_down: u32
    ring: Ptr[InputRing]
    frame: Ptr[FrameState]
    widgets: Ptr[Widget]
    styles: Ptr[NodeStyle]
    links: Ptr[NodeLinks]
    boxes: Ptr[NodeBox]
    layout: Ptr[LayoutTree]
    typeface: Ptr[Typeface]
    texts: Ptr[u32]
    rows: Ptr[Row]
    pictures: Ptr[u32]
    clipboard: Ptr[u32]
    palettes: Ptr[u32]
    scratch: Ptr[Scratch]
    pixels: Ptr[u32]


@struct
class GroupMemory:
    """What the group keeps in its shared memory while it works on a frame."""

    events: InputEvent[FRAME_EVENTS]
    hits: i32[FRAME_EVENTS]
    event_count: u32
    keys: u32[MAX_WIDGETS]
    """What is being sorted; hidden widgets come last."""
    counts: u32[MAX_WIDGETS]
    """Glyphs, then primitives, of each widget; then dirty tiles of each word."""
    sums: u32[MAX_WIDGETS]
    """Of all counts before each, on a GPU."""
    remade: u32[MAX_WIDGETS]
    """Whether each widget has made its primitives anew; those of others are as they were."""
    resort: u32
    awake: u32
    blinks: u32
    glyphs: u32
    theme_mix: f32
