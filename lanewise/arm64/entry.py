"""The entry of launches: each lane is found by its number, and run for a while."""

from __future__ import annotations

from lanewise.arm64 import lane
from lanewise.arm64.lane_machine import PARAMETERS
from lanewise.arm64.machine import BREAKPOINT, LEFT, RUNNING, WATCHPOINT

ENTRY, FINISH = "arm64_lanes", "arm64_finish"
_STEPS = 17
"""Instructions that are interpreted before the translation is tried again; then twice as many and three, and so on.

Odd numbers: a lane in a loop of 16 instructions would be at the same one each time, and perhaps never at an entry.
"""
_REGISTERS = 64
"""That a thread of a GPU has which only interprets: so each of its processors has 32 warps at a time. Some rows could
use twice as many, and would have all others run with half as many warps."""
_TRANSLATED_REGISTERS = 80
"""The same for threads that run translated code, which has more values at hand: 24 warps at a time."""
_GIVEN = "ptr %lane, ptr %memory, i64 %size, i64 %limit, ptr %run, ptr %modified"


def entry_ir(gpu: bool, translated: bool, *, declared: bool = True) -> str:
    """The entry in LLVM's text; what it calls is declared unless it is defined in the same module."""
    names = ["arm64_interpret", *(["arm64_translated"] if translated else [])] if declared else []
    declarations = "".join(f"declare void @{name}({PARAMETERS})\n" for name in names)
    finish = _finish(f"void @{FINISH}" if translated else f"internal void @{FINISH}")
    return (
        declarations
        + finish
        + (_BOTH if translated else _INTERPRETED)
        + (_gpu_entry(translated) if gpu else _host_entry())
    )


def _word(number: int, name: str, llvm: str = "i64") -> str:
    return f"""  %{name}.at = getelementptr i64, ptr %run, i64 {number}
  %{name} = load {llvm}, ptr %{name}.at, align 8
"""


def _told() -> str:
    return (
        _word(lane.MEMORY, "memories", "ptr")
        + _word(lane.SIZE, "size")
        + _word(lane.LANES, "lanes")
        + _word(lane.LIMIT, "most")
        + _word(lane.SLICE, "slice")
        + _word(lane.START, "start")
        + _word(lane.ANSWERS, "answers", "ptr")
        + _word(lane.STATES, "states", "ptr")
        + _word(lane.SPACING, "spacing")
        + _word(lane.FRESH, "fresh")
        + _word(lane.MODIFIED, "modifieds", "ptr")
        + _word(lane.MODIFIED_STEP, "modified_step")
    )


def _cell(number: int, name: str) -> str:
    return f"  %{name} = getelementptr i64, ptr %lane, i64 {number}\n"


def _finish(name: str) -> str:
    """Say what became of a lane that might have run up to a limit this time."""
    text = f"""define {name}(ptr %lane, ptr %run, i64 %limit) {{
{_word(lane.LIMIT, "most")}{_word(lane.STATES, "states", "ptr")}{_word(lane.SUMMARIES, "summaries", "ptr")}
  %here = ptrtoint ptr %lane to i64
  %first = ptrtoint ptr %states to i64
  %ahead = sub i64 %here, %first
  %i = udiv exact i64 %ahead, {lane.WORDS * 8}
  %summary_offset = mul i64 %i, {8 * len(lane.SUMMARY)}
  %summary = getelementptr i8, ptr %summaries, i64 %summary_offset
"""
    for at, number in enumerate(lane.SUMMARY):
        text += _cell(number, f"from.{at}")
        text += f"""  %said.{at} = load i64, ptr %from.{at}
  %to.{at} = getelementptr i64, ptr %summary, i64 {at}
  store i64 %said.{at}, ptr %to.{at}
"""
    ran = f"%said.{lane.SUMMARY.index(lane.CYCLES)}"
    return f"""{text}  %runs = icmp eq i64 %said.{lane.SUMMARY.index(lane.REASON)}, {RUNNING}
  %may = icmp ult i64 {ran}, %most
  %goes_on = and i1 %runs, %may
  br i1 %goes_on, label %say, label %over
say:
  %going = getelementptr i64, ptr %run, i64 {lane.GOING}
  store i64 1, ptr %going
  %early = icmp ult i64 {ran}, %limit
  br i1 %early, label %pause, label %over
pause:
  %paused = getelementptr i64, ptr %run, i64 {lane.PAUSED}
  store i64 1, ptr %paused
  br label %over
over:
  ret void
}}
"""


