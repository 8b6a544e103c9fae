"""How the widgets look that people write in, read and press: label, button, field, tab, menu, image."""

from lanewise.desktop import numbers, theme
from lanewise.desktop.colours import faded, mix, shade
from lanewise.desktop.look_parts import (
    CORNER,
    DULL,
    TEXT_MARGIN,
    area_of,
    centred_text,
    dulled,
    eased,
    focus_ring,
    on_accent,
    text_colour,
)
from lanewise.desktop.primitives import add_box, add_edge, add_image, add_line, add_paragraph, add_shadow, add_stroke
from lanewise.desktop.state import Desk
from lanewise.desktop.text import baseline_in, width_of
from lanewise.lang import Ptr, device, f32, i32, rint, u32

BLINK_MS = 530
FIELD_PADDING = 10.0
FIELD_MARGIN = 4.0
"""Pixels between the edges of a field and what is seen of its text."""


@device
def look_label(desk: Ptr[Desk], me: u32, first: u32) -> u32:
    """Text in its box, over several lines where it must be."""
    widget = desk.widgets + me
    box = desk.boxes + me
    used = u32(0)
    x, y, w, h = area_of(widget)
    if widget.background != 0:
        used = add_box(desk, me, used, x, y, w, h, widget.radius, widget.background, widget.background)
    width = w - box.padding[0] - box.padding[1]
    height = h - box.padding[2] - box.padding[3]
    # Lines begin where layout has them, so that they are level with the text of what lies beside them in the middle.
    top = y + widget.rest + box.padding[2]
    return add_paragraph(desk, me, used, x + box.padding[0], top, width, height, text_colour(desk, me), first)


@device
def look_button(desk: Ptr[Desk], me: u32, first: u32) -> u32:
    """A raised box that lights up under the pointer and sinks when it is pressed."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    hover = eased(widget.hover)
    press = eased(widget.press)
    used = focus_ring(desk, me, 0, x, y, w, h, CORNER)
    if widget.flags & numbers.DISABLED == 0:
        used = add_shadow(desk, me, used, x, y + 1.5, w, h, CORNER, 5.0, faded(shade(desk, theme.SHADOW), 0.3))
    if widget.flags & numbers.ACCENT != 0:
        top = mix(shade(desk, theme.ACCENT_HOVER), shade(desk, theme.ACCENT_PRESS), press)
        low = mix(shade(desk, theme.ACCENT_LOW), shade(desk, theme.ACCENT_PRESS), press)
        top = mix(mix(shade(desk, theme.ACCENT), top, 0.35), top, max(hover, press))
        low = mix(low, shade(desk, theme.ACCENT), hover * (1.0 - press))
        top = dulled(desk, widget, top, theme.SURFACE)
        low = dulled(desk, widget, low, theme.SURFACE)
        used = add_box(desk, me, used, x, y, w, h, CORNER, top, low)
        return centred_text(desk, me, used, x + TEXT_MARGIN, w - 2.0 * TEXT_MARGIN, on_accent(desk, widget), first)
    top = mix(
        mix(shade(desk, theme.CONTROL), shade(desk, theme.CONTROL_HOVER), hover),
        shade(desk, theme.CONTROL_PRESS),
        press,
    )
    low = mix(
        mix(shade(desk, theme.CONTROL_LOW), shade(desk, theme.CONTROL_HOVER), hover),
        shade(desk, theme.CONTROL_PRESS),
        press,
    )
    edge = mix(shade(desk, theme.CONTROL_EDGE), shade(desk, theme.ACCENT), hover * 0.35)
    used = add_edge(desk, me, used, x, y, w, h, CORNER, top, low, 1.0, edge)
    return centred_text(desk, me, used, x + TEXT_MARGIN, w - 2.0 * TEXT_MARGIN, text_colour(desk, me), first)


@device
def caret_is_shown(desk: Ptr[Desk]) -> bool:
    """Whether the caret, which blinks while nothing is typed, is shown now."""
    return (desk.frame.time_ms - desk.frame.caret_time) // BLINK_MS % 2 == 0


@device
def look_field(desk: Ptr[Desk], me: u32, first: u32) -> u32:
    """A box to type in: text, selection and a caret that blinks."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    size = widget.font_size
    secret = widget.flags & numbers.SECRET != 0
    used = focus_ring(desk, me, 0, x, y, w, h, CORNER)
    fill = shade(desk, theme.FIELD)
    edge = mix(shade(desk, theme.CONTROL_EDGE), shade(desk, theme.ACCENT), max(widget.focus, widget.hover * 0.35))
    used = add_edge(desk, me, used, x, y, w, h, CORNER, fill, fill, 1.0 + 0.5 * widget.focus, edge)
    codes = desk.texts + widget.text
    start = x + FIELD_PADDING - widget.scroll_x
    focused = desk.frame.focused == i32(me)
    if focused and widget.caret != widget.anchor:
        low = min(widget.caret, widget.anchor)
        high = max(widget.caret, widget.anchor)
        begin = start + width_of(desk.typeface, codes, 0, low, size, secret)
        end = start + width_of(desk.typeface, codes, 0, high, size, secret)
        used = mark_inside(desk, me, used, begin, end, 3.0, shade(desk, theme.SELECTION))
    baseline = baseline_in(desk.typeface, y, h, size)
    used = add_line(
        desk, me, used, start, baseline, text_colour(desk, me), first, x + FIELD_MARGIN, x + w - FIELD_MARGIN
    )
    if focused and caret_is_shown(desk):
        caret = start + width_of(desk.typeface, codes, 0, widget.caret, size, secret)
        used = mark_inside(desk, me, used, rint(caret) - 1.0, rint(caret) + 1.0, 1.0, shade(desk, theme.ACCENT))
    return used


