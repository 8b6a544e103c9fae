"""Colours on the device: pixels of four bytes, red lowest, mixed in whole numbers or taken apart for drawing."""

import numpy as np

from lanewise.desktop.state import Desk
from lanewise.lang import Ptr, device, f32, fma, u32

INVERSE = float(np.float32(1 / 255))
INVERSE_REST = 1 / 255 - INVERSE
"""What is missing from INVERSE: its products with whole numbers are right to the last bit with it."""


@device
def shade(desk: Ptr[Desk], colour: u32) -> u32:
    """A colour of the theme, by its number."""
    return desk.scratch.palette[colour]


@device(inline=False)
def mix(start: u32, end: u32, part: f32) -> u32:
    """The colour that lies so far, 0 to 1, on the way from one to the other."""
    weight = u32(min(max(part, 0.0), 1.0) * 256.0)
    rest = 256 - weight
    # Two bytes at a time: a byte times 256 leaves the byte beside it alone.
    even = ((start & 0xFF00FF) * rest + (end & 0xFF00FF) * weight + 0x800080) >> 8
    odd = ((start >> 8) & 0xFF00FF) * rest + ((end >> 8) & 0xFF00FF) * weight + 0x800080
    return (even & 0xFF00FF) | (odd & 0xFF00FF00)


@device(inline=False)
def faded(colour: u32, part: f32) -> u32:
    """The colour with its alpha cut down to this part of it."""
    alpha = u32(f32(colour >> 24) * min(max(part, 0.0), 1.0) + 0.5)
    return (colour & 0xFFFFFF) | (alpha << 24)


@device
def red_of(colour: u32) -> f32:
    """Red, 0 to 255."""
    return f32(colour & 255)


@device
def green_of(colour: u32) -> f32:
    """Green, 0 to 255."""
    return f32((colour >> 8) & 255)


@device
def blue_of(colour: u32) -> f32:
    """Blue, 0 to 255."""
    return f32((colour >> 16) & 255)


@device
def alpha_of(colour: u32) -> f32:
    """Alpha, 0 to 1: the quotient by 255 to the last bit, by two products, since no instruction of a GPU divides."""
    alpha = f32(colour >> 24)
    return fma(alpha, INVERSE, alpha * INVERSE_REST)
