"""Integer instructions on vector registers."""

from __future__ import annotations

from collections.abc import Callable

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value, known

Work = Callable[[Machine, int, Value, Value], Value]
"""On elements of a size of two registers."""


def _size(f: Fields) -> int:
    return 8 << f.size.number


# --- three registers -------------------------------------------------------------------------------------------------


def _plain(operation: str) -> Work:
    return lambda m, element, x, y: e.each(m, operation, element, x, y)


def _function(name: str) -> Work:
    return lambda m, element, x, y: e.function(m, name, element, x, y)


def _compares(how: str) -> Work:
    return lambda m, element, x, y: e.compared(m, how, element, x, y)


def _halving(operation: str, sign: bool, rounds: bool = False) -> Work:
    """The sum or difference in one bit more, less its last bit."""

    def work(m: Machine, element: int, x: Value, y: Value) -> Value:
        wide = 2 * element
        a, b = (e.resized(m, one, element, wide, sign=sign) for one in (x, y))
        total = e.each(m, operation, wide, a, b)
        if rounds:
            total = e.each(m, "add", wide, total, e.repeated(total.bits, wide, 1))
        halved = e.each(m, "ashr" if sign else "lshr", wide, total, e.repeated(total.bits, wide, 1))
        return e.resized(m, halved, wide, element)

    return work


def _tests(m: Machine, element: int, x: Value, y: Value) -> Value:
    return e.compared(m, "ne", element, e.each(m, "and", element, x, y), known(x.bits, 0))


def _distance(sign: bool) -> Work:
    def work(m: Machine, element: int, x: Value, y: Value) -> Value:
        kind = "s" if sign else "u"
        more, less = (e.function(m, kind + name, element, x, y) for name in ("max", "min"))
        return e.each(m, "sub", element, more, less)

    return work


def _pairs(work: Work) -> Work:
    """On neighbours: those of the first register, then those of the second."""

    def meaning(m: Machine, element: int, x: Value, y: Value) -> Value:
        count = x.bits // element
        even = e.shuffled(m, element, x, y, range(0, 2 * count, 2))
        odd = e.shuffled(m, element, x, y, range(1, 2 * count, 2))
        return work(m, element, even, odd)

    return meaning


def _product_of_polynomials(m: Machine, element: int, x: Value, y: Value) -> Value:
    total = known(x.bits, 0)
    for bit in range(8):
        on = e.compared(m, "ne", element, m.both(y, e.repeated(x.bits, element, 1 << bit)), known(x.bits, 0))
        moved = e.each(m, "shl", element, x, e.repeated(x.bits, element, bit))
        total = m.differ(total, m.both(moved, on))
    return total


def _three(work: Work) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        bits = e.whole(f)
        m.write_vector(f.Rd, work(m, _size(f), m.read_vector(f.Rn, bits), m.read_vector(f.Rm, bits)))

    return meaning


def _onto(operation: str, work: Work) -> Meaning:
    """The result is added to what the register has, or taken away."""

    def meaning(m: Machine, f: Fields) -> None:
        bits = e.whole(f)
        found = work(m, _size(f), m.read_vector(f.Rn, bits), m.read_vector(f.Rm, bits))
        m.write_vector(f.Rd, e.each(m, operation, _size(f), m.read_vector(f.Rd, bits), found))

    return meaning


def _logic(m: Machine, f: Fields) -> None:
    """And, and not, or, or not; exclusive or, and three ways to choose bits."""
    bits = e.whole(f)
    x, y, old = m.read_vector(f.Rn, bits), m.read_vector(f.Rm, bits), m.read_vector(f.Rd, bits)
    if not f.U.number:
        y = m.invert(y) if f.size.number & 1 else y
        m.write_vector(f.Rd, m.operate("or" if f.size.number & 2 else "and", x, y))
        return
    other, mask, base = ((known(bits, 0), None, y), (x, old, y), (x, y, old), (x, m.invert(y), old))[f.size.number]
    if mask is None:
        m.write_vector(f.Rd, m.differ(x, y))
    else:
        m.write_vector(f.Rd, m.differ(base, m.both(m.differ(base, other), mask)))


