"""More of vectors: shifts and numbers in the word, elements of other sizes, one element for all, floating point."""

from __future__ import annotations

from collections.abc import Callable

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings import numbers
from lanewise.arm64.encodings.integers import from_integer, to_integer
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value, known

_ELEMENTS = ((8, "0001"), (16, "001"), (32, "01"), (64, "1"))
"""Sizes of elements, and how the highest bits of the field for shifts say them."""


def _shift_bits(m: Machine, f: Fields, element: int) -> Value:
    """The bits of the field below those that say the size: how far a shift to the left goes."""
    return m.resize(f.amount, element)


# --- shifts ----------------------------------------------------------------------------------------------------------


def _all(m: Machine, bits: int, element: int, by: Value) -> Value:
    return e.spread(m, bits, element, by)


def _down(m: Machine, f: Fields, element: int, bits: int, x: Value, sign: bool, rounds: bool) -> Value:
    """Shifted right by one to all bits, perhaps rounded by the last bit that falls out."""
    by = m.sub(known(element, element - 1), _shift_bits(m, f, element))  # one less, which is never all of them
    most = e.each(m, "ashr" if sign else "lshr", element, x, _all(m, bits, element, by))
    one = e.repeated(bits, element, 1)
    rest = e.each(m, "ashr" if sign else "lshr", element, most, one)
    if rounds:
        rest = e.each(m, "add", element, rest, e.each(m, "and", element, most, one))
    return rest


