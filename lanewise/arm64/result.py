"""What lanes did in one call of `execute`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, repr=False)
class ExecutionResult:
    """How many instructions each lane ran, where it is now, and why it is there."""

    total_cycles: int
    elapsed_seconds: float
    cycles_per_lane: np.ndarray[Any, Any]
    pcs_per_lane: np.ndarray[Any, Any]
    stop_reasons: list[str]
    stop_details: np.ndarray[Any, Any]
    """The number in the instruction that stopped a lane, or the address that it could not have."""

    def avg_ips(self) -> float:
        """Instructions per second of all lanes together."""
        return self.total_cycles / self.elapsed_seconds if self.elapsed_seconds else 0.0

    @property
    def min_cycles(self) -> int:
        """The fewest instructions that a lane ran."""
        return int(self.cycles_per_lane.min())

    @property
    def max_cycles(self) -> int:
        """The most that a lane ran."""
        return int(self.cycles_per_lane.max())

    @property
    def lane_efficiency(self) -> float:
        """What part of all instructions is run that would be if each lane ran as many as the longest."""
        return self.total_cycles / (self.max_cycles * len(self.cycles_per_lane)) if self.max_cycles else 1.0

    def __repr__(self) -> str:
        why = ", ".join(f"{reason} {count:,}" for reason, count in Counter(self.stop_reasons).most_common())
        return (
            f"<{len(self.cycles_per_lane):,} lanes ran {self.total_cycles:,} instructions in "
            f"{self.elapsed_seconds:.3g} s, {self.avg_ips() / 1e6:,.1f} M/s; stopped by: {why}>"
        )
