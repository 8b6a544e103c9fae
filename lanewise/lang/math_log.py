"""Logarithms in lang: log(x) = k * ln(2) + log(1 + f) with 1 + f between sqrt(1/2) and sqrt(2)."""

import functools
from dataclasses import dataclass

from lanewise.lang.functions import device
from lanewise.lang.math_core import FORMATS, INF, NAN, choose, horner, power_of_two
from lanewise.lang.overloads import overloaded
from lanewise.lang.types import f32, f64, i32
from lanewise.lang.vocabulary import bitcast, copysign, fma


@dataclass(frozen=True)
class LogNumbers:
    """Constants of one type; the first part of what one octave adds is short, so that k times it is exact."""

    sqrt_half: int
    """The bits of sqrt(1/2)."""
    ln2_hi: float
    ln2_lo: float
    log10_2_hi: float
    log10_2_lo: float
    log2e_hi: float
    log2e_lo: float
    log10e_hi: float
    log10e_lo: float
    poly: tuple[float, ...]
    """(2 * atanh(s) / s - 2) / s**2 in s**2 for |s| <= 0.1724; the error of the sum is 2**-28.5, 2**-57.7 (f64)."""


LOG = {
    f32: LogNumbers(
        sqrt_half=0x3F3504F3,
        ln2_hi=0.693145751953125, ln2_lo=1.428606765330187e-06,
        log10_2_hi=0.301025390625, log10_2_lo=4.605039066518657e-06,
        log2e_hi=1.4426950216293335, log2e_lo=1.925963033500011e-08,
        log10e_hi=0.4342944920063019, log10e_lo=-1.0103049952192578e-08,
        poly=(0.66666687, 0.3998855, 0.29590318),
    ),
    f64: LogNumbers(
        sqrt_half=0x3FE6A09E667F3BCD,
        ln2_hi=0.6931471805601177, ln2_lo=-1.7239444525614835e-13,
        log10_2_hi=0.3010299956640665, log10_2_lo=-8.532344317057107e-14,
        log2e_hi=1.4426950408889634, log2e_lo=2.0355273740931033e-17,
        log10e_hi=0.4342944819032518, log10e_lo=1.098319650216765e-17,
        poly=(
            0.666666666666667, 0.3999999999989322, 0.28571428628810996, 0.22222210674238516, 0.18182922513515942,
            0.15330617306743305, 0.1463003136412286,
        ),
    ),
}  # fmt: skip


@functools.cache
def octaves(T):
    """The k for which x / 2**k lies between sqrt(1/2) and sqrt(2); x is normal and positive."""
    F, L = FORMATS[T], LOG[T]

    @device
    def octaves(x: T) -> i32:
        return i32((bitcast(F.signed, x) - L.sqrt_half) >> F.mantissa)

    return octaves


@functools.cache
def split_octaves(T):
    """(k, f) with x = 2**k * (1 + f) for positive finite x; both exact."""
    F = FORMATS[T]
    Int = F.signed
    count = octaves(T)
    lift = 2.0**F.mantissa

    @device
    def split_octaves(x: T) -> tuple[T, T]:
        small = x < F.min_normal
        x = choose(small, x * lift, x)
        k = count(x)
        f = bitcast(T, bitcast(Int, x) - (Int(k) << F.mantissa)) - 1.0
        return T(choose(small, k - F.mantissa, k)), f

    return split_octaves


@functools.cache
def log_near_one(T):
    """log(1 + f) as a sum of two; the second is not small, but its rounding error is."""
    L = LOG[T]

    @device
    def log_near_one(f: T) -> tuple[T, T]:
        # log(1 + f) = 2 * atanh(s) with s = f / (2 + f), and 2 * s = f - f**2 / 2 + s * f**2 / 2.
        s = f / (2.0 + f)
        z = s * s
        half = 0.5 * f
        square = half * f
        hi = f - square
        tail = fma(s, fma(z, horner(z, L.poly), square), -fma(half, f, -square))
        return hi, ((f - hi) - square) + tail

    return log_near_one


@functools.cache
def log_limit(T):
    """log of what is not positive and finite."""

    @device
    def log_limit(x: T) -> T:
        return -INF if x == 0.0 else NAN if x < 0.0 else x

    return log_limit


@overloaded()
def log(T):
    """log(x): the natural logarithm."""
    L = LOG[T]
    split, near, limit = split_octaves(T), log_near_one(T), log_limit(T)

    @device
    def log(x: T) -> T:
        if not 0.0 < x < INF:
            return limit(x)
        k, f = split(x)
        hi, lo = near(f)
        octave = k * L.ln2_hi
        result = octave + hi
        return result + (((octave - result) + hi) + fma(k, L.ln2_lo, lo))

    return log


def _log_in_base(T, octave_hi, octave_lo, unit_hi, unit_lo):
    """log(x) times a unit, given as a sum of two, as is what one octave adds."""
    split, near, limit = split_octaves(T), log_near_one(T), log_limit(T)

    @device
    def log_in_base(x: T) -> T:
        if not 0.0 < x < INF:
            return limit(x)
        k, f = split(x)
        hi, lo = near(f)
        scaled = hi * unit_hi
        scaled_lo = fma(hi, unit_hi, -scaled) + fma(hi, unit_lo, lo * unit_hi)
        octave = k * octave_hi
        result = octave + scaled
        return result + (((octave - result) + scaled) + fma(k, octave_lo, scaled_lo))

    return log_in_base


@overloaded()
def log2(T):
    """log2(x): the logarithm to base 2; exact for powers of two."""
    L = LOG[T]
    return _log_in_base(T, 1.0, 0.0, L.log2e_hi, L.log2e_lo)


@overloaded()
def log10(T):
    """log10(x): the logarithm to base 10."""
    L = LOG[T]
    return _log_in_base(T, L.log10_2_hi, L.log10_2_lo, L.log10e_hi, L.log10e_lo)


@overloaded()
def log1p(T):
    """log1p(x): log(1 + x), accurate near 0 too."""
    F, L = FORMATS[T], LOG[T]
    Int = F.signed
    count, near, limit, pow2 = octaves(T), log_near_one(T), log_limit(T), power_of_two(T)

    @device
    def log1p(x: T) -> T:
        u = 1.0 + x
        if not 0.0 < u < INF:
            return limit(u)
        # u + u_lo is 1 + x exactly; f + f_lo is what it exceeds 2**k by, in units of 2**k.
        part = u - x
        u_lo = (x - (u - part)) + (1.0 - part)
        k = count(u)
        m = bitcast(T, bitcast(Int, u) - (Int(k) << F.mantissa)) - 1.0
        m_lo = u_lo * pow2(-min(k, F.bias - 1))
        f = m + m_lo
        f_lo = (m - f) + m_lo
        hi, lo = near(f)
        octave = T(k) * L.ln2_hi
        result = octave + hi
        rest = fma(T(k), L.ln2_lo, lo) + fma(-f, f_lo, f_lo)
        return copysign(result + (((octave - result) + hi) + rest), x)

    return log1p
