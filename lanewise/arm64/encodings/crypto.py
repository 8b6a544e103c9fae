"""AES, SHA-1, SHA-2 and products of polynomials."""

from __future__ import annotations

from lanewise.arm64.encodings import elements as e
from lanewise.arm64.encodings.row import Meaning, Row, rows
from lanewise.arm64.machine import Fields, Machine
from lanewise.arm64.values import Value, known

# --- AES -------------------------------------------------------------------------------------------------------------


def _double(byte: int) -> int:
    return byte << 1 & 0xFF ^ (0x1B if byte & 0x80 else 0)


def substitutes() -> list[int]:
    """The S-box: inverses in the field of 256 elements, each mixed with itself turned."""
    power, value = [0] * 256, 1
    for at in range(255):
        power[at] = value
        value ^= _double(value)
    logarithm = {one: at for at, one in enumerate(power[:255])}
    table = []
    for byte in range(256):
        inverse = power[(255 - logarithm[byte]) % 255] if byte else 0
        mixed = inverse
        for turn in range(1, 5):
            mixed ^= (inverse << turn | inverse >> 8 - turn) & 0xFF
        table.append(mixed ^ 0x63)
    return table


def substitutes_back() -> list[int]:
    """The other way."""
    table = substitutes()
    return [table.index(byte) for byte in range(256)]


_ROWS = [at * 5 % 16 for at in range(16)]
_ROWS_BACK = [at * 13 % 16 for at in range(16)]
"""Where each byte comes from when rows are turned."""