_BYTES_TO_WORDS, _ALL = (0, 1, 2), (0, 1, 2, 3)
SAME: list[tuple[str, int, int, tuple[int, ...], Meaning]] = [
    ("shadd", 0b00000, 0, _BYTES_TO_WORDS, _three(_halving("add", True))),
    ("uhadd", 0b00000, 1, _BYTES_TO_WORDS, _three(_halving("add", False))),
    ("srhadd", 0b00010, 0, _BYTES_TO_WORDS, _three(_halving("add", True, True))),
    ("urhadd", 0b00010, 1, _BYTES_TO_WORDS, _three(_halving("add", False, True))),
    ("shsub", 0b00100, 0, _BYTES_TO_WORDS, _three(_halving("sub", True))),
    ("uhsub", 0b00100, 1, _BYTES_TO_WORDS, _three(_halving("sub", False))),
    ("cmgt", 0b00110, 0, _ALL, _three(_compares("sgt"))),
    ("cmhi", 0b00110, 1, _ALL, _three(_compares("ugt"))),
    ("cmge", 0b00111, 0, _ALL, _three(_compares("sge"))),
    ("cmhs", 0b00111, 1, _ALL, _three(_compares("uge"))),
    ("smax", 0b01100, 0, _BYTES_TO_WORDS, _three(_function("smax"))),
    ("umax", 0b01100, 1, _BYTES_TO_WORDS, _three(_function("umax"))),
    ("smin", 0b01101, 0, _BYTES_TO_WORDS, _three(_function("smin"))),
    ("umin", 0b01101, 1, _BYTES_TO_WORDS, _three(_function("umin"))),
    ("sabd", 0b01110, 0, _BYTES_TO_WORDS, _three(_distance(True))),
    ("uabd", 0b01110, 1, _BYTES_TO_WORDS, _three(_distance(False))),
    ("saba", 0b01111, 0, _BYTES_TO_WORDS, _onto("add", _distance(True))),
    ("uaba", 0b01111, 1, _BYTES_TO_WORDS, _onto("add", _distance(False))),
    ("add v", 0b10000, 0, _ALL, _three(_plain("add"))),
    ("sub v", 0b10000, 1, _ALL, _three(_plain("sub"))),
    ("cmtst", 0b10001, 0, _ALL, _three(_tests)),
    ("cmeq", 0b10001, 1, _ALL, _three(_compares("eq"))),
    ("mla", 0b10010, 0, _BYTES_TO_WORDS, _onto("add", _plain("mul"))),
    ("mls", 0b10010, 1, _BYTES_TO_WORDS, _onto("sub", _plain("mul"))),
    ("mul v", 0b10011, 0, _BYTES_TO_WORDS, _three(_plain("mul"))),
    ("pmul", 0b10011, 1, (0,), _three(_product_of_polynomials)),
    ("smaxp", 0b10100, 0, _BYTES_TO_WORDS, _three(_pairs(_function("smax")))),
    ("umaxp", 0b10100, 1, _BYTES_TO_WORDS, _three(_pairs(_function("umax")))),
    ("sminp", 0b10101, 0, _BYTES_TO_WORDS, _three(_pairs(_function("smin")))),
    ("uminp", 0b10101, 1, _BYTES_TO_WORDS, _three(_pairs(_function("umin")))),
    ("addp", 0b10111, 0, _ALL, _three(_pairs(_plain("add")))),
]


def _with_sizes(name: str, pattern: str, meaning: Meaning, sizes: tuple[int, ...]) -> list[Row]:
    """Rows for both lengths of registers; one element of 64 bits alone is another instruction."""
    short = tuple(size for size in sizes if size < 3)
    found = rows(name, pattern, meaning, Q=(1,), size=sizes)
    return found + (rows(name, pattern, meaning, Q=(0,), size=short) if short else [])


# --- two registers ---------------------------------------------------------------------------------------------------


def _two(work: Callable[[Machine, int, Value], Value]) -> Meaning:
    return lambda m, f: m.write_vector(f.Rd, work(m, _size(f), m.read_vector(f.Rn, e.whole(f))))


