"""Comparisons, conversions, whole numbers, and what estimates have apart from their tables."""

from lanewise.arm64.exact.codes import (
    AS_SET,
    AT_LEAST,
    BY_ZERO,
    COMPARE,
    COMPARE_SIGNALLING,
    DEFAULT_NAN,
    DOWN,
    EQUAL,
    FLUSH,
    INEXACT,
    INVALID,
    LARGER,
    LARGER_NUMBER,
    LESS,
    NEAREST,
    OTHER_HALF,
    OVERFLOW,
    RECIPROCAL,
    ROUND_EXACT,
    SAME,
    SMALLER_NUMBER,
    UNDERFLOW,
    UNORDERED,
    UP,
)
from lanewise.arm64.exact.formats import (
    FINITE,
    INFINITE,
    LEADING,
    QUIET,
    SIGNALLING,
    ZERO,
    default_nan,
    exponent_ones,
    first_nan,
    flushed,
    fraction_bits,
    kind_of,
    passed_on,
    put_together,
    rounds_up,
    signed_infinity,
    take_apart,
    way_to_round,
)
from lanewise.lang.functions import device
from lanewise.lang.types import i32, i64, u32, u64
from lanewise.lang.vocabulary import leading_zeros


@device
def in_order(x: u64, bits: u32) -> i64:
    """A number's place among all others; both zeros are one."""
    size = i64(x & ((u64(1) << (bits - 1)) - 1))
    return -size if x >> (bits - 1) != 0 else size


@device
def extreme(operation: u32, x: u64, y: u64, bits: u32, mode: u32) -> tuple[u64, u32]:
    """The larger or smaller of two; a number rather than a quiet NaN where that is asked for."""
    x_kind, raised = kind_of(x, bits, mode)
    y_kind, more = kind_of(y, bits, mode)
    raised |= more
    x, y = flushed(x, bits, mode), flushed(y, bits, mode)
    if operation == LARGER_NUMBER or operation == SMALLER_NUMBER:
        if x_kind == QUIET and y_kind < QUIET:
            return y, raised
        if y_kind == QUIET and x_kind < QUIET:
            return x, raised
    if x_kind >= QUIET or y_kind >= QUIET:
        found, more = first_nan(x, x_kind, y, y_kind, bits, mode)
        return found, raised | more
    larger = operation == LARGER or operation == LARGER_NUMBER
    if x_kind == ZERO and y_kind == ZERO:
        return x & y if larger else x | y, raised
    return x if (in_order(x, bits) > in_order(y, bits)) == larger else y, raised


@device
def compared(operation: u32, x: u64, y: u64, bits: u32, mode: u32) -> tuple[u64, u32]:
    """How two are to each other."""
    x_kind, raised = kind_of(x, bits, mode)
    y_kind, more = kind_of(y, bits, mode)
    raised |= more
    by_bits = operation == COMPARE or operation == COMPARE_SIGNALLING
    if x_kind >= QUIET or y_kind >= QUIET:
        silent = operation == COMPARE or operation == EQUAL
        if not silent or x_kind == SIGNALLING or y_kind == SIGNALLING:
            raised |= INVALID
        return u64(UNORDERED) if by_bits else u64(0), raised
    one, other = in_order(flushed(x, bits, mode), bits), in_order(flushed(y, bits, mode), bits)
    if by_bits:
        return u64(SAME) if one == other else u64(one < other) * LESS, raised
    holds = one == other if operation == EQUAL else one >= other if operation == AT_LEAST else one > other
    return ~u64(0) if holds else u64(0), raised


@device
def whole_part(significand: u64, exponent: i32, sign: u32, rounding: u32) -> tuple[u64, bool]:
    """The size of a number that is less than 2**64 as an integer, rounded, and whether it was none."""
    if exponent > LEADING:
        return significand << 1, False
    spare = u32(LEADING - exponent)
    if spare == 0:
        return significand, False
    if spare > 63:
        significand, spare = u64(1), u32(63)
    whole, rest = significand >> spare, significand & ((u64(1) << spare) - 1)
    if rounds_up(rounding, sign, whole & 1 != 0, rest, u64(1) << (spare - 1)):
        whole += 1
    return whole, rest != 0


@device
def from_size(sign: u32, size: u64, places: u32, bits: u32, mode: u32, rounding: u32) -> tuple[u64, u32]:
    """An integer's size, of which some bits are behind the point, as a number."""
    zeros = leading_zeros(size)
    return put_together(sign, 63 - i32(zeros) - i32(places), size << zeros, bits, mode, rounding)


