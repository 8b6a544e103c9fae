"""How programs are entered whose lanes wait for each other: on a CPU as fibers, on a GPU as teams of threads."""

from __future__ import annotations

from lanewise.devices.cpu_scheduler import HOST_STACK
from lanewise.kernel.lane_io import LaneIo
from lanewise.lang.lane import Lane
from lanewise.wasm import state
from lanewise.wasm.build import Build
from lanewise.wasm.lane_ir import tell_first, thread_number, word
from lanewise.wasm.lane_words import COUNT, ENTRY, FUEL, MEMORY, SLOT, SLOTS, STACK, STATES, STATUS

KERNEL_STACK = 128 * 1024
"""CPU: stack that the kernel is promised, besides what it promises to the host."""


def cpu_fibers(build: Build, cells: int, arenas: int, begin: str) -> str:
    """A worker takes the slots of one group and runs groups on them, each lane, or thread of a lane, as a fiber."""
    team = build.team
    # A group of fibers is the team of one lane, or a group of lanes that are one each.
    element = "group_id" if team else "thread_id"
    member = """  %first = icmp eq i32 %local, 0
  br i1 %first, label %lane, label %member
member:
  call void @g_member(ptr %st, ptr %arena, i64 %i)
  ret void
lane:
"""
    frame = "{ ptr, ptr, i64, i32 }"
    return f"""
declare void @lw_run_groups(ptr, ptr, ptr, ptr)
declare i32 @lw_guest_fiber(ptr, ptr, ptr, ptr)
define hidden void @g_enter(ptr %frame, i64 %x, i64 %y) #0 {{
  %f = load {frame}, ptr %frame
  %st = extractvalue {frame} %f, 0
  %arena = extractvalue {frame} %f, 1
  %i = extractvalue {frame} %f, 2
  %local = extractvalue {frame} %f, 3
{member if team else ""}  call void @g_element(ptr %st, ptr %arena, i64 %i)
  ret void
}}
define hidden void @g_fiber(ptr %lane, ptr %worker_frame) #0 {{
  %frame = alloca {frame}
  %run = load ptr, ptr %worker_frame
  %base_at = getelementptr i64, ptr %worker_frame, i64 1
  %base = load i64, ptr %base_at
  %local_at = getelementptr i8, ptr %lane, i64 {Lane.offsets["local_id"]}
  %local = load i32, ptr %local_at
  %element_at = getelementptr i8, ptr %lane, i64 {Lane.offsets[element]}
  %element = load i32, ptr %element_at
  %i = zext i32 %element to i64
  %local_wide = zext i32 %local to i64
  %slot = add i64 %base, %local_wide
{word(STATES, "states", "ptr")}{word(MEMORY, "memories", "ptr")}{word(STATUS, "status", "ptr")}
{word(FUEL, "fuel", "i64")}
  %state_offset = mul i64 %slot, {cells * build.stride}
  %st = getelementptr i8, ptr %states, i64 %state_offset
  %arena_first = mul i64 %slot, {arenas}
  %arena = getelementptr ptr, ptr %memories, i64 %arena_first
  %worker_at = getelementptr i8, ptr %lane, i64 {Lane.offsets["worker"]}
  %worker = load ptr, ptr %worker_at
{begin}{_fiber_fields(build)}  %f0 = insertvalue {frame} poison, ptr %st, 0
  %f1 = insertvalue {frame} %f0, ptr %arena, 1
  %f2 = insertvalue {frame} %f1, i64 %i, 2
  %f3 = insertvalue {frame} %f2, i32 %local, 3
  store {frame} %f3, ptr %frame
  store i64 0, ptr %st
  %code = call i32 @lw_guest_fiber(ptr %lane, ptr %st, ptr @g_enter, ptr %frame)
  %fine = icmp eq i32 %code, 0
  br i1 %fine, label %done, label %trapped
trapped:
  %why = load i64, ptr %st
  store i64 0, ptr %st
  %status_at = getelementptr i64, ptr %status, i64 %i
{tell_first("%why", "%local")}  call void @kernel_end(ptr %io)
  br label %done
done:
  ret void
}}
define void @{ENTRY}(ptr %launch, ptr %worker, ptr %args) #0 {{
  %frame = alloca [2 x i64], align 16
  %run = load ptr, ptr %args
  %slot_at = getelementptr i64, ptr %run, i64 {SLOT}
  %size_at = getelementptr i64, ptr %run, i64 {SLOTS}
  %size = load i64, ptr %size_at
  %number = atomicrmw add ptr %slot_at, i64 1 monotonic
  %base = mul i64 %number, %size
  store ptr %run, ptr %frame
  %base_at = getelementptr i64, ptr %frame, i64 1
  store i64 %base, ptr %base_at
  call void @lw_run_groups(ptr %launch, ptr %worker, ptr @g_fiber, ptr %frame)
  ret void
}}
"""


def _fiber_fields(build: Build) -> str:
    """What a fiber's lane is told besides: who it waits with, and its fuel."""
    stride = build.stride
    # The stack that counts is the fiber's own.
    return f"""  %limit_at = getelementptr i8, ptr %lane, i64 {Lane.offsets["stack_limit"]}
  %limit = load i64, ptr %limit_at
  %fiber_floor = add i64 %limit, {HOST_STACK + KERNEL_STACK}
  %floor_at = getelementptr i8, ptr %st, i64 {state.FLOOR * stride}
  store i64 %fiber_floor, ptr %floor_at, align 8
  %io_fiber = getelementptr i8, ptr %io, i64 {LaneIo.offsets["fiber"]}
  store ptr %lane, ptr %io_fiber, align 8
  %left_at = getelementptr i8, ptr %st, i64 {state.FUEL_LEFT * stride}
  store i64 %fuel, ptr %left_at, align 8
  %fuel_at = getelementptr i8, ptr %st, i64 {state.FUEL * stride}
  store i32 0, ptr %fuel_at, align 8
"""


def gpu_teams(build: Build, cells: int, arena: int, begin: str) -> str:
    """As many neighbouring threads as a lane may have: the first runs the lane, the others wait to be spawned."""
    team, shift = build.team, build.team.bit_length() - 1
    return f"""  %mark = alloca i64
{thread_number()}{word(SLOTS, "slots", "i64")}  %beyond = icmp uge i64 %k, %slots
  br i1 %beyond, label %done, label %some
some:
{word(COUNT, "count", "i64")}{word(STATES, "states", "ptr")}{word(MEMORY, "memory", "ptr")}
{word(STATUS, "status", "ptr")}{word(STACK, "stack", "i64")}{word(FUEL, "fuel", "i64")}
  %i = lshr i64 %k, {shift}
  %over = icmp uge i64 %i, %count
  br i1 %over, label %done, label %find
find:
  %state_offset = mul i64 %k, {cells * build.stride}
  %st = getelementptr i8, ptr %states, i64 %state_offset
  %arena_offset = mul i64 %k, {(arena + 15) // 16 * 16}
  %arena = getelementptr i8, ptr %memory, i64 %arena_offset
  %top = ptrtoint ptr %mark to i64
  %floor = sub i64 %top, %stack
  %report = getelementptr i64, ptr %status, i64 %i
{begin}  %which = and i64 %k, {team - 1}
  %first = icmp eq i64 %which, 0
  br i1 %first, label %lane, label %other
lane:
  call void @g_element(ptr %st, ptr %arena, i64 %i)
  br label %done
other:
  call void @g_member(ptr %st, ptr %arena, i64 %i)
  br label %done
done:
  ret void
"""
