"""sin, cos and tan in lang: the argument less a multiple of pi/2 as a sum of two, then one polynomial each."""

import functools
from dataclasses import dataclass

import numpy as np

from lanewise.lang.functions import device
from lanewise.lang.math_core import FORMATS, INF, choose, horner, power_of_two
from lanewise.lang.overloads import overloaded
from lanewise.lang.types import f32, f64, i32, u32, u64
from lanewise.lang.vocabulary import bitcast, fma, leading_zeros, mul_high, rint

TWO_OVER_PI = 0.6366197723675814
PIO2, PIO2_LO = 1.5707963267948966, 6.123233995736766e-17


@dataclass(frozen=True)
class TrigNumbers:
    """Constants of one type: pi/2 in three full-precision parts, and up to where they suffice."""

    limit: float
    pio2: float
    pio2_mid: float
    pio2_lo: float
    sin: tuple[float, ...]
    """(sin(r) / r - 1) / z in z = r**2, |r| <= 0.793; the error of sin(r) is 2**-28.2 (f32), 2**-57.2 (f64)."""
    cos: tuple[float, ...]
    """(cos(r) - 1 + z / 2) / z**2 likewise; the error is 2**-30.5 (f32), 2**-60.1 (f64)."""


TRIG = {
    f32: TrigNumbers(
        limit=2.0**16, pio2=1.5707963705062866, pio2_mid=-4.371138828673793e-08, pio2_lo=-1.7151245100058819e-15,
        sin=(-0.16666667, 0.008333332, -0.00019840039, 2.7243811e-06),
        cos=(0.041666664, -0.0013888279, 2.4542896e-05),
    ),
    f64: TrigNumbers(
        limit=2.0**20, pio2=PIO2, pio2_mid=PIO2_LO, pio2_lo=-1.4973849048591698e-33,
        sin=(
            -0.16666666666666666, 0.008333333333333331, -0.0001984126984126457, 2.755731921895673e-06,
            -2.5052106100926675e-08, 1.605851097953535e-10, -7.58549250782124e-13,
        ),
        cos=(
            0.041666666666666664, -0.0013888888888887241, 2.4801587298533456e-05, -2.755731715246704e-07,
            2.087612165887116e-09, -1.1380876948169717e-11,
        ),
    ),
}  # fmt: skip

# The first 1216 bits of 2/pi behind 64 zeros, from mpmath; enough for the largest double.
TWO_OVER_PI_BITS = np.array(
    [
        0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041,
        0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E,
        0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B,
        0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
        0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB,
    ],
    dtype=np.uint64,
)  # fmt: skip

pow2_f64 = power_of_two(f64)


@device
def joined(a: u64, b: u64, shift: u64) -> u64:
    """The upper half of the 128 bits of a and b, shifted left by less than 64."""
    return a << shift | b >> 1 >> (63 - shift)


@device(inline=False)
def reduce_large(x: f64) -> tuple[f64, f64, i32]:
    """(r, r_lo, quadrant) of any double from 2**-10 on, by Payne and Hanek: a product with 192 bits of 2/pi."""
    if not abs(x) < INF:
        return x - x, x - x, i32(0)
    bits = bitcast(u64, abs(x))
    m = (bits & 0xFFFFFFFFFFFFF) | 0x10000000000000
    # x = m * 2**e. Bits of 2/pi before position e - 2 make multiples of 4 quadrants and drop out.
    position = (bits >> 52) - (1075 + 2 - 64)
    word, shift = u32(position >> 6), position & 63
    w0, w1 = TWO_OVER_PI_BITS[word], TWO_OVER_PI_BITS[word + 1]
    w2, w3 = TWO_OVER_PI_BITS[word + 2], TWO_OVER_PI_BITS[word + 3]
    b = joined(w1, w2, shift)
    low = m * b
    mid = low + mul_high(m, joined(w2, w3, shift))
    top = m * joined(w0, w1, shift) + mul_high(m, b) + u64(mid < low)
    # Two bits of quadrant, then the fraction. From one half on it counts back from the next quadrant.
    quadrant = i32(top >> 62)
    first, second = joined(top, mid, u64(2)), mid << 2
    back = first >> 63
    first, second = first ^ (0 - back), second ^ (0 - back)
    quadrant += i32(back)
    # 53 bits of the normalised fraction make r, the next 64 r_lo. It is never below 2**-62, for any double.
    zeros = u64(leading_zeros(first))
    first, second = joined(first, second, zeros), second << zeros
    unit = pow2_f64(-53 - i32(zeros))
    f = f64(first >> 11) * unit
    f_lo = f64(first << 53 | second >> 11) * (unit * 2.0**-64)
    r = f * PIO2
    r_lo = fma(f, PIO2, -r) + fma(f, PIO2_LO, f_lo * PIO2)
    if (back != 0) != (x < 0.0):
        r, r_lo = -r, -r_lo
    return r, r_lo, choose(x < 0.0, -quadrant, quadrant)


