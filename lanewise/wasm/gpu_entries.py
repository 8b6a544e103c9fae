"""How lane programs are entered on a GPU: a thread an element, or a thread a slot that takes element after element.

Elements are handed out by a counter, so that nobody waits behind an element that takes long. Where several launches
share the slots, a warp claims a unit of them, as many as it has lanes, before it begins; lanes count themselves out of
their unit when they end, by themselves or by a trap, and a unit without lanes is free again.
"""

from __future__ import annotations

from typing import NamedTuple

from lanewise.settings import WARP_SIZE
from lanewise.wasm import state
from lanewise.wasm.build import Build
from lanewise.wasm.lane_ir import thread_number, word
from lanewise.wasm.lane_words import (
    COUNT,
    FUEL,
    INDICES,
    MEMORY,
    PROGRESS,
    SLOTS,
    SPREAD,
    STACK,
    STATES,
    STATUS,
    STOP,
    UNITS,
)

REPORT = f"""{word(STATUS, "status", "ptr")}  %report = getelementptr i64, ptr %status, i64 %i
{word(STOP, "stop", "i64")}{word(STACK, "stack", "i64")}  %top = ptrtoint ptr %st to i64
  %floor = sub i64 %top, %stack
{word(FUEL, "fuel", "i64")}"""
"""IR that finds what a thread without a slot needs to end early: where to tell, when to stop, how deep calls may go."""


class SlotSize(NamedTuple):
    """What a slot takes, and in which build."""

    cells: int
    arena: int
    build: Build


def plain(cells: int, begin: str, arguments: str) -> str:
    """The body of a kernel with a thread an element."""
    return f"""  %st = alloca [{cells} x i64], align 16
{thread_number()}{word(COUNT, "count", "i64")}  %beyond = icmp uge i64 %k, %count
  br i1 %beyond, label %done, label %some
some:
{_pick("%k")}{begin}  call void @g_element(ptr %st, i64 %i{arguments})
  br label %done
done:
  ret void
"""


def slots(size: SlotSize, begin: str, element: str, arguments: str) -> str:
    """The body of a kernel with a thread a slot.

    `begin` gives a slot's state what stays, `element` what each element needs anew. Without a counter a slot runs the
    element of its own number alone: lanes that meet others must have their neighbours beside them. A trap ends the
    thread, and others go on with the elements.

    What the counter grows by is read from memory, for ptxas must not know that it is always 1: it would have one lane
    count for all that come together, who then ask that lane for their number. They come together by a barrier of the
    warp that lanes elsewhere in the program use, too, so that some would ask before there is an answer.
    """
    return f"""  %mark = alloca i64
{thread_number().replace("%k ", "%thread ")}{word(SPREAD, "spread", "i64")}{word(SLOTS, "slots", "i64")}
  %warp = udiv i64 %thread, {WARP_SIZE}
  %within = urem i64 %thread, {WARP_SIZE}
  %width = lshr i64 {WARP_SIZE}, %spread
  %idle = icmp uge i64 %within, %width
{_claim()}  %unit_first = mul i64 %unit, %width
  %k = add i64 %unit_first, %within
  %outside = icmp uge i64 %k, %slots
  %beyond = or i1 %outside, %idle
  br i1 %beyond, label %done, label %some
some:
{word(COUNT, "count", "i64")}{word(STATES, "states", "ptr")}{word(MEMORY, "memory", "ptr")}
{word(PROGRESS, "progress", "ptr")}{word(STATUS, "status", "ptr")}
{word(STACK, "stack", "i64")}{word(FUEL, "fuel", "i64")}{_find(size)}  %top = ptrtoint ptr %mark to i64
  %floor = sub i64 %top, %stack
{begin}  %own_alone = icmp eq ptr %progress, null
  %counter = addrspacecast ptr %progress to ptr addrspace(1)
  store volatile i64 1, ptr %mark
  br label %head
head:
  br i1 %own_alone, label %element, label %take
take:
  %one = load volatile i64, ptr %mark
  %taken = atomicrmw add ptr addrspace(1) %counter, i64 %one monotonic
  br label %element
element:
  %e = phi i64 [ %k, %head ], [ %taken, %take ]
  %over = icmp uge i64 %e, %count
  br i1 %over, label %leave, label %run_it
run_it:
{_pick("%e")}  %report = getelementptr i64, ptr %status, i64 %i
{element}  call void @g_element(ptr %st, ptr %arena, i64 %i{arguments})
  br i1 %own_alone, label %leave, label %head
leave:
  call void @lw.leave(ptr %st)
  br label %done
done:
  ret void
"""


