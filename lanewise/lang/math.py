"""Mathematical functions of device code, written once in lang so that both devices give the same bits.

fmod, floor_divide and floor_mod are exact. The rest is held within 2 units of the last place of the exact value, by
sweeps over all exponents in tests/lang/test_math.py; the largest error seen is 1.7 (sinh), most stay below 1.
"""

from lanewise.lang.math_arc import acos, asin, atan, atan2
from lanewise.lang.math_core import isfinite, isinf, isnan
from lanewise.lang.math_exp import cosh, exp, exp2, expm1, sinh, tanh
from lanewise.lang.math_log import log, log1p, log2, log10
from lanewise.lang.math_pow import cbrt, hypot, pow
from lanewise.lang.math_remainder import floor_divide, floor_mod, fmod
from lanewise.lang.math_trig import cos, sin, tan

__all__ = [
    "acos",
    "asin",
    "atan",
    "atan2",
    "cbrt",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "expm1",
    "floor_divide",
    "floor_mod",
    "fmod",
    "hypot",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "log2",
    "log10",
    "pow",
    "sin",
    "sinh",
    "tan",
    "tanh",
]
