"""How much of everything a desktop holds. Shared memory of the group, bins and tables are sized by these."""

from lanewise.settings import MAX_GROUP_SIZE

THREADS = MAX_GROUP_SIZE
"""Threads of the one group; widget w is thread w's in the phases that work widget by widget."""
WARPS = THREADS // 32
MAX_WIDGETS = 256
RING_EVENTS = 256
FRAME_EVENTS = 64
"""How many events one frame takes from the ring; what is beyond waits for the next frame."""
MAX_GLYPHS = 4096
SMALLEST_TEXT = 10
LARGEST_TEXT = 64
"""Pixels of a font size, between which the fields of distances give sharp letters."""
SLOTS = 8
"""How many primitives one widget may draw."""
MAX_PRIMITIVES = MAX_WIDGETS * SLOTS
CHUNKS = MAX_PRIMITIVES // 32
"""Primitives are looked through 32 at a time."""
TILE = 32
"""Pixels along a side of a tile: what is binned, drawn and sent as a whole."""
BLOCK = 8
"""Pixels along a side of a block: what a warp of a GPU draws at a time, with a list of its own in the tile's bin."""
BLOCKS_ACROSS = TILE // BLOCK
BLOCKS = BLOCKS_ACROSS**2
MAX_TILES = 8192
"""Enough for 3,840 x 2,160 pixels."""
TILE_WORDS = MAX_TILES // 32
BIN_ENTRIES = 64
"""Primitives that a tile's bin lists; a tile with more of them is drawn from the whole list."""
TEXT_CODES = 1 << 18
"""Code points of all texts together, with the rows of lists."""
MAX_ROWS = 1 << 15
"""Rows of all lists together."""
IMAGE_PIXELS, NO_PICTURE = 1 << 20, 1
"""Pixels of all pictures together, and what stands ahead of them, where widgets without one point to."""
IMAGE_SIDE = (1 << 16) - 1
"""Pixels along a side of a picture: primitives and events have 16 bits for each."""
CLIPBOARD_CODES = 4096
NOTICES_PER_EVENT = 2
MAX_NOTICES = FRAME_EVENTS * NOTICES_PER_EVENT
"""What a frame tells handlers and the host."""
MAX_DEPTH = 32
"""How deep widgets may be nested."""
DOUBLE_CLICK_MS = 400
DOUBLE_CLICK_PIXELS = 5
"""How soon after a press, and how near to it, another one counts as its second."""
DRAG_PIXELS = 3
REACH_ACROSS, REACH_DOWN = 80.0, 30.0
"""Pixels of a window's bar that stay on the screen, or nobody could get it back."""
SMALLEST_WINDOW = 120
"""Pixels that a window has at least, across and down."""
POPUP_LAYER = 0xFFF0
"""The layer of popups, above every window's."""
