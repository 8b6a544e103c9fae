"""Code for trials, made while calls go on: by a process of the lowest priority, which leaves it in the cache.

So a trial costs what its lanes take, and nobody waits for a compiler that he has not asked for. The process outlives
this one, as its code is for later runs as well.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from lanewise.compiler import Target, default_cache, find_ptxas, start_outliving, taken
from lanewise.compiler.frames import pack
from lanewise.wasm.build import Build
from lanewise.wasm.model import Module
from lanewise.wasm.placement import Placement
from lanewise.wasm.tuning import Tuner

if TYPE_CHECKING:
    from lanewise.devices.cuda import CudaDevice

_MAIN = "lanewise.wasm.code_aside_main"
MADE = b"."
"""What it says whenever there is code for one more."""


class Aside:
    """A function that is being compiled in several builds, the first ones first."""

    def __init__(self, said: bytes) -> None:
        self.there = 0
        """For how many there is code, as far as there can be any."""
        self.over = False
        """Whether no more will be made: somebody else's code may be in the making, or there may be no cache."""
        self._thread = threading.Thread(target=self._run, args=(said,), name="lanewise-aside", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until it is over."""
        self._thread.join()

    def _run(self, said: bytes) -> None:
        with suppress(OSError):
            self._make(said)
        self.over = True

    def _make(self, said: bytes) -> None:
        lock = default_cache().lock("optimise")
        if lock is None or not sys.executable:
            return
        try:
            if not taken(lock):
                return
            process = start_outliving(_MAIN, [said], lock)
        finally:
            os.close(lock)
        assert process.stdout is not None
        with process.stdout as pipe:
            while pipe.read(len(MADE)):
                self.there += 1
        process.wait()


def make_aside(
    module: Module,
    index: int,
    builds: Sequence[Build],
    scalars: tuple[bool, ...],
    target: Target,
    level: int | None,
    sm: int,
) -> Aside:
    """Have a function compiled in several builds, for a GPU of compute capability `sm`."""
    header = {
        "directory": str(default_cache().directory.absolute()),
        "limit": default_cache().limit,
        "features": sorted(module.features),
        "index": index,
        "builds": [asdict(build) for build in builds],
        "scalars": scalars,
        "target": asdict(target),
        "level": level,
        "sm": sm,
    }
    return Aside(pack(header, module.data))


class CodeAside:
    """Code for trials of one function on a GPU, made while it is called."""

    def __init__(
        self, module: Module, index: int, device: CudaDevice, level: int | None, placed: Callable[[Placement], Build]
    ) -> None:
        """`placed` gives the build for a placement."""
        self._module, self._index, self._device, self._level, self._placed = module, index, device, level, placed
        self._making: tuple[dict[Placement, int], Aside] | None = None
        """Placements whose code is being made, each with the number of its build, and how far that is."""

    def go_on(self, tuner: Tuner, scalars: tuple[bool, ...]) -> None:
        """Say what there is code for by now, and have more made once calls have taken long enough."""
        if self._making is not None:
            places, making = self._making
            over = making.over
            tuner.made([place for place, number in places.items() if number < making.there])
            if not over:
                return
            self._making = None
        wanted, device = tuner.to_make(), self._device
        # Without ptxas it is the driver that assembles, in this process and while somebody waits.
        if wanted and find_ptxas() is not None:
            builds = list(dict.fromkeys(map(self._placed, wanted)))
            places = {place: builds.index(self._placed(place)) for place in wanted}
            making = make_aside(self._module, self._index, builds, scalars, device.target, self._level, device.sm)
            self._making = places, making
