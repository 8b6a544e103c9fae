"""Exact results from the device's own arithmetic, for zeros and numbers of common sizes that are rounded to nearest.

What an operation left over says whether it was inexact, and that is itself exact for such numbers. Programs that have
small numbers flushed to zero, or that never did anything inexact, would be several times as slow without this.
"""

from lanewise.arm64.exact.codes import (
    ADD,
    CONTROL,
    DIVIDE,
    INEXACT,
    MULTIPLY_ADD,
    ROOT,
    ROUNDING,
    SUBTRACT,
)
from lanewise.arm64.exact.formats import exponent_ones, fraction_bits
from lanewise.lang.functions import device
from lanewise.lang.overloads import overloaded
from lanewise.lang.types import f32, f64, u32, u64
from lanewise.lang.vocabulary import bitcast, fma, sqrt


@overloaded()
def computed(T):
    """computed(x, y, z, operation): the result, and whether it is inexact; of a product and a sum that is not said."""

    @device
    def computed(x: T, y: T, z: T, operation: u32) -> tuple[T, bool]:
        if operation == ADD or operation == SUBTRACT:
            other = -y if operation == SUBTRACT else y
            total = x + other
            part = total - x
            return total, (x - (total - part)) + (other - part) != 0
        if operation == MULTIPLY_ADD:
            return fma(x, y, z), False
        if operation == DIVIDE:
            quotient = x / y
            return quotient, fma(quotient, y, -x) != 0
        if operation == ROOT:
            root = sqrt(x)
            return root, fma(root, root, -x) != 0
        product = x * y
        return product, fma(x, y, -product) != 0

    return computed


@device
def common(x: u64, bits: u32) -> bool:
    """Whether a number is so far from the smallest and largest that what operations leave over has all of its bits."""
    least, ones = fraction_bits(bits) + 3, exponent_ones(bits)
    return (u32(x >> fraction_bits(bits)) & ones) - least < ones - 2 - least


@device
def is_zero(x: u64, bits: u32) -> bool:
    """Whether it is, with any sign."""
    return x << (65 - bits) == 0


@device
def quickly(operation: u32, x: u64, y: u64, z: u64, bits: u32, state: u64) -> tuple[bool, u64, u32]:
    """Whether there is a quick way, and then the result and its flags."""
    sums = operation == MULTIPLY_ADD
    there_is = operation <= MULTIPLY_ADD or operation == DIVIDE or operation == ROOT
    if state >> (CONTROL + ROUNDING) & 3 != 0 or not there_is or (sums and state & INEXACT == 0):
        return False, u64(0), u32(0)
    x_zero, y_zero, z_zero = is_zero(x, bits), is_zero(y, bits), is_zero(z, bits)
    if not (x_zero or common(x, bits)) or (sums and not (z_zero or common(z, bits))):
        return False, u64(0), u32(0)
    if operation == ROOT:
        if x >> (bits - 1) != 0 and not x_zero:
            return False, u64(0), u32(0)
    elif not common(y, bits) and (operation == DIVIDE or not y_zero):
        return False, u64(0), u32(0)
    found, inexact = u64(0), False
    if bits == 64:
        wide, inexact = computed(bitcast(f64, x), bitcast(f64, y), bitcast(f64, z), operation)
        found = bitcast(u64, wide)
    else:
        one, other, third = u32(x), u32(y), u32(z)
        narrow, inexact = computed(bitcast(f32, one), bitcast(f32, other), bitcast(f32, third), operation)
        found = u64(bitcast(u32, narrow))
    nothing = operation <= SUBTRACT or x_zero or y_zero or (sums and not z_zero)  # a zero has lost no bits
    done = common(found, bits) or (nothing and is_zero(found, bits))
    return done, found, u32(INEXACT) if inexact else u32(0)
