"""Pieces of IR that the entries of lane programs share."""

from __future__ import annotations


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
