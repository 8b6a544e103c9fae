"""Putting a program into the memory of lanes, with their stacks and where they begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lanewise.arm64.arguments import MEMORY_OPTION
from lanewise.arm64.linux.elf import PAGE, Program
from lanewise.arm64.linux.stack import StackBuilder
from lanewise.errors import ArgumentError

if TYPE_CHECKING:
    from lanewise.arm64.cpu import ParallelCPU

_MOST_STACK = 8 << 20
STACK_PART = 8
"""The stack has this part of memory at most."""


class Layout(NamedTuple):
    """Where things are in the memory of a lane."""

    heap: int
    """From here up to the stack's room, memory can be had."""
    stack: int
    top: int


def lay_out(program: Program, start: int, size: int) -> Layout:
    """Where a program has its heap and stack in memory of a size; what does not fit is refused."""
    top = (start + size) // PAGE * PAGE
    room = min(_MOST_STACK, size // STACK_PART // PAGE * PAGE)
    if program.start < start:
        raise ArgumentError(f"{program.name} wants to lie at {program.start:#x}, and memory begins at {start:#x}")
    if room < PAGE or program.end + room > top:
        needed = -(-(program.end - start + PAGE) * STACK_PART // (STACK_PART - 1) // PAGE + 1) * PAGE
        raise ArgumentError(
            f"{program.name} does not fit a memory of {size:,} bytes from {start:#x} on; "
            f"with its stack it needs {needed:,} at least, and more for its heap; "
            f"give lanes more memory ({MEMORY_OPTION})"
        )
    return Layout(program.end, top - room, top)


def load(
    cpu: ParallelCPU,
    program: Program,
    argv: Sequence[Sequence[bytes]],
    env: Sequence[Sequence[bytes]],
    random: Sequence[bytes],
) -> Layout:
    """Load a program into all lanes, each with its own arguments, environment and 16 random bytes.

    Where there are fewer of those than lanes, the rest is not to run.
    """
    if not cpu.private and cpu.get_num_lanes() > 1:
        raise ArgumentError("lanes share their memory, and a program wants its own; give memory='private'")
    layout = lay_out(program, cpu.memory_start, cpu.memory_size)
    cpu.write_memory_everywhere(program.start, program.image())
    registers = np.zeros((cpu.get_num_lanes(), 32), np.uint64)
    builder = StackBuilder(program, layout.top, layout.top - layout.stack)
    stacks = []
    for number in range(len(argv)):
        pointer, content = builder.build(argv[number], env[number], random[number])
        stacks.append((cpu.memory_place(number) + pointer - cpu.memory_start, content))
        registers[number, 31] = pointer
    cpu.runner.write_all(stacks)
    cpu.registers = registers
    cpu.set_pc_all(program.entry)
    cpu.halt_from(len(argv))
    return layout
