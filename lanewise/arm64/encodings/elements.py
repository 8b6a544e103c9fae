"""Vector registers as elements of equal size, side by side: operations on all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value, known


def whole(f: Fields) -> int:
    """Bits of a register that an instruction works on: by Q, which is 2 for a single number of 32 bits."""
    return (64, 128, 32)[f.Q.number]


def some(m: Machine, f: Fields, number: Value) -> Value:
    """A register of which Q says how much counts; if that is known only later, all of it, but zeros where none counts.

    So one row does for both lengths where elements of zeros give zeros.
    """
    if f.Q.known:
        return m.read_vector(number, whole(f))
    low = m.resize(m.resize(f.Q, 64, sign=True), 128)
    return m.both(m.read_vector(number), m.either(m.left(low, 64), (1 << 64) - 1))


def kind(bits: int, element: int) -> str:
    """The type of so many bits in elements; one alone is a number, of which LLVM makes more than of vectors of one."""
    return f"i{element}" if bits == element else f"<{bits // element} x i{element}>"


def split(m: Machine, x: Value, element: int) -> str:
    """A register as elements; gives their name."""
    if x.bits == element:
        return x.text
    return m.pointer(f"bitcast {x.typed} to {kind(x.bits, element)}")


def joined(m: Machine, bits: int, element: int, name: str) -> Value:
    """Elements as one number."""
    if bits == element:
        return Value(bits, name)
    return m.assign(bits, f"bitcast {kind(bits, element)} {name} to i{bits}")


def each(m: Machine, operation: str, element: int, x: Value, y: Value) -> Value:
    """An operation of LLVM on all elements of two registers."""
    a, b = split(m, x, element), split(m, y, element)
    return joined(m, x.bits, element, m.pointer(f"{operation} {kind(x.bits, element)} {a}, {b}"))


def function(m: Machine, name: str, element: int, *given: Value, more: str = "") -> Value:
    """A function of LLVM on all elements."""
    bits = given[0].bits
    type_, suffix = kind(bits, element), "" if bits == element else f"v{bits // element}"
    parameters = ", ".join(f"{type_} {split(m, one, element)}" for one in given) + more
    return joined(m, bits, element, m.pointer(f"call {type_} @llvm.{name}.{suffix}i{element}({parameters})"))


def compared(m: Machine, how: str, element: int, x: Value, y: Value) -> Value:
    """All ones in the elements for which a comparison holds, zeros in the others."""
    type_ = kind(x.bits, element)
    flags = m.pointer(f"icmp {how} {type_} {split(m, x, element)}, {split(m, y, element)}")
    made = m.pointer(f"sext {kind(x.bits // element, 1)} {flags} to {type_}")
    return joined(m, x.bits, element, made)


def repeated(bits: int, element: int, number: int) -> Value:
    """The same number in all elements."""
    return known(bits, sum((number & (1 << element) - 1) << at for at in range(0, bits, element)))


def spread(m: Machine, bits: int, element: int, x: Value) -> Value:
    """The same for one that need not be known."""
    if x.known:
        return repeated(bits, element, x.number)
    if bits == element:
        return x
    count = bits // element
    one = m.pointer(f"insertelement {kind(bits, element)} poison, i{element} {x.text}, i32 0")
    type_ = kind(bits, element)
    mask = f"<{count} x i32> zeroinitializer"
    return joined(m, bits, element, m.pointer(f"shufflevector {type_} {one}, {type_} poison, {mask}"))


def shuffled(m: Machine, element: int, x: Value, y: Value, order: Sequence[int]) -> Value:
    """Elements of two registers, those of the second behind the first's, in an order."""
    type_ = kind(x.bits, element)
    mask = ", ".join(f"i32 {number}" for number in order)
    text = (
        f"shufflevector {type_} {split(m, x, element)}, {type_} {split(m, y, element)}, <{len(order)} x i32> <{mask}>"
    )
    return m.assign(
        element * len(order), f"bitcast <{len(order)} x i{element}> {m.pointer(text)} to i{element * len(order)}"
    )


def resized(m: Machine, x: Value, element: int, to: int, *, sign: bool = False) -> Value:
    """All elements in another size: twice as wide a number, or half."""
    count = x.bits // element
    how = "trunc" if to < element else "sext" if sign else "zext"
    made = m.pointer(f"{how} {kind(x.bits, element)} {split(m, x, element)} to {kind(count * to, to)}")
    return joined(m, count * to, to, made)


def parts(m: Machine, x: Value, element: int) -> list[Value]:
    """The elements one by one."""
    if x.bits == element:
        return [x]
    name, type_ = split(m, x, element), kind(x.bits, element)
    return [m.assign(element, f"extractelement {type_} {name}, i32 {at}") for at in range(x.bits // element)]


def together(m: Machine, values: Sequence[Value]) -> Value:
    """A register of elements."""
    if len(values) == 1:
        return values[0]
    element = values[0].bits
    type_ = f"<{len(values)} x i{element}>"
    name = "poison"
    for at, value in enumerate(values):
        name = m.pointer(f"insertelement {type_} {name}, {value.typed}, i32 {at}")
    return joined(m, element * len(values), element, name)


# LLVM 22 shifts 128 bits wrongly on a GPU where it knows that it is by 0 or 64: elements of 64 bits are chosen instead.


def element_of(m: Machine, x: Value, element: int, number: Value) -> Value:
    """One element of a whole register, by a number that need not be known."""
    if element < 64:
        return m.resize(m.right(x, m.mul(m.resize(number, 128), element)), element)
    return m.select(m.compare("eq", number, 0), m.resize(x, 64), m.resize(m.right(x, 64), 64))


def with_element(m: Machine, x: Value, element: int, number: Value, value: Value) -> Value:
    """A whole register with another value in the place of one element."""
    if element < 64:
        at = m.mul(m.resize(number, 128), element)
        hole = m.invert(m.left(known(128, (1 << element) - 1), at))
        return m.either(m.both(x, hole), m.left(m.resize(value, 128), at))
    first = m.compare("eq", number, 0)
    low = m.select(first, value, m.resize(x, 64))
    high = m.select(first, m.resize(m.right(x, 64), 64), value)
    return m.either(m.resize(low, 128), m.left(m.resize(high, 128), 64))


def one_by_one(m: Machine, element: int, work: Callable[..., Value], *given: Value) -> Value:
    """A function of single numbers on all elements."""
    columns = [parts(m, one, element) for one in given]
    return together(m, [work(*row) for row in zip(*columns, strict=True)])


def half(m: Machine, x: Value, upper: bool) -> Value:
    """The lower or upper half of a register of 128 bits."""
    return m.resize(m.right(x, 64), 64) if upper else m.resize(x, 64)


def half_by(m: Machine, x: Value, upper: Value) -> Value:
    """The same where a bit says which, that need not be known."""
    return m.select(upper, half(m, x, True), half(m, x, False))


def write_half(m: Machine, number: Value, value: Value, upper: bool) -> None:
    """Set the lower half, the upper one to 0; or the upper, and leave the lower."""
    if upper:
        low = m.resize(m.read_vector(number, 64), 128)
        value = m.either(low, m.left(m.resize(value, 128), 64))
    m.write_vector(number, value)


def write_half_by(m: Machine, number: Value, value: Value, upper: Value) -> None:
    """The same where a bit says which, that need not be known."""
    if upper.known:
        write_half(m, number, value, bool(upper.number))
        return
    wide = m.resize(value, 128)
    above = m.either(m.resize(m.read_vector(number, 64), 128), m.left(wide, 64))
    m.write_vector(number, m.select(upper, above, wide))
