"""asin, acos, atan and atan2 in lang: one polynomial for the arc sine up to 1/2, one for the arc tangent up to 1."""

import functools
from dataclasses import dataclass

from lanewise.lang.functions import device
from lanewise.lang.math_core import FORMATS, choose, horner
from lanewise.lang.overloads import overloaded
from lanewise.lang.types import f32, f64
from lanewise.lang.vocabulary import bitcast, copysign, fma, sqrt


@dataclass(frozen=True)
class ArcNumbers:
    """Constants of one type: pi/2 in two parts, and the polynomials."""

    pio2: float
    pio2_lo: float
    asin: tuple[float, ...]
    """(asin(x) / x - 1) / z in z = x**2, |x| <= 1/2; the error of asin(x) is 2**-28.6 (f32), 2**-57.3 (f64)."""
    atan: tuple[float, ...]
    """(atan(x) / x - 1) / z in z = x**2, |x| <= 1; the error of atan(x) is 2**-26.4 (f32), 2**-54.7 (f64)."""


ARC = {
    f32: ArcNumbers(
        pio2=1.5707963705062866, pio2_lo=-4.371138828673793e-08,
        asin=(0.16666666, 0.07500095, 0.04459932, 0.031101728, 0.017143717, 0.033700727),
        atan=(
            -0.33333334, 0.1999995, -0.14284004, 0.11088262, -0.08931827, 0.070319146, -0.048960514, 0.026305001,
            -0.009144629, 0.0014886919,
        ),
    ),
    f64: ArcNumbers(
        pio2=1.5707963267948966, pio2_lo=6.123233995736766e-17,
        asin=(
            0.16666666666666669, 0.07499999999998425, 0.04464285714637338, 0.030381944137085216, 0.022372173002005596,
            0.017352391265909227, 0.013971235301124539, 0.011478952690257387, 0.010324318288744113,
            0.00545087818772055, 0.017419357964884856, -0.014881409392818066, 0.02877844261259304,
        ),
        atan=(
            -0.3333333333333333, 0.19999999999999554, -0.14285714285648404, 0.11111111107234799, -0.09090908969557403,
            0.07692305354678655, -0.06666636435777692, 0.05882074956371294, -0.05261265735709454, 0.04752086773576656,
            -0.04308119655330471, 0.03872640214042632, -0.033750132001619734, 0.027567942297344678,
            -0.020238706986393514, 0.012756172907694298, -0.006575683344151699, 0.002622977891906089,
            -0.0007518472526973822, 0.0001368724853148122, -1.1832505417555692e-05,
        ),
    ),
}  # fmt: skip


@functools.cache
def asin_parts(T):
    """(s, tail): asin(x) = s + tail for x up to 1/2; beyond, pi/2 - 2 * (s + tail) with s = sqrt((1 - x) / 2)."""
    A = ARC[T]

    @device
    def asin_parts(x: T) -> tuple[T, T]:
        near = x <= 0.5
        z = choose(near, x * x, fma(-0.5, x, 0.5))  # the latter is exact
        root = sqrt(z)
        s = choose(near, x, root)
        s_lo = choose(near | (root == 0.0), T(0), fma(-root, root, z) * 0.5 / root)
        return s, fma(s * z, horner(z, A.asin), s_lo)

    return asin_parts


@overloaded()
def asin(T):
    """asin(x): the angle from -pi/2 to pi/2 whose sine is x."""
    A, F = ARC[T], FORMATS[T]
    parts = asin_parts(T)

    @device
    def asin(x: T) -> T:
        size = abs(x)
        s, tail = parts(size)
        far = A.pio2 - 2.0 * s
        far += ((A.pio2 - far) - 2.0 * s) + (A.pio2_lo - 2.0 * tail)
        result = choose(size <= 0.5, s + tail, far)
        return choose(size < F.tiny, x, copysign(result, x))

    return asin


@overloaded()
def acos(T):
    """acos(x): the angle from 0 to pi whose cosine is x."""
    A = ARC[T]
    parts = asin_parts(T)

    @device
    def acos(x: T) -> T:
        s, tail = parts(abs(x))
        near = abs(x) <= 0.5
        # pi/2 - asin(x) in the middle, 2 * (s + tail) above 1/2, pi less that below -1/2.
        base, base_lo = choose(near, T(A.pio2), T(2.0 * A.pio2)), choose(near, T(A.pio2_lo), T(2.0 * A.pio2_lo))
        part, part_lo = choose(near, copysign(s, x), 2.0 * s), choose(near, copysign(tail, x), 2.0 * tail)
        result = base - part
        result += ((base - result) - part) + (base_lo - part_lo)
        return choose(x > 0.5, 2.0 * (s + tail), result)

    return acos


@functools.cache
def atan_unit(T):
    """atan(t) for 0 <= t <= 1."""
    A = ARC[T]

    @device
    def atan_unit(t: T) -> T:
        z = t * t
        return fma(t * z, horner(z, A.atan), t)

    return atan_unit


@overloaded()
def atan(T):
    """atan(x): the angle from -pi/2 to pi/2 whose tangent is x."""
    A = ARC[T]
    unit = atan_unit(T)

    @device
    def atan(x: T) -> T:
        size = abs(x)
        far = size > 1.0
        t = unit(choose(far, 1.0 / size, size))
        return copysign(choose(far, A.pio2 + (A.pio2_lo - t), t), x)

    return atan


@overloaded()
def atan2(T):
    """atan2(y, x): the angle from -pi to pi of the point (x, y)."""
    A, F = ARC[T], FORMATS[T]
    unit = atan_unit(T)

    @device
    def atan2(y: T, x: T) -> T:
        if x != x or y != y:
            return x + y
        steep = abs(y) > abs(x)
        low, high = choose(steep, abs(x), abs(y)), choose(steep, abs(y), abs(x))
        ratio = choose(low == high, T(1), low / high)  # 1 for two infinities
        t = unit(choose(high == 0.0, T(0), ratio))
        left = bitcast(F.signed, x) < 0
        base = choose(steep, T(A.pio2), choose(left, T(2.0 * A.pio2), T(0)))
        base_lo = choose(steep, T(A.pio2_lo), choose(left, T(2.0 * A.pio2_lo), T(0)))
        return copysign(base + (base_lo + choose(steep != left, -t, t)), y)

    return atan2
