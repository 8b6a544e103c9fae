"""What every vector instruction gives, in plain Python: slow, and written without a look at the opcode table.

Vectors and memory are `bytes`; a reference takes the operands as bytes, a load or store the bytes of memory at its
address in place of the address. Instructions with a lane immediate name the last lane.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterable

import numpy as np

Reference = Callable[..., bytes]

REFERENCES: dict[str, Reference] = {}

_FORMATS = {8: "b", 16: "h", 32: "i", 64: "q"}
_FLOATS = {32: "f", 64: "d"}
_TESTS = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "gt", "le", "ge")}
_CANONICAL_NAN = {32: b"\0\0\xc0\x7f", 64: b"\0\0\0\0\0\0\xf8\x7f"}


def signed(data: bytes, bits: int) -> list[int]:
    return list(struct.unpack(f"<{len(data) * 8 // bits}{_FORMATS[bits]}", data))


def unsigned(data: bytes, bits: int) -> list[int]:
    return list(struct.unpack(f"<{len(data) * 8 // bits}{_FORMATS[bits].upper()}", data))


def packed(bits: int, values: Iterable[int]) -> bytes:
    """Put the low bits of each value into a lane."""
    return b"".join((value % (1 << bits)).to_bytes(bits // 8, "little") for value in values)


def clamp(value: int, bits: int, sign: str) -> int:
    least = 0 if sign == "u" else -(1 << (bits - 1))
    return max(least, min(least + (1 << bits) - 1, value))


def _reader(sign: str) -> Callable[[bytes, int], list[int]]:
    return signed if sign == "s" else unsigned


def _lanes(name: str, bits: int, function: Callable[..., int], sign: str = "s") -> None:
    """Register an instruction that treats each lane alone."""

    def reference(*vectors: bytes) -> bytes:
        return packed(bits, map(function, *(_reader(sign)(vector, bits) for vector in vectors)))

    REFERENCES[name] = reference


def _integers(bits: int) -> None:
    shape = f"i{bits}x{128 // bits}"
    _lanes(f"{shape}.abs", bits, abs)
    _lanes(f"{shape}.neg", bits, operator.neg)
    for name in ("add", "sub", "mul"):
        _lanes(f"{shape}.{name}", bits, getattr(operator, name))
    for name in ("eq", "ne"):
        _lanes(f"{shape}.{name}", bits, lambda x, y, test=_TESTS[name]: -test(x, y))
    for sign in "su":
        for name in ("lt", "gt", "le", "ge"):
            _lanes(f"{shape}.{name}_{sign}", bits, lambda x, y, test=_TESTS[name]: -test(x, y), sign)
        _lanes(f"{shape}.min_{sign}", bits, min, sign)
        _lanes(f"{shape}.max_{sign}", bits, max, sign)
        _lanes(f"{shape}.add_sat_{sign}", bits, lambda x, y, sign=sign: clamp(x + y, bits, sign), sign)
        _lanes(f"{shape}.sub_sat_{sign}", bits, lambda x, y, sign=sign: clamp(x - y, bits, sign), sign)
    _lanes(f"{shape}.avgr_u", bits, lambda x, y: (x + y + 1) // 2, "u")
    _lanes(f"{shape}.popcnt", bits, int.bit_count, "u")

    def shift(sign: str, by: Callable[[int, int], int]) -> Reference:
        return lambda a, b: packed(bits, [by(x, unsigned(b, 32)[0] % bits) for x in _reader(sign)(a, bits)])

    REFERENCES[f"{shape}.shl"] = shift("u", operator.lshift)
    REFERENCES[f"{shape}.shr_s"] = shift("s", operator.rshift)
    REFERENCES[f"{shape}.shr_u"] = shift("u", operator.rshift)
    REFERENCES[f"{shape}.all_true"] = lambda a: packed(32, [all(signed(a, bits))])
    REFERENCES[f"{shape}.bitmask"] = lambda a: packed(32, [sum((x < 0) << at for at, x in enumerate(signed(a, bits)))])
    REFERENCES[f"{shape}.splat"] = lambda a: a[: bits // 8] * (128 // bits)
    REFERENCES[f"{shape}.replace_lane"] = lambda a, b: a[: -bits // 8] + b[: bits // 8]
    REFERENCES[f"{shape}.extract_lane"] = lambda a: a[-bits // 8 :]
    for sign in "su":
        REFERENCES[f"{shape}.extract_lane_{sign}"] = lambda a, sign=sign: packed(32, [_reader(sign)(a, bits)[-1]])


def _widenings(bits: int) -> None:
    """Register what makes lanes of `bits` out of lanes of half as many, and the way back."""
    small, count = bits // 2, 128 // bits
    wide, narrow = f"i{bits}x{count}", f"i{small}x{count * 2}"
    for sign in "su":
        read = _reader(sign)
        for which, part in (("low", slice(count)), ("high", slice(count, None))):
            REFERENCES[f"{wide}.extend_{which}_{narrow}_{sign}"] = lambda a, read=read, part=part: packed(
                bits, read(a, small)[part]
            )
            REFERENCES[f"{wide}.extmul_{which}_{narrow}_{sign}"] = lambda a, b, read=read, part=part: packed(
                bits, map(operator.mul, read(a, small)[part], read(b, small)[part])
            )
        REFERENCES[f"{wide}.extadd_pairwise_{narrow}_{sign}"] = lambda a, read=read: packed(
            bits, map(operator.add, read(a, small)[::2], read(a, small)[1::2])
        )
        REFERENCES[f"{narrow}.narrow_{wide}_{sign}"] = lambda a, b, sign=sign: packed(
            small, [clamp(x, small, sign) for x in signed(a, bits) + signed(b, bits)]
        )
        REFERENCES[f"v128.load{small}x{count}_{sign}"] = lambda m, read=read: packed(bits, read(m[:8], small))


def _dot(a: bytes, b: bytes) -> bytes:
    products = list(map(operator.mul, signed(a, 16), signed(b, 16)))
    return packed(32, map(operator.add, products[::2], products[1::2]))


def _bits(name: str, function: Callable[..., int]) -> None:
    REFERENCES[f"v128.{name}"] = lambda *vectors: packed(
        128, [function(*(int.from_bytes(vector, "little") for vector in vectors))]
    )


def _memory() -> None:
    for bits in (8, 16, 32, 64):
        size = bits // 8
        REFERENCES[f"v128.load{bits}_splat"] = lambda m, size=size: m[:size] * (16 // size)
        REFERENCES[f"v128.load{bits}_zero"] = lambda m, size=size: m[:size].ljust(16, b"\0")
        REFERENCES[f"v128.load{bits}_lane"] = lambda m, a, size=size: a[:-size] + m[:size]
        REFERENCES[f"v128.store{bits}_lane"] = lambda m, a, size=size: a[-size:]
    REFERENCES["v128.load"] = lambda m: m
    REFERENCES["v128.store"] = lambda m, a: a


def floats(data: bytes, bits: int) -> np.ndarray:
    return np.frombuffer(data, f"<f{bits // 8}")


def _extreme(bits: int, choose: Callable[[float, float], float]) -> Reference:
    def one(x: bytes, y: bytes) -> bytes:
        a, b = struct.unpack(f"<2{_FLOATS[bits]}", x + y)
        if a != a or b != b:
            return _CANONICAL_NAN[bits]
        if a == b == 0:  # the negative zero is the smaller one
            return x if choose(math.copysign(1, a), math.copysign(1, b)) == math.copysign(1, a) else y
        return x if choose(a, b) == a else y

    return lambda a, b: b"".join(map(one, _cut(a, bits), _cut(b, bits)))


def _pseudo_extreme(bits: int, second: Callable[[float, float], bool]) -> Reference:
    def one(x: bytes, y: bytes) -> bytes:
        return y if second(*struct.unpack(f"<2{_FLOATS[bits]}", x + y)) else x

    return lambda a, b: b"".join(map(one, _cut(a, bits), _cut(b, bits)))


def _cut(vector: bytes, bits: int) -> list[bytes]:
    return [vector[at : at + bits // 8] for at in range(0, len(vector), bits // 8)]


def _floats(bits: int) -> None:
    shape = f"f{bits}x{128 // bits}"
    two = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
    one = {"ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "nearest": np.rint, "sqrt": np.sqrt}
    for name, function in {**one, **two}.items():
        REFERENCES[f"{shape}.{name}"] = lambda *vectors, function=function: function(
            *(floats(vector, bits) for vector in vectors)
        ).tobytes()
    for name, test in _TESTS.items():
        REFERENCES[f"{shape}.{name}"] = lambda a, b, test=test: packed(
            bits, [-int(flag) for flag in test(floats(a, bits), floats(b, bits))]
        )
    sign = 1 << (bits - 1)
    _lanes(f"{shape}.abs", bits, lambda x: x % sign, "u")
    _lanes(f"{shape}.neg", bits, lambda x: x ^ sign, "u")
    REFERENCES[f"{shape}.min"] = _extreme(bits, min)
    REFERENCES[f"{shape}.max"] = _extreme(bits, max)
    REFERENCES[f"{shape}.pmin"] = _pseudo_extreme(bits, lambda x, y: y < x)
    REFERENCES[f"{shape}.pmax"] = _pseudo_extreme(bits, lambda x, y: x < y)
    for name in ("splat", "extract_lane", "replace_lane"):
        REFERENCES[f"{shape}.{name}"] = REFERENCES[f"i{bits}x{128 // bits}.{name}"]


def _truncated(value: float, sign: str) -> int:
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return clamp((1 << 64) * (1 if value > 0 else -1), 32, sign)
    return clamp(int(value), 32, sign)


def _demote(a: bytes) -> bytes:
    demoted = floats(a, 64).astype(np.float32)
    lanes = [_CANONICAL_NAN[32] if np.isnan(lane) else lane.tobytes() for lane in demoted]
    return b"".join(lanes).ljust(16, b"\0")


def _conversions() -> None:
    for sign in "su":
        read = _reader(sign)
        for bits, name in ((32, "i32x4.trunc_sat_f32x4_{}"), (64, "i32x4.trunc_sat_f64x2_{}_zero")):
            REFERENCES[name.format(sign)] = lambda a, bits=bits, sign=sign: packed(
                32, [_truncated(float(x), sign) for x in floats(a, bits)]
            ).ljust(16, b"\0")
        REFERENCES[f"f32x4.convert_i32x4_{sign}"] = lambda a, read=read: np.array(read(a, 32)).astype("<f4").tobytes()
        REFERENCES[f"f64x2.convert_low_i32x4_{sign}"] = lambda a, read=read: np.array(read(a[:8], 32), "<f8").tobytes()
    REFERENCES["f32x4.demote_f64x2_zero"] = _demote
    REFERENCES["f64x2.promote_low_f32x4"] = lambda a: floats(a[:8], 32).astype("<f8").tobytes()


for _width in (8, 16, 32, 64):
    _integers(_width)
    if _width > 8:
        _widenings(_width)
    if _width > 16:
        _floats(_width)
_memory()
_conversions()
_ALL_ONES = (1 << 128) - 1
_bits("not", lambda x: x ^ _ALL_ONES)
_bits("and", operator.and_)
_bits("andnot", lambda x, y: x & (y ^ _ALL_ONES))
_bits("or", operator.or_)
_bits("xor", operator.xor)
_bits("bitselect", lambda x, y, mask: (x & mask) | (y & (mask ^ _ALL_ONES)))
REFERENCES["v128.any_true"] = lambda a: packed(32, [any(a)])
REFERENCES["i8x16.swizzle"] = lambda a, b: bytes(a[index] if index < 16 else 0 for index in b)
_lanes("i16x8.q15mulr_sat_s", 16, lambda x, y: clamp((x * y + 0x4000) >> 15, 16, "s"))
REFERENCES["i32x4.dot_i16x8_s"] = _dot
