"""Numbers with names that host and device share: kinds of events, widgets and primitives, flags, keys."""

# --- events, in the vocabulary of rendercanvas ------------------------------------------------------------------------
POINTER_MOVE = 1
POINTER_DOWN = 2
POINTER_UP = 3
WHEEL = 4
KEY_DOWN = 5
KEY_UP = 6
CHAR = 7
POINTER_LEAVE = 8

EVENT_NAMES = {
    "pointer_move": POINTER_MOVE,
    "pointer_down": POINTER_DOWN,
    "pointer_up": POINTER_UP,
    "wheel": WHEEL,
    "key_down": KEY_DOWN,
    "key_up": KEY_UP,
    "char": CHAR,
    "pointer_leave": POINTER_LEAVE,
}

SHIFT = 1
CONTROL = 2
ALT = 4
META = 8
MODIFIER_NAMES = {"Shift": SHIFT, "Control": CONTROL, "Alt": ALT, "Meta": META}

# Keys that print are known by their code point; the others have numbers above all code points.
KEY_BACKSPACE = 0x110000
KEY_TAB = 0x110001
KEY_ENTER = 0x110002
KEY_ESCAPE = 0x110003
KEY_DELETE = 0x110004
KEY_LEFT = 0x110005
KEY_RIGHT = 0x110006
KEY_UP_ARROW = 0x110007
KEY_DOWN_ARROW = 0x110008
KEY_HOME = 0x110009
KEY_END = 0x11000A
KEY_PAGE_UP = 0x11000B
KEY_PAGE_DOWN = 0x11000C
KEY_OTHER = 0x11000D
KEY_NAMES = {
    "Backspace": KEY_BACKSPACE,
    "Tab": KEY_TAB,
    "Enter": KEY_ENTER,
    "Escape": KEY_ESCAPE,
    "Delete": KEY_DELETE,
    "ArrowLeft": KEY_LEFT,
    "ArrowRight": KEY_RIGHT,
    "ArrowUp": KEY_UP_ARROW,
    "ArrowDown": KEY_DOWN_ARROW,
    "Home": KEY_HOME,
    "End": KEY_END,
    "PageUp": KEY_PAGE_UP,
    "PageDown": KEY_PAGE_DOWN,
}

# --- widgets ----------------------------------------------------------------------------------------------------------
NONE = 0
BOX = 1
"""Draws nothing; holds others."""
PANEL = 2
LABEL = 3
BUTTON = 4
CHECKBOX = 5
RADIO = 6
SWITCH = 7
SLIDER = 8
PROGRESS = 9
FIELD = 10
LIST = 11
ROW = 12
"""One visible row of a list; the list says which of its rows it shows."""
TAB = 13
MENU = 14
"""A button that opens a popup."""
POPUP = 15
ITEM = 16
"""A line of a popup."""
IMAGE = 17
CANVAS = 18
WINDOW = 19
TITLE = 20
CLOSE = 21
GRIP = 22
"""The corner by which a window is resized."""
PAGE = 23
"""What a tab shows."""
CHOICE = 24
"""A menu as people have it: the button that opens its popup, and the popup."""
TABS = 25
"""A row of tabs, and their pages."""

# Flags of widgets.
HIDDEN = 1
DISABLED = 2
CHECKED = 4
FOCUSABLE = 8
ACCENT = 16
"""A button that is the main one."""
CLIPS = 32
"""Children are cut off at the edges."""
BOLD = 64
MUTED = 128
SECRET = 256
"""A field that shows dots."""
REVEALS = 512
"""A list whose chosen row comes into view when the list is seen next."""

# What a frame tells handlers and the host.
CLICKED = 1
CHANGED = 2
SUBMITTED = 3
DOUBLE_CLICKED = 4
CLOSED = 5
DRAWN = 6
"""A canvas was drawn on."""
NOTICE_NAMES = {
    CLICKED: "click",
    CHANGED: "change",
    SUBMITTED: "submit",
    DOUBLE_CLICKED: "double_click",
    CLOSED: "close",
    DRAWN: "draw",
}

# --- primitives -------------------------------------------------------------------------------------------------------
P_NONE = 0
P_BOX = 1
P_SHADOW = 2
P_TEXT = 3
P_IMAGE = 4
P_STROKE = 5
"""Two segments, a to b to c, with round ends: marks and chevrons."""