def _aes(back: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        both = m.differ(m.read_vector(f.Rd), m.read_vector(f.Rn))
        turned = e.parts(m, e.shuffled(m, 8, both, both, _ROWS_BACK if back else _ROWS), 8)
        name = "unsbox" if back else "sbox"
        made = []
        for byte in turned:
            at = m.pointer(f"getelementptr i8, ptr @arm64.{name}, i32 {m.resize(byte, 32).text}")
            made.append(m.assign(8, f"load i8, ptr {at}"))
        m.write_vector(f.Rd, e.together(m, made))

    return meaning


def _times_two(m: Machine, x: Value) -> Value:
    """Each byte of a register, doubled in the field."""
    high = e.each(m, "ashr", 8, x, e.repeated(128, 8, 7))
    return m.differ(e.each(m, "shl", 8, x, e.repeated(128, 8, 1)), m.both(high, e.repeated(128, 8, 0x1B)))


def _turned(m: Machine, x: Value, by: int) -> Value:
    """The bytes of each column, turned."""
    return e.shuffled(m, 8, x, x, [at // 4 * 4 + (at + by) % 4 for at in range(16)])


def _mix(back: bool) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        x = m.read_vector(f.Rn)
        if back:  # 4 times the sum of opposite ones first, then as forwards
            x = m.differ(x, _times_two(m, _times_two(m, m.differ(x, _turned(m, x, 2)))))
        two = _times_two(m, x)
        made = m.differ(m.differ(two, _turned(m, two, 1)), _turned(m, x, 1))
        m.write_vector(f.Rd, m.differ(made, m.differ(_turned(m, x, 2), _turned(m, x, 3))))

    return meaning


# --- SHA -------------------------------------------------------------------------------------------------------------


def _rotate(m: Machine, x: Value, left: int) -> Value:
    return m.intrinsic("fshl", x, x, known(32, left))


def _choose(m: Machine, x: Value, y: Value, z: Value) -> Value:
    return m.differ(m.both(m.differ(y, z), x), z)


def _majority(m: Machine, x: Value, y: Value, z: Value) -> Value:
    return m.either(m.both(x, y), m.both(m.either(x, y), z))


def _parity(m: Machine, x: Value, y: Value, z: Value) -> Value:
    return m.differ(m.differ(x, y), z)


def _sha1(kind: str) -> Meaning:
    work = {"c": _choose, "p": _parity, "m": _majority}[kind]

    def meaning(m: Machine, f: Fields) -> None:
        a, b, c, d = e.parts(m, m.read_vector(f.Rd), 32)
        last = m.read_vector(f.Rn, 32)
        for word in e.parts(m, m.read_vector(f.Rm), 32):
            last = m.add(m.add(m.add(last, _rotate(m, a, 5)), work(m, b, c, d)), word)
            a, b, c, d, last = last, a, _rotate(m, b, 30), c, d
        m.write_vector(f.Rd, e.together(m, [a, b, c, d]))

    return meaning


def _sha1_first(m: Machine, f: Fields) -> None:
    old, x, y = m.read_vector(f.Rd), m.read_vector(f.Rn), m.read_vector(f.Rm)
    middle = e.shuffled(m, 64, old, x, [1, 2])
    m.write_vector(f.Rd, m.differ(m.differ(middle, old), y))


def _sha1_second(m: Machine, f: Fields) -> None:
    x = e.parts(m, m.read_vector(f.Rn), 32)
    old = e.parts(m, m.read_vector(f.Rd), 32)
    mixed = [m.differ(one, other) for one, other in zip(old, [*x[1:], known(32, 0)], strict=True)]
    made = [_rotate(m, one, 1) for one in mixed]
    made[3] = m.differ(made[3], _rotate(m, mixed[0], 2))
    m.write_vector(f.Rd, e.together(m, made))


def _sha256(second: bool) -> Meaning:
    """Four rounds; the instructions give the first four of the state, or the others."""

    def meaning(m: Machine, f: Fields) -> None:
        first, then = (
            (m.read_vector(f.Rn), m.read_vector(f.Rd)) if second else (m.read_vector(f.Rd), m.read_vector(f.Rn))
        )
        a, b, c, d = e.parts(m, first, 32)
        p, q, r, s = e.parts(m, then, 32)
        for word in e.parts(m, m.read_vector(f.Rm), 32):
            mixed = m.differ(m.differ(_rotate(m, p, 26), _rotate(m, p, 21)), _rotate(m, p, 7))
            total = m.add(m.add(m.add(s, mixed), _choose(m, p, q, r)), word)
            other = m.differ(m.differ(_rotate(m, a, 30), _rotate(m, a, 19)), _rotate(m, a, 10))
            fresh = m.add(m.add(total, other), _majority(m, a, b, c))
            a, b, c, d, p, q, r, s = fresh, a, b, c, m.add(d, total), p, q, r
        m.write_vector(f.Rd, e.together(m, [p, q, r, s] if second else [a, b, c, d]))

    return meaning


def _sha256_first(m: Machine, f: Fields) -> None:
    old, x = e.parts(m, m.read_vector(f.Rd), 32), e.parts(m, m.read_vector(f.Rn), 32)
    made = []
    for one, other in zip(old, [*old[1:], x[0]], strict=True):
        mixed = m.differ(m.differ(_rotate(m, other, 25), _rotate(m, other, 14)), m.right(other, 3))
        made.append(m.add(one, mixed))
    m.write_vector(f.Rd, e.together(m, made))


def _sha256_second(m: Machine, f: Fields) -> None:
    old, x, y = (e.parts(m, m.read_vector(number), 32) for number in (f.Rd, f.Rn, f.Rm))
    middle = [*x[1:], y[0]]
    made: list[Value] = []
    for at in range(4):
        given = y[2 + at] if at < 2 else made[at - 2]
        mixed = m.differ(m.differ(_rotate(m, given, 15), _rotate(m, given, 13)), m.right(given, 10))
        made.append(m.add(m.add(mixed, old[at]), middle[at]))
    m.write_vector(f.Rd, e.together(m, made))


# --- products of polynomials -----------------------------------------------------------------------------------------


def _product(element: int) -> Meaning:
    def meaning(m: Machine, f: Fields) -> None:
        wide = 2 * element
        x, y = (
            e.resized(m, e.half(m, m.read_vector(number), bool(f.Q.number)), element, wide) for number in (f.Rn, f.Rm)
        )
        total = known(128, 0)
        for bit in range(element):
            moved = e.each(m, "shl", wide, y, e.repeated(128, wide, wide - 1 - bit))
            on = e.each(m, "ashr", wide, moved, e.repeated(128, wide, wide - 1))
            total = m.differ(total, m.both(e.each(m, "shl", wide, x, e.repeated(128, wide, bit)), on))
        m.write_vector(f.Rd, total)

    return meaning


_THREE = [
    _sha1("c"), _sha1("p"), _sha1("m"), _sha1_first, _sha256(False), _sha256(True), _sha256_second,
]  # fmt: skip
_TWO: list[Meaning] = [
    lambda m, f: m.write_vector(f.Rd, _rotate(m, m.read_vector(f.Rn, 32), 30)), _sha1_second, _sha256_first,
]  # fmt: skip

ROWS: list[Row] = [
    *rows("aese", "01001110 00 10100 00100 10 Rn Rd", _aes(False)),
    *rows("aesd", "01001110 00 10100 00101 10 Rn Rd", _aes(True)),
    *rows("aesmc", "01001110 00 10100 00110 10 Rn Rd", _mix(False)),
    *rows("aesimc", "01001110 00 10100 00111 10 Rn Rd", _mix(True)),
    *(
        row
        for number, meaning in enumerate(_THREE)
        for row in rows("sha", f"01011110 00 0 Rm 0 {number:03b} 00 Rn Rd", meaning)
    ),
    *(
        row
        for number, meaning in enumerate(_TWO)
        for row in rows("sha", f"01011110 00 10100 {number:05b} 10 Rn Rd", meaning)
    ),
    *rows("pmull", "0 Q 0 01110 00 1 Rm 1110 00 Rn Rd", _product(8), "Q"),
    *rows("pmull", "0 Q 0 01110 11 1 Rm 1110 00 Rn Rd", _product(64), "Q"),
]
