"""Pieces of IR that the entries of lane programs share."""

from __future__ import annotations

from lanewise.kernel.wasi_numbers import FAIL_STOP
from lanewise.wasm import traps


def word(number: int, name: str, llvm: str) -> str:
    """IR that reads a word of what a run is told."""
    return f"""  %{name}.at = getelementptr i64, ptr %run, i64 {number}
  %{name} = load {llvm}, ptr %{name}.at, align 8, !invariant.load !1
"""


def thread_number() -> str:
    """IR that finds the number of a thread in the launch: `%k`."""
    return """  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size32 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %local = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first32 = mul i32 %group, %size32
  %k32 = add i32 %first32, %local
  %k = zext i32 %k32 to i64
"""


def tell_first(why: str, member: str) -> str:
    """IR that notes why a thread of a lane ended, unless it is known why another did.

    A thread that ends because its lane does has nothing to tell: only what ends the first one so ends the lane.
    """
    return f"""  %kind_only = trunc i64 {why} to i32
  %asked_to = icmp eq i32 %kind_only, {traps.INTERRUPTED}
  %told_to = icmp eq i32 %kind_only, {traps.KERNEL + FAIL_STOP}
  %stopped = or i1 %asked_to, %told_to
  %other_thread = icmp ne i32 {member}, 0
  %silent = and i1 %stopped, %other_thread
  %reason = select i1 %silent, i64 0, i64 {why}
  %told = cmpxchg ptr %status_at, i64 0, i64 %reason monotonic monotonic
"""
