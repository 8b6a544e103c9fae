"""Numbers of 16, 32 and 64 bits taken apart, and put together again: here results are rounded."""

from lanewise.arm64.exact.codes import (
    AS_SET,
    AWAY,
    DEFAULT_NAN,
    DENORMAL,
    DOWN,
    FLUSH,
    INEXACT,
    INVALID,
    NEAREST,
    ODD,
    OTHER_HALF,
    OVERFLOW,
    ROUNDING,
    UNDERFLOW,
    UP,
)
from lanewise.lang.functions import device
from lanewise.lang.types import i32, u32, u64
from lanewise.lang.vocabulary import leading_zeros

ZERO, FINITE, INFINITE, QUIET, SIGNALLING = range(5)
"""Kinds of numbers; the last two are none."""
LEADING = 62
"""Where the first bit of a significand is that was taken apart."""


@device
def fraction_bits(bits: u32) -> u32:
    """Bits of the fraction of a number of so many."""
    if bits == 64:
        return u32(52)
    return u32(23) if bits == 32 else u32(10)


@device
def exponent_ones(bits: u32) -> u32:
    """The largest exponent as it is stored; half of it stands for 0."""
    return (u32(1) << (bits - 1 - fraction_bits(bits))) - 1


@device
def signed_infinity(sign: u32, bits: u32) -> u64:
    """Infinity, with a sign."""
    return u64(sign) << (bits - 1) | u64(exponent_ones(bits)) << fraction_bits(bits)


@device
def default_nan(bits: u32) -> u64:
    """What invalid operations give."""
    return signed_infinity(u32(0), bits) | u64(1) << (fraction_bits(bits) - 1)


@device
def take_apart(x: u64, bits: u32, mode: u32) -> tuple[u32, u32, i32, u64, u32]:
    """The kind, sign, exponent, significand and flags of a number, which is significand / 2**LEADING * 2**exponent."""
    length = fraction_bits(bits)
    ones = exponent_ones(bits)
    sign = u32(x >> (bits - 1)) & 1
    stored = u32(x >> length) & ones
    fraction = x & ((u64(1) << length) - 1)
    if stored == ones and not (bits == 16 and mode & OTHER_HALF != 0):
        if fraction == 0:
            return u32(INFINITE), sign, i32(0), u64(0), u32(0)
        quiet = fraction >> (length - 1) != 0
        return u32(QUIET) if quiet else u32(SIGNALLING), sign, i32(0), u64(0), u32(0)
    if stored != 0:
        return (
            u32(FINITE),
            sign,
            i32(stored) - i32(ones >> 1),
            (fraction | u64(1) << length) << (LEADING - length),
            u32(0),
        )
    if fraction == 0:
        return u32(ZERO), sign, i32(0), u64(0), u32(0)
    if bits != 16 and mode & FLUSH != 0:
        return u32(ZERO), sign, i32(0), u64(0), u32(DENORMAL)
    zeros = leading_zeros(fraction)
    exponent = 64 - i32(zeros) - i32(ones >> 1) - i32(length)
    return u32(FINITE), sign, exponent, fraction << (zeros - 1), u32(0)


@device
def kind_of(x: u64, bits: u32, mode: u32) -> tuple[u32, u32]:
    """The kind of a number alone, and its flags."""
    kind, sign, exponent, significand, raised = take_apart(x, bits, mode)
    return kind, raised


@device
def flushed(x: u64, bits: u32, mode: u32) -> u64:
    """A number, or a zero of its sign in the place of a small one where FPCR says so."""
    small = x >> fraction_bits(bits) & u64(exponent_ones(bits)) == 0
    return x & u64(1) << (bits - 1) if small and bits != 16 and mode & FLUSH != 0 else x


@device
def way_to_round(rounding: u32, mode: u32) -> u32:
    """How to round, if that may be as FPCR says."""
    return mode >> ROUNDING & 3 if rounding == AS_SET else rounding


@device
def rounds_up(rounding: u32, sign: u32, odd: bool, rest: u64, half: u64) -> bool:
    """Whether the size of a number grows by rounding, for what is behind its last bit."""
    if rounding == NEAREST:
        return rest > half or (rest == half and odd)
    if rounding == AWAY:
        return rest >= half
    return rest != 0 and ((rounding == UP and sign == 0) or (rounding == DOWN and sign == 1))


@device
def sticky_right(x: u64, by: u32) -> u64:
    """Shifted right; the last bit says that some that fell out were set."""
    if by == 0:
        return x
    if by > 63:
        return u64(x != 0)
    return x >> by | u64(x << (64 - by) != 0)


@device
def put_together(sign: u32, exponent: i32, significand: u64, bits: u32, mode: u32, rounding: u32) -> tuple[u64, u32]:
    """The number significand / 2**63 * 2**exponent, rounded, and its flags; the highest bit of the significand is set.

    Its last bit may stand for all that are behind it.
    """
    length, ones = fraction_bits(bits), exponent_ones(bits)
    negative = u64(sign) << (bits - 1)
    stored = exponent + i32(ones >> 1)
    if stored <= 0:
        if bits != 16 and mode & FLUSH != 0:
            return negative, u32(UNDERFLOW)
        significand = sticky_right(significand, u32(1 - stored))
        stored = 0
    spare = 63 - length
    whole, rest = significand >> spare, significand & ((u64(1) << spare) - 1)
    raised = u32(0)
    if rest != 0:
        raised = u32(INEXACT | UNDERFLOW) if stored == 0 else u32(INEXACT)
    if rounds_up(rounding, sign, whole & 1 != 0, rest, u64(1) << (spare - 1)):
        whole += 1
    if rounding == ODD and rest != 0:
        whole |= 1
    if stored == 0:
        return negative | whole, raised  # one that became large enough has the exponent 1 by itself
    if whole >> length > 1:
        stored += 1
        whole >>= 1
    if bits == 16 and mode & OTHER_HALF != 0:
        if stored > i32(ones):
            return negative | 0x7FFF, u32(INVALID)
    elif stored >= i32(ones):
        grows = rounding == NEAREST or rounding == AWAY or (rounding == UP and sign == 0)
        endless = signed_infinity(sign, bits)
        return endless if grows or (rounding == DOWN and sign == 1) else endless - 1, u32(OVERFLOW | INEXACT)
    return negative | u64(stored) << length | whole & ((u64(1) << length) - 1), raised


@device
def passed_on(x: u64, kind: u32, bits: u32, mode: u32) -> tuple[u64, u32]:
    """What becomes of a NaN that an operation is given."""
    raised = u32(INVALID) if kind == SIGNALLING else u32(0)
    if mode & DEFAULT_NAN != 0:
        return default_nan(bits), raised
    return x | u64(1) << (fraction_bits(bits) - 1), raised


@device
def first_nan(x: u64, x_kind: u32, y: u64, y_kind: u32, bits: u32, mode: u32) -> tuple[u64, u32]:
    """The NaN that an operation on two gives, one of which is one: the first that signals, or the first."""
    if x_kind == SIGNALLING or (x_kind == QUIET and y_kind != SIGNALLING):
        return passed_on(x, x_kind, bits, mode)
    return passed_on(y, y_kind, bits, mode)
