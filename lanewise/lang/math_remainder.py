"""Remainders and floored division of floats in lang, exact for any arguments."""

import functools

from lanewise.lang.functions import device
from lanewise.lang.math_core import FORMATS, INF, NAN, scale
from lanewise.lang.overloads import overloaded
from lanewise.lang.types import i32
from lanewise.lang.vocabulary import bitcast, copysign, floor, fma, leading_zeros, trunc


@functools.cache
def unpack_float(T):
    """(m, e) with x = m * 2**e for positive finite x; m has as many bits as the type's mantissa, e may be very low."""
    F = FORMATS[T]
    U = F.bits
    spare = U.bits - 1 - F.mantissa

    @device
    def unpack_float(x: T) -> tuple[U, i32]:
        bits = bitcast(U, x)
        exponent = max(i32(bits >> F.mantissa), 1)
        m = bits & ((1 << F.mantissa) - 1)
        if x >= F.min_normal:
            m |= 1 << F.mantissa
        shift = i32(leading_zeros(m)) - spare
        return m << shift, exponent - shift

    return unpack_float


@functools.cache
def fmod_far(T):
    """fmod of positive x > y far apart: long division, bit by bit; at most 2098 steps for f64, 277 for f32."""
    F = FORMATS[T]
    unpack, ldexp = unpack_float(T), scale(T)

    @device
    def fmod_far(x: T, y: T) -> T:
        m, e = unpack(x)
        d, stop = unpack(y)
        rest = m - d if m >= d else m
        while e > stop:
            rest <<= 1
            if rest >= d:
                rest -= d
            e -= 1
        return ldexp(T(rest), stop - (F.bias + F.mantissa))

    return fmod_far


@overloaded()
def fmod(T):
    """fmod(x, y): x - n * y for the whole n nearest to x / y towards 0; exact, with the sign of x."""
    far = fmod_far(T)
    near = 2.0 ** (FORMATS[T].mantissa - 1)

    @device
    def fmod(x: T, y: T) -> T:
        a, b = abs(x), abs(y)
        if not (a < INF and b > 0.0):
            return T(NAN)
        if a < b:
            return x
        q = a / b
        if q < near:
            # The rounded quotient is at most one too large, and both remainders are exact.
            rest = fma(-trunc(q), b, a)
            rest = rest + b if rest < 0.0 else rest
        else:
            rest = far(a, b)
        return copysign(rest, x)

    return fmod


@overloaded()
def floor_mod(T):
    """floor_mod(x, y), x % y: the remainder with the sign of y, as Python and NumPy define it; NaN for y = 0."""

    @device
    def floor_mod(x: T, y: T) -> T:
        rest = fmod(x, y)
        if rest == 0.0:
            return copysign(rest, y)
        return rest + y if (rest < 0.0) != (y < 0.0) else rest

    return floor_mod


@overloaded()
def floor_divide(T):
    """floor_divide(x, y), x // y: the quotient rounded down, as Python and NumPy define it; x / y for y = 0."""

    @device
    def floor_divide(x: T, y: T) -> T:
        if y == 0.0:
            return x / y
        rest = fmod(x, y)
        # x - rest is a multiple of y up to rounding, so the quotient is near a whole number.
        q = (x - rest) / y
        if rest != 0.0 and (rest < 0.0) != (y < 0.0):
            q -= 1.0
        if q == 0.0:
            return copysign(q, x / y)
        whole = floor(q)
        return whole + 1.0 if q - whole > 0.5 else whole

    return floor_divide
