"""What an event comes down to for a widget."""

NOTHING = 0
PRESS = 1
DRAG = 2
CLICK = 3
SCROLL = 4
TYPE_KEY = 5
TYPE_CHAR = 6
FOCUS = 7
"""The focus came here by keyboard."""
