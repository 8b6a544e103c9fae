"""Sums, products, quotients and roots, rounded once.

Sums are those of a product and a number: a plain sum is one whose product is a number alone, a plain product one to
which a zero is added.
"""

from lanewise.arm64.exact.codes import (
    ADD,
    BY_ZERO,
    DOWN,
    INVALID,
    MULTIPLY,
    MULTIPLY_ADD,
    MULTIPLY_EXTENDED,
    ROOT_STEP,
    STEP,
    SUBTRACT,
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
    fraction_bits,
    passed_on,
    put_together,
    signed_infinity,
    sticky_right,
    take_apart,
)
from lanewise.lang.functions import device
from lanewise.lang.types import i32, u32, u64
from lanewise.lang.vocabulary import leading_zeros, mul_high

GUARD = 3
"""Bits behind the last of a quotient or root: the one that decides, another for what is left, and one to spare."""


@device
def product(x: u64, y: u64) -> tuple[u64, u64, i32]:
    """The product of two significands, its first bit where theirs is, and how far the exponent grows by that."""
    high, low = mul_high(x, y), x * y
    high, low = high << 1 | low >> 63, low << 1
    if high >> LEADING != 0:
        return high, low, i32(1)
    return high << 1 | low >> 63, low << 1, i32(0)


@device
def moved_right(high: u64, low: u64, by: u32) -> tuple[u64, u64]:
    """128 bits shifted right; the last bit says that some that fell out were set."""
    if by == 0:
        return high, low
    if by < 64:
        return high >> by, high << (64 - by) | sticky_right(low, by)
    return u64(0), sticky_right(high, by - 64) | u64(low != 0)


@device
def total(
    x_sign: u32, x_exponent: i32, x_high: u64, x_low: u64, sign: u32, exponent: i32, high: u64
) -> tuple[u32, i32, u64]:
    """The sum of a number of 128 bits and one of 64, as `put_together` takes it; a significand of 0 if they cancel."""
    low = u64(0)
    if x_exponent < exponent:
        x_high, x_low = moved_right(x_high, x_low, u32(exponent - x_exponent))
    else:
        high, low = moved_right(high, low, u32(x_exponent - exponent))
        exponent = x_exponent
    if x_sign == sign:
        low += x_low
        high += x_high + u64(low < x_low)
    elif x_high > high or (x_high == high and x_low >= low):
        high = x_high - high - u64(x_low < low)
        low = x_low - low
        sign = x_sign
    else:
        high = high - x_high - u64(low < x_low)
        low = low - x_low
    exponent += 1
    if high == 0:
        high, low = low, u64(0)
        exponent -= 64
    if high == 0:
        return sign, exponent, u64(0)
    zeros = leading_zeros(high)
    if zeros != 0:
        high = high << zeros | low >> (64 - zeros)
        low <<= zeros
    return sign, exponent - i32(zeros), high | u64(low != 0)


@device
def small_constant(halves: u32, bits: u32) -> u64:
    """2, 3 or 1.5, by how many halves it has."""
    length, bias = fraction_bits(bits), u64(exponent_ones(bits) >> 1)
    if halves == 3:
        return bias << length | u64(1) << (length - 1)
    return bias + 1 << length | (u64(1) << (length - 1) if halves == 6 else u64(0))


