"""How far the lanes of a warp are in step: counted by builds with `stats`, at the head of each round of a loop.

Each lane counts its rounds, and adds for each the share of the warp's round that is its own: 1 by the number of lanes
that are at that place with it. Rounds by shares are how many lanes were active in a warp on the average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lanewise.wasm import state
from lanewise.wasm.build import Build

_ONE = 1 << 20
"""A whole round of a warp, as lanes count it."""


@dataclass(frozen=True)
class Divergence:
    """Rounds of loops, of all lanes and of all warps."""

    lane_rounds: int = 0
    warp_rounds: float = 0.0

    @property
    def active(self) -> float:
        """Lanes of a warp that were active, on the average; 0 if no loop was counted."""
        return self.lane_rounds / self.warp_rounds if self.warp_rounds else 0.0

    def __add__(self, other: Divergence) -> Divergence:
        return Divergence(self.lane_rounds + other.lane_rounds, self.warp_rounds + other.warp_rounds)

    def __str__(self) -> str:
        if not self.warp_rounds:
            return "divergence: no loop was counted"
        return f"divergence: {self.active:.1f} lanes of a warp active, in {self.lane_rounds:,} rounds of loops"


def divergence_of(states: np.ndarray[Any, Any], cells: int, build: Build) -> Divergence:
    """What the states of slots have counted, where each has so many cells."""
    width = build.columns
    by_cell = states.reshape(-1, cells, width)
    rounds, shares = (int(by_cell[:, cell].sum(dtype=np.uint64)) for cell in (state.ROUNDS, state.ROUND_SHARES))
    return Divergence(rounds, shares / _ONE)


def sample(build: Build) -> str:
    """IR of the function that a loop calls in each round of builds with `stats`."""
    if not build.gpu:
        return "define internal void @lw.sample(ptr %st) alwaysinline #1 {\n  ret void\n}\n"
    return f"""
define internal void @lw.sample(ptr %st) noinline convergent #1 {{
  %mask = call i32 asm sideeffect "activemask.b32 $0;", "=r"() convergent
  %active = call i32 @llvm.ctpop.i32(i32 %mask)
  %share32 = udiv i32 {_ONE}, %active
  %share = zext i32 %share32 to i64
  %rounds_at = getelementptr i8, ptr %st, i64 {state.ROUNDS * build.stride}
  %rounds = load i64, ptr %rounds_at, align 8
  %rounds.next = add i64 %rounds, 1
  store i64 %rounds.next, ptr %rounds_at, align 8
  %shares_at = getelementptr i8, ptr %st, i64 {state.ROUND_SHARES * build.stride}
  %shares = load i64, ptr %shares_at, align 8
  %shares.next = add i64 %shares, %share
  store i64 %shares.next, ptr %shares_at, align 8
  ret void
}}
"""
