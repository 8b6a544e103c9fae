"""What a lane is on a device: where its registers, flags and the rest of it lie, in words of 8 bytes."""

from __future__ import annotations

REGISTERS = 0
"""31 registers, and the stack pointer as number 31."""
PC = 32
FLAGS = 33
FLAG_BITS = 0xF0000000
"""n, z, c and v, as in the architecture's register NZCV: bits 31 to 28. Others are zeros."""
CYCLES = 34
REASON = 35
DETAIL = 36
"""Why the lane stopped, and what there is to say of it: a number in the instruction, or an address."""
SPECIAL = {"tpidr": 37, "exclusive": 38, "seen": 39, "seen_above": 40, "passed": 41}
"""Registers of the system; where an exclusive load was, inverted (0: nowhere), and what it saw: 8 bytes, and those
behind them if it was of two; and where a breakpoint or watchpoint stopped the lane, inverted, too, with the lowest bit
set for a breakpoint."""
FLOATING = 42
"""How floating point is to be done and what became of it: FPCR in the upper half, FPSR in the lower."""
FPCR_BITS, FPSR_BITS = 0x07C00000, 0x0800009F
"""The bits that they have; others are zeros."""
SATURATED = 27
"""The bit of FPSR that stays set once a number was too large or too small for its place."""
VECTORS = 44
"""32 registers of 16 bytes, at a multiple of that."""
REMAINING, UNTIL, FLAG_BYTES = 108, 109, 110
"""While translated code runs: how many instructions may still do so, how many the lane will have run when they have,
and the flags, a byte for each."""
WORDS = 112

LARGEST_ACCESS = 64
"""Bytes that one instruction uses at most: memory is no smaller, or there would be no place where it fits."""

(
    MEMORY, SIZE, LANES, LIMIT, STATES, NEXT, SPACING, FRESH, SUMMARIES, DEBUG, CODE, CODE_BYTES, MODIFIED,
    MODIFIED_STEP, START, SLICE, INTERPRETED, ANSWERS, UNITS, GOING, PAUSED, SAMPLES, STEPS, PER_WARP,
    RUN_WORDS,
) = range(25)  # fmt: skip
"""What a run is told: where memory is and how large, how many lanes, how many instructions each may run, where lanes
are, which is next (on a GPU the first of a launch, and the number of lanes is where it ends), from one lane's memory
to the next (0 if they share it), whether lanes begin anew or go on, where to say what became of them, where
breakpoints are, which part of memory is translated, and where to say that it was changed, with the bytes from one
lane's place to the next; the address of memory's first byte, how many instructions each lane may run this time, and
how many of them it may interpret if there is a translation; where there are answers to the calls that lanes stopped
for (0 for none), where the table is that says which unit of the translation each word is an entry of, where lanes
say that they could go on, and that they stopped because they had interpreted so many; where they count at which
addresses they were not in translated code, and how many instructions they run there at most before they look again;
and how many lanes each warp of a GPU has."""
LONGEST_SLICE = 2**31 - 1
"""Instructions that a lane may run at a time: they are counted in 32 bits."""

FEW_STEPS, SAMPLED_STEPS = 257, 65537
"""Instructions that lanes interpret at most before they look for translated code again, and say where they are: they do
so as well where they have left it. And the same where nothing is translated yet."""
SAMPLE_SLOTS = 4096
"""Places where such addresses are counted, two words each; of addresses that fall on the same, the last one stays."""

SUMMARY = (PC, CYCLES, REASON, DETAIL, *range(REGISTERS, REGISTERS + 6), REGISTERS + 8)
"""What is said of each lane: where it is and why, and the registers that a call of the system has its arguments in."""
ANSWER_WORDS = 2
"""An answer: whether there is one, and what X0 becomes. The lane goes on behind its call."""

BREAKPOINTS, WATCHPOINTS, TRACE_LENGTH, TRACES, BREAKPOINT, WATCHPOINT = 0, 1, 2, 3, 4, 68
"""A block for debugging: how many there are of both, how many instructions are remembered of each lane and where; then
addresses at which lanes stop, and ranges whose use stops them (first and last byte; 1 for reads, 2 for writes)."""
MOST_BREAKPOINTS, MOST_WATCHPOINTS = 64, 16
DEBUG_WORDS = WATCHPOINT + 3 * MOST_WATCHPOINTS
