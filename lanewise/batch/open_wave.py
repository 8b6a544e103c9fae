"""A wave that runs: which of its lanes have ended, how, and which of them have been told of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lanewise.batch.backend import Wave
from lanewise.batch.service import HostService
from lanewise.batch.spec import LaneOutcome
from lanewise.errors import WasmTrap
from lanewise.kernel.lane_io import LANE_ENDED, LANE_WAITS, LaneRecord
from lanewise.kernel.wasi_numbers import FAIL_STOP
from lanewise.wasm import traps
from lanewise.wasm.model import Module
from lanewise.wasm.places import function_at

_STOPPED = (traps.INTERRUPTED, traps.KERNEL + FAIL_STOP)


class OpenWave:
    """Lanes from `first` on, on a device."""

    def __init__(self, module: Module, first: int, count: int, service: HostService, wave: Wave) -> None:
        self.service = service
        self.wave = wave
        self._module = module
        self._first = first
        self._told = np.zeros(count, bool)
        self._records = np.zeros(count, LaneRecord.dtype)

    def ended(self) -> Iterator[LaneOutcome]:
        """Lanes that have ended since the last look, but for those that the end of the run ended: see `cut_off`."""
        self._records = self.wave.look()
        fresh = np.flatnonzero((self._records["state"] == LANE_ENDED) & ~self._told)
        if not len(fresh):
            return
        self._records = self.wave.look()  # a record that was being written may have been read in two halves
        status = self.wave.traps()[fresh].tolist()
        seconds = (self._records["nanoseconds"][fresh] / 1e9).tolist()
        codes = self._records["exit_code"][fresh].tolist()
        chains, console = self._records["last"][fresh].tolist(), self.wave.console()
        for lane, word, taken, code, last in zip(fresh.tolist(), status, seconds, codes, chains, strict=True):
            kind = word & 0xFFFFFFFF
            if kind in _STOPPED:
                continue
            self._told[lane] = True
            out, err = self.service.outputs.take(lane, console, last)
            self.service.told += 1
            if kind in (0, traps.EXIT):
                yield LaneOutcome(self._first + lane, code, None, None, taken, out, err)
            else:
                words, trap = self._trap(kind, word >> 32)
                yield LaneOutcome(self._first + lane, None, trap, words, taken, out, err)

    def _trap(self, kind: int, place: int) -> tuple[str, str]:
        words = traps.KINDS[kind]
        name = function_at(self._module, place) if place else ""
        return words, str(WasmTrap(words, function=name, offset=place))

    def cut_off(self, kind: str, now: int, *, lost: bool) -> Iterator[LaneOutcome]:
        """Lanes that were running when the run was ended, at a time on their clock; if the device is `lost`, nothing
        can be asked of it, and all that have not been told of count as such."""
        begun = np.ones(len(self._told), bool) if lost else self._records["state"] != LANE_WAITS
        cut = np.flatnonzero(begun & ~self._told).tolist()
        console = np.zeros(0, np.uint8) if lost or not cut else self.wave.console()
        for lane in cut:
            last = 0 if lost else int(self._records["last"][lane])
            out, err = self.service.outputs.take(lane, console, last)
            time = int(self._records["nanoseconds"][lane])  # how long it ran, or when it began if it has not ended
            taken = time if self._records["state"][lane] == LANE_ENDED else max(0, now - time)
            yield LaneOutcome(self._first + lane, None, kind, kind, 0.0 if lost else taken / 1e9, out, err)
