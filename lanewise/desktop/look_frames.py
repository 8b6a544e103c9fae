"""How what holds other widgets looks: panels, windows with bar, cross and grip, popups, lists and their rows."""

from lanewise.desktop import numbers, theme
from lanewise.desktop.colours import faded, mix, shade
from lanewise.desktop.limits import SLOTS
from lanewise.desktop.look_parts import (
    CORNER,
    area_of,
    centred_text,
    dulled,
    eased,
    focus_ring,
    on_accent,
    text_colour,
    unit_part,
)
from lanewise.desktop.primitives import add_box, add_edge, add_line, add_shadow, add_stroke
from lanewise.desktop.scrolling import THUMB_EDGE, scroll_limit, thumb_of
from lanewise.desktop.state import Desk
from lanewise.desktop.strips import desk_primitive
from lanewise.desktop.text import baseline_in
from lanewise.lang import Ptr, device, f32, u32

WINDOW_CORNER = 12.0


@device
def look_panel(desk: Ptr[Desk], me: u32) -> u32:
    """A plain surface; the root is the wall behind everything."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    if me == 0:
        return add_box(desk, me, 0, x, y, w, h, 0.0, shade(desk, theme.WALL_TOP), shade(desk, theme.WALL_BOTTOM))
    fill = widget.background if widget.background != 0 else shade(desk, theme.PANEL)
    edge = shade(desk, theme.SURFACE_EDGE)
    return add_edge(desk, me, 0, x, y, w, h, widget.radius, fill, fill, 1.0, edge)


@device
def look_window(desk: Ptr[Desk], me: u32) -> u32:
    """A surface with a shadow, darker for the window in front."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    front = eased(widget.toggle)
    far = faded(shade(desk, theme.SHADOW), 0.55 + 0.3 * front)
    used = add_shadow(desk, me, 0, x + 2.0, y + 14.0, w - 4.0, h - 4.0, 22.0, 44.0 + 22.0 * front, far)
    near = faded(shade(desk, theme.SHADOW), 0.45)
    used = add_shadow(desk, me, used, x, y + 1.0, w, h, WINDOW_CORNER, 6.0, near)
    fill = shade(desk, theme.SURFACE)
    edge = shade(desk, theme.SURFACE_EDGE)
    return add_edge(desk, me, used, x, y, w, h, WINDOW_CORNER, fill, fill, 1.0, edge)


@device
def look_title(desk: Ptr[Desk], me: u32, first: u32) -> u32:
    """The bar by which a window is moved: round above, straight below, where a line ends it."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    fill = shade(desk, theme.TITLE_BAR)
    # The box is longer than the bar, which cuts it off, so that only its upper corners are seen.
    used = add_box(desk, me, 0, x + 1.0, y + 1.0, w - 2.0, h + WINDOW_CORNER, WINDOW_CORNER - 1.0, fill, fill)
    if used > 0:
        bar = desk_primitive(desk, me * SLOTS)
        bar.bottom = min(bar.bottom, widget.y + widget.h)
    line = shade(desk, theme.SURFACE_EDGE)
    used = add_box(desk, me, used, x + 1.0, y + h - 1.0, w - 2.0, 1.0, 0.0, line, line)
    front = (desk.widgets + widget.window).toggle
    colour = mix(shade(desk, theme.TEXT_MUTED), shade(desk, theme.TEXT), front)
    return centred_text(desk, me, used, x + 40.0, w - 80.0, colour, first)


@device
def look_close(desk: Ptr[Desk], me: u32) -> u32:
    """The button that closes a window: a cross that turns red under the pointer."""
    widget = desk.widgets + me
    x = f32(widget.x)
    y = f32(widget.y)
    w = f32(widget.w)
    used = focus_ring(desk, me, 0, x, y, w, w, w * 0.5)
    hover = eased(widget.hover)
    fill = mix(faded(shade(desk, theme.HOVER), 1.0), shade(desk, theme.DANGER), hover)
    used = add_box(desk, me, used, x, y, w, w, w * 0.5, fill, fill)
    colour = mix(shade(desk, theme.TEXT_MUTED), shade(desk, theme.ON_ACCENT), hover)
    middle_x = x + w * 0.5
    middle_y = y + w * 0.5
    used = add_stroke(
        desk, me, used, middle_x - 3.5, middle_y - 3.5, middle_x, middle_y, middle_x + 3.5, middle_y + 3.5, 1.6, colour
    )
    return add_stroke(
        desk, me, used, middle_x + 3.5, middle_y - 3.5, middle_x, middle_y, middle_x - 3.5, middle_y + 3.5, 1.6, colour
    )


@device
def look_grip(desk: Ptr[Desk], me: u32) -> u32:
    """Two short lines in the corner by which a window is resized."""
    widget = desk.widgets + me
    right = f32(widget.x + widget.w) - 5.0
    bottom = f32(widget.y + widget.h) - 5.0
    colour = faded(shade(desk, theme.TEXT_MUTED), 0.45 + 0.55 * widget.hover)
    used = add_stroke(desk, me, 0, right - 8.0, bottom, right - 4.0, bottom - 4.0, right, bottom - 8.0, 1.4, colour)
    return add_stroke(desk, me, used, right - 4.0, bottom, right - 2.0, bottom - 2.0, right, bottom - 4.0, 1.4, colour)


@device
def look_popup(desk: Ptr[Desk], me: u32) -> u32:
    """The box that holds the lines of a menu."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    shadow = shade(desk, theme.SHADOW)
    used = add_shadow(desk, me, 0, x, y + 6.0, w, h, 10.0, 30.0, shadow)
    fill = shade(desk, theme.SURFACE)
    used = add_edge(desk, me, used, x, y, w, h, 9.0, fill, fill, 1.0, shade(desk, theme.SURFACE_EDGE))
    return scroll_thumb(desk, me, used, x, y, w, h)


