"""How the widgets look that show a value: checkbox, radio button, switch, slider, progress."""

from lanewise.desktop import theme
from lanewise.desktop.colours import faded, mix, shade
from lanewise.desktop.look_parts import area_of, dulled, eased, focus_ring, on_accent, text_colour, unit_part
from lanewise.desktop.primitives import add_box, add_edge, add_line, add_shadow, add_stroke
from lanewise.desktop.state import Desk
from lanewise.desktop.text import baseline_in
from lanewise.lang import Ptr, device, f32, rint, u32

MARK = 18.0
"""The side of a checkbox, and how wide a radio button is."""


@device
def mark_text(desk: Ptr[Desk], me: u32, used: u32, left: f32, first: u32) -> u32:
    """The text beside a checkbox, radio button or switch."""
    widget = desk.widgets + me
    baseline = baseline_in(desk.typeface, f32(widget.y), f32(widget.h), widget.font_size)
    right = f32(widget.x + widget.w)
    return add_line(desk, me, used, left, baseline, text_colour(desk, me), first, left - 2.0, right + 2.0)


@device(inline=False)
def mark_box(desk: Ptr[Desk], me: u32, x: f32, y: f32, radius: f32, on: f32) -> u32:
    """What is around the mark of a checkbox and the dot of a radio button."""
    widget = desk.widgets + me
    used = focus_ring(desk, me, 0, x, y, MARK, MARK, radius)
    off_fill = mix(shade(desk, theme.CONTROL), shade(desk, theme.CONTROL_HOVER), widget.hover)
    fill = mix(off_fill, mix(shade(desk, theme.ACCENT), shade(desk, theme.ACCENT_HOVER), widget.hover), on)
    off_edge = mix(shade(desk, theme.CONTROL_EDGE), shade(desk, theme.ACCENT), widget.hover * 0.6)
    edge = mix(off_edge, shade(desk, theme.ACCENT_LOW), on)
    fill = dulled(desk, widget, fill, theme.CONTROL)
    edge = dulled(desk, widget, edge, theme.CONTROL)
    return add_edge(desk, me, used, x, y, MARK, MARK, radius, fill, fill, 1.25, edge)


@device
def look_checkbox(desk: Ptr[Desk], me: u32, first: u32) -> u32:
    """A small box with a mark that grows when it is checked."""
    widget = desk.widgets + me
    x = f32(widget.x)
    y = f32(widget.y) + rint((f32(widget.h) - MARK) * 0.5)
    on = eased(widget.toggle)
    used = mark_box(desk, me, x, y, 5.0, on)
    if on > 0.0:
        colour = on_accent(desk, widget)
        bend_x = x + 7.6
        bend_y = y + 12.6
        tip = unit_part(on * 1.6 - 0.6)
        start = unit_part(on * 1.6)
        used = add_stroke(
            desk,
            me,
            used,
            bend_x - 3.4 * start,
            bend_y - 3.4 * start,
            bend_x,
            bend_y,
            bend_x + 6.2 * tip,
            bend_y - 7.2 * tip,
            2.1,
            faded(colour, on * 2.0),
        )
    return mark_text(desk, me, used, x + MARK + 9.0, first)


@device
def look_radio(desk: Ptr[Desk], me: u32, first: u32) -> u32:
    """A circle with a dot that grows when it is chosen."""
    widget = desk.widgets + me
    x = f32(widget.x)
    y = f32(widget.y) + rint((f32(widget.h) - MARK) * 0.5)
    on = eased(widget.toggle)
    used = mark_box(desk, me, x, y, MARK * 0.5, on)
    if on > 0.0:
        side = 7.4 * on
        dot = on_accent(desk, widget)
        at = (MARK - side) * 0.5
        used = add_box(desk, me, used, x + at, y + at, side, side, side * 0.5, dot, dot)
    return mark_text(desk, me, used, x + MARK + 9.0, first)


