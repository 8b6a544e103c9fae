"""Taking times: runs of Lanewise and of its peers take turns, so that a drifting machine touches all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

Run = Callable[[], object]


def medians(runs: Mapping[str, Run], *, rounds: int = 7) -> dict[str, float]:
    """The median seconds of each run, which must have finished its work when it returns; the first round is warm-up."""
    return {name: statistics.median(times) for name, times in _in_turns(runs, rounds).items()}


def bests(runs: Mapping[str, Run], *, rounds: int = 5) -> dict[str, float]:
    """The fewest seconds of each run: for long runs on one core, which other work can only make longer."""
    return {name: min(times) for name, times in _in_turns(runs, rounds).items()}


def _in_turns(runs: Mapping[str, Run], rounds: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds = time.perf_counter() - start
            if turn > 0:
                taken[name].append(seconds)
    return taken


def repeated(start: Run, finish: Run, times: int) -> Run:
    """Start work `times` times and wait for all of it once: for devices that queue."""

    def run() -> None:
        for _ in range(times):
            start()
        finish()

    return run
