"""What is asked of the exact functions: the operation and its details, in the bits of one number."""

(
    ADD, SUBTRACT, MULTIPLY, MULTIPLY_EXTENDED, MULTIPLY_ADD, STEP, ROOT_STEP, DIVIDE, ROOT, LARGER, SMALLER,
    LARGER_NUMBER, SMALLER_NUMBER, COMPARE, COMPARE_SIGNALLING, EQUAL, AT_LEAST, MORE, ROUND, ROUND_EXACT, TO_SIGNED,
    TO_UNSIGNED, FROM_SIGNED, FROM_UNSIGNED, CONVERT, RECIPROCAL, INVERSE_ROOT, EXPONENT,
) = range(28)  # fmt: skip
"""Operations. Those from `COMPARE` on to `MORE` say how two numbers are to each other: the first two by bits that are
named below, the others by all ones or zeros. Estimates have the plain one as their second number."""
LESS, SAME, UNORDERED = 1, 2, 4

NEAREST, UP, DOWN, TOWARDS_ZERO, AWAY, ODD, AS_SET = range(7)
"""How to round, the first four as FPCR says them: to nearest with ties to even, or away from zero; to the odd one of
two neighbours; or as FPCR says."""

INVALID, BY_ZERO, OVERFLOW, UNDERFLOW, INEXACT, DENORMAL = 1, 2, 4, 8, 16, 128
"""Flags of FPSR."""
ROUNDING, FLUSH, DEFAULT_NAN, OTHER_HALF = 22, 1 << 24, 1 << 25, 1 << 26
"""Of FPCR: where the rounding mode is; small numbers are zeros; all NaNs are one; halves have no infinities."""
CONTROL = 32
"""Where FPCR begins in the word that has both, FPSR in its lower half."""

FROM, TO, COUNT, HOW, PLACES = 8, 12, 16, 20, 24
"""Where details are: log2 of the bits of the numbers that are given and made, how many of them, how to round, and how
many bits of an integer are behind the point."""
GIVEN_WORDS, RESULT = 8, 6
"""Words of 8 bytes of memory for a call: up to three registers of numbers, and the one that is made."""
NAME = "arm64_exact"


def request(operation: int, given: int, made: int, count: int = 1, rounding: int = AS_SET) -> int:
    """The number for an operation on so many elements, by the bits of one; no bits are behind the point."""
    sizes = given.bit_length() - 1 << FROM | made.bit_length() - 1 << TO
    return operation | sizes | count << COUNT | rounding << HOW
