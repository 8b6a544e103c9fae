"""Translating what a program spends its time in, while it runs.

Lanes are interpreted at first, and say from time to time where they are. What they were seen in is translated beside
them, and they go on by the translation when it is there; then again for what it left out. What was hot is remembered
beside the code, so that the next run begins with it. Where there is no interpreter yet, they begin by one that is
compiled soon, and the other is made beside them in the same way.
"""

from __future__ import annotations

import bisect
import time
from collections.abc import Iterable
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np

from lanewise.arm64.cpu import ParallelCPU
from lanewise.arm64.lane import FEW_STEPS
from lanewise.arm64.linux.elf import Program
from lanewise.arm64.program import has_interpreter, optimise_interpreter
from lanewise.arm64.runners import Wanted
from lanewise.compiler import Cache, Target, default_cache

if TYPE_CHECKING:
    from lanewise.arm64.finding import Code

_FIRST_LOOK, _LONGER = 0.2, 2
"""Seconds that lanes run before it pays to translate anything, and how many times as many to the next look."""
_MOST_NEW = 64
"""Addresses from which on more is translated at a time."""
_SHARE = 0.98
"""How much of the time that was not spent in translated code those stand for."""
_WORTH = 1_000_000
"""Instructions that were interpreted, more or less, below which nothing is translated besides what has been."""


class HotCode:
    """The translation of one program, as far as it goes by now."""

    def __init__(self, cpu: ParallelCPU, program: Program) -> None:
        self._cpu, self._program = cpu, program
        self._memory = range(cpu.memory_start, cpu.memory_start + cpu.memory_size)
        first = min(one.address for one in program.segments if one.executable)
        end = max(one.address + one.size for one in program.segments if one.executable)
        image = program.image()
        base = first // 4 * 4
        code = image[base - program.start : (end - base) // 4 * 4 + base - program.start]
        of = f"{base} {self._memory}"  # a translation is for memory of one size
        self._key, self._next_key = (Cache.key_of(f"arm64 {name}", of, code) for name in ("hot", "hotter"))
        """Those of what was translated last, and of what was begun last, perhaps by a process that has ended since."""
        remembered = [self._wanted(base, code, self._remembered(key)) for key in (self._next_key, self._key)]
        there = (wanted for wanted in remembered if wanted.is_there(cpu.runner.target))
        self._now = next(there, self._wanted(base, code, ()))
        self._begun = remembered[0] if remembered[0].entries and remembered[0] != self._now else None
        """What an earlier run began, and nobody has ended yet as far as is known."""
        cpu.use_translation(self._now)
        self.code = range(base, base + len(code))
        """Where the program's instructions are."""
        self._next: Wanted | None = None
        self._work: Thread | None = None
        self._optimising: Thread | None = None
        self._looked = False
        self._pause = _FIRST_LOOK
        self._look_at: float | None = None

    def _wanted(self, base: int, code: bytes, entries: Iterable[int]) -> Wanted:
        return Wanted(base, code, tuple(sorted(entries)), self._memory, calls=False, hurry=True)

    def _remembered(self, key: str) -> tuple[int, ...]:
        stored = default_cache().get(key)
        return () if stored is None else tuple(np.frombuffer(stored, np.uint64).tolist())

    def begin(self) -> None:
        """Lanes have been loaded with the program."""
        self._cpu.use_translation(self._now)
        if self._look_at is None:
            self._look_at = time.monotonic() + self._pause

    def look(self) -> None:
        """Have lanes go on by what was translated, and translate more if they need it. Called often."""
        if self._optimising is not None and not self._optimising.is_alive():
            self._optimising = None
            if has_interpreter(self._cpu.runner.target):
                self._cpu.load_anew()
        if self._work is not None:
            if self._work.is_alive():
                return
            self._work = None
            if self._next is not None:
                self._now, self._next = self._next, None
                self._cpu.use_translation(self._now)
        now = time.monotonic()
        if self._look_at is None or now < self._look_at:
            return
        self._pause *= _LONGER
        self._look_at = now + self._pause
        target = self._cpu.runner.target
        self._work = Thread(target=self._translate, args=(self._now, self._cpu.untranslated(), target), daemon=True)
        self._work.start()
        if not self._looked and not has_interpreter(target):
            self._optimising = Thread(target=_optimise, args=(target,), daemon=True)
            self._optimising.start()
        self._looked = True

    def _hot(self, now: Wanted, samples: dict[int, int]) -> list[int]:
        """Where functions begin in which lanes were interpreted most of the time."""
        from lanewise.arm64.finding import Code  # the table of instructions, which short programs are over before

        code = Code(now.code, now.base)
        starts = sorted({*code.called(), *(address for _, address in self._program.functions())})
        counts = {address: count for address, count in samples.items() if address in self.code}
        total, taken = sum(counts.values()), 0
        if now.entries and total * FEW_STEPS < _WORTH:
            return []  # else each run would have all of it made anew for what it met once
        known, found = set(now.entries), list[int]()
        for address in sorted(counts, key=lambda address: -counts[address]):
            if taken >= total * _SHARE or len(found) == _MOST_NEW:
                break
            if not counts[address]:
                continue
            entry, covered = _function(code, starts, address)
            if entry not in known:
                found.append(entry)
            for other in counts:
                if other in covered:
                    taken += counts[other]
                    counts[other] = 0
        return found

    def _translate(self, now: Wanted, samples: dict[int, int], target: Target) -> None:
        """Compile what is hot into the cache; a program that cannot be translated goes on as before."""
        try:
            # What is hot now is seldom quite what was; short runs would begin much then, and end nothing.
            wanted, self._begun = self._begun, None
            if wanted is None:
                entries = self._hot(now, samples)
                if not entries:
                    return
                wanted = self._wanted(now.base, now.code, {*now.entries, *entries})
            remembered = np.array(wanted.entries, np.uint64).tobytes()
            default_cache().put(self._next_key, remembered)
            wanted.pieces(target)
            default_cache().put(self._key, remembered)
            self._next = wanted
        except Exception:  # whatever it is, among it that the process ends: nobody waits for this
            return


def _optimise(target: Target) -> None:
    """Make the interpreter; if that fails, lanes go on by the one that they have."""
    with suppress(Exception):
        optimise_interpreter(target)


def _function(code: Code, starts: list[int], address: int) -> tuple[int, set[int]]:
    """Where the function around an address begins, or the address if that is not known; and what is reached so."""
    at = bisect.bisect_right(starts, address)
    for entry in (*starts[at - 1 : at], address):
        blocks = code.blocks([entry], calls=False).values()
        covered = {one for block in blocks for one in range(block.address, block.end, 4)}
        if address in covered:
            break
    return entry, covered | {address}
