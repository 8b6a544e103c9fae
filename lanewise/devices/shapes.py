"""How many threads a launch has and how many make a group: read from `kernel[...]` and checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from lanewise.errors import ArgumentError
from lanewise.lang.functions import Kernel
from lanewise.settings import DEFAULT_GROUP_SIZE, MAX_THREADS


def parse_shape(kernel: Kernel, shape: Any) -> tuple[int, int]:
    """`kernel[threads]` or `kernel[threads, group_size]` as two whole numbers."""
    if type(shape) is int:
        return shape, DEFAULT_GROUP_SIZE
    parts = shape if isinstance(shape, tuple) else (shape,)
    if len(parts) > 2 or not all(isinstance(p, int | np.integer) and not isinstance(p, bool) for p in parts):
        raise ArgumentError(
            f"write {kernel.name}[threads](...) or {kernel.name}[threads, group_size](...), in whole numbers"
        )
    return int(parts[0]), int(parts[1]) if len(parts) == 2 else DEFAULT_GROUP_SIZE


def check_shape(kernel: Kernel, threads: int, group_size: int, max_group: int) -> None:
    """Raise unless a launch can have this many threads in groups of this size."""
    if not 0 <= threads <= MAX_THREADS:
        raise ArgumentError(
            f"kernel {kernel.name} cannot have {threads:,} threads; a launch has 0 to {MAX_THREADS:,}, "
            "and loops over more elements with grid_range"
        )
    if not 1 <= group_size <= max_group:
        raise ArgumentError(f"kernel {kernel.name}: a group of {group_size} threads; a group has 1 to {max_group}")
