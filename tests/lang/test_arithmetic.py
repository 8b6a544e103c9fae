"""Every operator on every type, against Python's integers and NumPy's floats, bit for bit.

One kernel a type does all operators at once; Hypothesis draws arrays of operands, extremes among them.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanewise.lang import (
    Ptr,
    addressof,
    bitcast,
    ceil,
    copysign,
    f32,
    f64,
    floor,
    fma,
    i8,
    i32,
    i64,
    kernel,
    leading_zeros,
    mul_high,
    popcount,
    rint,
    sqrt,
    thread_id,
    trailing_zeros,
    trunc,
    u8,
    u16,
    u32,
    u64,
)
from lanewise.lang.types import BOOL, FLOATS, INTEGERS, SCALARS

EXAMPLES = settings(max_examples=40, deadline=None)
CANONICAL = {f32: 0x7FC00000, f64: 0x7FF8000000000000}
BITS = {f32: np.uint32, f64: np.uint64}


def integers(kind):
    """Whole numbers of a type, its extremes more often than chance would have them."""
    special = {0, 1, 2, 3, 7, kind.bits - 1, kind.bits, kind.max_value, kind.max_value - 1, kind.min_value}
    if kind.signed:
        special |= {-1, -2, -3, kind.min_value + 1}
    return st.one_of(st.sampled_from(sorted(special)), st.integers(kind.min_value, kind.max_value))


def float_bits(kind):
    """Bit patterns of floats: zeros, subnormals, infinities, NaN with payload (quiet or not), and anything else."""
    numbers = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, math.inf, -math.inf, 3.0, 1e-3, 2**31, 2**63, 2**64, -(2**63)]
    numbers += [127.0, 128.0, 255.0, 256.0, -128.0, -129.0, 65535.5, 4294967295.0, -0.9, 16777217.0]
    special = [int(np.array([number], kind.dtype).view(BITS[kind])[0]) for number in numbers]
    top = 1 << (kind.bits - 1)
    infinite = special[8]
    special += [
        1,
        top | 1,
        infinite - 1,
        infinite + 1,
        top | infinite | 1,
        CANONICAL[kind],
        CANONICAL[kind] | 5,
        top | CANONICAL[kind],
    ]
    return st.one_of(st.sampled_from(special), st.integers(0, 2**kind.bits - 1))


def rows(values, count):
    """Lists of tuples of `count` operands."""
    return st.lists(st.tuples(*[values] * count), min_size=1, max_size=48)


def column(kind, drawn, index):
    """One operand of all drawn tuples as a NumPy array; floats are drawn as bits."""
    picked = [row[index] for row in drawn]
    return np.array(picked, BITS[kind]).view(kind.dtype) if kind.is_float else np.array(picked, kind.dtype)


# --- integers --------------------------------------------------------------------------------------------------------

INTEGER_RESULTS = {
    "+": lambda a, b, T: a + b,
    "-": lambda a, b, T: a - b,
    "*": lambda a, b, T: a * b,
    "&": lambda a, b, T: a & b,
    "|": lambda a, b, T: a | b,
    "^": lambda a, b, T: a ^ b,
    "<<": lambda a, b, T: a << (b % T.bits),
    ">>": lambda a, b, T: a >> (b % T.bits),
    "//": lambda a, b, T: a // b if b else 0,
    "%": lambda a, b, T: a % b if b else 0,
    "~": lambda a, b, T: ~a,
    "unary -": lambda a, b, T: -a,
    "unary +": lambda a, b, T: a,
    "abs": lambda a, b, T: abs(a),
    "min": lambda a, b, T: min(a, b),
    "max": lambda a, b, T: max(a, b),
    "mul_high": lambda a, b, T: (a * b) >> T.bits,
    "square": lambda a, b, T: a * a,
    "shift by u8": lambda a, b, T: a << ((b & 0xFF) % T.bits),
    "popcount": lambda a, b, T: (a & (2**T.bits - 1)).bit_count(),
    "leading_zeros": lambda a, b, T: T.bits - (a & (2**T.bits - 1)).bit_length(),
    "trailing_zeros": lambda a, b, T: T.bits if a == 0 else (a & -a).bit_length() - 1,
    "<": lambda a, b, T: a < b,
    "<=": lambda a, b, T: a <= b,
    ">": lambda a, b, T: a > b,
    ">=": lambda a, b, T: a >= b,
    "==": lambda a, b, T: a == b,
    "!=": lambda a, b, T: a != b,
    "a < b < 7": lambda a, b, T: a < b < 7,
    "bool": lambda a, b, T: a != 0,
}


def integer_kernel(T):
    count = len(INTEGER_RESULTS)

    @kernel
    def integers(a: Ptr[T], b: Ptr[T], out: Ptr[T]):
        i = u64(thread_id())
        x = a[i]
        y = b[i]
        r = out + i * count
        r[0] = x + y
        r[1] = x - y
        r[2] = x * y
        r[3] = x & y
        r[4] = x | y
        r[5] = x ^ y
        r[6] = x << y
        r[7] = x >> y
        r[8] = x // y if y != 0 else T(0)
        r[9] = x % y if y != 0 else T(0)
        r[10] = ~x
        r[11] = -x
        r[12] = +x
        r[13] = abs(x)
        r[14] = min(x, y)
        r[15] = max(x, y)
        r[16] = mul_high(x, y)
        r[17] = x**2
        r[18] = x << u8(y)
        r[19] = T(popcount(x))
        r[20] = T(leading_zeros(x))
        r[21] = T(trailing_zeros(x))
        r[22] = T(x < y)
        r[23] = T(x <= y)
        r[24] = T(x > y)
        r[25] = T(x >= y)
        r[26] = T(x == y)
        r[27] = T(x != y)
        r[28] = T(x < y < 7)
        r[29] = T(bool(x))

    return integers


@pytest.fixture(scope="module", params=INTEGERS, ids=lambda kind: kind.name)
def integer_case(request):
    return request.param, integer_kernel(request.param)


def test_integer_operators_wrap_floor_and_mask_as_the_type_says(device, integer_case):
    kind, run = integer_case

    @EXAMPLES
    @given(rows(integers(kind), 2))
    def check(drawn):
        a, b = column(kind, drawn, 0), column(kind, drawn, 1)
        out = device.zeros(len(drawn) * len(INTEGER_RESULTS), kind)
        run[len(drawn)](device.array(a), device.array(b), out)
        got = out.get().reshape(len(drawn), -1)
        for index, (name, reference) in enumerate(INTEGER_RESULTS.items()):
            expected = [kind.wrap(int(reference(x, y, kind))) for x, y in drawn]
            assert got[:, index].tolist() == expected, f"{name} on {kind} of {drawn}"

    check()


# --- bools -----------------------------------------------------------------------------------------------------------


@kernel
def bools(a: Ptr[bool], b: Ptr[bool], out: Ptr[bool]):
    i = thread_id()
    x = a[i]
    y = b[i]
    r = out + i * 12
    r[0] = x & y
    r[1] = x | y
    r[2] = x ^ y
    r[3] = x == y
    r[4] = x != y
    r[5] = x and y
    r[6] = x or y
    r[7] = not x
    r[8] = x if y else not x
    z = x
    z ^= True
    r[9] = z
    w: bool = y
    addressed = addressof(x)[0]
    r[10] = addressed and w or z
    r[11] = (i32(x) + i32(y) > 1) == (x and y)


def test_operators_on_bools(device):
    a, b = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], bool).T
    out = device.zeros(48, bool)
    bools[4](device.array(a), device.array(b), out)
    for x, y, row in zip(a.tolist(), b.tolist(), out.get().reshape(4, 12).tolist(), strict=True):
        assert row == [
            x and y, x or y, x != y, x == y, x != y, x and y, x or y, not x, x if y else not x, not x,
            (x and y) or not x, True,
        ]  # fmt: skip


# --- floats ----------------------------------------------------------------------------------------------------------


def rounded(exact, kind):
    """The float of a type that is nearest to an exact fraction, ties to even."""
    try:
        near = kind.dtype.type(float(exact))
    except OverflowError:
        near = kind.dtype.type(math.inf if exact > 0 else -math.inf)
    largest = np.finfo(kind.dtype).max
    if not np.isfinite(near):
        near = largest if exact > 0 else -largest
        beyond = Fraction(float(largest)) + (Fraction(float(largest)) - Fraction(float(np.nextafter(largest, 0)))) / 2
        infinite = kind.dtype.type(math.inf if exact > 0 else -math.inf)
        return infinite if abs(exact) >= beyond else kind.dtype.type(near)
    candidates = [near, np.nextafter(near, kind.dtype.type(-math.inf)), np.nextafter(near, kind.dtype.type(math.inf))]
    candidates = [c for c in candidates if np.isfinite(c)]
    return min(candidates, key=lambda c: (abs(Fraction(float(c)) - exact), int(c.view(BITS[kind])) & 1))


def exact_fma(a, b, c, kind):
    if np.isfinite(a) and np.isfinite(b) and not np.isfinite(c):
        return c  # the exact product is finite, however large
    if not all(np.isfinite([a, b, c])):
        return a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)
    product = Fraction(float(a)) * Fraction(float(b))
    total = product + Fraction(float(c))
    if total:
        result = rounded(total, kind)
        return math.copysign(float(result), -1.0 if total < 0 else 1.0)
    negative = math.copysign(1, a) * math.copysign(1, b) < 0 and math.copysign(1, c) < 0
    return -0.0 if negative else 0.0


FLOAT_RESULTS = {
    "+": lambda a, b, c, T: a + b,
    "-": lambda a, b, c, T: a - b,
    "*": lambda a, b, c, T: a * b,
    "/": lambda a, b, c, T: a / b,
    "a * b + c": lambda a, b, c, T: a * b + c,
    "sqrt": lambda a, b, c, T: np.sqrt(a),
    "fma": exact_fma,
    "unary -": lambda a, b, c, T: -a,
    "abs": lambda a, b, c, T: np.abs(a),
    "floor": lambda a, b, c, T: np.floor(a),
    "ceil": lambda a, b, c, T: np.ceil(a),
    "trunc": lambda a, b, c, T: np.trunc(a),
    "rint": lambda a, b, c, T: np.rint(a),
    "copysign": lambda a, b, c, T: np.copysign(a, b),
    "square": lambda a, b, c, T: a * a,
    "through variables": lambda a, b, c, T: a - b if a < b else b - a,
    "of literals": lambda a, b, c, T: (a + T.dtype.type(0.1)) * T.dtype.type(3) - T.dtype.type(1e-7),
    "<": lambda a, b, c, T: float(a < b),
    "<=": lambda a, b, c, T: float(a <= b),
    ">": lambda a, b, c, T: float(a > b),
    ">=": lambda a, b, c, T: float(a >= b),
    "==": lambda a, b, c, T: float(a == b),
    "!=": lambda a, b, c, T: float(a != b),
    "bool": lambda a, b, c, T: float(a != 0),
}
COPIES = {
    "min": lambda a, b, c: b if b < a else a,
    "max": lambda a, b, c: b if b > a else a,
    "conditional": lambda a, b, c: a if b < c else c,
    "through memory": lambda a, b, c: a,
    "through a declared name": lambda a, b, c: b,
    "swapped": lambda a, b, c: c,
}


def float_kernel(T):
    count, copies = len(FLOAT_RESULTS), len(COPIES)

    @kernel
    def floats(a: Ptr[T], b: Ptr[T], c: Ptr[T], out: Ptr[T], copied: Ptr[T]):
        i = u64(thread_id())
        x = a[i]
        y = b[i]
        z = c[i]
        r = out + i * count
        r[0] = x + y
        r[1] = x - y
        r[2] = x * y
        r[3] = x / y
        r[4] = x * y + z
        r[5] = sqrt(x)
        r[6] = fma(x, y, z)
        r[7] = -x
        r[8] = abs(x)
        r[9] = floor(x)
        r[10] = ceil(x)
        r[11] = trunc(x)
        r[12] = rint(x)
        r[13] = copysign(x, y)
        r[14] = x**2
        difference = x
        difference -= y
        if not x < y:
            difference = y - x
        r[15] = difference
        r[16] = (x + 0.1) * 3 - 1e-7
        r[17] = T(x < y)
        r[18] = T(x <= y)
        r[19] = T(x > y)
        r[20] = T(x >= y)
        r[21] = T(x == y)
        r[22] = T(x != y)
        r[23] = T(bool(x))
        s = copied + i * copies
        s[0] = min(x, y)
        s[1] = max(x, y)
        s[2] = x if y < z else z
        s[3] = a[i]
        declared: T = b[i]
        s[4] = declared
        s[5], s[4] = c[i], s[4]

    return floats


@pytest.fixture(scope="module", params=FLOATS, ids=lambda kind: kind.name)
def float_case(request):
    return request.param, float_kernel(request.param)


def test_float_operators_are_those_of_ieee_with_canonical_nan(device, float_case):
    kind, run = float_case
    bits = BITS[kind]

    @EXAMPLES
    @given(rows(float_bits(kind), 3))
    def check(drawn):
        columns = [column(kind, drawn, index) for index in range(3)]
        out = device.zeros(len(drawn) * len(FLOAT_RESULTS), kind)
        copied = device.zeros(len(drawn) * len(COPIES), kind)
        run[len(drawn)](*(device.array(values) for values in columns), out, copied)
        got = out.get().view(bits).reshape(len(drawn), -1)
        kept = copied.get().view(bits).reshape(len(drawn), -1)
        with np.errstate(all="ignore"):
            for row, operands in enumerate(zip(*columns, strict=True)):
                for index, (name, reference) in enumerate(FLOAT_RESULTS.items()):
                    expected = np.asarray(reference(*operands, kind), kind.dtype)
                    wanted = CANONICAL[kind] if np.isnan(expected) else int(expected.view(bits))
                    assert got[row, index] == wanted, f"{name} on {kind} of {operands}: {got[row, index]:x} {wanted:x}"
                for index, (name, choose) in enumerate(COPIES.items()):
                    wanted = int(choose(*operands).view(bits))
                    assert kept[row, index] == wanted, f"{name} keeps the bits of {operands}"

    check()


@kernel
def nan_through_parameters(x: f32, y: f32, out: Ptr[f32]):
    out[0] = x
    x = x * y
    out[1] = x
    out[2] = bitcast(f32, x - x)
    values: f32[2]
    values[0] = x / x
    out[3] = values[0]


def test_a_parameter_that_is_computed_anew_gives_a_canonical_nan(device):
    out = device.zeros(4, f32)
    nan_through_parameters[1](0.0, math.inf, out)
    assert out.get().view(np.uint32).tolist() == [0, CANONICAL[f32], CANONICAL[f32], CANONICAL[f32]]


# --- conversions -----------------------------------------------------------------------------------------------------


def conversion_kernel(S):
    @kernel
    def convert(
        a: Ptr[S], r0: Ptr[bool], r1: Ptr[SCALARS[1]], r2: Ptr[SCALARS[2]], r3: Ptr[SCALARS[3]], r4: Ptr[SCALARS[4]],
        r5: Ptr[SCALARS[5]], r6: Ptr[SCALARS[6]], r7: Ptr[SCALARS[7]], r8: Ptr[SCALARS[8]], r9: Ptr[f32], r10: Ptr[f64],
    ):  # fmt: skip
        i = thread_id()
        x = a[i]
        r0[i] = bool(x)
        r1[i] = SCALARS_1(x)
        r2[i] = SCALARS_2(x)
        r3[i] = SCALARS_3(x)
        r4[i] = SCALARS_4(x)
        r5[i] = SCALARS_5(x)
        r6[i] = SCALARS_6(x)
        r7[i] = SCALARS_7(x)
        r8[i] = SCALARS_8(x)
        r9[i] = f32(x)
        r10[i] = f64(x)

    return convert


SCALARS_1, SCALARS_2, SCALARS_3, SCALARS_4, SCALARS_5, SCALARS_6, SCALARS_7, SCALARS_8 = SCALARS[1:9]


def converted(value, source, target):
    """What `target(value)` must give: a Python number, or a NumPy float."""
    if target is BOOL:
        return bool(value != 0)
    if target.is_float:
        if source.is_float:
            with np.errstate(all="ignore"):
                return target.dtype.type(value)
        return rounded(Fraction(int(value)), target)
    if source.is_float:
        if np.isnan(value):
            return 0
        if np.isinf(value):
            return target.max_value if value > 0 else target.min_value
        return min(max(int(value), target.min_value), target.max_value)
    return target.wrap(int(value))


@pytest.fixture(scope="module", params=SCALARS, ids=lambda kind: kind.name)
def conversion_case(request):
    return request.param, conversion_kernel(request.param)


def test_conversions_wrap_round_once_and_saturate(device, conversion_case):
    source, run = conversion_case
    values = float_bits(source) if source.is_float else st.booleans() if source is BOOL else integers(source)

    @EXAMPLES
    @given(rows(values, 1))
    def check(drawn):
        a = column(source, drawn, 0)
        outs = [device.zeros(len(drawn), target) for target in SCALARS]
        run[len(drawn)](device.array(a), *outs)
        for target, out in zip(SCALARS, outs, strict=True):
            got = out.get()
            for value, result in zip(a, got, strict=True):
                expected = converted(value, source, target)
                if not target.is_float:
                    assert result == expected, f"{target}({value!r}) from {source}"
                    continue
                wanted = int(expected.view(BITS[target]))
                if np.isnan(expected) and source is not target:
                    wanted = CANONICAL[target]
                assert int(result.view(BITS[target])) == wanted, f"{target}({value!r}) from {source}"

    check()


@kernel
def bitcasts(a: Ptr[u32], b: Ptr[u64], p: Ptr[f32], q: Ptr[f64], back: Ptr[u32], wide: Ptr[i64], small: Ptr[i8]):
    i = thread_id()
    p[i] = bitcast(f32, a[i])
    q[i] = bitcast(f64, b[i])
    back[i] = bitcast(u32, bitcast(i32, p[i]))
    wide[i] = bitcast(i64, q[i])
    small[i] = bitcast(i8, u8(a[i]))


def test_bitcasts_keep_every_bit(device):
    @EXAMPLES
    @given(st.lists(st.tuples(float_bits(f32), float_bits(f64)), min_size=1, max_size=48))
    def check(drawn):
        a, b = np.array([r[0] for r in drawn], np.uint32), np.array([r[1] for r in drawn], np.uint64)
        outs = [device.zeros(len(drawn), kind) for kind in (f32, f64, u32, i64, i8)]
        bitcasts[len(drawn)](device.array(a), device.array(b), *outs)
        p, q, back, wide, small = (out.get() for out in outs)
        assert p.view(np.uint32).tolist() == back.tolist() == a.tolist()
        assert q.view(np.uint64).tolist() == wide.view(np.uint64).tolist() == b.tolist()
        assert small.tolist() == a.astype(np.uint8).view(np.int8).tolist()

    check()


# --- literals --------------------------------------------------------------------------------------------------------

WHOLE = 10
BIG = 2**60 + 2**36 + 1
TYPED = np.uint8(200)


@kernel
def whole_literals(out: Ptr[i64], flag: bool):
    out[0] = -1 // 2
    out[1] = -7 % 3
    out[2] = 1 << 40
    out[3] = (1 << 70) >> 60
    out[4] = ~5
    out[5] = i64(TYPED + 100)
    out[6] = i64(u8(300))
    out[7] = i64(u32(-1))
    out[8] = -(2**63)
    out[9] = i64(7) if flag else 5_000_000_000
    out[10] = i64(u64(18446744073709551615) >> 1)
    out[11] = i64(i8(-129.9))
    out[12] = i64(u8(1e9))
    out[13] = min(3, 1, 2) + max(4, 6, 5) + abs(-2)
    out[14] = i64(7 if flag else 5_000_000_000) - 5_000_000_000 + i64(1 if flag else 2) + i64(1.9 if flag else 2)
    out[15] = 0xFF & 0x3C | 1 ^ 8
    out[16] = WHOLE**3
    out[17] = i64((1 < 2) == True)
    out[18] = i64(u64(2**64 - 1) == 18446744073709551615)
    out[19] = i64(u32(5) - 6 > 0)
    out[20] = i64(-u8(1))
    out[21] = i64(5 if not flag else 6)
    out[22] = i64(True + True)
    out[23] = i64(9223372036854775808 > 5)


def test_whole_literals_fold_as_python_does_and_take_the_type_they_meet(device):
    out = device.zeros(24, i64)
    whole_literals[1](out, False)
    assert out.get().tolist() == [
        -1, 2, 2**40, 2**10, -6, 44, 44, 2**32 - 1, -(2**63), 5_000_000_000, 2**63 - 1, -128, 255, 9, 4,
        0xFF & 0x3C | 1 ^ 8, 1000, 1, 1, 1, 255, 5, 2, 1,
    ]  # fmt: skip


@kernel
def float_literals(out: Ptr[f32], wide: Ptr[f64], x: f32):
    out[0] = 0.1
    out[1] = 16777217
    out[2] = x + 0.1
    out[3] = BIG
    out[4] = f32(BIG)
    out[5] = f32(1e300)
    out[6] = -0.0
    out[7] = 1e-46
    out[8] = math.pi
    out[9] = math.inf
    out[10] = 3.4028235677973366e38 * 0.5
    out[11] = f32(i64(BIG))
    wide[0] = 0.1
    wide[1] = BIG
    wide[2] = 7 / 2
    wide[3] = 2**0.5
    wide[4] = 1e308 * 10
    wide[5] = f64(0.1)
    wide[6] = f64(f32(0.1))


def test_float_literals_are_rounded_once_to_the_type_they_meet(device):
    out, wide = device.zeros(12, f32), device.zeros(7, f64)
    float_literals[1](out, wide, 0.2)
    tenth = np.float32(0.1)
    big = np.float32(2**60 + 2**37)
    expected = [tenth, 16777216, np.float32(0.2) + tenth, big, big, np.inf, -0.0, 0.0, math.pi, np.inf]
    expected += [np.float32(3.4028235677973366e38 * 0.5), big]
    assert out.get().view(np.uint32).tolist() == np.array(expected, np.float32).view(np.uint32).tolist()
    assert wide.get().tolist() == [0.1, float(BIG), 3.5, 2**0.5, math.inf, 0.1, float(tenth)]


@kernel
def narrow(a: Ptr[u8], b: Ptr[u16], out: Ptr[u64]):
    out[0] = u64(a[0] + a[1])
    out[1] = u64(a[0] * a[1])
    out[2] = u64(b[0] * b[0])
    out[3] = u64(a[0]) + u64(a[1])
    out[4] = u64(a[0] << 4)
    x = a[0]
    x += 100
    out[5] = u64(x)
    x <<= 9
    out[6] = u64(x)


def test_narrow_types_wrap_at_every_step(device):
    out = device.zeros(7, u64)
    narrow[1](device.array(np.array([200, 100], np.uint8)), device.array(np.array([65535], np.uint16)), out)
    assert out.get().tolist() == [44, 200 * 100 % 256, 1, 300, 200 * 16 % 256, 44, 88]
