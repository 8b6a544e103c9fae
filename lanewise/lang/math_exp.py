"""Exponentials and hyperbolic functions in lang: all rest on exp(r) - 1 for |r| <= ln(2) / 2."""

import functools
from dataclasses import dataclass

from lanewise.lang.functions import device
from lanewise.lang.math_core import FORMATS, choose, horner, power_of_two, scale
from lanewise.lang.overloads import overloaded
from lanewise.lang.types import f32, f64, i32
from lanewise.lang.vocabulary import copysign, fma, rint

LOG2E = 1.4426950408889634


@dataclass(frozen=True)
class ExpNumbers:
    """Constants of one type: where results become 0 and infinite, ln(2) in two parts, the polynomial."""

    low: float
    high: float
    low2: float
    high2: float
    ln2_hi: float
    ln2_lo: float
    poly: tuple[float, ...]
    """(exp(r) - 1 - r) / r**2 for |r| <= 0.3535; of exp(r) the error is 2**-26.6 (f32), 2**-55.7 (f64)."""


EXP = {
    f32: ExpNumbers(
        low=-105.0, high=89.5, low2=-151.0, high2=129.0,
        ln2_hi=0.6931471824645996, ln2_lo=-1.9046542121259336e-09,
        poly=(0.5, 0.1666657, 0.041666545, 0.00836438, 0.0013927685),
    ),
    f64: ExpNumbers(
        low=-746.0, high=710.6, low2=-1076.0, high2=1025.0,
        ln2_hi=0.6931471805599453, ln2_lo=2.3190468138462996e-17,
        poly=(
            0.5000000000000001, 0.16666666666666669, 0.041666666666616864, 0.008333333333329503,
            0.0013888888920770123, 0.00019841269865788537, 2.4801515879478315e-05, 2.7557264294679126e-06,
            2.762261407861969e-07, 2.5102327723609146e-08,
        ),
    ),
}  # fmt: skip


@functools.cache
def reduce_exp(T):
    """x = n * ln(2) + r + r_lo with |r| <= ln(2) / 2; gives (n, r, r_lo). x - n * ln2_hi is exact."""
    E = EXP[T]

    @device
    def reduce_exp(x: T) -> tuple[T, T, T]:
        n = rint(x * LOG2E)
        t = fma(-n, E.ln2_hi, x)
        r = fma(-n, E.ln2_lo, t)
        return n, r, fma(-n, E.ln2_lo, t - r)

    return reduce_exp


@functools.cache
def exp_reduced(T):
    """2**n * exp(r + r_lo), nearly as if rounded once; r_lo is below the last bit of r."""
    E = EXP[T]
    ldexp = scale(T)

    @device
    def exp_reduced(n: T, r: T, r_lo: T) -> T:
        near_one = 1.0 + r
        tail = fma(r * r, horner(r, E.poly), r_lo)
        return ldexp(near_one + (((1.0 - near_one) + r) + tail), i32(n))

    return exp_reduced


@functools.cache
def quarter_expm1(T):
    """(exp(x) - 1) / 4 as a sum of two, for -40 <= x <= high; a quarter, since sinh needs exp(x) beyond overflow."""
    E = EXP[T]
    reduce, pow2 = reduce_exp(T), power_of_two(T)

    @device
    def quarter_expm1(x: T) -> tuple[T, T]:
        n, r, r_lo = reduce(x)
        tail = fma(r * r, horner(r, E.poly), r_lo)
        p = r + tail
        p_lo = (r - p) + tail
        s = pow2(i32(n) - 2)
        # (2**n * (1 + p) - 1) / 4; |s - 0.25| is 0 or larger than s * p, so the rounding error of the sum is exact.
        base = s - 0.25
        h = base + s * p
        return h, ((base - h) + s * p) + s * p_lo

    return quarter_expm1


@overloaded()
def exp(T):
    """exp(x): e to the power x."""
    E = EXP[T]
    reduce, reduced = reduce_exp(T), exp_reduced(T)

    @device
    def exp(x: T) -> T:
        n, r, r_lo = reduce(min(max(x, E.low), E.high))
        return reduced(n, r, r_lo)

    return exp


@overloaded()
def exp2(T):
    """exp2(x): 2 to the power x."""
    E = EXP[T]
    ldexp = scale(T)

    @device
    def exp2(x: T) -> T:
        x = min(max(x, E.low2), E.high2)
        n = rint(x)
        r = (x - n) * E.ln2_hi
        return ldexp(1.0 + fma(r * r, horner(r, E.poly), r), i32(n))

    return exp2


@overloaded()
def expm1(T):
    """expm1(x): exp(x) - 1, accurate near 0 too."""
    F, E = FORMATS[T], EXP[T]
    quarter = quarter_expm1(T)

    @device
    def expm1(x: T) -> T:
        h, h_lo = quarter(min(max(x, -40.0), E.high))
        return choose(abs(x) < F.tiny_square, x, 4.0 * (h + h_lo))

    return expm1


@overloaded()
def sinh(T):
    """sinh(x): (exp(x) - exp(-x)) / 2."""
    F, E = FORMATS[T], EXP[T]
    quarter = quarter_expm1(T)

    @device
    def sinh(x: T) -> T:
        h, h_lo = quarter(min(abs(x), E.high))
        grown = 4.0 * h + 1.0
        result = 2.0 * (h + (h / grown + (h_lo + h_lo / grown)))
        return choose(abs(x) < F.tiny, x, copysign(result, x))

    return sinh


@overloaded()
def cosh(T):
    """cosh(x): (exp(x) + exp(-x)) / 2."""
    E = EXP[T]
    quarter = quarter_expm1(T)

    @device
    def cosh(x: T) -> T:
        h, h_lo = quarter(min(abs(x), E.high))
        e = h + (h_lo + 0.25)
        return 2.0 * (e + 0.0625 / e)

    return cosh


@overloaded()
def tanh(T):
    """tanh(x): sinh(x) / cosh(x)."""
    F = FORMATS[T]
    quarter = quarter_expm1(T)

    @device
    def tanh(x: T) -> T:
        # With h = (exp(2x) - 1) / 4 it is h / (h + 1/2); the residue of the quotient brings in what was rounded off.
        h, h_lo = quarter(min(2.0 * abs(x), 40.0))
        d = h + 0.5
        part = d - h
        d_lo = (h - (d - part)) + (0.5 - part) + h_lo
        inverse = 1.0 / d
        q = h * inverse
        residue = fma(-q, d, h) + (h_lo - q * d_lo)
        result = fma(residue, inverse, q)
        return choose(abs(x) < F.tiny, x, copysign(result, x))

    return tanh
