"""Powers and roots in lang: pow through a logarithm of twice the precision, cbrt, hypot."""

import functools
from dataclasses import dataclass

from lanewise.lang.functions import device
from lanewise.lang.math_core import FORMATS, INF, NAN, choose, horner
from lanewise.lang.math_exp import EXP, exp_reduced, reduce_exp
from lanewise.lang.math_log import LOG, split_octaves
from lanewise.lang.overloads import overloaded
from lanewise.lang.types import f32, f64
from lanewise.lang.vocabulary import bitcast, copysign, fma, sqrt, trunc


@dataclass(frozen=True)
class PowNumbers:
    """Constants of one type."""

    largest: float
    """Any larger exponent gives 0, 1 or infinity as this one does."""
    third: float
    third_lo: float
    poly: tuple[float, ...]
    """(atanh(s) / s - 1 - z / 3) / z**2 in z = s**2, |s| <= 0.1724; the error is 2**-38.4, 2**-66.5 (f64)."""


POW = {
    f32: PowNumbers(
        largest=2.0**33, third=0.3333333432674408, third_lo=-9.934107758624577e-09,
        poly=(0.2, 0.14285767, 0.11102203, 0.09565042),
    ),
    f64: PowNumbers(
        largest=2.0**65, third=0.3333333333333333, third_lo=1.850371707708594e-17,
        poly=(
            0.2, 0.14285714285714285, 0.11111111111111076, 0.0909090909092427, 0.07692307688995914,
            0.06666667081216797, 0.05882321401922746, 0.05264638955680194, 0.04720099367982369, 0.049925046703825686,
        ),
    ),
}  # fmt: skip


@functools.cache
def log_sum(T):
    """log(x) of a positive finite x as a sum of two, good to some ten bits more than the type has."""
    L, P = LOG[T], POW[T]
    split = split_octaves(T)

    @device
    def log_sum(x: T) -> tuple[T, T]:
        k, f = split(x)
        # s + s_lo = f / (2 + f); 1 / (2 + f) is (1 - s) / 2, which spares a division.
        d = 2.0 + f
        d_lo = (2.0 - d) + f
        s = f / d
        s_lo = (fma(-s, d, f) - s * d_lo) * (0.5 - 0.5 * s)
        # atanh(s) = s + s * w with w = z * c, c = 1/3 + z * poly(z), z = s**2; each a sum of two.
        z = s * s
        z_lo = fma(s, s, -z) + 2.0 * s * s_lo
        t = z * horner(z, P.poly)
        c = P.third + t
        c_lo = ((P.third - c) + t) + P.third_lo
        w = z * c
        w_lo = fma(z, c, -w) + fma(z, c_lo, z_lo * c)
        v = s * w
        v_lo = fma(s, w, -v) + fma(s, w_lo, s_lo * w)
        a = s + v
        a_lo = ((s - a) + v) + (v_lo + s_lo)
        octave = k * L.ln2_hi
        hi = octave + 2.0 * a
        lo = ((octave - hi) + 2.0 * a) + fma(k, L.ln2_lo, 2.0 * a_lo)
        return hi + lo, (hi - (hi + lo)) + lo

    return log_sum


@functools.cache
def pow_positive(T):
    """x ** y for positive finite x and any y but NaN."""
    E, P = EXP[T], POW[T]
    logarithm, reduce, reduced = log_sum(T), reduce_exp(T), exp_reduced(T)

    @device
    def pow_positive(x: T, y: T) -> T:
        y = min(max(y, -P.largest), P.largest)
        hi, lo = logarithm(x)
        e = y * hi
        e_lo = fma(y, hi, -e) + y * lo
        limited = min(max(e, E.low), E.high)
        n, r, r_lo = reduce(limited)
        r_lo += choose(limited == e, e_lo, T(0))
        return reduced(n, r + r_lo, (r - (r + r_lo)) + r_lo)

    return pow_positive


@overloaded()
def pow(T):
    """pow(x, y), x ** y: with the special cases of C99, such as 1 ** nan = nan ** 0 = 1."""
    F = FORMATS[T]
    positive = pow_positive(T)

    @device
    def pow(x: T, y: T) -> T:
        if x == 1.0 or y == 0.0:
            return T(1)
        if x != x or y != y:
            return T(NAN)
        size = abs(x)
        half = 0.5 * y
        negative = bitcast(F.signed, x) < 0
        odd = trunc(y) == y and trunc(half) != half
        if size == 0.0 or size == INF:
            result = T(0) if (size == 0.0) == (y > 0.0) else T(INF)
        elif negative and trunc(y) != y:
            return T(NAN)
        else:
            result = positive(size, y)
        return -result if negative and odd else result

    return pow


@overloaded()
def cbrt(T):
    """cbrt(x): the cube root."""
    F = FORMATS[T]
    U = F.bits
    # A third of the bits is a third of the exponent and roughly of the logarithm; the offset evens out the error.
    offset = round((F.bias - 0.0450333) * 2 / 3 * 2.0**F.mantissa)
    steps = 1 if T is f32 else 2
    lift, lift_root = 2.0 ** (3 * F.mantissa), 2.0**-F.mantissa

    @device
    def cbrt(x: T) -> T:
        size = abs(x)
        if not 0.0 < size < INF:
            return x
        # Away from both ends of the range, so that no step overflows or loses bits.
        small = size < 1.0
        a = size * choose(small, T(lift), T(0.125))
        r = bitcast(T, bitcast(U, a) // 3 + offset)  # within 3.5 %
        for _ in range(steps):  # Halley's method: the relative error is cubed
            cube = r * r * r
            r = r * ((cube + 2.0 * a) / (2.0 * cube + a))
        # One step of Newton's, with r**3 as a sum of two, leaves little but the rounding of the last sum.
        square = r * r
        cube = square * r
        cube_lo = fma(square, r, -cube) + fma(r, r, -square) * r
        r += ((a - cube) - cube_lo) / (3.0 * square)
        return copysign(r * choose(small, T(lift_root), T(2)), x)

    return cbrt


@overloaded()
def hypot(T):
    """hypot(x, y): sqrt(x * x + y * y) without overflow on the way; infinite if either is, even next to a NaN."""
    F = FORMATS[T]
    # Squares of numbers in between neither overflow nor lose bits that matter.
    large, small = 2.0 ** (F.bias // 2 - 3), 2.0 ** (-(F.bias // 2) + F.mantissa // 2 + 3)
    down, up = 2.0 ** (-(F.bias // 2) - 3), 2.0 ** (F.bias // 2 + F.mantissa)

    @device
    def hypot(x: T, y: T) -> T:
        if not (abs(x) < INF and abs(y) < INF):
            return T(INF) if abs(x) == INF or abs(y) == INF else T(NAN)
        a, b = max(abs(x), abs(y)), min(abs(x), abs(y))
        factor = choose(a > large, T(down), choose(a < small, T(up), T(1)))
        a *= factor
        b *= factor
        return sqrt(fma(a, a, b * b)) / factor

    return hypot