@functools.cache
def reduce_trig(T):
    """(r, r_lo, n) with x = n * pi/2 + r + r_lo, |r| <= pi/4; n modulo 4 where x is large."""
    R = TRIG[T]

    @device
    def reduce_trig(x: T) -> tuple[T, T, i32]:
        if abs(x) > R.limit:
            wide, wide_lo, quadrant = reduce_large(f64(x))
            return T(wide), T((wide - f64(T(wide))) + wide_lo), quadrant
        n = rint(x * TWO_OVER_PI)
        t = fma(-n, R.pio2, x)  # exact
        w = n * R.pio2_mid
        r = t - w
        part = r - t
        t_lo = (t - (r - part)) - (w + part)
        return r, fma(-n, R.pio2_lo, t_lo - fma(n, R.pio2_mid, -w)), i32(n)

    return reduce_trig


@functools.cache
def sin_cos(T):
    """(sin, sin_lo, cos, cos_lo) of r + r_lo."""
    R = TRIG[T]

    @device
    def sin_cos(r: T, r_lo: T) -> tuple[T, T, T, T]:
        z = r * r
        half = 0.5 * z
        cos = 1.0 - half
        z_lo = fma(r, r, -z)
        cos_lo = ((1.0 - cos) - half) + fma(z * z, horner(z, R.cos), -fma(r, r_lo, 0.5 * z_lo))
        return r, fma(z * r, horner(z, R.sin), r_lo * cos), cos, cos_lo

    return sin_cos


@functools.cache
def sin_turned(T):
    """sin(x + turn * pi/2)."""
    reduce, both = reduce_trig(T), sin_cos(T)

    @device
    def sin_turned(x: T, turn: i32) -> T:
        r, r_lo, n = reduce(x)
        s, s_lo, c, c_lo = both(r, r_lo)
        n += turn
        result = choose(n & 1 != 0, c + c_lo, s + s_lo)
        return choose(n & 2 != 0, -result, result)

    return sin_turned


@overloaded()
def sin(T):
    """sin(x), x in radians and of any size."""
    F = FORMATS[T]
    turned = sin_turned(T)

    @device
    def sin(x: T) -> T:
        return choose(abs(x) < F.tiny, x, turned(x, 0))

    return sin


@overloaded()
def cos(T):
    """cos(x), x in radians and of any size."""
    turned = sin_turned(T)

    @device
    def cos(x: T) -> T:
        return turned(x, 1)

    return cos


@overloaded()
def tan(T):
    """tan(x), x in radians and of any size."""
    F = FORMATS[T]
    reduce, both = reduce_trig(T), sin_cos(T)

    @device
    def tan(x: T) -> T:
        r, r_lo, n = reduce(x)
        s, s_lo, c, c_lo = both(r, r_lo)
        odd = n & 1 != 0  # tan(r + pi/2) is -cos(r) / sin(r)
        top, top_lo = choose(odd, -c, s), choose(odd, -c_lo, s_lo)
        bottom, bottom_lo = choose(odd, s, c), choose(odd, s_lo, c_lo)
        whole = bottom + bottom_lo
        inverse = 1.0 / whole
        q = (top + top_lo) * inverse
        residue = fma(-q, bottom, top) + (top_lo - q * bottom_lo)
        return choose(abs(x) < F.tiny, x, fma(residue, inverse, q))

    return tan
