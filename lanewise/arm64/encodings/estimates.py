"""Estimates of 1/x and 1/sqrt(x) from 8 bits of the fraction, and the steps that make them better.

The architecture says each bit of an estimate: it comes from a table, by the first bits of the fraction. Zeros,
infinities and what else has no place in a table is left to `numbers.estimate`.
"""

from __future__ import annotations

from collections.abc import Callable

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings import numbers
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.encodings.vector_more import three_floats
from lanewise.arm64.exact import codes
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.shared import call, share
from lanewise.arm64.values import Value, known
from lanewise.arm64.writer import Writer


def reciprocals() -> list[int]:
    """For 256 to 511, taken for a half to one: its reciprocal at the middle of the step, in 256ths, less 256."""
    return [((1 << 19) // (2 * number + 1) + 1) // 2 - 256 for number in range(256, 512)]


def _inverse_root(number: int) -> int:
    """For 128 to 511, taken for a quarter to one; above a half only every second number has an estimate of its own."""
    middle = 2 * number + 1 if number < 256 else 2 * (number // 2 * 2 + 1)
    root = 512
    while middle * (root + 1) ** 2 < 1 << 28:
        root += 1
    return (root + 1) // 2 - 256


def tables() -> str:
    """Both in LLVM's text; that of roots begins with what belongs to 128."""
    roots = [_inverse_root(number) for number in range(128, 512)]
    return "".join(
        f"@arm64.{name} = internal constant [{len(table)} x i8] [{', '.join(f'i8 {byte}' for byte in table)}]\n"
        for name, table in (("reciprocals", reciprocals()), ("roots", roots))
    )


def _looked_up(w: Writer, table: str, number: Value, less: int) -> Value:
    """The fraction's first 8 bits for a number of 9."""
    index = w.resize(w.sub(number, less), 32)
    at = w.pointer(f"getelementptr i8, ptr @arm64.{table}, i32 {index.text}")
    return w.resize(w.assign(8, f"load i8, ptr {at}"), number.bits)


# --- of numbers of floating point ------------------------------------------------------------------------------------


def _parts(w: Writer, x: Value) -> tuple[Value, Value, Value]:
    """The sign in its place, the exponent with a fraction that begins behind its first 1, and that fraction."""
    bits, length = x.bits, numbers.FRACTION[x.bits]
    sign = w.both(x, 1 << bits - 1)
    exponent = w.right(w.both(x, (1 << bits - 1) - 1), length)
    fraction = w.both(x, (1 << length) - 1)
    shift = w.sub(w.intrinsic("ctlz", w.either(fraction, 1)), bits - 1 - length)
    small = w.compare("eq", exponent, 0)
    fraction = w.select(small, w.both(w.left(fraction, shift), (1 << length) - 1), fraction)
    return sign, w.select(small, w.sub(known(bits, 1), shift), exponent), fraction


def _reciprocal(w: Writer, x: Value) -> Value:
    bits, length = x.bits, numbers.FRACTION[x.bits]
    sign, exponent, fraction = _parts(w, x)
    first = w.either(w.right(fraction, length - 8), 256)
    made = w.left(_looked_up(w, "reciprocals", first, 256), length - 8)
    result = w.sub(known(bits, (1 << bits - 1 - length) - 3), exponent)
    with_one = w.either(made, 1 << length)
    small = w.select(w.compare("eq", result, 0), w.right(with_one, 1), w.right(with_one, 2))
    made = w.select(w.compare("sgt", result, 0), w.either(w.left(result, length), made), small)
    return w.either(made, sign)


def _root(w: Writer, x: Value) -> Value:
    bits, length = x.bits, numbers.FRACTION[x.bits]
    _, exponent, fraction = _parts(w, x)
    first = w.either(w.right(fraction, length - 8), 256)
    odd = w.resize(exponent, 1)
    made = _looked_up(w, "roots", w.select(odd, w.right(first, 1), first), 128)
    bias = (1 << bits - 2 - length) - 1
    result = w.right(w.sub(known(bits, 3 * bias - 1), exponent), 1)
    return w.either(w.left(result, length), w.left(made, length - 8))


def _exponent(w: Writer, x: Value) -> Value:
    """A power of two that brings a number near one: the other exponent, and no fraction."""
    bits, length = x.bits, numbers.FRACTION[x.bits]
    exponents = numbers.infinity(bits)
    most = known(bits, exponents - (1 << length))
    found = w.both(x, exponents)
    other = w.select(w.compare("eq", found, 0), most, w.differ(found, exponents))
    return w.either(other, w.both(x, 1 << bits - 1))


# --- of integers -----------------------------------------------------------------------------------------------------


def _whole(table: str, least: int) -> Callable[[Writer, Value], Value]:
    """Of fractions of 32 bits; all ones for those that are so small that the estimate is too large."""

    def work(w: Writer, x: Value) -> Value:
        first = w.right(x, 23)
        small = w.compare("ult", first, least)
        found = _looked_up(w, table, w.select(small, known(32, least), first), least)
        return w.select(small, known(32, -1), w.left(w.either(found, 256), 23))

    return work


for _bits in (32, 64):
    share("reciprocal", _bits, 1, _reciprocal)
    share("inverse_root", _bits, 1, _root)
share("whole_reciprocal", 32, 1, _whole("reciprocals", 256))
share("whole_inverse_root", 32, 1, _whole("roots", 128))


def _estimates(name: str, asked: int | None = None) -> Meaning:
    """A function of elements that is shared, on one register; with what is special of numbers."""

    def meaning(m: Machine, f: Fields) -> None:
        element = 64 if f.sz.number else 32
        x = m.read_vector(f.Rn, e.whole(f) if hasattr(f, "Q") else element)
        made = e.one_by_one(m, element, lambda one: call(m, name, one), x)
        m.write_vector(f.Rd, made if asked is None else numbers.estimate(m, asked, element, made, x))

    return meaning


def _only_exponent(m: Machine, f: Fields) -> None:
    x = m.read_vector(f.Rn, 64 if f.sz.number else 32)
    m.write_vector(f.Rd, numbers.other_exponent(m, _exponent(m, x), x))


def _both_forms(name: str, u: int, tail: str, meaning: Meaning) -> list[Row]:
    return [
        *rows(name, f"0 Q {u} 01110 {tail}", meaning, "Q", sz=(0,)),
        *rows(name, f"0 Q {u} 01110 {tail}", meaning, Q=(1,), sz=(1,)),
        *rows(f"{name} s", f"01 {u} 11110 {tail}", meaning, "sz"),
    ]


ROWS: list[Row] = [
    *_both_forms("frecpe", 0, "1 sz 10000 11101 10 Rn Rd", _estimates("reciprocal", codes.RECIPROCAL)),
    *_both_forms("frsqrte", 1, "1 sz 10000 11101 10 Rn Rd", _estimates("inverse_root", codes.INVERSE_ROOT)),
    *_both_forms("frecps", 0, "0 sz 1 Rm 11111 1 Rn Rd", three_floats("frecps")),
    *_both_forms("frsqrts", 0, "1 sz 1 Rm 11111 1 Rn Rd", three_floats("frsqrts")),
    *_both_forms("fmulx", 0, "0 sz 1 Rm 11011 1 Rn Rd", three_floats("fmulx")),
    *rows("frecpx", "01 0 11110 1 sz 10000 11111 10 Rn Rd", _only_exponent, "sz"),
    *rows("urecpe", "0 Q 0 01110 1 sz=0 10000 11100 10 Rn Rd", _estimates("whole_reciprocal"), "Q"),
    *rows("ursqrte", "0 Q 1 01110 1 sz=0 10000 11100 10 Rn Rd", _estimates("whole_inverse_root"), "Q"),
]