@device
def look_item(desk: Ptr[Desk], me: u32, first: u32) -> u32:
    """A line of a menu: filled under the pointer, shaded with a bar at its left where it is the chosen one."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    used = u32(0)
    if widget.flags & numbers.CHECKED != 0:
        fill = shade(desk, theme.SELECTION)
        used = add_box(desk, me, used, x, y, w, h, 6.0, fill, fill)
        bar = shade(desk, theme.ACCENT)
        used = add_box(desk, me, used, x + 3.0, y + 8.0, 3.0, h - 16.0, 1.5, bar, bar)
    if widget.hover > 0.0:
        fill = faded(shade(desk, theme.ACCENT), widget.hover)
        used = add_box(desk, me, used, x, y, w, h, 6.0, fill, fill)
    colour = mix(text_colour(desk, me), shade(desk, theme.ON_ACCENT), widget.hover)
    baseline = baseline_in(desk.typeface, y, h, widget.font_size)
    return add_line(desk, me, used, x + 12.0, baseline, colour, first, x + 4.0, x + w - 4.0)


@device
def look_list(desk: Ptr[Desk], me: u32) -> u32:
    """The frame of a list, and how far it is scrolled."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    used = focus_ring(desk, me, 0, x, y, w, h, CORNER + 1.0)
    fill = shade(desk, theme.FIELD)
    used = add_edge(desk, me, used, x, y, w, h, CORNER + 1.0, fill, fill, 1.0, shade(desk, theme.CONTROL_EDGE))
    return scroll_thumb(desk, me, used, x, y, w, h)


@device
def scroll_thumb(desk: Ptr[Desk], me: u32, used: u32, x: f32, y: f32, w: f32, h: f32) -> u32:
    """The bar at the right edge that says how far content is scrolled."""
    widget = desk.widgets + me
    limit = scroll_limit(widget)
    if limit <= 0.0 or h < 24.0:
        return used
    way, length = thumb_of(widget)
    at = y + THUMB_EDGE + way * unit_part(widget.scroll_y / limit)
    colour = faded(shade(desk, theme.TEXT_MUTED), 0.35 + 0.35 * max(widget.hover, widget.press))
    return add_box(desk, me, used, x + w - 10.0, at, 6.0, length, 3.0, colour, colour)


@device
def look_row(desk: Ptr[Desk], me: u32, first: u32) -> u32:
    """A row of a list; the chosen one is filled with the accent."""
    widget = desk.widgets + me
    x, y, w, h = area_of(widget)
    used = u32(0)
    colour = text_colour(desk, me)
    if widget.flags & numbers.CHECKED != 0:
        fill = dulled(desk, widget, shade(desk, theme.ACCENT), theme.FIELD)
        used = add_box(desk, me, used, x, y + 1.0, w, h - 2.0, 6.0, fill, fill)
        colour = on_accent(desk, widget)
    elif widget.hover > 0.0:
        fill = faded(shade(desk, theme.HOVER), widget.hover)
        used = add_box(desk, me, used, x, y + 1.0, w, h - 2.0, 6.0, fill, fill)
    baseline = baseline_in(desk.typeface, y, h, widget.font_size)
    return add_line(desk, me, used, x + 10.0, baseline, colour, first, x + 4.0, x + w - 4.0)


@device
def look_box(desk: Ptr[Desk], me: u32) -> u32:
    """What only holds others draws nothing, but how far it is scrolled."""
    widget = desk.widgets + me
    if widget.flags & numbers.CLIPS == 0:
        return 0
    return scroll_thumb(desk, me, 0, f32(widget.x), f32(widget.y), f32(widget.w), f32(widget.h))