def _run() -> str:
    """Run lane %i, unless it goes on, has stopped, and no answer is there; then go to %next."""
    return f"""  %state_offset = mul i64 %i, {lane.WORDS * 8}
  %lane = getelementptr i8, ptr %states, i64 %state_offset
  %memory_first = mul i64 %i, %spacing
  %memory_offset = sub i64 %memory_first, %start
  %memory = getelementptr i8, ptr %memories, i64 %memory_offset
  %modified_offset = mul i64 %i, %modified_step
  %modified = getelementptr i8, ptr %modifieds, i64 %modified_offset
{_cell(lane.CYCLES, "cycles")}{_cell(lane.REASON, "reason")}{_cell(lane.DETAIL, "detail")}{_cell(lane.PC, "pc")}
  %anew = icmp ne i64 %fresh, 0
  br i1 %anew, label %begin, label %look
look:
  %stopped_by = load i64, ptr %reason
  %goes_on = icmp eq i64 %stopped_by, {RUNNING}
  br i1 %goes_on, label %go, label %ask
ask:
  %any = icmp ne ptr %answers, null
  br i1 %any, label %answer, label %next
answer:
  %answer_offset = mul i64 %i, {8 * lane.ANSWER_WORDS}
  %answer_at = getelementptr i8, ptr %answers, i64 %answer_offset
  %there = load i64, ptr %answer_at
  %answered = icmp ne i64 %there, 0
  br i1 %answered, label %take, label %next
take:
  store i64 0, ptr %answer_at
  %result_at = getelementptr i64, ptr %answer_at, i64 1
  %result = load i64, ptr %result_at
  store i64 %result, ptr %lane
  %called_at = load i64, ptr %pc
  %behind = add i64 %called_at, 4
  store i64 %behind, ptr %pc
  store i64 {RUNNING}, ptr %reason
  br label %go
begin:
  %was = load i64, ptr %reason
  %at_breakpoint = icmp eq i64 %was, {BREAKPOINT}
  %at_watchpoint = icmp eq i64 %was, {WATCHPOINT}
  %passes = or i1 %at_breakpoint, %at_watchpoint
{_cell(lane.SPECIAL["passed"], "passed_at")}  %passed = load i64, ptr %passed_at
  %passing = select i1 %passes, i64 %passed, i64 0
  store i64 %passing, ptr %passed_at
  store i64 0, ptr %cycles
  store i64 0, ptr %detail
  br label %go
go:
  %ran = load i64, ptr %cycles
  %until = add i64 %ran, %slice
  %limit = call i64 @llvm.umin.i64(i64 %until, i64 %most)
  %any_left = icmp ult i64 %ran, %limit
  br i1 %any_left, label %run_on, label %finish
run_on:
  call void @arm64_run({_GIVEN})
  br label %finish
finish:
  call void @{FINISH}(ptr %lane, ptr %run, i64 %limit)
  br label %next
"""


def _host_entry() -> str:
    """Workers take lane after lane."""
    return f"""define void @{ENTRY}(ptr %launch, ptr %worker, ptr %args) {{
  %run = load ptr, ptr %args
{_told()}  %next_at = getelementptr i64, ptr %run, i64 {lane.NEXT}
  br label %next
next:
  %i = atomicrmw add ptr %next_at, i64 1 monotonic
  %some = icmp ult i64 %i, %lanes
  br i1 %some, label %work, label %over
work:
{_run()}over:
  ret void
}}
"""


def _gpu_entry(translated: bool) -> str:
    """A thread a lane, of the first threads of each warp, from the next lane on."""
    registers = _TRANSLATED_REGISTERS if translated else _REGISTERS
    return f"""define ptx_kernel void @{ENTRY}(ptr %run, i32 %n, ptr %traps) "nvvm.maxnreg"="{registers}" {{
{_told()}  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %group_size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %local = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = mul i32 %group, %group_size
  %number = add i32 %first, %local
{_word(lane.PER_WARP, "per_warp")}  %warp = lshr i32 %number, 5
  %warp.wide = zext i32 %warp to i64
  %in_warp = and i32 %number, 31
  %in_warp.wide = zext i32 %in_warp to i64
  %ahead = mul i64 %warp.wide, %per_warp
  %within = add i64 %ahead, %in_warp.wide
{_word(lane.NEXT, "next_lane")}  %i = add i64 %next_lane, %within
  %used = icmp ult i64 %in_warp.wide, %per_warp
  %inside = icmp ult i64 %i, %lanes
  %some = and i1 %used, %inside
  br i1 %some, label %work, label %next
work:
{_run()}next:
  ret void
}}
"""