def right(element: int, sign: bool, rounds: bool, onto: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        bits = e.whole(f)
        made = _down(m, f, element, bits, m.read_vector(f.Rn, bits), sign, rounds)
        if onto:
            made = e.each(m, "add", element, made, m.read_vector(f.Rd, bits))
        m.write_vector(f.Rd, made)

    return meaning


def left(element: int, inserts: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        bits = e.whole(f)
        by = _all(m, bits, element, _shift_bits(m, f, element))
        made = e.each(m, "shl", element, m.read_vector(f.Rn, bits), by)
        if inserts:
            mask = e.each(m, "shl", element, known(bits, -1), by)
            made = m.either(made, m.both(m.read_vector(f.Rd, bits), m.invert(mask)))
        m.write_vector(f.Rd, made)

    return meaning


def insert_right(element: int) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        bits = e.whole(f)
        made = _down(m, f, element, bits, m.read_vector(f.Rn, bits), False, False)
        mask = _down(m, f, element, bits, known(bits, -1), False, False)
        m.write_vector(f.Rd, m.either(made, m.both(m.read_vector(f.Rd, bits), m.invert(mask))))

    return meaning


def _narrowed(element: int, rounds: bool) -> Meaning:
    """Elements of twice the size are shifted right, and their lower halves kept."""

    def meaning(m: Machine, f: Fields) -> None:
        wide = 2 * element
        by = m.sub(known(wide, element - 1), m.resize(f.amount, wide))
        most = e.each(m, "lshr", wide, m.read_vector(f.Rn), _all(m, 128, wide, by))
        one = e.repeated(128, wide, 1)
        rest = e.each(m, "lshr", wide, most, one)
        if rounds:
            rest = e.each(m, "add", wide, rest, e.each(m, "and", wide, most, one))
        e.write_half(m, f.Rd, e.resized(m, rest, wide, element), bool(f.Q.number))

    return meaning


def _widened(element: int, sign: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        wide = 2 * element
        x = e.resized(m, e.half(m, m.read_vector(f.Rn), bool(f.Q.number)), element, wide, sign=sign)
        m.write_vector(f.Rd, e.each(m, "shl", wide, x, _all(m, 128, wide, m.resize(f.amount, wide))))

    return meaning


def _shift_rows() -> list[Row]:
    found: list[Row] = []
    for element, head in _ELEMENTS:
        field = f"{head} amount:{7 - len(head)}"
        both = (1,) if element == 64 else (0, 1)
        for u in (0, 1):
            start = f"0 Q {u} 011110 {field}"
            for opcode, rounds, onto in ((0, False, False), (2, False, True), (4, True, False), (6, True, True)):
                meaning = right(element, not u, rounds, onto)
                found += rows("shr", f"{start} {opcode:05b} 1 Rn Rd", meaning, Q=both)
            if element < 64:
                found += rows("shll", f"{start} 10100 1 Rn Rd", _widened(element, not u), "Q")
        found += rows("shl", f"0 Q 0 011110 {field} 01010 1 Rn Rd", left(element, False), Q=both)
        found += rows("sli", f"0 Q 1 011110 {field} 01010 1 Rn Rd", left(element, True), Q=both)
        found += rows("sri", f"0 Q 1 011110 {field} 01000 1 Rn Rd", insert_right(element), Q=both)
        if element < 64:
            found += rows("shrn", f"0 Q 0 011110 {field} 10000 1 Rn Rd", _narrowed(element, False), "Q")
            found += rows("rshrn", f"0 Q 0 011110 {field} 10001 1 Rn Rd", _narrowed(element, True), "Q")
    return found


# --- numbers in the word ---------------------------------------------------------------------------------------------


def _immediate(m: Machine, f: Fields) -> None:
    """A byte, placed and repeated by `cmode`; inverted, or joined with what is there."""
    bits, mode, invert = e.whole(f), f.cmode.number, f.op.number
    byte = m.either(m.left(m.resize(f.abc, 64), 5), m.resize(f.defgh, 64))
    if mode < 8:
        made, element = m.left(byte, 8 * (mode >> 1)), 32
    elif mode < 12:
        made, element = m.left(byte, 8 * (mode >> 1 & 1)), 16
    elif mode < 14:
        shift = 8 << (mode & 1)
        made, element = m.either(m.left(byte, shift), (1 << shift) - 1), 32
    elif mode == 14 and not invert:
        made, element = byte, 8
    elif mode == 14:
        made, element = known(64, 0), 64
        for bit in range(8):
            on = m.resize(m.right(byte, bit), 1)
            made = m.select(on, m.either(made, 0xFF << 8 * bit), made)
    else:
        element = 64 if invert else 32
        made = m.resize(numbers.expanded(m, m.resize(byte, 8), element), 64)
    whole = e.spread(m, bits, element, m.resize(made, element))
    joins = mode < 12 and mode & 1
    if invert and mode < 14:
        whole = m.invert(whole)
        if joins:
            whole = m.both(m.read_vector(f.Rd, bits), whole)
    elif joins:
        whole = m.either(m.read_vector(f.Rd, bits), whole)
    m.write_vector(f.Rd, whole)


# --- elements of two sizes -------------------------------------------------------------------------------------------


def _size(f: Fields) -> int:
    return 8 << f.size.number


def _wide(m: Machine, f: Fields, number: Value, sign: bool) -> Value:
    """A half of a register, its elements in twice the bits."""
    return e.resized(m, e.half(m, m.read_vector(number), bool(f.Q.number)), _size(f), 2 * _size(f), sign=sign)


def _long(operation: str, sign: bool) -> Meaning:
    return lambda m, f: m.write_vector(
        f.Rd, e.each(m, operation, 2 * _size(f), _wide(m, f, f.Rn, sign), _wide(m, f, f.Rm, sign))
    )


def _mixed(operation: str, sign: bool) -> Meaning:
    return lambda m, f: m.write_vector(
        f.Rd, e.each(m, operation, 2 * _size(f), m.read_vector(f.Rn), _wide(m, f, f.Rm, sign))
    )


def _long_onto(operation: str, sign: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        product = e.each(m, "mul", 2 * _size(f), _wide(m, f, f.Rn, sign), _wide(m, f, f.Rm, sign))
        m.write_vector(f.Rd, e.each(m, operation, 2 * _size(f), m.read_vector(f.Rd), product))

    return meaning


def _distance_long(sign: bool, onto: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        wide, kind = 2 * _size(f), "s" if sign else "u"
        x, y = _wide(m, f, f.Rn, sign), _wide(m, f, f.Rm, sign)
        made = e.each(m, "sub", wide, e.function(m, f"{kind}max", wide, x, y), e.function(m, f"{kind}min", wide, x, y))
        if onto:
            made = e.each(m, "add", wide, m.read_vector(f.Rd), made)
        m.write_vector(f.Rd, made)

    return meaning


def _upper_halves(operation: str, rounds: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        wide = 2 * _size(f)
        made = e.each(m, operation, wide, m.read_vector(f.Rn), m.read_vector(f.Rm))
        if rounds:
            made = e.each(m, "add", wide, made, e.repeated(128, wide, 1 << _size(f) - 1))
        made = e.each(m, "lshr", wide, made, e.repeated(128, wide, _size(f)))
        e.write_half(m, f.Rd, e.resized(m, made, wide, _size(f)), bool(f.Q.number))

    return meaning


_DIFFERENT: list[tuple[int, Callable[[bool], Meaning]]] = [
    (0b0000, lambda s: _long("add", s)), (0b0001, lambda s: _mixed("add", s)), (0b0010, lambda s: _long("sub", s)),
    (0b0011, lambda s: _mixed("sub", s)), (0b0100, lambda s: _upper_halves("add", not s)),
    (0b0101, lambda s: _distance_long(s, True)), (0b0110, lambda s: _upper_halves("sub", not s)),
    (0b0111, lambda s: _distance_long(s, False)), (0b1000, lambda s: _long_onto("add", s)),
    (0b1010, lambda s: _long_onto("sub", s)), (0b1100, lambda s: _long("mul", s)),
]  # fmt: skip


# --- one element for all ---------------------------------------------------------------------------------------------


def one_element(m: Machine, f: Fields, element: int) -> Value:
    """The element that a word names: of 16 bits in one of 16 registers, of more in one of 32."""
    if element == 16:
        number = m.either(m.left(m.resize(f.H, 128), 2), m.either(m.left(m.resize(f.L, 128), 1), m.resize(f.M, 128)))
        register = m.resize(f.Rm4, 5)
    else:
        register = m.either(m.left(m.resize(f.M, 5), 4), m.resize(f.Rm4, 5))
        number = m.resize(f.H, 128)
        if element == 32:
            number = m.either(m.left(number, 1), m.resize(f.L, 128))
    return e.element_of(m, m.read_vector(register), element, number)


def _by_element(operation: str | None) -> Meaning:
    """A product with one element; added to what is there, or taken away."""

    def meaning(m: Machine, f: Fields) -> None:
        bits, element = e.whole(f), _size(f)
        y = e.spread(m, bits, element, one_element(m, f, element))
        made = e.each(m, "mul", element, m.read_vector(f.Rn, bits), y)
        if operation:
            made = e.each(m, operation, element, m.read_vector(f.Rd, bits), made)
        m.write_vector(f.Rd, made)

    return meaning


def _long_by_element(operation: str | None, sign: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        element, wide = _size(f), 2 * _size(f)
        y = e.spread(m, 128, wide, m.resize(one_element(m, f, element), wide, sign=sign))
        made = e.each(m, "mul", wide, _wide(m, f, f.Rn, sign), y)
        if operation:
            made = e.each(m, operation, wide, m.read_vector(f.Rd), made)
        m.write_vector(f.Rd, made)

    return meaning


def _number_by_element(work: Callable[[Machine, int, Value, Value, Value], Value]) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        bits, element = e.whole(f), _float_bits(f)
        if element == 64:
            m.undefined_if(f.L)
        y = e.spread(m, bits, element, one_element(m, f, element))
        m.write_vector(f.Rd, work(m, element, m.read_vector(f.Rd, bits), m.read_vector(f.Rn, bits), y))

    return meaning


# --- numbers of floating point ---------------------------------------------------------------------------------------


def _float_bits(f: Fields) -> int:
    return 64 if f.sz.number else 32


def three_floats(work: str) -> Meaning:
    """An operation on the elements of two registers."""

    def meaning(m: Machine, f: Fields) -> None:
        bits = e.whole(f) if hasattr(f, "Q") else _float_bits(f)
        given = m.read_vector(f.Rn, bits), m.read_vector(f.Rm, bits)
        m.write_vector(f.Rd, numbers.binary(m, work, _float_bits(f), *given))

    return meaning


def _float_pairs(work: str) -> Meaning:
    return lambda m, f: m.write_vector(
        f.Rd,
        _pairs_of(m, f, lambda even, odd: numbers.binary(m, work, _float_bits(f), even, odd)),
    )


def _pairs_of(m: Machine, f: Fields, work: Callable[[Value, Value], Value]) -> Value:
    """An operation on neighbours: those of the first register, then those of the second."""
    bits, element = e.whole(f), _float_bits(f)
    x, y, count = m.read_vector(f.Rn, bits), m.read_vector(f.Rm, bits), bits // element
    return work(*(e.shuffled(m, element, x, y, range(first, 2 * count, 2)) for first in (0, 1)))


def _taken_away(m: Machine, element: int, old: Value, x: Value, y: Value) -> Value:
    return numbers.multiply_add(m, element, old, numbers.negate(m, element, x), y)


def _multiply_onto(takes: bool) -> Meaning:
    work = _taken_away if takes else numbers.multiply_add

    def meaning(m: Machine, f: Fields) -> None:
        bits = e.whole(f)
        given = m.read_vector(f.Rd, bits), m.read_vector(f.Rn, bits), m.read_vector(f.Rm, bits)
        m.write_vector(f.Rd, work(m, _float_bits(f), *given))

    return meaning


def _compares(how: str, sizes: bool = False) -> Meaning:
    """All ones where it holds; of what is no number nothing does. `sizes` are compared without signs.

    One that is less than zero is one that zero is more than.
    """

    def meaning(m: Machine, f: Fields) -> None:
        bits, element = e.whole(f), _float_bits(f)
        given = [m.read_vector(f.Rn, bits), m.read_vector(f.Rm, bits) if hasattr(f, "Rm") else known(bits, 0)]
        if sizes:
            given = [numbers.sizes(m, one, element) for one in given]
        if how in _TURNED:
            given.reverse()
        m.write_vector(f.Rd, numbers.compared(m, _TURNED.get(how, how), element, *given))

    return meaning


_TURNED = {"ole": "oge", "olt": "ogt"}


def _each(work: str) -> Meaning:
    return lambda m, f: m.write_vector(f.Rd, numbers.unary(m, work, _float_bits(f), m.read_vector(f.Rn, e.whole(f))))


def _to_integer(rounding: str, sign: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        element = _float_bits(f)
        m.write_vector(f.Rd, to_integer(m, element, m.read_vector(f.Rn, e.whole(f)), element, rounding, sign))

    return meaning


def _from_integer(sign: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        element = _float_bits(f)
        m.write_vector(f.Rd, from_integer(m, element, m.read_vector(f.Rn, e.whole(f)), element, sign))

    return meaning


def _shorter(m: Machine, f: Fields) -> None:
    element = _float_bits(f)
    e.write_half(m, f.Rd, numbers.convert(m, element, m.read_vector(f.Rn), element // 2), bool(f.Q.number))


def _longer(m: Machine, f: Fields) -> None:
    element = _float_bits(f)
    x = e.half(m, m.read_vector(f.Rn), bool(f.Q.number))
    m.write_vector(f.Rd, numbers.convert(m, element // 2, x, element))


FLOAT_THREE: list[tuple[str, int, int, int, Meaning]] = [
    ("fmaxnm v", 0, 0, 0b11000, three_floats("fmaxnm")), ("fminnm v", 0, 1, 0b11000, three_floats("fminnm")),
    ("fmla", 0, 0, 0b11001, _multiply_onto(False)), ("fmls", 0, 1, 0b11001, _multiply_onto(True)),
    ("fadd v", 0, 0, 0b11010, three_floats("fadd")), ("fsub v", 0, 1, 0b11010, three_floats("fsub")),
    ("fcmeq", 0, 0, 0b11100, _compares("oeq")), ("fmax v", 0, 0, 0b11110, three_floats("fmax")),
    ("fmin v", 0, 1, 0b11110, three_floats("fmin")), ("fmaxnmp", 1, 0, 0b11000, _float_pairs("fmaxnm")),
    ("fminnmp", 1, 1, 0b11000, _float_pairs("fminnm")), ("faddp", 1, 0, 0b11010, _float_pairs("fadd")),
    ("fabd", 1, 1, 0b11010, three_floats("fabd")), ("fmul v", 1, 0, 0b11011, three_floats("fmul")),
    ("fcmge", 1, 0, 0b11100, _compares("oge")), ("fcmgt", 1, 1, 0b11100, _compares("ogt")),
    ("facge", 1, 0, 0b11101, _compares("oge", True)), ("facgt", 1, 1, 0b11101, _compares("ogt", True)),
    ("fmaxp", 1, 0, 0b11110, _float_pairs("fmax")), ("fminp", 1, 1, 0b11110, _float_pairs("fmin")),
    ("fdiv v", 1, 0, 0b11111, three_floats("fdiv")),
]  # fmt: skip
FLOAT_TWO: list[tuple[str, int, int, int, Meaning]] = [
    ("frintn v", 0, 0, 0b11000, _each("frintn")),
    ("frintm v", 0, 0, 0b11001, _each("frintm")),
    ("frintp v", 0, 1, 0b11000, _each("frintp")),
    ("frintz v", 0, 1, 0b11001, _each("frintz")),
    ("frinta v", 1, 0, 0b11000, _each("frinta")),
    ("frintx v", 1, 0, 0b11001, _each("frintx")),
    ("frinti v", 1, 1, 0b11001, _each("frinti")),
    ("fabs v", 0, 1, 0b01111, _each("fabs")),
    ("fneg v", 1, 1, 0b01111, _each("fneg")),
    ("fsqrt v", 1, 1, 0b11111, _each("fsqrt")),
    ("scvtf v", 0, 0, 0b11101, _from_integer(True)), ("ucvtf v", 1, 0, 0b11101, _from_integer(False)),
    ("fcmgt 0", 0, 1, 0b01100, _compares("ogt")), ("fcmge 0", 1, 1, 0b01100, _compares("oge")),
    ("fcmeq 0", 0, 1, 0b01101, _compares("oeq")), ("fcmle 0", 1, 1, 0b01101, _compares("ole")),
    ("fcmlt 0", 0, 1, 0b01110, _compares("olt")),
    *(
        (f"fcvt{rounding} v", int(not sign), high, opcode, _to_integer(rounding, sign))
        for rounding, high, opcode in (("n", 0, 26), ("m", 0, 27), ("a", 0, 28), ("p", 1, 26), ("z", 1, 27))
        for sign in (True, False)
    ),
]  # fmt: skip


def _float_rows(name: str, pattern: str, meaning: Meaning) -> list[Row]:
    """Two or four of 32 bits, or two of 64."""
    return [*rows(name, pattern, meaning, "Q", sz=(0,)), *rows(name, pattern, meaning, Q=(1,), sz=(1,))]


BY_ELEMENT: list[tuple[str, int, str, Meaning]] = [
    ("fmul e", 0, "1001", _number_by_element(lambda m, element, old, x, y: numbers.multiply(m, element, x, y))),
    ("fmla e", 0, "0001", _number_by_element(numbers.multiply_add)),
    ("fmls e", 0, "0101", _number_by_element(_taken_away)),
    (
        "fmulx e",
        1,
        "1001",
        _number_by_element(lambda m, element, old, x, y: numbers.multiply_extended(m, element, x, y)),
    ),
]

ROWS: list[Row] = [
    *_shift_rows(),
    *(
        row
        for row in rows("movi", "0 Q op 0111100000 abc cmode 01 defgh Rd", _immediate, "Q op cmode")
        if dict(row.settled) | {"cmode": 15, "op": 1, "Q": 0} != dict(row.settled)
    ),
    *(
        row
        for opcode, made in _DIFFERENT
        for u in (0, 1)
        for row in rows("long", f"0 Q {u} 01110 size 1 Rm {opcode:04b} 00 Rn Rd", made(not u), "Q", size=(0, 1, 2))
    ),
    *(
        row
        for u, opcode, operation in ((0, 0b1000, None), (1, 0b0000, "add"), (1, 0b0100, "sub"))
        for row in rows(
            "mul e", f"0 Q {u} 01111 size L M Rm4 {opcode:04b} H 0 Rn Rd", _by_element(operation), "Q", size=(1, 2)
        )
    ),
    *(
        row
        for u in (0, 1)
        for opcode, operation in ((0b1010, None), (0b0010, "add"), (0b0110, "sub"))
        for row in rows(
            "mull e", f"0 Q {u} 01111 size L M Rm4 {opcode:04b} H 0 Rn Rd", _long_by_element(operation, not u), "Q",
            size=(1, 2),
        )
    ),
    *(
        row
        for name, u, opcode, meaning in BY_ELEMENT
        for row in _float_rows(name, f"0 Q {u} 01111 1 sz L M Rm4 {opcode} H 0 Rn Rd", meaning)
    ),
    *(
        row
        for name, u, high, opcode, meaning in FLOAT_THREE
        for row in _float_rows(name, f"0 Q {u} 01110 {high} sz 1 Rm {opcode:05b} 1 Rn Rd", meaning)
    ),
    *(
        row
        for name, u, high, opcode, meaning in FLOAT_TWO
        for row in _float_rows(name, f"0 Q {u} 01110 {high} sz 10000 {opcode:05b} 10 Rn Rd", meaning)
    ),
    *rows("fcvtn", "0 Q 0 01110 0 sz 10000 10110 10 Rn Rd", _shorter, "Q sz"),
    *rows("fcvtl", "0 Q 0 01110 0 sz 10000 10111 10 Rn Rd", _longer, "Q sz"),
]  # fmt: skip
