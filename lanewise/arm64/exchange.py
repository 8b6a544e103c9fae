"""Comparing and exchanging 16 bytes of memory at once, which not each machine can.

Where there is no instruction for it, such exchanges take turns: each is whole for the others, but a store of 8 bytes
by another lane may come between. Programs that change such a pair do so by exchanges alone.
"""

from __future__ import annotations

from lanewise.compiler import Target

_HEAD = "define internal i128 @arm64.exchange_pair(ptr %place, i128 %wanted, i128 %value) noinline {\n"
_AT_ONCE = """  %pair = cmpxchg ptr %place, i128 %wanted, i128 %value seq_cst seq_cst, align 16
  %found = extractvalue { i128, i1 } %pair, 0
  ret i128 %found
}
"""
_IN_TURN = """  br label %try
try:
  %turn = cmpxchg ptr @arm64.turn, i32 0, i32 1 seq_cst seq_cst, align 4
  %mine = extractvalue { i32, i1 } %turn, 1
  br i1 %mine, label %look, label %try
look:
  %above = getelementptr i8, ptr %place, i64 8
  %low = load atomic i64, ptr %place seq_cst, align 8
  %high = load atomic i64, ptr %above seq_cst, align 8
  %low.wide = zext i64 %low to i128
  %high.wide = zext i64 %high to i128
  %up = shl i128 %high.wide, 64
  %found = or i128 %low.wide, %up
  %same = icmp eq i128 %found, %wanted
  br i1 %same, label %set, label %over
set:
  %new.low = trunc i128 %value to i64
  %down = lshr i128 %value, 64
  %new.high = trunc i128 %down to i64
  store atomic i64 %new.low, ptr %place seq_cst, align 8
  store atomic i64 %new.high, ptr %above seq_cst, align 8
  br label %over
over:
  store atomic i32 0, ptr @arm64.turn seq_cst, align 4
  ret i128 %found
}
"""


def exchange(target: Target) -> str:
    """The function that gives what was there, for a target."""
    if target.kind == "host" and ("+cx16" in target.features or not target.triple.startswith("x86")):
        return _HEAD + _AT_ONCE
    return "@arm64.turn = internal global i32 0, align 4\n" + _HEAD + _IN_TURN
