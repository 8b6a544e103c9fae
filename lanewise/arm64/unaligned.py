"""Accesses at any alignment, for a GPU, which faults where an address does not fit the size."""

from __future__ import annotations


def accesses() -> str:
    """Functions of LLVM's text that load and store 2 to 16 bytes."""
    return "".join(_access(bits) for bits in (16, 32, 64, 128))


def _access(bits: int) -> str:

    parts = bits // 8
    gather = scatter = ""
    total = "0"
    for at in range(parts):
        gather += f"""  %at.{at} = getelementptr i8, ptr %place, i64 {at}
  %byte.{at} = load i8, ptr %at.{at}
  %wide.{at} = zext i8 %byte.{at} to i{bits}
  %up.{at} = shl i{bits} %wide.{at}, {8 * at}
  %sum.{at} = or i{bits} {total}, %up.{at}
"""
        total = f"%sum.{at}"
        scatter += f"""  %at.{at} = getelementptr i8, ptr %place, i64 {at}
  %down.{at} = lshr i{bits} %value, {8 * at}
  %byte.{at} = trunc i{bits} %down.{at} to i8
  store i8 %byte.{at}, ptr %at.{at}
"""
    fits = f"""  %address = ptrtoint ptr %place to i64
  %low = and i64 %address, {parts - 1}
  %fits = icmp eq i64 %low, 0
  br i1 %fits, label %whole, label %pieces
whole:
"""
    return f"""define internal i{bits} @arm64.load.i{bits}(ptr %place) noinline {{
{fits}  %direct = load i{bits}, ptr %place, align {parts}
  ret i{bits} %direct
pieces:
{gather}  ret i{bits} {total}
}}
define internal void @arm64.store.i{bits}(ptr %place, i{bits} %value) noinline {{
{fits}  store i{bits} %value, ptr %place, align {parts}
  ret void
pieces:
{scatter}  ret void
}}
"""
