"""The two themes: every colour that widgets use, by name. A desktop mixes them on the device when it changes theme."""

from __future__ import annotations

import numpy as np

COLOURS: dict[str, tuple[str, str]] = {
    # name: (light, dark), as rrggbb or rrggbbaa
    "wall_top": ("c7d6f5", "151a2d"),
    "wall_bottom": ("efe3f3", "2b2140"),
    "surface": ("ffffff", "1f2430"),
    "surface_edge": ("0000001a", "ffffff1c"),
    "title_bar": ("f6f7fa", "272d3b"),
    "text": ("1b2130", "e9ecf4"),
    "text_muted": ("687084", "97a0b5"),
    "control": ("ffffff", "2d3443"),
    "control_low": ("f3f5f9", "282e3c"),
    "control_hover": ("f4f7fd", "384154"),
    "control_press": ("e3e8f2", "232936"),
    "control_edge": ("c9d0dd", "465066"),
    "accent": ("3b6ff2", "5b8cff"),
    "accent_low": ("2d5be0", "4a78ee"),
    "accent_hover": ("5283ff", "7aa3ff"),
    "accent_press": ("244bc0", "3c64cc"),
    "on_accent": ("ffffff", "ffffff"),
    "track": ("dde2ec", "3a4254"),
    "field": ("ffffff", "181c26"),
    "selection": ("3b6ff240", "5b8cff59"),
    "hover": ("1b21300d", "ffffff12"),
    "focus": ("3b6ff266", "5b8cff80"),
    "shadow": ("1a234459", "00000099"),
    "panel": ("f4f6fa", "262c39"),
    "danger": ("e5484d", "ff6369"),
    "knob": ("ffffff", "f3f6ff"),
}

WALL_TOP, WALL_BOTTOM, SURFACE, SURFACE_EDGE, TITLE_BAR, TEXT, TEXT_MUTED = range(7)
CONTROL, CONTROL_LOW, CONTROL_HOVER, CONTROL_PRESS, CONTROL_EDGE = range(7, 12)
ACCENT, ACCENT_LOW, ACCENT_HOVER, ACCENT_PRESS, ON_ACCENT = range(12, 17)
TRACK, FIELD, SELECTION, HOVER, FOCUS, SHADOW, PANEL, DANGER, KNOB = range(17, 26)
COUNT = len(COLOURS)


def rgba(text: str) -> int:
    """The colour `rrggbb` or `rrggbbaa` as a pixel: red in the lowest byte, alpha in the highest."""
    digits = text.removeprefix("#")
    if len(digits) not in (6, 8) or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
        raise ValueError(f"a colour is written #rrggbb or #rrggbbaa, not {text!r}")
    red, green, blue, *alpha = bytes.fromhex(digits)
    return red | green << 8 | blue << 16 | (alpha[0] if alpha else 255) << 24


def palettes() -> np.ndarray[tuple[int, int], np.dtype[np.uint32]]:
    """The colours of both themes as pixels, light first."""
    return np.array([[rgba(pair[which]) for pair in COLOURS.values()] for which in (0, 1)], np.uint32)
