"""Where a desktop is in a window of another size: all of it in the middle, scaled down if need be, never up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

AROUND = (0x11, 0x14, 0x1D, 0xFF)
"""The colour around a desktop that is smaller than its window: that of the page, too."""

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True)
class Fit:
    """The place of a desktop in a window, in the window's pixels."""

    desktop: tuple[int, int]
    window: tuple[int, int]
    left: int
    top: int
    width: int
    height: int

    @classmethod
    def of(cls, desktop: tuple[int, int], window: tuple[float, float]) -> Fit:
        """Find the place, by width and height of both."""
        across, down = (max(1, round(side)) for side in window)
        part = min(1.0, across / desktop[0], down / desktop[1])
        width, height = (max(1, round(side * part)) for side in desktop)
        return cls(desktop, (across, down), (across - width) // 2, (down - height) // 2, width, height)

    def on_desktop(self, x: float, y: float) -> tuple[float, float]:
        """What place of the desktop this place of the window shows."""
        return (x - self.left) * self.desktop[0] / self.width, (y - self.top) * self.desktop[1] / self.height

    def shown(self, pixels: Pixels) -> Pixels:
        """What the window shows, of the pixels of the desktop."""
        if (self.width, self.height) != self.desktop:
            pixels = _scaled_down(pixels, self.width, self.height)
        if (self.width, self.height) == self.window:
            return pixels
        whole = np.empty((self.window[1], self.window[0], 4), np.uint8)
        whole[:] = AROUND
        whole[self.top : self.top + self.height, self.left : self.left + self.width] = pixels
        return whole


def _scaled_down(pixels: Pixels, width: int, height: int) -> Pixels:
    """Every pixel the mean of those that it stands for, so that small letters can still be read."""
    from PIL import Image

    # To Pillow alpha is a fourth colour here: all of it is opaque, and to weigh by it would take as long again.
    opaque = Image.frombuffer("RGBX", (pixels.shape[1], pixels.shape[0]), np.ascontiguousarray(pixels))
    return np.asarray(opaque.resize((width, height), Image.Resampling.BILINEAR))
