"""Running programs of Linux: one in each lane, with its own memory, arguments, environment and standard input."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from pathlib import Path

from lanewise.arm64.arguments import whole
from lanewise.arm64.cpu import ParallelCPU
from lanewise.arm64.linux import given
from lanewise.arm64.linux.elf import PAGE, read_program
from lanewise.arm64.linux.hot import HotCode
from lanewise.arm64.linux.loading import lay_out
from lanewise.arm64.linux.mounts import Mounts
from lanewise.arm64.linux.opened import Source, kept_streams
from lanewise.arm64.linux.result import LinuxResult
from lanewise.arm64.linux.wave import Start, Wave
from lanewise.devices import Device
from lanewise.errors import ArgumentError

MEMORY = 16 << 20
"""Bytes that a lane has unless it is said otherwise."""
_OUTPUT = 64 << 20
_LONGEST = 1e9
"""Seconds beyond which the end of the time is not waited for."""


def run_linux(
    program: str | os.PathLike[str] | bytes | bytearray | memoryview,
    lanes: int = 1,
    argv: given.Argv | Sequence[given.Argv] | Callable[[int], given.Argv] | None = None,
    env: given.Env | Sequence[given.Env] | Callable[[int], given.Env] | None = None,
    stdin: given.Text | Sequence[given.Text] | Callable[[int], given.Text] = b"",
    dirs: Mapping[str, str | Path] | None = None,
    memory_size: int = MEMORY,
    device: str | Device = "cpu",
    seed: int | None = None,
    max_cycles: int | None = None,
    timeout: float | None = None,
    output_limit: int = _OUTPUT,
) -> LinuxResult:
    """Run a static AArch64 program in each lane until all are over, and give what they wrote and how they ended.

    `argv`, `env` and `stdin` are one for all lanes, a list with one for each, or a function of a lane's number; `argv`
    has the program's name as its first. `dirs` are the directories that programs can see, by the paths that they have
    for them; they begin in the first. Memory begins where the program does. With a `seed`, random bytes are the same
    each time. A lane that has run `max_cycles` instructions is ended, and all are when they have run for `timeout`
    seconds. Of what a lane writes to its standard output and error, `output_limit` bytes are kept; one that writes more
    is ended.
    """
    begin = time.perf_counter()
    count = whole(lanes, "lanes", 1, 2**32 - 1)
    size = whole(memory_size, "memory_size", 4096, 2**40) // PAGE * PAGE
    limit = None if max_cycles is None else whole(max_cycles, "max_cycles", 1, 2**62)
    chance = None if seed is None else whole(seed, "seed", 0, 2**64 - 1)
    most_output = whole(output_limit, "output_limit", 0, 2**62)
    if timeout is not None and not (isinstance(timeout, Real) and timeout > 0):
        raise ArgumentError(f"timeout is {timeout!r}; it is a number of seconds above 0")
    found = read_program(program)
    lay_out(found, found.start, size)
    cpu = ParallelCPU(count, size, "private", device, found.start)  # before anything else that each lane has
    arguments = given.arguments(argv, count, found.name)
    environments = given.environments(env, count)
    inputs = given.inputs(stdin, count)
    starts = [
        Start(argv, env, kept_streams(Source(content), most_output))
        for argv, env, content in zip(arguments, environments, inputs, strict=True)
    ]
    mounts = Mounts({} if dirs is None else dirs)
    hot = HotCode(cpu, found)
    cpu.prepare()
    ever = timeout is None or timeout > _LONGEST
    until = math.inf if ever else time.monotonic() + float(timeout or 0)
    try:
        wave = Wave(cpu, found, hot, starts, mounts, mounts.first, chance, lambda: time.monotonic() >= until)
        try:
            for _ in wave.rounds(limit):
                pass
            wave.serving.end_all("timeout")
        finally:
            wave.close()
    finally:
        mounts.close()
    outcomes = tuple(wave.outcome(number) for number in range(count))
    return LinuxResult(outcomes, time.perf_counter() - begin, wave.serving.calls)