@device
def rounded(operation: u32, x: u64, bits: u32, mode: u32, rounding: u32) -> tuple[u64, u32]:
    """The next whole number, in the format that it has."""
    kind, sign, exponent, significand, raised = take_apart(x, bits, mode)
    if kind >= QUIET:
        found, more = passed_on(x, kind, bits, mode)
        return found, raised | more
    if kind != FINITE or exponent >= i32(fraction_bits(bits)):
        return flushed(x, bits, mode), raised
    size, inexact = whole_part(significand, exponent, sign, rounding)
    if inexact and operation == ROUND_EXACT:
        raised |= INEXACT
    if size == 0:
        return u64(sign) << (bits - 1), raised
    made, more = from_size(sign, size, u32(0), bits, mode, rounding)
    return made, raised


@device
def to_integer(x: u64, bits: u32, to: u32, signed: bool, places: u32, mode: u32, rounding: u32) -> tuple[u64, u32]:
    """A number as an integer of which some bits are behind the point: the nearest that there is, or 0 for none."""
    kind, sign, exponent, significand, raised = take_apart(x, bits, mode)
    if kind == ZERO:
        return u64(0), raised
    if kind >= QUIET:
        return u64(0), raised | INVALID
    most = (u64(1) << (to - 1)) - 1 if signed else ~u64(0) >> (64 - to)
    if sign == 1:
        most = most + 1 if signed else u64(0)
    exponent += i32(places)
    size, inexact = most, False
    if kind == INFINITE or exponent > 63:
        raised |= INVALID
    else:
        size, inexact = whole_part(significand, exponent, sign, rounding)
        if size > most:
            size = most
            raised |= INVALID
        elif inexact:
            raised |= INEXACT
    return u64(0) - size if sign == 1 else size, raised


@device
def from_integer(x: u64, given: u32, signed: bool, places: u32, bits: u32, mode: u32, rounding: u32) -> tuple[u64, u32]:
    """An integer of which some bits are behind the point as a number."""
    negative = signed and x >> (given - 1) != 0
    size = (u64(0) - x) & (~u64(0) >> (64 - given)) if negative else x
    if size == 0:
        return u64(0), u32(0)
    return from_size(u32(negative), size, places, bits, mode, rounding)


@device
def converted(x: u64, bits: u32, to: u32, mode: u32, rounding: u32) -> tuple[u64, u32]:
    """A number in another format."""
    kind, sign, exponent, significand, raised = take_apart(x, bits, mode)
    negative = u64(sign) << (to - 1)
    no_infinities = to == 16 and mode & OTHER_HALF != 0
    if kind == ZERO:
        return negative, raised
    if kind == INFINITE:
        if no_infinities:
            return negative | 0x7FFF, u32(INVALID)
        return signed_infinity(sign, to), raised
    if kind >= QUIET:
        raised = u32(INVALID) if kind == SIGNALLING or no_infinities else u32(0)
        if no_infinities:
            return negative, raised
        if mode & DEFAULT_NAN != 0:
            return default_nan(to), raised
        payload = x & ((u64(1) << fraction_bits(bits)) - 1)
        at, wanted = fraction_bits(bits), fraction_bits(to)
        payload = payload >> (at - wanted) if at > wanted else payload << (wanted - at)
        return negative | default_nan(to) | payload, raised
    made, more = put_together(sign, exponent, significand << 1, to, mode, rounding)
    return made, raised | more


@device
def estimated(operation: u32, x: u64, plain: u64, bits: u32, mode: u32) -> tuple[u64, u32]:
    """An estimate of 1/x or 1/sqrt(x): what is special about it, or the plain one."""
    kind, sign, exponent, significand, raised = take_apart(x, bits, mode)
    negative = u64(sign) << (bits - 1)
    if kind >= QUIET:
        found, more = passed_on(x, kind, bits, mode)
        return found, raised | more
    if kind == ZERO:
        return signed_infinity(sign, bits), raised | BY_ZERO
    if operation == RECIPROCAL:
        bias = i32(exponent_ones(bits) >> 1)
        if kind == INFINITE:
            return negative, raised
        if exponent < -bias - 1:
            rounding = way_to_round(u32(AS_SET), mode)
            grows = rounding == NEAREST or (rounding == UP and sign == 0) or (rounding == DOWN and sign == 1)
            endless = signed_infinity(sign, bits)
            return endless if grows else endless - 1, raised | OVERFLOW | INEXACT
        if mode & FLUSH != 0 and exponent >= bias - 1:
            return negative, raised | UNDERFLOW
        return plain, raised
    if sign == 1:
        return default_nan(bits), raised | INVALID
    return u64(0) if kind == INFINITE else plain, raised


@device
def other_exponent(x: u64, plain: u64, bits: u32, mode: u32) -> tuple[u64, u32]:
    """The other exponent of a number, as it was found, or its NaN."""
    kind, raised = kind_of(x, bits, mode)
    if kind >= QUIET:
        found, more = passed_on(x, kind, bits, mode)
        return found, raised | more
    return plain, raised
