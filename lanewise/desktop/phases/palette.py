"""Before phase 2: time goes on, and the colours of the frame are mixed from the two themes."""

from lanewise.desktop import theme
from lanewise.desktop.colours import mix
from lanewise.desktop.state import Desk, GroupMemory
from lanewise.lang import Ptr, device, f32, u32

THEME_SECONDS = 0.25
LONGEST_STEP = 0.1
"""Seconds that a frame takes things forward at most: after a pause nothing jumps."""


@device
def approach(value: f32, target: f32, step: f32) -> f32:
    """The value, at most one step nearer to the target."""
    return min(value + step, target) if value < target else max(value - step, target)


@device
def mix_palette(desk: Ptr[Desk], group: Ptr[GroupMemory], me: u32, time_ms: u32):
    """Thread c mixes colour c; the mix itself moves towards the theme that is chosen."""
    frame = desk.frame
    delta = min(f32(time_ms - frame.time_ms) * 0.001, LONGEST_STEP)
    mixed = approach(frame.theme_mix, f32(frame.theme), delta / THEME_SECONDS)
    if me == 0:
        group.theme_mix = mixed
    if me < theme.COUNT:
        desk.scratch.palette[me] = mix(desk.palettes[me], desk.palettes[theme.COUNT + me], mixed)
