"""Lanes that were started together on a GPU, on a stream of their own."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from lanewise.batch.backend import Wave
from lanewise.batch.cuda_slots import CudaSlots
from lanewise.batch.service import HostService
from lanewise.devices.cuda import CudaDevice
from lanewise.kernel.lane_io import LANE_ENDED, Console, LaneRecord
from lanewise.wasm import lane_words as lanes
from lanewise.wasm.tuning import Turn

_MOSTLY = 0.9
"""How many of its lanes must have ended for a wave to tell how fast lanes are: some may take very long."""
_LATE = 1.5
"""How many times as long as most of its lanes a wave may take before others begin beside it."""
_UNSEEN = 0.1
_SHORT_SECONDS = 0.2
"""How much of a wave's time may pass between two looks at it, for its time to say something."""


class CudaWave(Wave):
    """What a wave writes, and how far it is. `turn` is what was chosen for it, None if its time is not taken."""

    def __init__(
        self, device: CudaDevice, slots: CudaSlots, stream: int, count: int, console_bytes: Any, turn: Turn | None
    ) -> None:
        self._slots: CudaSlots | None = slots
        self.stream = stream
        self._others: list[int] = []
        """Streams on which it was started once more, for slots that others had when it began."""
        self.turn = turn
        self.preparing = 0.0
        """Seconds that went into making code for it."""
        self.taken = False
        """Whether all of its lanes have been begun."""
        self.seconds: float | None = None
        """How long its lanes took, once most of them have ended."""
        self.unseen = False
        """Whether nobody looked for so long before that, that it may be wrong."""
        self._device = device
        self._count = count
        self._records = device.zeros(count, LaneRecord.dtype)
        self._status = device.zeros(count, np.uint64)
        self._next = device.zeros(1, np.uint64)
        self._console_bytes = console_bytes
        self._console = device.zeros(1, Console.dtype)
        self._keep: list[Any] = []
        self._words = 0
        self._began = self._checked = 0.0
        self._cleared = False

    def put(self, array: np.ndarray[Any, Any]) -> int:
        """Put an array where its lanes can read it; gives its address."""
        made = self._device.array(np.frombuffer(array.tobytes(), np.uint8))
        self._keep.append(made)
        return made.address

    def tell(self, run: Any, words: np.ndarray[Any, Any], *, in_order: bool) -> None:
        """Complete what lanes are told; `in_order` if each slot has the lane of its own number, and no other."""
        size = 0 if self._console_bytes is None else self._console_bytes.size
        console = Console.record()
        console["capacity"], console["records"] = size, self._console_bytes.address if size else 0
        self._device.write(self._console.address, console.tobytes())
        run["records"], run["console"] = self._records.address, self._console.address
        words[lanes.COUNT], words[lanes.STATUS] = self._count, self._status.address
        words[lanes.PROGRESS] = 0 if in_order else self._next.address
        words[lanes.RUN_IO] = self.put(np.frombuffer(run.tobytes(), np.uint8))
        self._words = self.put(words)
        self.taken = in_order

    def begin(self) -> None:
        """Start its lanes."""
        self._began = self._checked = time.perf_counter()
        self._launch(self.stream)

    def _launch(self, stream: int) -> None:
        assert self._slots is not None
        self._slots.launch(self._words, stream)

    @property
    def streams(self) -> list[int]:
        """Where its threads may be."""
        return [self.stream, *self._others]

    def reinforce(self, stream: int) -> None:
        """Have its lanes begin on slots, too, that have become free since it was started."""
        self._launch(stream)
        self._others.append(stream)

    def free_units(self) -> tuple[int, int]:
        """How many units of its slots no wave has, and how many there are."""
        assert self._slots is not None
        return self._slots.free_units()

    @property
    def age(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self._began

    def is_idle(self) -> bool:
        """Whether none of its threads is there any more."""
        self._others = [stream for stream in self._others if not self._device.stream_idle(stream)]
        return not self._others and self._device.stream_idle(self.stream)

    def check(self, service: HostService) -> None:
        """See how far it is; where all threads have ended before all lanes were begun, others go on with them."""
        before, self._checked = self._checked, time.perf_counter()
        idle = self.is_idle()
        if not self._readable(idle):
            return
        self.taken = self.taken or int(self._device.peek(self._next.address, 8).view(np.uint64)[0]) >= self._count
        if idle and not self.taken and not service.stopping:
            self._launch(self.stream)
            return
        self.over = idle
        if idle:
            self._slots = None  # others may need the memory
        if self.taken and self.seconds is None and (idle or self._mostly_ended()):
            self.seconds = self.age
            # Whoever takes outcomes may have done other things, while it ended at some time.
            self.unseen = self._checked - before > _UNSEEN * max(_SHORT_SECONDS, self.seconds)

    @property
    def lets_others_begin(self) -> bool:
        """Whether another wave would find something to do, and would not disturb one whose time is taken: that has the
        GPU to itself until it is over, but for lanes that take half as long again as most of them did."""
        if self.turn is None or self.over:
            return self.taken
        return self.seconds is not None and self.age > _LATE * self.seconds

    def _mostly_ended(self) -> bool:
        return self.turn is not None and int((self.look()["state"] == LANE_ENDED).sum()) >= _MOSTLY * self._count

    def _readable(self, idle: bool = False) -> bool:
        """Whether its memory has been cleared, so that a look at it does not find what was there before: that is done
        in order with allocations, on another stream than looks are."""
        self._cleared = self._cleared or idle or self._device.idle()
        return self._cleared

    def look(self) -> np.ndarray[Any, Any]:
        if not self._readable():
            return np.zeros(self._count, LaneRecord.dtype)
        raw = self._device.peek(self._records.address, self._count * LaneRecord.size)
        records: np.ndarray[Any, Any] = raw.view(LaneRecord.dtype)
        return records

    def console(self) -> np.ndarray[Any, Any]:
        if self._console_bytes is None:
            return np.zeros(0, np.uint8)
        head = self._device.peek(self._console.address, Console.size).view(Console.dtype)["head"][0]
        return self._device.peek(self._console_bytes.address, min(int(head), self._console_bytes.size))

    def traps(self) -> np.ndarray[Any, Any]:
        words: np.ndarray[Any, Any] = self._device.peek(self._status.address, self._count * 8).view(np.uint64)
        return words
