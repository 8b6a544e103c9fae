"""The loop in which lanes run and what they call for is done, many lanes at a time."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lanewise.arm64 import lane as words
from lanewise.arm64.cpu import ParallelCPU
from lanewise.arm64.linux import (
    attribute_calls,
    file_calls,
    memory_calls,
    path_calls,
    process_calls,
    ready_calls,
    signal_calls,
    time_calls,
)
from lanewise.arm64.linux.ahead import Ahead, FarMemory
from lanewise.arm64.linux.calls import serve
from lanewise.arm64.linux.process import Ending, Process
from lanewise.arm64.machine import ALIGNMENT, BRK, MEMORY, PC_OUTSIDE, REASONS, RUNNING, SVC, UNALIGNED_PC
from lanewise.arm64.slices import Slices

CALL_MODULES = (
    attribute_calls, file_calls, memory_calls, path_calls, process_calls, ready_calls, signal_calls, time_calls,
)  # fmt: skip
"""What fills the table of calls."""
WRITING = frozenset((64, 66, 68, 70, 71))
"""Calls that may add to what is kept of a program's output: write, writev and their likes, sendfile."""

_SIGNALS = {MEMORY: 11, PC_OUTSIDE: 11, ALIGNMENT: 7, UNALIGNED_PC: 7, BRK: 5}
_ILLEGAL = 4
_SHORTEST, _LONGEST = 0.002, 0.1
"""Seconds that lanes run before somebody looks who waits to be served: about as long as serving takes. So those that
compute and those that call do not hold each other up much; and Ctrl-C is heard."""
_SLEEP = 0.05
"""Seconds between two looks whether all are to stop, while everybody sleeps."""
_NEVER = 2**63

_REASON, _CYCLES = words.SUMMARY.index(words.REASON), words.SUMMARY.index(words.CYCLES)
_PC, _DETAIL = words.SUMMARY.index(words.PC), words.SUMMARY.index(words.DETAIL)
_FIRST = words.SUMMARY.index(words.REGISTERS)
_NUMBER = words.SUMMARY.index(words.REGISTERS + 8)


