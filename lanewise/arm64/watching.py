"""What a debugging interpreter asks before it goes on: is there a breakpoint, is that watched, who was here."""

from __future__ import annotations

from lanewise.arm64 import lane


def watching() -> str:
    """Functions of LLVM's text over the block that `lane` describes."""
    return f"""define internal i1 @arm64_broken(ptr %debug, i64 %pc) noinline {{
entry:
  %count = load i64, ptr %debug
  %first = getelementptr i64, ptr %debug, i64 {lane.BREAKPOINT}
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %k.next, %other ]
  %more = icmp ult i64 %k, %count
  br i1 %more, label %look, label %none
look:
  %at = getelementptr i64, ptr %first, i64 %k
  %address = load i64, ptr %at
  %here = icmp eq i64 %address, %pc
  br i1 %here, label %found, label %other
other:
  %k.next = add i64 %k, 1
  br label %head
found:
  ret i1 true
none:
  ret i1 false
}}
define internal i1 @arm64_watched(ptr %debug, i64 %address, i64 %count, i64 %kinds) noinline {{
entry:
  %number_at = getelementptr i64, ptr %debug, i64 {lane.WATCHPOINTS}
  %number = load i64, ptr %number_at
  %first = getelementptr i64, ptr %debug, i64 {lane.WATCHPOINT}
  %less = sub i64 %count, 1
  %end = add i64 %address, %less
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %k.next, %other ]
  %more = icmp ult i64 %k, %number
  br i1 %more, label %look, label %none
look:
  %three = mul i64 %k, 3
  %low_at = getelementptr i64, ptr %first, i64 %three
  %high_at = getelementptr i64, ptr %low_at, i64 1
  %kind_at = getelementptr i64, ptr %low_at, i64 2
  %low = load i64, ptr %low_at
  %high = load i64, ptr %high_at
  %kind = load i64, ptr %kind_at
  %begins = icmp ule i64 %address, %high
  %ends = icmp uge i64 %end, %low
  %meets = and i1 %begins, %ends
  %same = and i64 %kind, %kinds
  %wanted = icmp ne i64 %same, 0
  %hit = and i1 %meets, %wanted
  br i1 %hit, label %found, label %other
other:
  %k.next = add i64 %k, 1
  br label %head
found:
  ret i1 true
none:
  ret i1 false
}}
define internal void @arm64_trace(ptr %debug, ptr %run, ptr %lane, i64 %pc, i32 %word) noinline {{
  %length_at = getelementptr i64, ptr %debug, i64 {lane.TRACE_LENGTH}
  %length = load i64, ptr %length_at
  %none = icmp eq i64 %length, 0
  br i1 %none, label %over, label %note
note:
  %states_at = getelementptr i64, ptr %run, i64 {lane.STATES}
  %states = load i64, ptr %states_at
  %this = ptrtoint ptr %lane to i64
  %offset = sub i64 %this, %states
  %i = udiv i64 %offset, {lane.WORDS * 8}
  %traces_at = getelementptr i64, ptr %debug, i64 {lane.TRACES}
  %traces = load ptr, ptr %traces_at
  %pairs = mul i64 %length, 2
  %words = add i64 %pairs, 1
  %before = mul i64 %i, %words
  %mine = getelementptr i64, ptr %traces, i64 %before
  %count = load i64, ptr %mine
  %more = add i64 %count, 1
  store i64 %more, ptr %mine
  %turn = urem i64 %count, %length
  %twice = mul i64 %turn, 2
  %place = add i64 %twice, 1
  %pc_at = getelementptr i64, ptr %mine, i64 %place
  store i64 %pc, ptr %pc_at
  %word_at = getelementptr i64, ptr %pc_at, i64 1
  %wide = zext i32 %word to i64
  store i64 %wide, ptr %word_at
  br label %over
over:
  ret void
}}
"""
