"""Floating point as the architecture has it: rounding to nearest, NaNs by their payload, the largest in size."""

from __future__ import annotations

from lanewise.arm64.shared import call, share
from lanewise.arm64.values import Value, known
from lanewise.arm64.writer import Writer

KINDS = {16: "half", 32: "float", 64: "double"}
FRACTION = {16: 10, 32: 23, 64: 52}
"""Bits of the fraction, of which the highest says that a NaN is quiet."""


def default_nan(bits: int) -> int:
    """What operations on numbers give that are none."""
    return (1 << bits - 1) - (1 << FRACTION[bits] - 1)


def as_float(m: Writer, x: Value) -> str:
    """A number's bits as a number; gives its name."""
    return m.pointer(f"bitcast {x.typed} to {KINDS[x.bits]}")


def as_bits(m: Writer, bits: int, text: str) -> Value:
    """The bits of a number that some text makes."""
    made = m.pointer(text)
    return m.assign(bits, f"bitcast {KINDS[bits]} {made} to i{bits}")


def is_nan(m: Writer, x: Value) -> Value:
    """Whether it is no number."""
    return m.compare("ugt", m.both(x, (1 << x.bits - 1) - 1), infinity(x.bits))


def infinity(bits: int) -> int:
    """Its bits."""
    return (1 << bits - 1) - (1 << FRACTION[bits])


def with_nan(m: Writer, result: Value, *given: Value) -> Value:
    """The result of an operation, or the NaN that it passes on: the first that signals, or the first, or its own."""
    bits = result.bits
    place = m.variable(bits)
    slow, on = m.label("nan"), m.label("on")
    m.emit(f"store {result.typed}, ptr {place}")
    m.emit(f"br {is_nan(m, result).typed}, label %{slow}, label %{on}, !prof !0")
    m.start(slow)
    m.emit(f"store {call(m, f'nan_of_{len(given)}', *given).typed}, ptr {place}")
    m.emit(f"br label %{on}")
    m.start(on)
    return m.assign(bits, f"load i{bits}, ptr {place}")


def _nan_of(m: Writer, *given: Value) -> Value:
    """The NaN that an operation passes on."""
    bits = given[0].bits
    chosen = known(bits, default_nan(bits))
    quiet = 1 << FRACTION[bits] - 1
    for one in reversed(given):
        chosen = m.select(is_nan(m, one), one, chosen)
    for one in reversed(given):
        signals = m.both(is_nan(m, one), m.compare("eq", m.both(one, quiet), 0))
        chosen = m.select(signals, one, chosen)
    return m.either(chosen, quiet)


for _bits in KINDS:
    for _count in (1, 2, 3):
        share(f"nan_of_{_count}", _bits, _count, _nan_of)


def operate(m: Writer, operation: str, x: Value, y: Value) -> Value:
    """`fadd`, `fsub`, `fmul` and `fdiv`."""
    kind = KINDS[x.bits]
    return with_nan(m, as_bits(m, x.bits, f"{operation} {kind} {as_float(m, x)}, {as_float(m, y)}"), x, y)


def intrinsic(m: Writer, name: str, *given: Value) -> Value:
    """A function of LLVM on numbers; NaNs are passed on."""
    bits = given[0].bits
    kind = KINDS[bits]
    parameters = ", ".join(f"{kind} {as_float(m, one)}" for one in given)
    suffix = {16: "f16", 32: "f32", 64: "f64"}[bits]
    return with_nan(m, as_bits(m, bits, f"call {kind} @llvm.{name}.{suffix}({parameters})"), *given)


def number_or_other(m: Writer, largest: bool, x: Value, y: Value) -> Value:
    """The larger or smaller of two, where a quiet NaN counts as less or more than any number."""
    bits = x.bits
    quiet = 1 << FRACTION[bits] - 1
    end = known(bits, infinity(bits) | (1 << bits - 1 if largest else 0))

    def instead(one: Value, other: Value) -> Value:
        silent = m.both(is_nan(m, one), m.compare("ne", m.both(one, quiet), 0))
        return m.select(m.both(silent, m.invert(is_nan(m, other))), end, one)

    return intrinsic(m, "maximum" if largest else "minimum", instead(x, y), instead(y, x))


def negate(m: Writer, x: Value) -> Value:
    """The other sign, of NaNs, too."""
    return m.differ(x, known(x.bits, 1 << x.bits - 1))


def multiply_add(m: Writer, addend: Value, x: Value, y: Value) -> Value:
    """`addend + x * y`, rounded once; infinity times 0 is nothing that a quiet NaN could be added to."""
    bits = addend.bits
    plain = intrinsic_ordered(m, addend, x, y)
    quiet = m.both(is_nan(m, addend), m.compare("ne", m.both(addend, 1 << FRACTION[bits] - 1), 0))
    return m.select(m.both(infinity_by_zero(m, x, y), quiet), known(bits, default_nan(bits)), plain)


