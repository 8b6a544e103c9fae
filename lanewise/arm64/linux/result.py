"""What became of programs."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lanewise.arm64.machine import ALIGNMENT, MEMORY, REASONS

_WITH_ADDRESS = (REASONS[MEMORY], REASONS[ALIGNMENT])
"""Reasons that are about an address, which is the detail then."""


@dataclass(frozen=True)
class Outcome:
    """How the program of one lane ended, and what it wrote."""

    exit_code: int | None
    """What it gave to exit; None if it did not get there."""
    signal: int | None
    """The signal that ended it, or that would have: 11 for memory that is not there, 4 for what is no instruction."""
    reason: str
    """Why it is over: exit, signal, or what stopped the lane, such as `memory out of range`, `cycles`, `timeout`,
    `output limit` (it wrote more than is kept), `waits for itself` (for a pipe to itself) or `waits for ever`."""
    pc: int
    function: str
    """Of one that did not end by exit, the function that it was in and how far, such as `main+0x1c`; empty if the file
    of the program does not tell."""
    detail: int
    """The address that it could not have."""
    stdout: bytes
    stderr: bytes
    instructions: int
    unknown_calls: Mapping[int, int]
    """Numbers of calls that are not offered, and how often it made them; each gave ENOSYS."""

    @property
    def returncode(self) -> int | None:
        """As the module subprocess has it: the exit code, or the signal as a negative number."""
        return self.exit_code if self.signal is None else -self.signal

    def __str__(self) -> str:
        if self.exit_code is not None:
            return f"exit {self.exit_code}"
        if self.signal is None:
            return f"{self.reason} {self.place}"
        name = signal_name(self.signal)
        if self.reason == "signal":
            return name
        address = f" at {self.detail:#x}" if self.reason in _WITH_ADDRESS else ""
        return f"{name} {self.place}: {self.reason}{address}"

    @property
    def place(self) -> str:
        """Where it was, in words."""
        return f"at {self.pc:#x} in {self.function}" if self.function else f"at {self.pc:#x}"


def signal_name(number: int) -> str:
    """A signal as people call it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@dataclass(frozen=True, repr=False)
class LinuxResult:
    """The outcomes of all lanes."""

    outcomes: tuple[Outcome, ...]
    elapsed_seconds: float
    calls: int
    """Calls of the system that were served."""

    def __len__(self) -> int:
        return len(self.outcomes)

    def __getitem__(self, lane: int) -> Outcome:
        return self.outcomes[lane]

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    @property
    def instructions(self) -> int:
        """Of all lanes together."""
        return sum(one.instructions for one in self.outcomes)

    @property
    def unknown_calls(self) -> Mapping[int, int]:
        """Numbers of calls that are not offered, and how often lanes made them."""
        found = Counter[int]()
        for one in self.outcomes:
            found.update(one.unknown_calls)
        return dict(sorted(found.items()))

    def __repr__(self) -> str:
        how = ", ".join(f"{what} {count:,}" for what, count in Counter(map(str, self.outcomes)).most_common(5))
        return (
            f"<{len(self):,} lanes ran {self.instructions:,} instructions and {self.calls:,} calls in "
            f"{self.elapsed_seconds:.3g} s; {how}>"
        )
