"""A run as the command line and the Python API see it: the seam before the engine, loaded when one starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from lanewise.batch.source import is_linux

if TYPE_CHECKING:
    from lanewise.batch.backlog import Backlog
    from lanewise.batch.spec import LaneOutcome, Results, Task
    from lanewise.wasm.module import Module

INTERRUPTED = "interrupted"
TIMED_OUT = "time-out"
LANE_FAILED = "a lane failed"
DEVICE_FAILED = "the device failed"
"""What `Running.stopped` begins with."""

CUT_OFF_BY = {
    INTERRUPTED: "interrupted",
    TIMED_OUT: "timed out",
    LANE_FAILED: "interrupted",
    DEVICE_FAILED: "device lost",
}
"""What lanes are said to have ended by that ran when the run was ended."""
CUT_OFF = frozenset(CUT_OFF_BY.values())
"""Kinds of outcome that say nothing about the program: the run was ended while the lane ran."""


class Running(Protocol):
    """A program on its way: ask for its outcomes once; `stop` may be called from any thread and by signal handlers."""

    @property
    def device_name(self) -> str:
        """Where it runs: cpu, or cuda:0 with the name of the GPU."""

    @property
    def placement(self) -> str:
        """How lanes lie on a GPU; empty on the CPU."""

    @property
    def explanation(self) -> list[str]:
        """Why they lie so, in a few lines."""

    @property
    def statistics(self) -> list[str]:
        """Once the outcomes have ended: what lanes counted, if the task wants to know."""

    @property
    def remarks(self) -> Sequence[str]:
        """Once the outcomes have ended: what whoever runs the program should know, a sentence each."""

    @property
    def stopped(self) -> str | None:
        """Once the outcomes have ended: why that was before all lanes had, or None."""

    @property
    def results(self) -> Results | None:
        """Once the outcomes have ended: what lanes have left in the buffers of the GPU vocabulary."""

    @property
    def backlog(self) -> Backlog:
        """How much output waits; whoever holds outcomes back says so there."""

    @property
    def lacking(self) -> tuple[str, ...]:
        """Buffers of the GPU vocabulary that the program may use and was not given: state, input, output."""

    def outcomes(self) -> Iterator[LaneOutcome]:
        """Lanes in the order in which they end; those that the end of the run cut off are among them."""

    def bursts(self) -> Iterator[list[LaneOutcome]]:
        """The same, all at once that have ended since the last look."""

    def stop(self) -> None:
        """End soon."""


def start(task: Task, module: Module | None = None) -> Running:
    """Load a program and check that it can be run so; `module` is the same program where it is loaded already."""
    if is_linux(task.program):
        from lanewise.batch.linux_run import LinuxRun

        return LinuxRun(task)
    from lanewise.batch.engine import Run  # the engine and its compiler: nothing that --help should wait for

    return Run(task, module)
