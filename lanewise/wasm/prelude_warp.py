"""Helpers of compiled code for a GPU's flat memories: what the lanes of a warp do for each other.

A lane that fills its own memory writes 8 bytes of a line at a time, and 31 others do so to other lines. Together they
fill one memory after the other, whole lines at a time, whoever of the warp has come to the same place.
"""

from __future__ import annotations

_FROM_LANE = """
define internal i64 @lw.from_lane(i32 %mask, i64 %value, i32 %lane) alwaysinline convergent #1 {
  %low = trunc i64 %value to i32
  %up = lshr i64 %value, 32
  %high = trunc i64 %up to i32
  %low.there = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %mask, i32 %low, i32 %lane, i32 31)
  %high.there = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %mask, i32 %high, i32 %lane, i32 31)
  %low.wide = zext i32 %low.there to i64
  %high.wide = zext i32 %high.there to i64
  %high.up = shl i64 %high.wide, 32
  %both = or i64 %high.up, %low.wide
  ret i64 %both
}
"""
_EACH_A_CELL = """  br label %head
head:
  %k = phi i64 [ %rank, %owners ], [ %further, %body ]
  %more = icmp ult i64 %k, %its.count
  br i1 %more, label %body, label %next
body:
  %to = getelementptr i64, ptr %its.memory, i64 %k
CELL  %further = add i64 %k, %lanes
  br label %head
"""
"""Each lane has every so-many-th cell, whatever the others do meanwhile."""
_STEP_BY_STEP = """  %down = icmp ne i64 %its.backwards, 0
  %its.source = inttoptr i64 %its.from to ptr
  br label %head
head:
  %step = phi i64 [ 0, %owners ], [ %further, %written ]
  %more = icmp ult i64 %step, %its.count
  br i1 %more, label %body, label %next
body:
  %k = add i64 %step, %rank
  %part = icmp ult i64 %k, %its.count
  %mirrored = sub i64 %its.count, %k
  %last = sub i64 %mirrored, 1
  %i = select i1 %down, i64 %last, i64 %k
  %to = getelementptr i64, ptr %its.memory, i64 %i
  br i1 %part, label %read, label %have
read:
  %there = getelementptr i64, ptr %its.source, i64 %i
  %v = load i64, ptr %there, align 8
  br label %have
have:
  %value = phi i64 [ 0, %body ], [ %v, %read ]
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  br i1 %part, label %write, label %written
write:
  store i64 %value, ptr %to, align 8
  br label %written
written:
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  %further = add i64 %step, %lanes
  br label %head
"""
"""All have read before any writes, and written before any reads on: ranges may overlap, as if a lane copied alone."""


def warp_ranges() -> str:
    """IR that fills, copies and brings cells of 8 bytes, a warp together: see `_cell_ranges`."""
    bring = """  %its.source = inttoptr i64 %its.from to ptr
  %there = getelementptr i64, ptr %its.source, i64 %k
  %v = load i64, ptr %there, align 1
  store i64 %v, ptr %to, align 8
"""
    fill = _EACH_A_CELL.replace("CELL", "  store i64 %its.word, ptr %to, align 8\n")
    return f"""{_FROM_LANE}
{_for_each_lane("fill", "word count", fill)}
{_for_each_lane("copy", "from count backwards", _STEP_BY_STEP)}
{_for_each_lane("init", "from count", _EACH_A_CELL.replace("CELL", bring))}
define internal void @lw.cells_fill(ptr %to, i64 %word, i64 %count) alwaysinline #1 {{
  %at = ptrtoint ptr %to to i64
  call void @lw.warp_fill(i64 %at, i64 %word, i64 %count)
  ret void
}}
define internal void @lw.cells_copy(ptr %to, ptr %from, i64 %count, i1 %backwards) alwaysinline #1 {{
  %at = ptrtoint ptr %to to i64
  %source = ptrtoint ptr %from to i64
  %down = zext i1 %backwards to i64
  call void @lw.warp_copy(i64 %at, i64 %source, i64 %count, i64 %down)
  ret void
}}
define internal void @lw.cells_init(ptr %to, ptr %from, i64 %count) alwaysinline #1 {{
  %at = ptrtoint ptr %to to i64
  %source = ptrtoint ptr %from to i64
  call void @lw.warp_init(i64 %at, i64 %source, i64 %count)
  ret void
}}
"""


def _for_each_lane(name: str, given: str, work: str) -> str:
    """A function whose callers do the work of each of them in turn, with what that one was given: `%its.` and a name.

    They are `%lanes`, this is number `%rank` of them, and `%its.memory` is where the work begins. Of what others wrote
    its owner sees all, since they come together behind it.
    """
    words = ["at", *given.split()]
    asked = "".join(f"  %its.{word} = call i64 @lw.from_lane(i32 %mask, i64 %{word}, i32 %owner)\n" for word in words)
    parameters = ", ".join(f"i64 %{word}" for word in words)
    return f"""define internal void @lw.warp_{name}({parameters}) noinline convergent #1 {{
  %mask = call i32 asm sideeffect "activemask.b32 $0;", "=r"() convergent
  %below = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
  %before = and i32 %mask, %below
  %rank32 = call i32 @llvm.ctpop.i32(i32 %before)
  %lanes32 = call i32 @llvm.ctpop.i32(i32 %mask)
  %rank = zext i32 %rank32 to i64
  %lanes = zext i32 %lanes32 to i64
  br label %owners
owners:
  %left = phi i32 [ %mask, %0 ], [ %others, %next ]
  %owner = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %less = sub i32 %left, 1
  %others = and i32 %left, %less
{asked}  %its.memory = inttoptr i64 %its.at to ptr
{work}next:
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  %over = icmp eq i32 %others, 0
  br i1 %over, label %done, label %owners
done:
  ret void
}}"""
