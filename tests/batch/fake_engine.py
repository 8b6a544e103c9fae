"""An engine for tests that runs nothing: lanes end as a function says, in an order of choice."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import lanewise
from lanewise.batch import running
from lanewise.batch.backlog import Backlog
from lanewise.batch.spec import LaneOutcome, Task

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(lanewise.__file__).parents[1])}
"""For processes that tests start elsewhere: the package may not be installed."""


def ended(lane: int, exit_code: int | None = 0, **more: object) -> LaneOutcome:
    """How a lane ended; `trap` alone is a trap of that kind."""
    trap = more.get("trap")
    return LaneOutcome(
        lane=lane,
        exit_code=None if trap else exit_code,
        trap=trap,
        kind=more.get("kind", trap and trap.partition(" in ")[0]),
        seconds=more.get("seconds", 0.001),
        stdout=more.get("stdout", b""),
        stderr=more.get("stderr", b""),
        instructions=more.get("instructions"),
    )


class FakeRun:
    """What `running.start` gives in tests."""

    device_name = "fake"
    placement = ""
    explanation = ("placement: none",)
    statistics = ()
    lacking = ()
    remarks = ()

    def __init__(self, task: Task, how: Callable[[int], LaneOutcome], order: Sequence[int] | None, **stopping: object):
        self.task = task
        self.stopped: str | None = None
        self.backlog = Backlog()
        self.results = None
        self.asked_to_stop = 0
        self.begun = False
        self._how = how
        self._order = range(task.lanes) if order is None else order
        self._stopped_as = stopping.get("stopped")
        self._error = stopping.get("error")

    def outcomes(self) -> Iterator[LaneOutcome]:
        """Lanes in the order that was asked for; those that `stop` came before are left out."""
        self.begun = True
        for lane in self._order:
            if self.asked_to_stop:
                self.stopped = "interrupted"
                return
            yield self._how(lane)
        if self._error:
            raise self._error
        self.stopped = self._stopped_as

    def bursts(self) -> Iterator[list[LaneOutcome]]:
        """One lane at a time."""
        for outcome in self.outcomes():
            yield [outcome]

    def stop(self) -> None:
        """Note that it was asked for."""
        self.asked_to_stop += 1


class Fake:
    """Stands in for the engine: keeps the runs that were started."""

    def __init__(self, monkeypatch, how=ended, order=None, **stopping: object):
        self.runs: list[FakeRun] = []

        def start(task: Task, module: object = None) -> FakeRun:
            self.runs.append(FakeRun(task, how, order, **stopping))
            return self.runs[-1]

        monkeypatch.setattr(running, "start", start)

    @property
    def task(self) -> Task:
        """The task of the one run there was."""
        (run,) = self.runs
        return run.task

    def arguments(self, lane: int = 0) -> list[bytes]:
        """What the lane would get."""
        return list(self.task.inputs.arguments(lane))

    def stdin(self, lane: int = 0) -> bytes | None:
        """What the lane would read."""
        return self.task.inputs.stdin(lane)
