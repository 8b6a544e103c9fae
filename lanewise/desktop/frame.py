"""The frame: one kernel of one group, whose phases follow each other with a barrier between them."""

import functools

from lanewise.desktop.handlers import make_handling
from lanewise.desktop.limits import TILE
from lanewise.desktop.phases.animate import animate, fill_rows
from lanewise.desktop.phases.arrange import arrange
from lanewise.desktop.phases.dispatch import dispatch
from lanewise.desktop.phases.finish import finish_frame
from lanewise.desktop.phases.geometry import make_geometry
from lanewise.desktop.phases.hit import hit_test
from lanewise.desktop.phases.input import collect_input
from lanewise.desktop.phases.palette import mix_palette
from lanewise.desktop.phases.render import fill_together, render_alone, render_together
from lanewise.desktop.phases.tiles import find_dirty
from lanewise.desktop.phases.visibility import find_visible, sort_widgets
from lanewise.desktop.state import Desk, GroupMemory
from lanewise.lang import Ptr, grid_range, kernel, local_id, shared, threadgroup_barrier, u32


@functools.cache
def make_frame(renders, handlers):
    """The kernel of a frame, with the handlers that its widgets have.

    `renders` says whether its group draws the pixels too, or leaves them to `draw_tiles`.
    """
    handle = make_handling(handlers)

    @kernel
    def frame(desk: Ptr[Desk], time_ms: u32):
        group = shared(GroupMemory)
        me = local_id()
        collect_input(desk, group, me)
        mix_palette(desk, group, me, time_ms)
        threadgroup_barrier()
        hit_test(desk, group, me)
        threadgroup_barrier()
        before_ms = desk.frame.time_ms
        dispatch(desk, group, me, time_ms)
        handle(desk, me)
        threadgroup_barrier()
        animate(desk, group, me, before_ms)
        threadgroup_barrier()
        fill_rows(desk, me)
        arrange(desk, me)
        find_visible(desk, group, me)
        threadgroup_barrier()
        sort_widgets(desk, group, me)
        make_geometry(desk, group, me)
        find_dirty(desk, group, me)
        if renders:
            render_alone(desk, me)
            threadgroup_barrier()
        finish_frame(desk, group, me)

    return frame


@kernel
def gather_tiles(desk: Ptr[Desk], out: Ptr[u32]):
    """Copy the dirty tiles of a frame one behind the other, row by row each, so that only they need to leave."""
    for at in grid_range(desk.frame.dirty_tiles * (TILE * TILE)):
        tile = u32(desk.scratch.bins[at // (TILE * TILE)].tile)
        x = tile % desk.tiles_across * TILE + at % TILE
        y = tile // desk.tiles_across * TILE + at // TILE % TILE
        out[at] = desk.pixels[y * desk.width + x] if x < desk.width and y < desk.height else 0


@kernel
def fill_bins(desk: Ptr[Desk]):
    """On a GPU, what goes before `draw_tiles`: 32 threads for each tile of the screen."""
    fill_together(desk)


@kernel
def draw_tiles(desk: Ptr[Desk]):
    """The pixels of a frame by any number of groups: the same bits as by the one group."""
    render_together(desk)
