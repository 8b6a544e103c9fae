"""Lanes that run again because they had too little fuel, or trapped where nobody knew: each of their steps is counted.

A build that sums steps up knows for sure whether a lane had enough of them, but not where it was when it had not.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from lanewise.devices import DeviceArray
from lanewise.wasm import traps

Array = np.ndarray[Any, Any]


class Lanes(Protocol):
    """One vectorised function on one device."""

    def run(
        self, arrays: list[Any], shape: tuple[int, ...], on_device: bool, seconds: float | None
    ) -> tuple[list[Any], Any]:
        """Run every element, for so many seconds; gives the results, and a word per element if any has trapped."""


def to_recount(words: Array) -> Array:
    """The elements that ended for such a reason, by their words."""
    return np.flatnonzero(np.isin(_kinds(words), (traps.RECOUNT, traps.RETRACED)))


def recount(
    exact: Lanes, arrays: list[Any], results: list[Any], words: Array, again: Array, seconds: float | None
) -> None:
    """Run some elements once more, and put what they give, or why they trap, where those of all are.

    Who had too little fuel is known to have had, even if there is no time to find where.
    """
    given = [_flat(array)[again] if array.shape else array for array in arrays]
    found, whys = exact.run(given, (len(again),), False, seconds)
    for result, values in zip(results, found, strict=True):
        whole = _flat(result)
        whole[again] = values
        if isinstance(result, DeviceArray):
            result.set(whole.reshape(result.shape))
    whys = np.zeros(len(again), np.uint64) if whys is None else whys
    late = (_kinds(whys) == traps.INTERRUPTED) & (_kinds(words[again]) == traps.RECOUNT)
    words[again] = np.where(late, np.uint64(traps.OUT_OF_FUEL), whys)


def _kinds(words: Array) -> Array:
    kinds: Array = words & np.uint64(0xFFFFFFFF)
    return kinds


def _flat(array: Any) -> Array:
    """All elements in a row: of the very array, if it is the host's."""
    whole: Array = array.get() if isinstance(array, DeviceArray) else array
    return whole.reshape(-1)
