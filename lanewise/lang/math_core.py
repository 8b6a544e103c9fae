"""What the mathematical functions share: float formats, polynomials, powers of two, classification.

All of lanewise.lang.math is lang: sums, products, divisions, square roots and fma round the same way on every device,
so results have the same bits everywhere. Names that end in _hi and _lo (or a name and name_lo) are the two halves of
one number whose unevaluated sum has about twice the precision of its type.

Coefficients come from interpolation at Chebyshev nodes with 70 digits (mpmath), rounded to the type afterwards. The
error given with each table is that of the rounded polynomial, relative to the whole function.
"""

import ast
import functools
from dataclasses import dataclass

from lanewise.lang import numbers
from lanewise.lang.expressions import static_value, value_of
from lanewise.lang.functions import device
from lanewise.lang.intrinsics import arity, intrinsic
from lanewise.lang.ir import Operand, Value, constant
from lanewise.lang.lowering import FunctionLowering
from lanewise.lang.overloads import overloaded
from lanewise.lang.types import Scalar, f32, f64, i32, i64, u32, u64
from lanewise.lang.vocabulary import bitcast

INF = float("inf")
NAN = float("nan")


@dataclass(frozen=True)
class Format:
    """The parts of an IEEE float and a few numbers that depend on its precision."""

    bits: Scalar
    signed: Scalar
    mantissa: int
    bias: int
    tiny: float
    """Below this, x**3 is lost against x."""

    @property
    def tiny_square(self) -> float:
        """Below this, x**2 is lost against x."""
        return 2.0 ** -(self.mantissa + 2)

    @property
    def min_normal(self) -> float:
        """The smallest number with full precision."""
        return 2.0 ** (1 - self.bias)


FORMATS = {
    f32: Format(u32, i32, 23, 127, tiny=2.0**-13),
    f64: Format(u64, i64, 52, 1023, tiny=2.0**-27),
}


@intrinsic
def horner(fn: FunctionLowering, node: ast.Call) -> Operand:
    """horner(x, C): C[0] + C[1] * x + C[2] * x**2 + ... in fma steps, for a tuple C known at compile time."""
    arity(fn, node, 2)
    x = value_of(fn, node.args[0])
    kind = x.type
    assert isinstance(kind, Scalar)
    *rest, last = static_value(fn, node.args[1])
    result, ty = constant(kind, last), kind.llvm
    for coefficient in reversed(rest):
        step = f"{ty} {result}, {ty} {x.ref}, {ty} {constant(kind, coefficient)}"
        result = fn.block.assign(f"call {ty} @llvm.fma.f{kind.bits}({step})")
    return Value(kind, result, arith=True)


@intrinsic
def choose(fn: FunctionLowering, node: ast.Call) -> Operand:
    """choose(flag, a, b): a if the flag is set, else b; both are computed, without a branch."""
    arity(fn, node, 3)
    flag, a, b = (value_of(fn, part) for part in node.args)
    return numbers.select(fn.block, flag.ref, a, b)


@functools.cache
def power_of_two(T):
    """2**n for any n that is the exponent of a normal number."""
    F = FORMATS[T]
    Int = F.signed

    @device
    def power_of_two(n: i32) -> T:
        return bitcast(T, Int(n + F.bias) << F.mantissa)

    return power_of_two


@functools.cache
def scale(T):
    """x * 2**n for x near 1, rounded once, also where the result is subnormal or overflows."""
    pow2 = power_of_two(T)

    @device
    def scale(x: T, n: i32) -> T:
        half = n >> 1
        return x * pow2(half) * pow2(n - half)

    return scale


@overloaded()
def isnan(T):
    """isnan(x) -> bool: whether x is not a number."""

    @device
    def isnan(x: T) -> bool:
        return x != x

    return isnan


@overloaded()
def isinf(T):
    """isinf(x) -> bool: whether x is an infinity of either sign."""

    @device
    def isinf(x: T) -> bool:
        return abs(x) == INF

    return isinf


@overloaded()
def isfinite(T):
    """isfinite(x) -> bool: whether x is neither infinite nor NaN."""

    @device
    def isfinite(x: T) -> bool:
        return abs(x) < INF

    return isfinite