def _reversed(part: int) -> Meaning:
    """Elements in the other order, in each part of so many bits."""

    def work(m: Machine, element: int, x: Value) -> Value:
        each = part // element
        order = [at // each * each + each - 1 - at % each for at in range(x.bits // element)]
        return e.shuffled(m, element, x, x, order)

    return _two(work)


def _against_zero(how: str) -> Meaning:
    return _two(lambda m, element, x: e.compared(m, how, element, x, known(x.bits, 0)))


def _pairs_long(sign: bool, onto: bool) -> Meaning:
    """Sums of neighbours, in twice the bits."""

    def meaning(m: Machine, f: Fields) -> None:
        x, element = m.read_vector(f.Rn, e.whole(f)), _size(f)
        count = x.bits // element
        even, odd = (
            e.resized(m, e.shuffled(m, element, x, x, range(first, count, 2)), element, 2 * element, sign=sign)
            for first in (0, 1)
        )
        total = e.each(m, "add", 2 * element, even, odd)
        if onto:
            total = e.each(m, "add", 2 * element, total, m.read_vector(f.Rd, e.whole(f)))
        m.write_vector(f.Rd, total)

    return meaning


def _signs(m: Machine, element: int, x: Value) -> Value:
    bits = x.bits
    copies = e.each(m, "ashr", element, x, e.repeated(bits, element, element - 1))
    unlike = e.each(m, "shl", element, m.differ(x, copies), e.repeated(bits, element, 1))
    return e.function(m, "ctlz", element, m.either(unlike, e.repeated(bits, element, 1)), more=", i1 false")


def _narrow(work: Callable[[Machine, int, Value], Value]) -> Meaning:
    """Elements of twice the size become small ones, in the lower half or the upper."""

    def meaning(m: Machine, f: Fields) -> None:
        wide = 2 * _size(f)
        made = e.resized(m, work(m, wide, m.read_vector(f.Rn)), wide, _size(f))
        e.write_half(m, f.Rd, made, bool(f.Q.number))

    return meaning


def _widen_shifted(m: Machine, f: Fields) -> None:
    element = _size(f)
    x = e.resized(m, e.half(m, m.read_vector(f.Rn), bool(f.Q.number)), element, 2 * element)
    m.write_vector(f.Rd, e.each(m, "shl", 2 * element, x, e.repeated(128, 2 * element, element)))


def _negated(m: Machine, element: int, x: Value) -> Value:
    return e.each(m, "sub", element, known(x.bits, 0), x)


MISC: list[tuple[str, int, int, tuple[int, ...], Meaning]] = [
    ("rev64", 0b00000, 0, (0, 1, 2), _reversed(64)),
    ("rev32", 0b00000, 1, (0, 1), _reversed(32)),
    ("rev16", 0b00001, 0, (0,), _reversed(16)),
    ("saddlp", 0b00010, 0, _BYTES_TO_WORDS, _pairs_long(True, False)),
    ("uaddlp", 0b00010, 1, _BYTES_TO_WORDS, _pairs_long(False, False)),
    ("sadalp", 0b00110, 0, _BYTES_TO_WORDS, _pairs_long(True, True)),
    ("uadalp", 0b00110, 1, _BYTES_TO_WORDS, _pairs_long(False, True)),
    ("cls v", 0b00100, 0, _BYTES_TO_WORDS, _two(_signs)),
    ("clz v", 0b00100, 1, _BYTES_TO_WORDS, _two(lambda m, n, x: e.function(m, "ctlz", n, x, more=", i1 false"))),
    ("cnt", 0b00101, 0, (0,), _two(lambda m, n, x: e.function(m, "ctpop", n, x))),
    ("not", 0b00101, 1, (0,), _two(lambda m, n, x: m.invert(x))),
    ("rbit v", 0b00101, 1, (1,), _two(lambda m, n, x: e.function(m, "bitreverse", 8, x))),
    ("cmgt", 0b01000, 0, _ALL, _against_zero("sgt")),
    ("cmge", 0b01000, 1, _ALL, _against_zero("sge")),
    ("cmeq", 0b01001, 0, _ALL, _against_zero("eq")),
    ("cmle", 0b01001, 1, _ALL, _against_zero("sle")),
    ("cmlt", 0b01010, 0, _ALL, _against_zero("slt")),
    ("abs", 0b01011, 0, _ALL, _two(lambda m, n, x: e.function(m, "abs", n, x, more=", i1 false"))),
    ("neg", 0b01011, 1, _ALL, _two(_negated)),
]
_NARROW = [
    ("xtn", 0b10010, 0, _narrow(lambda m, wide, x: x)),
    ("shll", 0b10011, 1, _widen_shifted),
]


# --- across, copies, orders ------------------------------------------------------------------------------------------


def _across(name: str, sign: bool | None = None) -> Meaning:
    """All elements to one; with a sign, in twice the bits."""

    def meaning(m: Machine, f: Fields) -> None:
        x, element = m.read_vector(f.Rn, e.whole(f)), _size(f)
        count = x.bits // element
        if sign is not None:
            x, element = e.resized(m, x, element, 2 * element, sign=sign), 2 * element
        type_ = f"<{count} x i{element}>"
        call = f"call i{element} @llvm.vector.reduce.{name}.v{count}i{element}({type_} {e.split(m, x, element)})"
        m.write_vector(f.Rd, m.assign(element, call))

    return meaning


_ACROSS = [
    ("saddlv", 0b00011, 0, _across("add", True)), ("uaddlv", 0b00011, 1, _across("add", False)),
    ("smaxv", 0b01010, 0, _across("smax")), ("umaxv", 0b01010, 1, _across("umax")),
    ("sminv", 0b11010, 0, _across("smin")), ("uminv", 0b11010, 1, _across("umin")),
    ("addv", 0b11011, 0, _across("add")),
]  # fmt: skip


def _places() -> list[tuple[int, str]]:
    """How imm5 says which element it is: the size by its lowest bit that is set, the number above it."""
    return [(8, "1"), (16, "10"), (32, "100"), (64, "1000")]


def _copy(element: int, form: str) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        number = m.resize(f.index, 64)
        if form == "dup element":
            found = e.element_of(m, m.read_vector(f.Rn), element, number)
            m.write_vector(f.Rd, e.spread(m, e.whole(f), element, found))
        elif form == "dup":
            m.write_vector(f.Rd, e.spread(m, e.whole(f), element, m.read(f.Rn, element)))
        elif form in ("smov", "umov"):
            found = e.element_of(m, m.read_vector(f.Rn), element, number)
            to = 64 if f.Q.number else 32
            m.write(f.Rd, m.resize(found, to, sign=form == "smov"))
        else:
            found = m.read(f.Rn, element)
            if form == "ins element":
                other = m.right(f.imm4, element.bit_length() - 4)
                found = e.element_of(m, m.read_vector(f.Rn), element, m.resize(other, 64))
            m.write_vector(f.Rd, e.with_element(m, m.read_vector(f.Rd), element, number, found))

    return meaning


def _copies() -> list[Row]:
    found = []
    for element, tail in _places():
        imm5 = f"index:{5 - len(tail)} {tail}"
        both = (1,) if element == 64 else (0, 1)
        head = "0 Q 0 01110000"
        found += rows("dup", f"{head} {imm5} 0 0000 1 Rn Rd", _copy(element, "dup element"), Q=both)
        found += rows("dup", f"{head} {imm5} 0 0001 1 Rn Rd", _copy(element, "dup"), Q=both)
        if element < 64:
            wide = (1,) if element == 32 else (0, 1)
            found += rows("smov", f"{head} {imm5} 0 0101 1 Rn Rd", _copy(element, "smov"), Q=wide)
        found += rows("umov", f"{head} {imm5} 0 0111 1 Rn Rd", _copy(element, "umov"), Q=(int(element == 64),))
        found += rows("ins", f"0 1 0 01110000 {imm5} 0 0011 1 Rn Rd", _copy(element, "ins"))
        found += rows("ins", f"0 1 1 01110000 {imm5} 0 imm4 1 Rn Rd", _copy(element, "ins element"))
    return found


def _extract(m: Machine, f: Fields) -> None:
    bits = e.whole(f)
    if bits == 64:
        m.undefined_if(m.resize(m.right(f.imm4, 3), 1))
    by = m.left(m.resize(f.imm4, bits), 3)
    m.write_vector(f.Rd, m.intrinsic("fshr", m.read_vector(f.Rm, bits), m.read_vector(f.Rn, bits), by))


def _permute(name: str, second: int) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        bits, element = e.whole(f), _size(f)
        count = bits // element
        if name == "uzp":
            order = [2 * at + second for at in range(count)]
        elif name == "trn":
            order = [at // 2 * 2 + second + at % 2 * count for at in range(count)]
        else:
            order = [count // 2 * second + at // 2 + at % 2 * count for at in range(count)]
        m.write_vector(f.Rd, e.shuffled(m, element, m.read_vector(f.Rn, bits), m.read_vector(f.Rm, bits), order))

    return meaning


def _table(m: Machine, f: Fields) -> None:
    """Bytes by their numbers in one to four registers; others are 0, or stay."""
    bits, count = e.whole(f), f.len.number + 1
    place = m.variable(512)
    for at in range(count):
        number = m.both(m.add(m.resize(f.Rn, 32), at), 31)
        one = m.pointer(f"getelementptr i128, ptr {place}, i32 {at}")
        m.emit(f"store {m.read_vector(m.resize(number, 5)).typed}, ptr {one}, align 16")
    old = e.parts(m, m.read_vector(f.Rd, bits), 8) if f.op.number else [known(8, 0)] * (bits // 8)
    made = []
    for number, instead in zip(e.parts(m, m.read_vector(f.Rm, bits), 8), old, strict=True):
        inside = m.compare("ult", number, 16 * count)
        index = m.resize(m.select(inside, number, known(8, 0)), 32)
        byte = m.assign(8, f"load i8, ptr {m.pointer(f'getelementptr i8, ptr {place}, i32 {index.text}')}")
        made.append(m.select(inside, byte, instead))
    m.write_vector(f.Rd, e.together(m, made))


ROWS: list[Row] = [
    *(
        row
        for name, opcode, u, sizes, meaning in SAME
        for row in _with_sizes(name, f"0 Q {u} 01110 size 1 Rm {opcode:05b} 1 Rn Rd", meaning, sizes)
    ),
    *rows("logic", "0 Q U 01110 size 1 Rm 00011 1 Rn Rd", _logic, "Q U size"),
    *(
        row
        for name, opcode, u, sizes, meaning in MISC
        for row in _with_sizes(name, f"0 Q {u} 01110 size 10000 {opcode:05b} 10 Rn Rd", meaning, sizes)
    ),
    *(
        row
        for name, opcode, u, meaning in _NARROW
        for row in rows(name, f"0 Q {u} 01110 size 10000 {opcode:05b} 10 Rn Rd", meaning, "Q", size=(0, 1, 2))
    ),
    *(
        row
        for name, opcode, u, meaning in _ACROSS
        for row in [
            *rows(name, f"0 Q {u} 01110 size 11000 {opcode:05b} 10 Rn Rd", meaning, "Q", size=(0, 1)),
            *rows(name, f"0 Q {u} 01110 size 11000 {opcode:05b} 10 Rn Rd", meaning, Q=(1,), size=(2,)),
        ]
    ),
    *_copies(),
    *rows("ext", "0 Q 101110 00 0 Rm 0 imm4 0 Rn Rd", _extract, "Q"),
    *(
        row
        for number, name in enumerate(("uzp", "trn", "zip"), 1)
        for second in (0, 1)
        for row in _with_sizes(
            name, f"0 Q 001110 size 0 Rm 0 {second}{number:02b} 10 Rn Rd", _permute(name, second), _ALL
        )
    ),
    *rows("tbl", "0 Q 001110 000 Rm 0 len op 00 Rn Rd", _table, "Q len op"),
]
