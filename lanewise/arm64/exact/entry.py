"""The one function that all is asked of."""

from lanewise.arm64.exact import codes
from lanewise.arm64.exact.arithmetic import fused, quotient, root
from lanewise.arm64.exact.codes import CONTROL, COUNT, FROM, HOW, PLACES, RESULT, TO
from lanewise.arm64.exact.formats import way_to_round
from lanewise.arm64.exact.others import (
    compared,
    converted,
    estimated,
    extreme,
    from_integer,
    other_exponent,
    rounded,
    to_integer,
)
from lanewise.arm64.exact.quick import quickly
from lanewise.lang.functions import device
from lanewise.lang.types import Ptr, u16, u32, u64

SUMS_AND_PRODUCTS, QUOTIENT, ROOT, EXTREMES, COMPARISONS, ROUND = (
    codes.ROOT_STEP, codes.DIVIDE, codes.ROOT, codes.SMALLER_NUMBER, codes.MORE, codes.ROUND_EXACT
)  # fmt: skip
TO_SIGNED, TO_INTEGER, FROM_SIGNED, FROM_INTEGER = (
    codes.TO_SIGNED, codes.TO_UNSIGNED, codes.FROM_SIGNED, codes.FROM_UNSIGNED
)  # fmt: skip
CONVERT, ESTIMATES = codes.CONVERT, codes.INVERSE_ROOT
"""The last operation of each function, in their order; and two that are looked for by themselves."""


@device
def element(words: Ptr[u64], bits: u32, at: u32) -> u64:
    """A number of a register."""
    if bits == 64:
        return words[at]
    if bits == 32:
        return u64(Ptr[u32](words)[at])
    return u64(Ptr[u16](words)[at])


@device
def set_element(words: Ptr[u64], bits: u32, at: u32, value: u64):
    """Set it."""
    if bits == 64:
        words[at] = value
    elif bits == 32:
        Ptr[u32](words)[at] = u32(value)
    else:
        Ptr[u16](words)[at] = u16(value)


@device(inline=False)
def result_of(what: u32, x: u64, y: u64, z: u64, mode: u32) -> tuple[u64, u32]:
    """What one operation gives, and its flags."""
    operation, bits, to = what & 0xFF, u32(1) << (what >> FROM & 15), u32(1) << (what >> TO & 15)
    rounding, places = way_to_round(what >> HOW & 15, mode), what >> PLACES
    if operation <= SUMS_AND_PRODUCTS:
        return fused(operation, x, y, z, bits, mode, rounding)
    if operation == QUOTIENT:
        return quotient(x, y, bits, mode, rounding)
    if operation == ROOT:
        return root(x, bits, mode, rounding)
    if operation <= EXTREMES:
        return extreme(operation, x, y, bits, mode)
    if operation <= COMPARISONS:
        return compared(operation, x, y, bits, mode)
    if operation <= ROUND:
        return rounded(operation, x, bits, mode, rounding)
    if operation <= TO_INTEGER:
        return to_integer(x, bits, to, operation == TO_SIGNED, places, mode, rounding)
    if operation <= FROM_INTEGER:
        return from_integer(x, bits, operation == FROM_SIGNED, places, to, mode, rounding)
    if operation == CONVERT:
        return converted(x, bits, to, mode, rounding)
    if operation <= ESTIMATES:
        return estimated(operation, x, y, bits, mode)
    return other_exponent(x, y, bits, mode)


@device(inline=False)
def arm64_exact(words: Ptr[u64], what: u32, state: u64) -> u64:
    """Do what `codes` says on all elements of the registers in some words, with FPCR and FPSR in one; gives those."""
    bits, to = u32(1) << (what >> FROM & 15), u32(1) << (what >> TO & 15)
    mode = u32(state >> CONTROL)
    for at in range(what >> COUNT & 15):
        x, y, z = element(words, bits, at), element(words + 2, bits, at), element(words + 4, bits, at)
        done, made, raised = quickly(what & 0xFF, x, y, z, bits, state)
        if not done:
            made, raised = result_of(what, x, y, z, mode)
        set_element(words + RESULT, to, at, made)
        state |= u64(raised)
    return state