@device
def fused(operation: u32, x: u64, y: u64, z: u64, bits: u32, mode: u32, rounding: u32) -> tuple[u64, u32]:
    """All that is a product, a sum or both; where there are both, z is added to x * y."""
    top = u64(1) << (bits - 1)
    sums = operation == ADD or operation == SUBTRACT
    steps = operation == STEP or operation == ROOT_STEP
    if steps:
        x ^= top
        z = small_constant(u32(4) if operation == STEP else u32(6), bits)
    x_kind, x_sign, x_exponent, x_high, raised = take_apart(x, bits, mode)
    y_kind, y_sign, y_exponent, y_high, more = take_apart(y, bits, mode)
    raised |= more
    z_kind, z_sign, z_exponent, z_high = y_kind, y_sign, y_exponent, y_high
    if operation == MULTIPLY_ADD or steps:
        z_kind, z_sign, z_exponent, z_high, more = take_apart(z, bits, mode)
        raised |= more
    endless_nothing = (x_kind == INFINITE and y_kind == ZERO) or (x_kind == ZERO and y_kind == INFINITE)
    if z_kind >= QUIET and operation == MULTIPLY_ADD:
        if z_kind == QUIET and endless_nothing:
            return default_nan(bits), raised | INVALID
        if z_kind == SIGNALLING or (x_kind != SIGNALLING and y_kind != SIGNALLING):
            found, more = passed_on(z, z_kind, bits, mode)
            return found, raised | more
    if x_kind >= QUIET or y_kind >= QUIET:
        found, more = first_nan(x, x_kind, y, y_kind, bits, mode)
        return found, raised | more
    x_low = u64(0)
    if sums:
        z_sign ^= u32(operation == SUBTRACT)
    else:
        x_sign ^= y_sign
        if endless_nothing:
            if operation == MULTIPLY or operation == MULTIPLY_ADD:
                return default_nan(bits), raised | INVALID
            negative = top if operation == MULTIPLY_EXTENDED and x_sign == 1 else u64(0)
            return small_constant(u32(3) if operation == ROOT_STEP else u32(4), bits) | negative, raised
        if x_kind == INFINITE or y_kind == INFINITE:
            x_kind = u32(INFINITE)
        elif x_kind == ZERO or y_kind == ZERO:
            x_kind = u32(ZERO)
        else:
            x_high, x_low, carried = product(x_high, y_high)
            x_exponent += y_exponent + carried
        if operation == MULTIPLY or operation == MULTIPLY_EXTENDED:
            z_kind, z_sign = u32(ZERO), x_sign
    if x_kind == INFINITE and z_kind == INFINITE and x_sign != z_sign:
        return default_nan(bits), raised | INVALID
    if x_kind == INFINITE or z_kind == INFINITE:
        return signed_infinity(x_sign if x_kind == INFINITE else z_sign, bits), raised
    sign, exponent, significand = z_sign, z_exponent + 1, u64(0)
    if z_kind == ZERO and x_kind == FINITE:
        sign, exponent, significand = total(x_sign, x_exponent, x_high, x_low, x_sign, x_exponent, u64(0))
    elif x_kind == ZERO and z_kind == FINITE:
        sign, exponent, significand = z_sign, z_exponent, z_high << 1
    elif x_kind == FINITE:
        sign, exponent, significand = total(x_sign, x_exponent, x_high, x_low, z_sign, z_exponent, z_high)
    if significand == 0:
        if x_kind != ZERO or z_kind != ZERO or x_sign != z_sign:
            sign = u32(rounding == DOWN)
        return u64(sign) << (bits - 1), raised
    made, more = put_together(sign, exponent - i32(operation == ROOT_STEP), significand, bits, mode, rounding)
    return made, raised | more


@device
def quotient(x: u64, y: u64, bits: u32, mode: u32, rounding: u32) -> tuple[u64, u32]:
    """One divided by another."""
    x_kind, x_sign, x_exponent, rest, raised = take_apart(x, bits, mode)
    y_kind, y_sign, y_exponent, by, more = take_apart(y, bits, mode)
    raised |= more
    if x_kind >= QUIET or y_kind >= QUIET:
        found, more = first_nan(x, x_kind, y, y_kind, bits, mode)
        return found, raised | more
    sign = x_sign ^ y_sign
    if x_kind == y_kind and x_kind != FINITE:
        return default_nan(bits), raised | INVALID
    if x_kind == INFINITE or y_kind == ZERO:
        return signed_infinity(sign, bits), raised | (u32(0) if x_kind == INFINITE else u32(BY_ZERO))
    if x_kind == ZERO or y_kind == INFINITE:
        return u64(sign) << (bits - 1), raised
    exponent = x_exponent - y_exponent
    if rest < by:
        rest <<= 1
        exponent -= 1
    found, count = u64(0), fraction_bits(bits) + GUARD
    for _ in range(count):
        found <<= 1
        if rest >= by:
            rest -= by
            found |= 1
        rest <<= 1
    made, more = put_together(sign, exponent, found << (64 - count) | u64(rest != 0), bits, mode, rounding)
    return made, raised | more


@device
def root(x: u64, bits: u32, mode: u32, rounding: u32) -> tuple[u64, u32]:
    """The square root."""
    kind, sign, exponent, given, raised = take_apart(x, bits, mode)
    if kind >= QUIET:
        found, more = passed_on(x, kind, bits, mode)
        return found, raised | more
    if kind == ZERO:
        return u64(sign) << (bits - 1), raised
    if sign == 1:
        return default_nan(bits), raised | INVALID
    if kind == INFINITE:
        return x, raised
    if exponent & 1 != 0:
        given <<= 1
    found, rest, count = u64(0), u64(0), fraction_bits(bits) + GUARD
    for _ in range(count):
        rest = rest << 2 | given >> LEADING
        given <<= 2
        trial = found << 2 | 1
        found <<= 1
        if rest >= trial:
            rest -= trial
            found |= 1
    made, more = put_together(u32(0), exponent >> 1, found << (64 - count) | u64(rest != 0), bits, mode, rounding)
    return made, raised | more
