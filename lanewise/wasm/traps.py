"""Why a lane ended early: the numbers that compiled code stores and the words that people read."""

from __future__ import annotations

from lanewise.kernel.wasi_numbers import FAIL_EXIT, FAILURES

KINDS = (
    "",
    "unreachable",
    "integer divide by zero",
    "integer overflow",
    "invalid conversion to integer",
    "out of bounds memory access",
    "out of bounds table access",
    "undefined element",
    "uninitialized element",
    "indirect call type mismatch",
    "call stack exhausted",
    "unaligned atomic",
    "expected shared memory",
    "uncaught exception",
    "too many exceptions alive",
    "null exception reference",
    "out of fuel",
    "interrupted",
    "misaligned access",
    "too many steps",
    "trap in a helper",
    "error in a host function",
    *FAILURES[1:],
)
"""The words of the specification where it has some; a kind is stored as its place in this list, 0 being no trap."""

NUMBERS = {words: number for number, words in reversed(list(enumerate(KINDS)))}
KERNEL = len(KINDS) - len(FAILURES)
"""What is added to the number of a failure of the device's kernel."""

UNREACHABLE = NUMBERS["unreachable"]
OUT_OF_BOUNDS = NUMBERS["out of bounds memory access"]
TABLE_OUT_OF_BOUNDS = NUMBERS["out of bounds table access"]
UNDEFINED_ELEMENT = NUMBERS["undefined element"]
UNINITIALIZED_ELEMENT = NUMBERS["uninitialized element"]
WRONG_SIGNATURE = NUMBERS["indirect call type mismatch"]
STACK_EXHAUSTED = NUMBERS["call stack exhausted"]
UNALIGNED_ATOMIC = NUMBERS["unaligned atomic"]
NOT_SHARED = NUMBERS["expected shared memory"]
UNCAUGHT = NUMBERS["uncaught exception"]
TOO_MANY_EXCEPTIONS = NUMBERS["too many exceptions alive"]
NULL_EXCEPTION = NUMBERS["null exception reference"]
OUT_OF_FUEL = NUMBERS["out of fuel"]
INTERRUPTED = NUMBERS["interrupted"]
MISALIGNED = NUMBERS["misaligned access"]
"""Not an end but a turn: the lane runs again in a build that does such accesses byte by byte."""
RECOUNT = NUMBERS["too many steps"]
"""The same: it had too little fuel, and runs again in a build that counts each step, to know where that was."""
RETRACED = NUMBERS["trap in a helper"]
"""The same: it has trapped, if it had enough fuel for that."""
HOST_ERROR = NUMBERS["error in a host function"]
EXIT = KERNEL + FAIL_EXIT
"""The program ended by itself; its code is the kernel's to tell."""