class Serving:
    """Programs that run until all are over."""

    def __init__(
        self, cpu: ParallelCPU, processes: list[Process], stopping: Callable[[], bool], ahead: Ahead | None = None
    ) -> None:
        """There may be fewer programs than lanes; they are in the first. `ahead` is there if their memory is far."""
        self._cpu = cpu
        self._ahead = ahead
        self._processes = processes
        self._stopping = stopping
        lanes = cpu.get_num_lanes()
        self._answers = np.zeros((lanes, words.ANSWER_WORDS), np.uint64)
        self._live = np.arange(lanes) < len(processes)
        self._waiting = np.zeros(lanes, bool)
        """Lanes whose answer is known, but has to wait."""
        self._held = np.zeros(lanes, bool)
        """Lanes whose call is not served before `holds_back` lets it."""
        self._wakes: list[tuple[float, int, int]] = []
        self.places: Any = np.zeros((lanes, len(words.SUMMARY)), np.uint64)
        """What was last said of each lane."""
        self.calls = 0
        self.holds_back: Callable[[], bool] | None = None
        """Says whether programs that write are to wait, but for the first of those that run."""

    def rounds(self, max_cycles: int | None) -> Iterator[list[int]]:
        """Run all until they are over, have run so many instructions each, or are to stop.

        Gives those that have ended since the last time, which may be none.
        """
        limit = _NEVER if max_cycles is None else max_cycles
        slices = Slices()
        while self._live.any() and not self._stopping():
            self._wake()
            begin = time.monotonic()
            active = np.count_nonzero(self._live & ~self._waiting & ~self._held)
            self.places, going = self._cpu.resume(self._answers, int(active), slices, limit)
            self._answers[:] = 0
            ran = time.monotonic()
            before = np.flatnonzero(self._live)
            full = bool((self.places[before, _REASON] == RUNNING).any())  # else nobody had use for a longer slice
            stopped = self._serve()
            self._end_running(limit)
            now = time.monotonic()
            yield before[~self._live[before]].tolist()
            wanted = min(max(now - ran, _SHORTEST), _LONGEST) if stopped else _LONGEST
            slices.adapt(ran - begin, wanted, full=full, paused=going.paused)

    def _serve(self) -> int:
        """Serve all lanes that have stopped; how many those were."""
        reasons = self.places[:, _REASON]
        stopped = np.flatnonzero(self._live & ~self._waiting & (reasons != RUNNING))
        holds = self.holds_back is not None and self.holds_back()
        first = int(self._live.argmax())
        self._held[:] = False
        done: list[int] = []
        results: list[int] = []
        rows = self.places[stopped].tolist()
        if self._ahead is not None:
            self._fetch(self._ahead, stopped.tolist(), rows)
        for number, row in zip(stopped.tolist(), rows, strict=True):
            if self._stopping():
                break  # of those that are not served nobody will know how they went on
            process = self._processes[number]
            reason = row[_REASON]
            if reason != SVC:
                process.end(Ending(REASONS[reason], signal=_SIGNALS.get(reason, _ILLEGAL)))
            elif holds and number != first and row[_NUMBER] in WRITING:
                self._held[number] = True
                continue
            else:
                self.calls += 1
                process.cycles = row[_CYCLES]
                result = serve(process, row[_NUMBER], row[_FIRST : _FIRST + 6])
            if process.ending is not None:
                self._live[number] = False
            elif process.wake is not None:
                heapq.heappush(self._wakes, (process.wake, number, result))
                self._waiting[number] = True
                process.wake = None
            else:
                done.append(number)
                results.append(result)
        if self._ahead is not None:
            self._ahead.send()
        if done:
            self._answers[done, 0] = 1
            self._answers[done, 1] = results
        return len(stopped)

    def _fetch(self, ahead: Ahead, numbers: list[int], rows: list[list[int]]) -> None:
        """Have at hand what those who call will have read."""
        calls = []
        for number, row in zip(numbers, rows, strict=True):
            memory = self._processes[number].memory
            if row[_REASON] == SVC and isinstance(memory, FarMemory):
                memory.fetched.clear()
                calls.append((memory, row[_NUMBER], row[_FIRST : _FIRST + 6]))
        ahead.fetch(calls)

    def _wake(self) -> None:
        """Answer those whose time has come; wait for the first of them if nobody has anything else to do."""
        if not self._wakes:
            return
        while not (self._live & ~self._waiting & ~self._held).any() and not self._stopping():
            left = self._wakes[0][0] - time.monotonic()
            if left <= 0:
                break
            time.sleep(min(left, _SLEEP))
        now = time.monotonic()
        while self._wakes and self._wakes[0][0] <= now:
            _, number, result = heapq.heappop(self._wakes)
            self._waiting[number] = False
            self._answers[number, 0] = 1
            self._answers[number, 1] = result

    def _end_running(self, limit: int) -> None:
        """End those that have run as many instructions as they may."""
        if limit == _NEVER:
            return
        over = self._live & (self.places[:, _REASON] == RUNNING) & (self.places[:, _CYCLES] >= limit)
        for number in np.flatnonzero(over).tolist():
            self._processes[number].end(Ending(REASONS[RUNNING]))
            self._live[number] = False

    def end_all(self, reason: str) -> None:
        """End all that are left."""
        for number in np.flatnonzero(self._live).tolist():
            self._processes[number].end(Ending(reason))
        self._live[:] = False

    def place(self, number: int) -> tuple[int, int, int]:
        """Where a lane is, what address it could not have, and how many instructions it has run."""
        row = self.places[number]
        return int(row[_PC]), int(row[_DETAIL]), int(row[_CYCLES])
