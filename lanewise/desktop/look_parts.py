"""What the looks of several widgets share: area, easing, colours, ring of the focus, a line in the middle."""

from lanewise.desktop import numbers, theme
from lanewise.desktop.colours import faded, mix, shade
from lanewise.desktop.primitives import add_edge, add_line
from lanewise.desktop.state import Desk, Widget
from lanewise.desktop.text import baseline_in, width_of
from lanewise.lang import Ptr, device, f32, rint, u32

CORNER = 7.0
"""The radius of the corners of buttons and fields."""
DULL = 0.6
"""How far the colours of what is disabled go over into what is behind them."""
RING = 3.0
"""Pixels around what has the focus."""
TEXT_MARGIN = 6.0
"""Pixels between the edges of what is pressed and a text that would be longer."""
FADED = 0.45
"""How much is left of text that is disabled."""


@device
def area_of(widget: Ptr[Widget]) -> tuple[f32, f32, f32, f32]:
    """Where a widget is on the screen: x, y, width, height."""
    return f32(widget.x), f32(widget.y), f32(widget.w), f32(widget.h)


@device
def eased(part: f32) -> f32:
    """0 to 1 that starts and ends slowly."""
    return part * part * (3.0 - 2.0 * part)


@device
def unit_part(x: f32) -> f32:
    """x, brought to 0 to 1."""
    return min(max(x, 0.0), 1.0)


@device
def dulled(desk: Ptr[Desk], widget: Ptr[Widget], colour: u32, behind: u32) -> u32:
    """A colour that goes over into that behind it, a shade of the theme, where a widget is disabled."""
    return mix(colour, shade(desk, behind), DULL) if widget.flags & numbers.DISABLED != 0 else colour


@device
def on_accent(desk: Ptr[Desk], widget: Ptr[Widget]) -> u32:
    """The colour of what is written or drawn on the accent."""
    colour = shade(desk, theme.ON_ACCENT)
    return faded(colour, DULL) if widget.flags & numbers.DISABLED != 0 else colour


@device
def text_colour(desk: Ptr[Desk], me: u32) -> u32:
    """The colour of a widget's text."""
    widget = desk.widgets + me
    colour = shade(desk, theme.TEXT)
    if widget.flags & numbers.MUTED != 0:
        colour = shade(desk, theme.TEXT_MUTED)
    if widget.foreground != 0:
        colour = widget.foreground
    return faded(colour, FADED) if widget.flags & numbers.DISABLED != 0 else colour


@device(inline=False)
def focus_ring(desk: Ptr[Desk], me: u32, used: u32, x: f32, y: f32, w: f32, h: f32, radius: f32) -> u32:
    """A soft ring around what has the focus."""
    widget = desk.widgets + me
    if widget.focus <= 0.0:
        return used
    colour = faded(shade(desk, theme.FOCUS), widget.focus)
    wide, high = w + 2.0 * RING, h + 2.0 * RING
    return add_edge(desk, me, used, x - RING, y - RING, wide, high, radius + RING, 0, 0, RING, colour)


@device(inline=False)
def centred_text(desk: Ptr[Desk], me: u32, used: u32, x: f32, w: f32, colour: u32, first: u32) -> u32:
    """One line in the middle of a box of the widget's height; one that is too long shows its beginning."""
    widget = desk.widgets + me
    width = width_of(desk.typeface, desk.texts + widget.text, 0, widget.length, widget.font_size, False)
    baseline = baseline_in(desk.typeface, f32(widget.y), f32(widget.h), widget.font_size)
    start = x + max(rint((w - width) * 0.5), 0.0)
    return add_line(desk, me, used, start, baseline, colour, first, x, x + w)
