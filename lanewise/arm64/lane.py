"""What a lane is on a device: where its registers, flags and the rest of it lie, in words of 8 bytes."""

from __future__ import annotations

REGISTERS = 0
"""31 registers, and the stack pointer as number 31."""
PC = 32
FLAGS = 33
"""n, z, c and v, as in the architecture's register NZCV: bits 31 to 28."""
CYCLES = 34
REASON = 35
DETAIL = 36
"""Why the lane stopped, and what there is to say of it: a number in the instruction, or an address."""
SPECIAL = {"tpidr": 37, "exclusive": 38, "seen": 39, "seen_above": 40, "fpcr": 41, "fpsr": 42}
"""Registers of the system, and what an exclusive load saw where: 8 bytes, and those behind them if it was of two."""
SATURATED = 27
"""The bit of `fpsr` that stays set once a number was too large or too small for its place."""
VECTORS = 44
"""32 registers of 16 bytes."""
WORDS = 108

MEMORY, SIZE, LANES, LIMIT, STATES, NEXT, SPACING = range(7)
"""What a run is told: where memory is and how large, how many lanes, how many instructions each may run, where lanes
are, which is next, and from one lane's memory to the next (0 if they share it)."""
RUN_WORDS = 7
