"""Helpers of code whose steps are summed up (`meter="tally"`): sums are handed on, and who took too many ends.

Such a lane is run again, in a build that counts each step where it is taken; so are those that end in a helper, which
does not know how many steps its caller has not handed on yet.
"""

from __future__ import annotations

from lanewise.wasm import state, traps
from lanewise.wasm.build import Build
from lanewise.wasm.emitter import CALLS
from lanewise.wasm.prelude_ranges import cell_at

TALLY = ("hand_on", "settle", "end_counted")
"""What `compiler.tallies` puts in place of markers, besides what there is for rounds."""
STEPS_LEFT = """  %sum = load i32, ptr %rounds, align 4
  %given_at = getelementptr i32, ptr %rounds, i64 1
  %given = load i32, ptr %given_at, align 4
  %steps = sub i32 %sum, %given
"""
"""IR that finds how many steps a function has not handed on yet."""
ALL_GIVEN = """  store i32 0, ptr %rounds, align 4
  store i32 0, ptr %given_at, align 4
"""
"""IR that begins anew once they have been, and the lane has looked."""


def steps_less(build: Build) -> str:
    """IR that finds what is left of the lane's steps behind these, `%left`, and where it belongs."""
    left_at = cell_at(build, state.FUEL_LEFT, "%left_at", "%st")
    return f"""{left_at}  %before = load i64, ptr %left_at, align 8, !tbaa !2
  %wide = zext i32 %steps to i64
  %left = sub i64 %before, %wide
"""


def tally(build: Build) -> str:
    """The markers, and what they become. Looks, settling and ends are calls: they are rare, and would be in the way."""
    less = steps_less(build)
    turn = f"""  %turn = icmp eq i32 %kind, {traps.MISALIGNED}
  %why = select i1 %turn, i32 {traps.MISALIGNED}, i32 {traps.RETRACED}
"""
    return f"""
declare void @lw.pass(ptr captures(none), i32)
declare void @lw.step()
declare void @lw.give(ptr captures(none))
declare void @lw.finish(ptr captures(none))
declare void @lw.ended(ptr captures(none), i32, i32) #2
define internal void @lw.hand_on(ptr %rounds, ptr %st) alwaysinline #1 {{
{STEPS_LEFT}{less}  store i64 %left, ptr %left_at, align 8, !tbaa !2
  store i32 %sum, ptr %given_at, align 4
  ret void
}}
define internal void @lw.settle(ptr %rounds, ptr %st) alwaysinline #1 {{
{STEPS_LEFT}{ALL_GIVEN}  call void @lw.take(ptr %st, i32 %steps)
  ret void
}}
define internal void @lw.take(ptr %st, i32 %steps) noinline #1 {{
{less}  store i64 %left, ptr %left_at, align 8, !tbaa !2
  %over = icmp slt i64 %left, 0
  br i1 %over, label %again, label %on
again:
  call void @lw.end(ptr %st, i32 {traps.RECOUNT}, i32 0)
  unreachable
on:
  ret void
}}
define internal void @lw.look_counted(ptr %st, i32 %place, i32 %steps) cold noinline #1 {{
  call void @lw.look(ptr %st, i32 %place)
  call void @lw.take(ptr %st, i32 %steps)
  ret void
}}
define internal void @lw.end_counted(ptr %rounds, ptr %st, i32 %kind, i32 %place) alwaysinline #1 {{
{STEPS_LEFT}  call void @lw.end_after(ptr %st, i32 %kind, i32 %place, i32 %steps)
  ret void
}}
define internal void @lw.end_after(ptr %st, i32 %kind, i32 %place, i32 %steps) noinline #2 {{
{less}  %over = icmp slt i64 %left, 0
  %why = select i1 %over, i32 {traps.RECOUNT}, i32 %kind
  call void @lw.end(ptr %st, i32 %why, i32 %place)
  unreachable
}}
define internal void @lw.trap(ptr %st, i32 %kind, i32 %place) noinline #2 {{
{turn if build.gpu else f"  %why = add i32 {traps.RETRACED}, 0"}
  call void @lw.end(ptr %st, i32 %why, i32 %place)
  unreachable
}}
"""


def refuel_tally(build: Build) -> str:
    """IR of what follows when the calls between two looks are over."""
    return f"""define internal void @lw.refuel(ptr %st, i32 %place, i32 %steps) cold noinline #1 {{
{cell_at(build, state.FUEL, "%fuel_at", "%st")}  call void @lw.look_counted(ptr %st, i32 %place, i32 %steps)
  store i32 {CALLS - 1}, ptr %fuel_at, align 8, !tbaa !2
  ret void
}}
"""