@device
def look_switch(desk: Ptr[Desk], me: u32, first: u32) -> u32:
    """A track with a knob that slides."""
    widget = desk.widgets + me
    wide = f32(38)
    high = f32(22)
    x = f32(widget.x)
    y = f32(widget.y) + rint((f32(widget.h) - high) * 0.5)
    on = eased(widget.toggle)
    used = focus_ring(desk, me, 0, x, y, wide, high, high * 0.5)
    off_fill = mix(shade(desk, theme.TRACK), shade(desk, theme.CONTROL_EDGE), widget.hover * 0.5)
    fill = mix(off_fill, mix(shade(desk, theme.ACCENT), shade(desk, theme.ACCENT_HOVER), widget.hover), on)
    fill = dulled(desk, widget, fill, theme.TRACK)
    used = add_edge(desk, me, used, x, y, wide, high, high * 0.5, fill, fill, 1.0, shade(desk, theme.SURFACE_EDGE))
    side = f32(17)
    stretch = 3.0 * eased(widget.press)
    knob_x = x + 2.5 + (wide - side - 5.0 - stretch) * on
    shadow = faded(shade(desk, theme.SHADOW), 0.8)
    used = add_shadow(desk, me, used, knob_x, y + 3.5, side + stretch, side, side * 0.5, 5.0, shadow)
    knob = dulled(desk, widget, shade(desk, theme.KNOB), theme.TRACK)
    used = add_box(desk, me, used, knob_x, y + 2.5, side + stretch, side, side * 0.5, knob, knob)
    return mark_text(desk, me, used, x + wide + 10.0, first)


@device
def part_of_value(desk: Ptr[Desk], me: u32) -> f32:
    """Where a value lies between its limits, 0 to 1."""
    widget = desk.widgets + me
    reach = widget.maximum - widget.minimum
    return unit_part((widget.value - widget.minimum) / reach) if reach > 0.0 else f32(0)


@device
def look_slider(desk: Ptr[Desk], me: u32) -> u32:
    """A track, the part of it that is filled, and a knob."""
    widget = desk.widgets + me
    side = f32(18)
    x = f32(widget.x)
    w = f32(widget.w)
    middle = f32(widget.y) + rint(f32(widget.h) * 0.5)
    at = x + (w - side) * part_of_value(desk, me)
    track = shade(desk, theme.TRACK)
    used = add_box(desk, me, 0, x, middle - 2.5, w, 5.0, 2.5, track, track)
    accent = dulled(desk, widget, shade(desk, theme.ACCENT), theme.TRACK)
    used = add_box(desk, me, used, x, middle - 2.5, at - x + side * 0.5, 5.0, 2.5, accent, accent)
    halo = max(eased(widget.hover) * 0.5, eased(widget.press))
    if halo > 0.0:
        reach = 6.0 * halo
        ring = faded(shade(desk, theme.FOCUS), 0.6 * halo)
        used = add_box(
            desk,
            me,
            used,
            at - reach,
            middle - side * 0.5 - reach,
            side + 2.0 * reach,
            side + 2.0 * reach,
            side,
            ring,
            ring,
        )
    used = focus_ring(desk, me, used, at, middle - side * 0.5, side, side, side * 0.5)
    shadow = faded(shade(desk, theme.SHADOW), 0.8)
    used = add_shadow(desk, me, used, at, middle - side * 0.5 + 1.0, side, side, side * 0.5, 6.0, shadow)
    knob = dulled(desk, widget, shade(desk, theme.KNOB), theme.TRACK)
    edge = mix(shade(desk, theme.CONTROL_EDGE), accent, max(widget.hover, widget.press))
    return add_edge(desk, me, used, at, middle - side * 0.5, side, side, side * 0.5, knob, knob, 1.25, edge)


@device
def look_progress(desk: Ptr[Desk], me: u32) -> u32:
    """A bar that is filled as far as its value."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    track = shade(desk, theme.TRACK)
    used = add_box(desk, me, 0, x, y, w, h, h * 0.5, track, track)
    part = part_of_value(desk, me)
    if part <= 0.0:
        return used
    top = dulled(desk, widget, shade(desk, theme.ACCENT_HOVER), theme.TRACK)
    low = dulled(desk, widget, shade(desk, theme.ACCENT), theme.TRACK)
    return add_box(desk, me, used, x, y, max(w * part, h), h, h * 0.5, top, low)