def infinity_by_zero(m: Writer, x: Value, y: Value) -> Value:
    """Whether two numbers have no product."""
    size = (1 << x.bits - 1) - 1

    def endless(one: Value) -> Value:
        return m.compare("eq", m.both(one, size), infinity(x.bits))

    def nothing(one: Value) -> Value:
        return m.compare("eq", m.both(one, size), 0)

    return m.either(m.both(endless(x), nothing(y)), m.both(nothing(x), endless(y)))


def intrinsic_ordered(m: Writer, addend: Value, x: Value, y: Value) -> Value:
    """The same, with NaNs in the order of the architecture: the addend first."""
    bits = addend.bits
    kind, suffix = KINDS[bits], {16: "f16", 32: "f32", 64: "f64"}[bits]
    given = ", ".join(f"{kind} {as_float(m, one)}" for one in (x, y, addend))
    return with_nan(m, as_bits(m, bits, f"call {kind} @llvm.fma.{suffix}({given})"), addend, x, y)


def convert(m: Writer, x: Value, bits: int) -> Value:
    """A number in another size; of a NaN the upper bits of its payload."""
    if bits == x.bits:
        return x
    how = "fpext" if bits > x.bits else "fptrunc"
    if (x.bits, bits) == (64, 16):
        return convert(m, rounded_to_odd(m, x), 16)
    plain = as_bits(m, bits, f"{how} {KINDS[x.bits]} {as_float(m, x)} to {KINDS[bits]}")
    shift = FRACTION[bits] - FRACTION[x.bits]
    wide = max(bits, x.bits)
    sign = m.right(m.resize(x, wide), x.bits - 1)
    payload = m.resize(m.both(x, (1 << FRACTION[x.bits]) - 1), wide)
    payload = m.left(payload, shift) if shift > 0 else m.right(payload, -shift)
    moved = m.resize(m.either(payload, m.left(sign, bits - 1)), bits)
    nan = m.either(moved, known(bits, default_nan(bits)))
    return m.select(is_nan(m, x), nan, plain)


def rounded_to_odd(m: Writer, x: Value) -> Value:
    """A number of 64 bits in 32, its last bit set if it is not the same: rounded again, it is as if rounded once."""
    return m.select(is_nan(m, x), _shortened_nan(m, x), _odd(m, x))


def _odd(m: Writer, x: Value) -> Value:
    short = as_bits(m, 32, f"fptrunc double {as_float(m, x)} to float")
    back = as_bits(m, 64, f"fpext float {as_float(m, short)} to double")
    size = (1 << 63) - 1
    too_large = m.compare("ugt", m.both(back, size), m.both(x, size))
    odd = m.either(m.sub(short, m.resize(too_large, 32)), 1)
    return m.select(m.compare("eq", back, x), short, odd)


def _shortened_nan(m: Writer, x: Value) -> Value:
    payload = m.resize(m.right(m.both(x, (1 << 52) - 1), 29), 32)
    sign = m.left(m.resize(m.right(x, 63), 32), 31)
    return m.either(m.either(payload, sign), known(32, default_nan(32)))


def expanded(m: Writer, imm8: Value, bits: int) -> Value:
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


def power_of_two(m: Writer, bits: int, exponent: Value) -> str:
    """Two to the power of a number with a sign; gives its name."""
    bias = (1 << bits - 2 - FRACTION[bits]) - 1
    raw = m.left(m.add(m.resize(exponent, bits, sign=True), bias), FRACTION[bits])
    return as_float(m, raw)


def to_fixed(m: Writer, x: Value, bits: int, places: Value, sign: bool) -> Value:
    """A number as an integer of so many bits, some of them behind the point; what is behind those is cut off."""
    scale = power_of_two(m, x.bits, places)
    scaled = as_bits(m, x.bits, f"fmul {KINDS[x.bits]} {as_float(m, x)}, {scale}")
    return to_integer(m, scaled, bits, "z", sign)


def from_fixed(m: Writer, x: Value, bits: int, places: Value, sign: bool) -> Value:
    """The other way: an integer as a number, rounded once, as powers of two change no fraction."""
    whole = as_float(m, from_integer(m, x, bits, sign))
    scale = power_of_two(m, bits, m.sub(known(places.bits, 0), places))
    return as_bits(m, bits, f"fmul {KINDS[bits]} {whole}, {scale}")


ROUNDINGS = {"n": "roundeven", "p": "ceil", "m": "floor", "z": "trunc", "a": "round"}


def to_integer(m: Writer, x: Value, bits: int, rounding: str, sign: bool) -> Value:
    """A number as an integer, the nearest that there is; 0 for none."""
    kind = KINDS[x.bits]
    suffix = {16: "f16", 32: "f32", 64: "f64"}[x.bits]
    rounded = m.pointer(f"call {kind} @llvm.{ROUNDINGS[rounding]}.{suffix}({kind} {as_float(m, x)})")
    name = "fptosi" if sign else "fptoui"
    return m.assign(bits, f"call i{bits} @llvm.{name}.sat.i{bits}.{suffix}({kind} {rounded})")


def from_integer(m: Writer, x: Value, bits: int, sign: bool) -> Value:
    """An integer as a number."""
    return as_bits(m, bits, f"{'si' if sign else 'ui'}tofp {x.typed} to {KINDS[bits]}")