def leave(build: Build) -> str:
    """IR of the function by which a lane counts itself out of its unit."""
    return f"""
define internal void @lw.leave(ptr %st) #1 {{
  %at = getelementptr i8, ptr %st, i64 {state.UNIT * build.stride}
  %unit = load ptr, ptr %at, align 8
  %none = icmp eq ptr %unit, null
  br i1 %none, label %done, label %count
count:
  %before = atomicrmw sub ptr %unit, i32 1 release
  br label %done
done:
  ret void
}}
"""


def _pick(number: str) -> str:
    """IR that finds the element of a number, `%i`: the same, unless the run lists elements."""
    return f"""{word(INDICES, "indices", "ptr")}  %all = icmp eq ptr %indices, null
  br i1 %all, label %in_order, label %listed
listed:
  %listed_at = getelementptr i64, ptr %indices, i64 {number}
  %listed_one = load i64, ptr %listed_at
  br label %picked
in_order:
  br label %picked
picked:
  %i = phi i64 [ {number}, %in_order ], [ %listed_one, %listed ]
"""


def _find(size: SlotSize) -> str:
    """IR that finds state and memory of slot `%k`."""
    width = size.build.columns
    return f"""  %tile = udiv i64 %k, {width}
  %column = urem i64 %k, {width}
  %states_offset = mul i64 %tile, {size.cells * size.build.stride}
  %arena_offset = mul i64 %tile, {(size.arena + 15) // 16 * 16 * width}
  %lane_offset = mul i64 %column, 8
  %state_sum = add i64 %states_offset, %lane_offset
  %arena_sum = add i64 %arena_offset, %lane_offset
  %st = getelementptr i8, ptr %states, i64 %state_sum
  %arena = getelementptr i8, ptr %memory, i64 %arena_sum
"""


def _claim() -> str:
    """IR that finds the unit of a warp, `%unit`, and where its lanes are counted, `%unit_at`: null without claims.

    The threads of the warp look at as many units at once, from the one of the warp's own number on, and the first that
    sees a free one tries to get it. A warp that finds none ends: launches that come later find what was left.
    """
    return f"""{word(UNITS, "unit_words", "ptr")}  %own_unit = icmp eq ptr %unit_words, null
  %lane32 = trunc i64 %within to i32
  %width32 = trunc i64 %width to i32
  %units = udiv i64 %slots, %width
  br i1 %own_unit, label %settled, label %probe
probe:
  %step = phi i64 [ 0, %0 ], [ %next_step, %again ]
  %from = add i64 %warp, %step
  %sum = add i64 %from, %within
  %seen = urem i64 %sum, %units
  %seen_at = getelementptr i32, ptr %unit_words, i64 %seen
  %living = load atomic i32, ptr %seen_at monotonic, align 4
  %free = icmp eq i32 %living, 0
  %votes = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %free)
  %first = call i32 @llvm.cttz.i32(i32 %votes, i1 false)
  %chosen = icmp eq i32 %first, %lane32
  br i1 %chosen, label %try, label %tried
try:
  %pair = cmpxchg ptr %seen_at, i32 0, i32 %width32 acquire monotonic
  %won = extractvalue {{ i32, i1 }} %pair, 1
  br label %tried
tried:
  %got = phi i1 [ false, %probe ], [ %won, %try ]
  %winners = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %got)
  %failed = icmp eq i32 %winners, 0
  br i1 %failed, label %again, label %claimed
again:
  %next_step = add i64 %step, {WARP_SIZE}
  %all_seen = icmp uge i64 %next_step, %units
  br i1 %all_seen, label %done, label %probe
claimed:
  %seen32 = trunc i64 %seen to i32
  %shared32 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %seen32, i32 %first, i32 31)
  %claimed_unit = zext i32 %shared32 to i64
  %claimed_at = getelementptr i32, ptr %unit_words, i64 %claimed_unit
  br label %settled
settled:
  %unit = phi i64 [ %warp, %0 ], [ %claimed_unit, %claimed ]
  %unit_at = phi ptr [ null, %0 ], [ %claimed_at, %claimed ]
"""