_INTERPRETED = f"""define internal void @arm64_run({PARAMETERS}) alwaysinline {{
  call void @arm64_interpret({_GIVEN})
  ret void
}}
"""
_BOTH = f"""define internal void @arm64_run({PARAMETERS}) {{
entry:
  %cycles = getelementptr i64, ptr %lane, i64 {lane.CYCLES}
  %reason = getelementptr i64, ptr %lane, i64 {lane.REASON}
  %pc.at = getelementptr i64, ptr %lane, i64 {lane.PC}
  %samples.at = getelementptr i64, ptr %run, i64 {lane.SAMPLES}
  %samples = load ptr, ptr %samples.at
  %most.at = getelementptr i64, ptr %run, i64 {lane.STEPS}
  %most = load i64, ptr %most.at
  %allowed.at = getelementptr i64, ptr %run, i64 {lane.INTERPRETED}
  %allowed = load i64, ptr %allowed.at
  br label %again
again:
  %steps = phi i64 [ {_STEPS}, %entry ], [ %more_steps, %try ]
  %may = phi i64 [ %allowed, %entry ], [ %may_still, %try ]
  %changed = load atomic i64, ptr %modified monotonic, align 8
  %stale = icmp ne i64 %changed, 0
  br i1 %stale, label %interpreted, label %translated
interpreted:
  %ran = load i64, ptr %cycles
  %end = add i64 %ran, %may
  %until.all = call i64 @llvm.umin.i64(i64 %end, i64 %limit)
  call void @arm64_interpret(ptr %lane, ptr %memory, i64 %size, i64 %until.all, ptr %run, ptr %modified)
  ret void
translated:
  %before = load i64, ptr %cycles
  call void @arm64_translated({_GIVEN})
  %why = load i64, ptr %reason
  %left = icmp eq i64 %why, {LEFT}
  br i1 %left, label %some, label %over
some:
  %so_far = load i64, ptr %cycles
  %idle = icmp eq i64 %so_far, %before
  %sampling = icmp ugt i64 %most, {lane.FEW_STEPS}
  %long_here = icmp eq i64 %steps, %most
  %stays = or i1 %sampling, %long_here
  %come = xor i1 %idle, true
  %counts = or i1 %come, %stays
  br i1 %counts, label %count_it, label %counted
count_it:
  %pc = load i64, ptr %pc.at
  %word = lshr i64 %pc, 2
  %slot = and i64 %word, {lane.SAMPLE_SLOTS - 1}
  %slot.two = shl i64 %slot, 1
  %sample = getelementptr i64, ptr %samples, i64 %slot.two
  %count.at = getelementptr i64, ptr %sample, i64 1
  %sampled = load i64, ptr %sample
  %count = load i64, ptr %count.at
  %same = icmp eq i64 %sampled, %pc
  %so_many = select i1 %same, i64 %count, i64 0
  %one_more = add i64 %so_many, 1
  store i64 %pc, ptr %sample
  store i64 %one_more, ptr %count.at
  br label %counted
counted:
  %double = shl i64 %steps, 1
  %twice = add i64 %double, 3
  %longer = call i64 @llvm.umin.i64(i64 %twice, i64 %most)
  %more_steps = select i1 %idle, i64 %longer, i64 {_STEPS}
  %few = call i64 @llvm.umin.i64(i64 %steps, i64 %may)
  %further = add i64 %so_far, %few
  %until = call i64 @llvm.umin.i64(i64 %further, i64 %limit)
  call void @arm64_interpret(ptr %lane, ptr %memory, i64 %size, i64 %until, ptr %run, ptr %modified)
  %still = load i64, ptr %reason
  %running = icmp eq i64 %still, {RUNNING}
  %now = load i64, ptr %cycles
  %done = sub i64 %now, %so_far
  %may_still = sub i64 %may, %done
  %more = icmp ult i64 %now, %limit
  %some_more = icmp ne i64 %may_still, 0
  %goes_on = and i1 %running, %more
  %go_on = and i1 %goes_on, %some_more
  br i1 %go_on, label %try, label %over
try:
  br label %again
over:
  ret void
}}
"""
