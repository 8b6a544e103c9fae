"""Helpers of compiled code for a GPU's flat memories: what the lanes of a warp do for each other.

A lane that fills its own memory writes 8 bytes of a line at a time, and 31 others do so to other lines. Together they
fill one memory after the other, whole lines at a time, whoever of the warp has come to the same place.
"""

from __future__ import annotations

WARP_FILL = """
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
define internal void @lw.cells_fill(ptr %base, i64 %word, i64 %count) noinline convergent #1 {
  %mask = call i32 asm sideeffect "activemask.b32 $0;", "=r"() convergent
  %below = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
  %before = and i32 %mask, %below
  %rank32 = call i32 @llvm.ctpop.i32(i32 %before)
  %lanes32 = call i32 @llvm.ctpop.i32(i32 %mask)
  %rank = zext i32 %rank32 to i64
  %lanes = zext i32 %lanes32 to i64
  %address = ptrtoint ptr %base to i64
  br label %owners
owners:
  %left = phi i32 [ %mask, %0 ], [ %others, %next ]
  %owner = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %less = sub i32 %left, 1
  %others = and i32 %left, %less
  %its.address = call i64 @lw.from_lane(i32 %mask, i64 %address, i32 %owner)
  %its.word = call i64 @lw.from_lane(i32 %mask, i64 %word, i32 %owner)
  %its.count = call i64 @lw.from_lane(i32 %mask, i64 %count, i32 %owner)
  %its.base = inttoptr i64 %its.address to ptr
  br label %head
head:
  %i = phi i64 [ %rank, %owners ], [ %i.next, %body ]
  %more = icmp ult i64 %i, %its.count
  br i1 %more, label %body, label %next
body:
  %at = getelementptr i64, ptr %its.base, i64 %i
  store i64 %its.word, ptr %at, align 8
  %i.next = add i64 %i, %lanes
  br label %head
next:
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  %over = icmp eq i32 %others, 0
  br i1 %over, label %done, label %owners
done:
  ret void
}
"""
"""Fills cells of 8 bytes; of a memory that others of the warp wrote, the owner sees it when all have come together."""