@device(inline=False)
def mark_inside(desk: Ptr[Desk], me: u32, used: u32, left: f32, right: f32, radius: f32, colour: u32) -> u32:
    """What is marked of a field's line between two edges: its selection, or the caret. None of it is outside."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    begin = max(left, x + FIELD_MARGIN)
    end = min(right, x + w - FIELD_MARGIN)
    reach = min(widget.font_size * 0.75, h * 0.5 - 2.0)
    if end <= begin or reach <= 0.0:
        return used
    middle = y + rint(h * 0.5)
    return add_box(desk, me, used, begin, middle - reach, end - begin, 2.0 * reach, radius, colour, colour)


@device
def look_tab(desk: Ptr[Desk], me: u32, first: u32) -> u32:
    """A word with a bar under the one that is chosen."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    on = eased(widget.toggle)
    used = focus_ring(desk, me, 0, x + 3.0, y + 3.0, w - 6.0, h - 6.0, CORNER)
    if widget.hover > 0.0:
        fill = faded(shade(desk, theme.HOVER), widget.hover)
        used = add_box(desk, me, used, x + 2.0, y + 2.0, w - 4.0, h - 5.0, CORNER, fill, fill)
    if on > 0.0:
        accent = dulled(desk, widget, shade(desk, theme.ACCENT), theme.SURFACE)
        wide = (w - 16.0) * on
        used = add_box(desk, me, used, x + (w - wide) * 0.5, y + h - 3.0, wide, 3.0, 1.5, accent, accent)
    colour = mix(shade(desk, theme.TEXT_MUTED), shade(desk, theme.TEXT), max(on, widget.hover))
    colour = dulled(desk, widget, colour, theme.SURFACE)
    return centred_text(desk, me, used, x + TEXT_MARGIN, w - 2.0 * TEXT_MARGIN, colour, first)


@device
def look_menu(desk: Ptr[Desk], me: u32, first: u32) -> u32:
    """A button with a chevron; its popup opens below."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    used = focus_ring(desk, me, 0, x, y, w, h, CORNER)
    fill = mix(shade(desk, theme.CONTROL), shade(desk, theme.CONTROL_HOVER), widget.hover)
    low = mix(shade(desk, theme.CONTROL_LOW), shade(desk, theme.CONTROL_HOVER), widget.hover)
    edge = mix(shade(desk, theme.CONTROL_EDGE), shade(desk, theme.ACCENT), max(widget.hover * 0.35, widget.toggle))
    used = add_edge(desk, me, used, x, y, w, h, CORNER, fill, low, 1.0, edge)
    baseline = baseline_in(desk.typeface, y, h, widget.font_size)
    used = add_line(desk, me, used, x + 12.0, baseline, text_colour(desk, me), first, x + 4.0, x + w - 28.0)
    at_x = x + w - 17.0
    at_y = y + rint(h * 0.5)
    bend = 2.4 - 4.8 * eased(widget.toggle)
    colour = dulled(desk, widget, shade(desk, theme.TEXT_MUTED), theme.CONTROL)
    return add_stroke(desk, me, used, at_x - 4.5, at_y - bend, at_x, at_y + bend, at_x + 4.5, at_y - bend, 1.8, colour)


@device
def look_image(desk: Ptr[Desk], me: u32) -> u32:
    """A picture; a canvas is one that programs draw on."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    used = add_image(desk, me, 0, x, y, w, h, widget.radius)
    if widget.flags & numbers.DISABLED != 0:
        veil = faded(shade(desk, theme.SURFACE), DULL)
        used = add_box(desk, me, used, x, y, w, h, widget.radius, veil, veil)
    return add_edge(desk, me, used, x, y, w, h, widget.radius, 0, 0, 1.0, shade(desk, theme.SURFACE_EDGE))
