"""Floating point: the device's own operation, and the exact functions where that would not do.

Plain operations round to nearest and raise no flags. That is all there is to it where FPCR is 0, no flag can be raised
but that of inexact results, and that one is set already: flags stay set until a program clears them. Results that are
infinite, no numbers, or so small that they may have lost bits are left to `arm64.exact`, and so is everything else.
All works on registers of one number or more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.exact import codes
from lanewise.arm64.machine import Machine
from lanewise.arm64.values import Value, known

KINDS = {16: "half", 32: "float", 64: "double"}
FRACTION = {16: 10, 32: 23, 64: 52}
"""Bits of the fraction, of which the highest says that a NaN is quiet."""


def infinity(bits: int) -> int:
    """Its bits."""
    return (1 << bits - 1) - (1 << FRACTION[bits])


def power(bits: int, exponent: int) -> int:
    """The bits of a power of two."""
    return exponent + (1 << bits - 2 - FRACTION[bits]) - 1 << FRACTION[bits]


def kind(bits: int, element: int) -> str:
    """The type of numbers in so many bits."""
    return KINDS[element] if bits == element else f"<{bits // element} x {KINDS[element]}>"


def floats(m: Machine, x: Value, element: int) -> str:
    """Bits as numbers, with their type."""
    type_ = kind(x.bits, element)
    return f"{type_} {m.pointer(f'bitcast {x.typed} to {type_}')}"


def bits_of(m: Machine, bits: int, element: int, text: str) -> Value:
    """The bits of numbers that some text makes."""
    return m.assign(bits, f"bitcast {kind(bits, element)} {m.pointer(text)} to i{bits}")


def operation(m: Machine, name: str, element: int, x: Value, y: Value) -> Value:
    """`fadd` and its like."""
    other = floats(m, y, element).rpartition(" ")[2]
    return bits_of(m, x.bits, element, f"{name} {floats(m, x, element)}, {other}")


def function(m: Machine, name: str, element: int, *given: Value) -> Value:
    """A function of LLVM."""
    bits = given[0].bits
    suffix = f"f{element}" if bits == element else f"v{bits // element}f{element}"
    parameters = ", ".join(floats(m, one, element) for one in given)
    return bits_of(m, bits, element, f"call {kind(bits, element)} @llvm.{name}.{suffix}({parameters})")


# --- what is unusual -------------------------------------------------------------------------------------------------


def _any(m: Machine, count: int, text: str) -> Value:
    """Whether one of some comparisons holds."""
    if count == 1:
        return m.assign(1, text)
    return m.compare("ne", m.assign(count, f"bitcast <{count} x i1> {m.pointer(text)} to i{count}"), 0)


def bits_compared(m: Machine, how: str, element: int, x: Value, number: int) -> Value:
    """Whether the bits of one number compare so with a constant."""
    type_, other = e.kind(x.bits, element), e.repeated(x.bits, element, number)
    return _any(m, x.bits // element, f"icmp {how} {type_} {e.split(m, x, element)}, {e.split(m, other, element)}")


def sizes(m: Machine, x: Value, element: int) -> Value:
    """Numbers without their signs."""
    return m.both(x, e.repeated(x.bits, element, (1 << element - 1) - 1))


def _endless(m: Machine, x: Value, element: int) -> Value:
    """Whether one is infinite or no number."""
    return bits_compared(m, "uge", element, sizes(m, x, element), infinity(element))


def _out_of_range(m: Machine, x: Value, element: int) -> Value:
    """Whether one is that, or as small as the smallest of full length: it may have been rounded up to that."""
    least = (1 << FRACTION[element]) + 1
    above = e.each(m, "sub", element, x, e.repeated(x.bits, element, least))
    return bits_compared(m, "uge", element, above, infinity(element) - least)


def _no_number(m: Machine, element: int, x: Value, y: Value) -> Value:
    """Whether one of some is none."""
    other = floats(m, y, element).rpartition(" ")[2]
    return _any(m, x.bits // element, f"fcmp uno {floats(m, x, element)}, {other}")


# --- both ways -------------------------------------------------------------------------------------------------------

_CALM = ((1 << 32) - 1 << codes.CONTROL | codes.INEXACT, codes.INEXACT)
"""What of FPCR and FPSR a plain operation must find that may be inexact, and what it must be."""


def either_way(
    m: Machine, unusual: Value, inexact: bool, plain: Sequence[Value], exact: Callable[[], Sequence[Value]]
) -> list[Value]:
    """Values that were found the plain way, or those of the exact one."""
    if m.always_exact:
        return list(exact())
    state = m.floating()
    if inexact:
        rough = m.compare("ne", m.both(state, _CALM[0]), _CALM[1])
    else:
        rough = m.compare("ugt", state, (1 << codes.CONTROL) - 1)
    rough = m.either(unusual, rough)
    if m.hand_over_if(rough):
        return list(plain)
    places = [m.variable(one.bits) for one in plain]
    slow, on = m.label("exact"), m.label("on")
    for place, value in zip(places, plain, strict=True):
        m.emit(f"store {value.typed}, ptr {place}")
    m.emit(f"br {rough.typed}, label %{slow}, label %{on}, !prof !0")
    m.start(slow)
    for place, value in zip(places, exact(), strict=True):
        m.emit(f"store {value.typed}, ptr {place}")
    m.emit(f"br label %{on}")
    m.start(on)
    return [m.assign(one.bits, f"load i{one.bits}, ptr {place}") for one, place in zip(plain, places, strict=True)]


def exactly(m: Machine, what: Value | int, bits: int, *given: Value) -> Value:
    """What an exact function gives, in so many bits."""
    words = m.exact_words()
    for at, one in enumerate(given):
        m.emit(f"store {one.typed}, ptr {m.pointer(f'getelementptr i8, ptr {words}, i64 {16 * at}')}, align 16")
    asked = known(32, what) if isinstance(what, int) else what
    called = f"call i64 @{codes.NAME}(ptr {words}, {asked.typed}, {m.floating().typed})"
    m.set_floating(m.assign(64, called))
    return m.assign(bits, f"load i{bits}, ptr {m.pointer(f'getelementptr i64, ptr {words}, i64 {codes.RESULT}')}")


def _checked(
    m: Machine,
    asked: int,
    element: int,
    plain: Value,
    unusual: Value,
    *given: Value,
    inexact: bool = True,
    rounding: int = codes.AS_SET,
) -> Value:
    """An operation on elements that makes others of the same size."""
    count = given[0].bits // element
    what = codes.request(asked, element, element, count, rounding)
    return either_way(m, unusual, inexact, [plain], lambda: [exactly(m, what, plain.bits, *given)])[0]


# --- operations ------------------------------------------------------------------------------------------------------


def add(m: Machine, element: int, x: Value, y: Value) -> Value:
    """A sum: a small one lost no bits."""
    plain = operation(m, "fadd", element, x, y)
    return _checked(m, codes.ADD, element, plain, _endless(m, plain, element), x, y)


def subtract(m: Machine, element: int, x: Value, y: Value) -> Value:
    """A difference."""
    plain = operation(m, "fsub", element, x, y)
    return _checked(m, codes.SUBTRACT, element, plain, _endless(m, plain, element), x, y)


def multiply(m: Machine, element: int, x: Value, y: Value, asked: int = codes.MULTIPLY) -> Value:
    """A product."""
    plain = operation(m, "fmul", element, x, y)
    return _checked(m, asked, element, plain, _out_of_range(m, sizes(m, plain, element), element), x, y)


def multiply_extended(m: Machine, element: int, x: Value, y: Value) -> Value:
    """A product; of infinity and zero it is 2, with the sign of both."""
    return multiply(m, element, x, y, codes.MULTIPLY_EXTENDED)


def divide(m: Machine, element: int, x: Value, y: Value) -> Value:
    """A quotient."""
    plain = operation(m, "fdiv", element, x, y)
    return _checked(m, codes.DIVIDE, element, plain, _out_of_range(m, sizes(m, plain, element), element), x, y)


def root(m: Machine, element: int, x: Value) -> Value:
    """A square root, which is never small."""
    plain = function(m, "sqrt", element, x)
    return _checked(m, codes.ROOT, element, plain, _endless(m, plain, element), x)


def multiply_add(m: Machine, element: int, addend: Value, x: Value, y: Value) -> Value:
    """`addend + x * y`, rounded once."""
    plain = function(m, "fma", element, x, y, addend)
    unusual = _out_of_range(m, sizes(m, plain, element), element)
    return _checked(m, codes.MULTIPLY_ADD, element, plain, unusual, x, y, addend)


def step(m: Machine, element: int, x: Value, y: Value) -> Value:
    """`2 - x * y`, rounded once; 2 where there is no product."""
    plain = function(m, "fma", element, negate(m, element, x), y, e.repeated(x.bits, element, power(element, 1)))
    return _checked(m, codes.STEP, element, plain, _out_of_range(m, sizes(m, plain, element), element), x, y)


def root_step(m: Machine, element: int, x: Value, y: Value) -> Value:
    """`(3 - x * y) / 2`, rounded once: what is halved is never so small that it would lose a bit by that."""
    three = e.repeated(x.bits, element, power(element, 1) | 1 << FRACTION[element] - 1)
    double = function(m, "fma", element, negate(m, element, x), y, three)
    plain = operation(m, "fmul", element, double, e.repeated(x.bits, element, power(element, -1)))
    return _checked(m, codes.ROOT_STEP, element, plain, _out_of_range(m, sizes(m, plain, element), element), x, y)


_EXTREMES = {
    "fmax": (codes.LARGER, "maximum"),
    "fmin": (codes.SMALLER, "minimum"),
    "fmaxnm": (codes.LARGER_NUMBER, "maximum"),
    "fminnm": (codes.SMALLER_NUMBER, "minimum"),
}


def _extreme(m: Machine, work: str, element: int, x: Value, y: Value) -> Value:
    asked, name = _EXTREMES[work]
    plain = function(m, name, element, x, y)
    return _checked(m, asked, element, plain, _no_number(m, element, x, y), x, y, inexact=False)


def binary(m: Machine, work: str, element: int, x: Value, y: Value) -> Value:
    """An operation on two numbers, by its name."""
    if work in _EXTREMES:
        return _extreme(m, work, element, x, y)
    if work == "fnmul":
        return negate(m, element, multiply(m, element, x, y))
    if work == "fabd":
        return sizes(m, subtract(m, element, x, y), element)
    return _BINARY[work](m, element, x, y)


_BINARY = {
    "fadd": add, "fsub": subtract, "fmul": multiply, "fdiv": divide, "fmulx": multiply_extended, "frecps": step,
    "frsqrts": root_step,
}  # fmt: skip
ROUNDINGS = {
    "n": ("roundeven", codes.NEAREST), "p": ("ceil", codes.UP), "m": ("floor", codes.DOWN),
    "z": ("trunc", codes.TOWARDS_ZERO), "a": ("round", codes.AWAY), "i": ("roundeven", codes.AS_SET),
    "x": ("roundeven", codes.AS_SET),
}  # fmt: skip
"""How to round to whole numbers, by the letters of instructions; the last says whether there was something to round."""


def unary(m: Machine, work: str, element: int, x: Value) -> Value:
    """An operation on one number, by its name."""
    if work == "fmov":
        return x
    if work == "fabs":
        return sizes(m, x, element)
    if work == "fneg":
        return negate(m, element, x)
    if work == "fsqrt":
        return root(m, element, x)
    name, rounding = ROUNDINGS[work.removeprefix("frint")]
    exact = work == "frintx"
    asked = codes.ROUND_EXACT if exact else codes.ROUND
    plain, unusual = function(m, name, element, x), _no_number(m, element, x, x)
    return _checked(m, asked, element, plain, unusual, x, inexact=exact, rounding=rounding)


def negate(m: Machine, element: int, x: Value) -> Value:
    """The other sign, of NaNs, too."""
    return m.differ(x, e.repeated(x.bits, element, 1 << element - 1))


def estimate(m: Machine, asked: int, element: int, plain: Value, x: Value) -> Value:
    """An estimate that was found by tables, unless there is something special about it."""
    inverse_root = asked == codes.INVERSE_ROOT  # which numbers below zero do not have
    unusual = _out_of_range(m, x if inverse_root else sizes(m, x, element), element)
    return _checked(m, asked, element, plain, unusual, x, plain, inexact=False)


def other_exponent(m: Machine, plain: Value, x: Value) -> Value:
    """The other exponent of a number, as it was found."""
    return _checked(m, codes.EXPONENT, x.bits, plain, _no_number(m, x.bits, x, x), x, plain, inexact=False)


# --- comparisons -----------------------------------------------------------------------------------------------------


def compare(m: Machine, x: Value, y: Value, signalling: Value) -> tuple[Value, Value, Value]:
    """Whether one number is less than another, the same, or neither of both is a number."""
    one, other = floats(m, x, x.bits), floats(m, y, y.bits).rpartition(" ")[2]
    less, same = (m.assign(1, f"fcmp {how} {one}, {other}") for how in ("olt", "oeq"))
    what = m.add(m.resize(signalling, 32), codes.request(codes.COMPARE, x.bits, x.bits))  # or what is behind it

    def exact() -> list[Value]:
        found = exactly(m, what, x.bits, x, y)
        bits = (codes.LESS, codes.SAME, codes.UNORDERED)
        return [m.compare("ne", m.both(found, bit), 0) for bit in bits]

    less, same, odd = either_way(m, _no_number(m, x.bits, x, y), False, [less, same, known(1, 0)], exact)
    return less, same, odd


_HOW = {"oeq": codes.EQUAL, "oge": codes.AT_LEAST, "ogt": codes.MORE}


def compared(m: Machine, how: str, element: int, x: Value, y: Value) -> Value:
    """All ones where a comparison holds, zeros elsewhere."""
    one, other = floats(m, x, element), floats(m, y, element).rpartition(" ")[2]
    flags = m.pointer(f"fcmp {how} {one}, {other}")
    type_ = e.kind(x.bits // element, 1)
    plain = e.joined(m, x.bits, element, m.pointer(f"sext {type_} {flags} to {e.kind(x.bits, element)}"))
    return _checked(m, _HOW[how], element, plain, _no_number(m, element, x, y), x, y, inexact=False)


# --- formats ---------------------------------------------------------------------------------------------------------


def convert(m: Machine, element: int, x: Value, to: int) -> Value:
    """Numbers in another size."""
    count = x.bits // element
    what = codes.request(codes.CONVERT, element, to, count)
    if (element, to) == (64, 16):  # two plain steps would round twice
        return exactly(m, what, count * to, x)
    longer = to > element
    text = f"{'fpext' if longer else 'fptrunc'} {floats(m, x, element)} to {kind(count * to, to)}"
    plain = bits_of(m, count * to, to, text)
    unusual = _no_number(m, element, x, x) if longer else _out_of_range(m, sizes(m, plain, to), to)
    return either_way(m, unusual, not longer, [plain], lambda: [exactly(m, what, count * to, x)])[0]


def rounded_to_odd(m: Machine, x: Value) -> Value:
    """Numbers of 64 bits in 32, the odd of two neighbours if there is none that is the same."""
    count = x.bits // 64
    return exactly(m, codes.request(codes.CONVERT, 64, 32, count, codes.ODD), count * 32, x)


def expanded(m: Machine, imm8: Value, bits: int) -> Value:
    """The number that 8 bits of an instruction stand for: a sign, 3 bits of exponent, 4 of fraction."""
    number = m.resize(imm8, bits)
    sign = m.left(m.right(number, 7), bits - 1)
    high = m.both(m.right(number, 6), 1)
    exponent_bits = bits - 1 - FRACTION[bits]
    same = m.select(m.compare("ne", high, 0), known(bits, (1 << exponent_bits - 3) - 1), known(bits, 0))
    exponent = m.either(m.left(m.differ(high, 1), exponent_bits - 1), m.left(same, 2))
    exponent = m.either(exponent, m.both(m.right(number, 4), 3))
    fraction = m.left(m.both(number, 15), FRACTION[bits] - 4)
    return m.either(m.either(sign, m.left(exponent, FRACTION[bits])), fraction)
